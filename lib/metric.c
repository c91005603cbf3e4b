/* Names, sets and descriptions of metrics. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/handles.h"
#include "view/metrics.h"
#include "metricdb/find.h"
#include "metricdb/formula.h"
#include "metricdb/rules.h"
#include "metricdb/term.h"

static bool take_variants(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, bool every,
                          bool (*take)(void *, const char *), void *user)
{
    char name[CW_METRIC_NAME_MAX];
    const struct cw_metric usual = cw_metric_usual(chip, type, base);
    bool more = every || take(user, cw_metric_name(chip, &usual, name));
    for (uint32_t v = 0; every && more && v < cw_metric_variants(type); v++) {
        const struct cw_metric m = cw_metric_variant(type, base, v);
        more = take(user, cw_metric_name(chip, &m, name));
    }
    return more;
}

static bool is_of_ranges(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    return type >= CW_METRIC_TYPE_COUNT || cw_chip_lists(chip, type, base, CW_OF_RANGES);
}

static void take_all(const struct cw_chip *chip, bool every, bool (*take)(void *, const char *), void *user)
{
    bool more = true;
    for (enum cw_metric_type type = CW_COUNTER; type < CW_ALL_TYPES_COUNT; type++)
        for (uint32_t base = 0; more && base < cw_metric_base_count(chip, type); base++)
            if (is_of_ranges(chip, type, base))
                more = take_variants(chip, type, base, every, take, user);
}

/* ---- metrics for a plan of everything --------------------------------------------------------------------------- */

enum { MOST_TOLD = 3 };

struct all {
    const struct cw_chip *chip;
    bool (*take)(void *user, const char *name);
    void *user;
    bool *collected; /* raw counters that some pass can hold */
    bool placed;     /* all raw counters of the current metric are among them */
    bool enough;     /* the caller wants no more */
    size_t left_out; /* number of metrics left out, with the first names */
    char names[MOST_TOLD][CW_METRIC_NAME_MAX];
};

static void see_placement(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    struct all *a = context;
    const struct cw_list *raws = &a->chip->counters[counter].raws;
    for (uint32_t i = 0; i < raws->count; i++)
        a->placed = a->placed && a->collected[raws->items[i]];
}

/* A raw counter needs a placement that no limit excludes. */
static enum cw_status find_collected(struct all *a, struct cw_arena *arena)
{
    const struct cw_chip *chip = a->chip;
    bool *banned = cw_arena_alloc(arena, chip->placement_count, sizeof *banned);
    a->collected = cw_arena_alloc(arena, chip->raw_count, sizeof *a->collected);
    if (!banned || !a->collected)
        return CW_ERR_NOMEM;
    for (uint32_t i = 0; i < chip->limit_count; i++)
        for (uint32_t k = 0; chip->limits[i].max == 0 && k < chip->limits[i].count; k++)
            banned[chip->limits[i].members[k]] = true;
    for (uint32_t p = 0; p < chip->placement_count; p++)
        a->collected[chip->placements[p].raw] |= !banned[p];
    return CW_OK;
}

static enum cw_status take_planned(struct all *a, struct cw_metric m)
{
    char name[CW_METRIC_NAME_MAX];
    a->placed = true;
    cw_metric_name(a->chip, &m, name);
    enum cw_status status =
        cw_metric_needs(&(struct cw_needs){.chip = a->chip, .add = see_placement, .context = a}, &m, NULL);
    if (status == CW_ERR_NOMEM)
        return status;
    if (status == CW_OK && a->placed)
        a->enough = !a->take(a->user, name);
    else if (a->left_out++ < MOST_TOLD)
        memcpy(a->names[a->left_out - 1], name, sizeof name);
    return CW_OK;
}

/* Formulas of the data folder add no counters to a plan of everything. */
static enum cw_status take_base(struct all *a, enum cw_metric_type type, uint32_t base)
{
    if (!is_of_ranges(a->chip, type, base) || (type == CW_FORMULA && a->chip->formulas->items[base].shipped))
        return CW_OK;
    const struct cw_metric peak = {.type = type, .base = base, .sub = CW_SUB_PEAK};
    enum cw_status status = take_planned(a, cw_metric_usual(a->chip, type, base));
    bool derived = type == CW_COUNTER && a->chip->counters[base].terms.count;
    return status == CW_OK && derived && !a->enough ? take_planned(a, peak) : status;
}

static void tell_left_out(const struct counterworks_chip *chip, const struct all *a)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line,
                    "left out %zu of the metrics of %s, without a known formula or a way to collect them:", a->left_out,
                    a->chip->name);
    for (size_t i = 0; i < a->left_out && i < MOST_TOLD; i++)
        cw_write_format(&line, "%s %s", i ? "," : "", a->names[i]);
    cw_write_format(&line, a->left_out > MOST_TOLD ? ", ..." : "");
    cw_lib_tell(chip, &line);
}

static enum cw_status take_all_planned(const struct counterworks_chip *chip, bool (*take)(void *, const char *),
                                       void *user)
{
    struct all a = {.chip = chip->chip, .take = take, .user = user};
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? find_collected(&a, arena) : CW_ERR_NOMEM;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t i = 0; status == CW_OK && !a.enough && i < cw_metric_base_count(chip->chip, type); i++)
            status = take_base(&a, type, i);
    if (status == CW_OK && a.left_out && !a.enough)
        tell_left_out(chip, &a);
    cw_arena_destroy(arena);
    return status;
}

enum counterworks_status counterworks_metric_each(const struct counterworks_chip *chip,
                                                  enum counterworks_selection which, bool (*take)(void *, const char *),
                                                  void *user, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    enum cw_status status = CW_OK;
    if (which == COUNTERWORKS_PLANNED)
        status = take_all_planned(chip, take, user);
    else
        take_all(chip->chip, which == COUNTERWORKS_EVERY, take, user);
    return cw_lib_finish(&call, status, error);
}

static enum cw_status take_needed(const struct counterworks_chip *chip, const struct cw_rules *rules,
                                  bool (*take)(void *, const char *), void *user, struct cw_arena *arena)
{
    struct all a = {.chip = rules->chip, .take = take, .user = user};
    enum cw_status status = find_collected(&a, arena);
    for (size_t i = 0; i < rules->metric_count && status == CW_OK && !a.enough; i++)
        if (rules->metrics[i].type != CW_FORMULA)
            status = take_planned(&a, rules->metrics[i]);
    if (status == CW_OK && a.left_out && !a.enough)
        tell_left_out(chip, &a);
    return status;
}

enum counterworks_status counterworks_advice_metrics(const struct counterworks_chip *chip, const char *rules,
                                                     bool (*take)(void *, const char *), void *user,
                                                     struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    const struct cw_rules *all;
    enum cw_status status =
        arena ? cw_rules_load(&all, chip->chip, chip->folder, rules, arena, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = take_needed(chip, all, take, user, arena);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

/* ---- one metric ------------------------------------------------------------------------------------------------- */

struct described { /* a metric, which comes first, and the memory of its texts */
    struct counterworks_metric metric;
    struct cw_arena *arena;
};

/* The glossary as far as it was read; it grows behind a const chip. */
struct cw_lib_words {
    pthread_mutex_t lock;
    bool asked; /* one metric was described */
    struct cw_arena *arena;
    const struct cw_glossary *glossary; /* the whole glossary; NULL: not read yet */
};

struct cw_lib_words *cw_lib_words_make(struct cw_arena *arena)
{
    struct cw_lib_words *made = cw_arena_alloc(arena, 1, sizeof *made);
    if (made)
        made->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    return made;
}

void cw_lib_words_free(struct cw_lib_words *words)
{
    if (words)
        cw_arena_destroy(words->arena);
}

static enum cw_status read_all_words(const struct cw_glossary **glossary, struct cw_lib_words *words,
                                     const char *folder, struct cw_error *err)
{
    *glossary = words->glossary;
    if (words->glossary)
        return CW_OK;
    struct cw_arena *own = cw_arena_create();
    enum cw_status status = own ? cw_glossary_load_about(glossary, folder, NULL, own, err) : cw_error_nomem(err);
    if (status == CW_OK) {
        words->arena = own;
        words->glossary = *glossary;
    } else {
        cw_arena_destroy(own);
    }
    return status;
}

/* Reads the whole glossary for the second metric. A single metric needs few of its words. */
static enum cw_status read_words(const struct cw_glossary **glossary, struct cw_lib_words *words, const char *folder,
                                 const char *name, struct cw_arena *arena, struct cw_error *err)
{
    if (!words->glossary && !words->asked) {
        words->asked = true;
        return cw_glossary_load_about(glossary, folder, name, arena, err);
    }
    return read_all_words(glossary, words, folder, err);
}

/* Returns the description of a metric or its base name, perhaps in `text`. Without a glossary it is "", with a notice.
 * NULL for an error. */
static const char *say(char *text, size_t size, const struct counterworks_chip *chip, const struct cw_metric *m,
                       const char *name, bool base, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_glossary *glossary;
    struct cw_error lost = CW_ERROR_INIT;
    if (m->type >= CW_METRIC_TYPE_COUNT)
        return cw_metric_remark(chip->chip, m->type, m->base);
    pthread_mutex_lock(&chip->words->lock);
    enum cw_status status = read_words(&glossary, chip->words, chip->folder, name, arena, &lost);
    pthread_mutex_unlock(&chip->words->lock);
    if (status == CW_ERR_IO) {
        struct cw_writer line;
        cw_writer_init(&line);
        cw_write_format(&line, "%s", lost.message);
        cw_lib_tell(chip, &line);
        return "";
    }
    if (status != CW_OK) {
        *err = lost;
        return NULL;
    }
    return base ? cw_describe(glossary, chip->chip, m->type, m->base, text, size)
                : cw_describe_metric(glossary, chip->chip, m, text, size);
}

static enum cw_status describe(struct described *d, const struct counterworks_chip *chip, const struct cw_metric *m,
                               const char *name, bool base, struct cw_error *err)
{
    char unit[128], text[CW_DESCRIPTION_MAX + 256] = "";
    const char *said = say(text, sizeof text, chip, m, name, base, d->arena, err);
    if (!said)
        return err->code;
    d->metric.type = (enum counterworks_metric_type)m->type;
    d->metric.unit = cw_arena_strdup(d->arena, cw_metric_dimension(chip->chip, m, unit, sizeof unit));
    d->metric.formula = cw_metric_formula(chip->chip, m, d->arena);
    d->metric.description = cw_arena_strdup(d->arena, said);
    bool good = d->metric.unit && d->metric.formula && d->metric.description;
    return good ? CW_OK : cw_error_nomem(err);
}

enum counterworks_status counterworks_metric_find(struct counterworks_metric **metric,
                                                  const struct counterworks_chip *chip, const char *name,
                                                  struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_metric m;
    struct described *d = calloc(1, sizeof *d);
    enum cw_metric_type type;
    uint32_t index;
    bool base = cw_chip_find(chip->chip, name, strlen(name), &type, &index);
    if (base)
        m = cw_metric_usual(chip->chip, type, index);
    enum cw_status status = base ? CW_OK : cw_metric_parse(&m, chip->chip, name, &call.err);
    cw_view_hint(&call.err, chip, CW_OF_BOTH, &name, 1);
    if (status == CW_OK && (!d || !(d->arena = cw_arena_create())))
        status = cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = describe(d, chip, &m, name, base, &call.err);
    *metric = status == CW_OK ? &d->metric : NULL;
    if (d && status != CW_OK)
        counterworks_metric_free(&d->metric);
    return cw_lib_finish(&call, status, error);
}

void counterworks_metric_free(struct counterworks_metric *metric)
{
    struct described *d = (struct described *)metric;
    if (d)
        cw_arena_destroy(d->arena);
    free(d);
}

/* ---- search ----------------------------------------------------------------------------------------------------- */

static bool is_searched(const void *chip, enum cw_metric_type type, uint32_t base)
{
    return is_of_ranges(chip, type, base);
}

static void tell_sets(const struct counterworks_chip *chip, const struct cw_found *found)
{
    for (size_t i = 0; i < found->answer_count; i++)
        for (size_t k = 0; k < found->answers[i].set_count; k++)
            if (!cw_found_set_before(found, i, found->answers[i].sets[k])) {
                struct cw_writer line;
                cw_writer_init(&line);
                cw_write_format(&line, "a set of metrics is about this, too: %s", found->answers[i].sets[k]);
                cw_lib_tell(chip, &line);
            }
}

static enum cw_status search(struct cw_found *found, const struct counterworks_chip *chip, const char *text,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct cw_find find = {
        .chip = chip->chip, .data = chip->folder, .text = text, .wanted = is_searched, .user = chip->chip};
    pthread_mutex_lock(&chip->words->lock);
    enum cw_status status = read_all_words(&find.glossary, chip->words, chip->folder, err);
    pthread_mutex_unlock(&chip->words->lock);
    return status == CW_OK ? cw_find_metrics(found, &find, arena, err) : status;
}

enum counterworks_status counterworks_metric_search(const struct counterworks_chip *chip, const char *text,
                                                    bool (*take)(void *, const char *), void *user,
                                                    struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    struct cw_found found = {0};
    char name[CW_METRIC_NAME_MAX];
    enum cw_status status = arena ? search(&found, chip, text, arena, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        tell_sets(chip, &found);
    for (size_t i = 0; i < found.count; i++) {
        const struct cw_metric m = cw_found_metric(chip->chip, &found.metrics[i]);
        if (!take(user, cw_metric_name(chip->chip, &m, name)))
            break;
    }
    if (status == CW_ERR_NOTHING) {
        struct cw_writer line;
        cw_writer_init(&line);
        cw_write_format(&line, "%s", call.err.message);
        cw_lib_tell(chip, &line);
        status = CW_OK;
    }
    cw_found_free(&found);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
