/* Data folders, chips, and what is known of metrics. */
#include <stdlib.h>
#include <string.h>

#include "lib/handles.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/glossary.h"
#include "metricdb/term_text.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum cw_status list_chips(struct counterworks *data, struct cw_error *err)
{
    const struct cw_chip_file *files;
    size_t count, n = 0;
    enum cw_status status = cw_chip_files(&files, &count, data->folder, data->arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++)
        data->chip_count += files[i].name_count;
    data->chips = cw_arena_alloc(data->arena, data->chip_count, sizeof *data->chips);
    if (status != CW_OK || !data->chips)
        return status == CW_OK ? cw_error_nomem(err) : status;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < files[i].name_count; k++)
            data->chips[n++] = files[i].names[k];
    qsort(data->chips, n, sizeof *data->chips, by_name);
    return CW_OK;
}

enum counterworks_status counterworks_open(struct counterworks **data, const char *folder,
                                           struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? CW_OK : CW_ERR_NOMEM;
    if (made && folder && !(made->folder = cw_arena_strdup(made->arena, folder)))
        status = CW_ERR_NOMEM;
    if (status == CW_OK)
        status = list_chips(made, &call.err);
    if (status != CW_OK)
        cw_lib_drop(made);
    *data = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

void counterworks_close(struct counterworks *data)
{
    cw_lib_drop(data);
}

size_t counterworks_chip_count(const struct counterworks *data)
{
    return data->chip_count;
}

const char *counterworks_chip_name(const struct counterworks *data, size_t index)
{
    return data->chips[index];
}

/* The chip's arena is destroyed by the last that needs it. */
static enum cw_status open_chip(struct counterworks_chip *made, const struct counterworks *data, const char *name,
                                struct cw_error *err)
{
    made->share = malloc(sizeof *made->share);
    if (!made->share)
        return cw_error_nomem(err);
    *made->share = (struct cw_lib_share){.users = 1, .arena = made->arena};
    if (data->folder && !(made->folder = cw_arena_strdup(made->arena, data->folder)))
        return cw_error_nomem(err);
    return cw_chip_load(&made->chip, data->folder, name, made->arena, err);
}

enum counterworks_status counterworks_chip_open(struct counterworks_chip **chip, const struct counterworks *data,
                                                const char *name, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_chip *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? open_chip(made, data, name, &call.err) : CW_ERR_NOMEM;
    if (status != CW_OK)
        counterworks_chip_close(made);
    *chip = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_chip_add_metrics(struct counterworks_chip *chip, const char *path,
                                                       struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    enum cw_status status = cw_formulas_load(&chip->chip, path, chip->arena, &call.err);
    return cw_lib_finish(&call, status, error);
}

void counterworks_chip_close(struct counterworks_chip *chip)
{
    if (chip && chip->share) {
        cw_lib_leave(chip->share);
        chip->arena = NULL;
    }
    cw_lib_drop(chip);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

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

void counterworks_metric_each(const struct counterworks_chip *chip, bool every, bool (*take)(void *, const char *),
                              void *user)
{
    bool more = true;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t base = 0; more && base < cw_metric_base_count(chip->chip, type); base++)
            more = take_variants(chip->chip, type, base, every, take, user);
}

struct described { /* a metric, which comes first, and where its texts are */
    struct counterworks_metric metric;
    struct cw_arena *arena;
};

static enum cw_status describe(struct described *d, const struct counterworks_chip *chip, const struct cw_metric *m,
                               const char *name, struct cw_error *err)
{
    char text[CW_DESCRIPTION_MAX];
    const struct cw_glossary *glossary;
    d->metric.type = (enum counterworks_metric_type)m->type;
    d->metric.unit = cw_arena_strdup(d->arena, cw_metric_dimension(chip->chip, m, text, sizeof text));
    d->metric.formula = cw_metric_formula(chip->chip, m, d->arena);
    enum cw_status status = cw_glossary_load_about(&glossary, chip->folder, name, d->arena, NULL);
    bool known = status == CW_OK;
    d->metric.description =
        cw_arena_strdup(d->arena, known ? cw_describe_metric(glossary, chip->chip, m, text, sizeof text) : "");
    bool good = status != CW_ERR_NOMEM && d->metric.unit && d->metric.formula && d->metric.description;
    return good ? CW_OK : cw_error_nomem(err);
}

enum counterworks_status counterworks_metric_find(struct counterworks_metric **metric,
                                                  const struct counterworks_chip *chip, const char *name,
                                                  struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_metric m;
    struct described *d = NULL;
    *metric = NULL;
    enum cw_status status = cw_metric_parse(&m, chip->chip, name, &call.err);
    if (status == CW_OK && (!(d = calloc(1, sizeof *d)) || !(d->arena = cw_arena_create())))
        status = cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = describe(d, chip, &m, name, &call.err);
    if (status == CW_OK)
        *metric = &d->metric;
    else if (d)
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
