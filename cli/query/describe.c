/* metric-query describe: everything about a metric. */
#include "cli/query/query.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/unit.h"
#include "cli/common/cli.h"
#include "json/json_tree.h"
#include "metricdb/formula.h"
#include "metricdb/glossary.h"
#include "metricdb/term.h"

enum { MOST_METRICS = 4096 };

struct options {
    struct cw_cli_chip chip;
    bool json;
    const char *metrics[MOST_METRICS];
    size_t count;
};

/* Facts about one argument. */
struct facts {
    const char *name; /* as given */
    struct counterworks_metric *found;
    bool full;          /* a full name, not a base name */
    bool legacy;        /* a legacy name of CUPTI */
    struct cw_metric m; /* the metric behind `passes` and `found` for a base name */
    const char *type, *unit, *evidence;
    const char *formula; /* lines */
    const char *reading; /* meaning of high or low values, or NULL */
    const char *derived; /* formula that derives the counter from recorded ones, or NULL */
    uint32_t instances, passes, confirmed;
    double peak;
    struct cw_list counters, raws;
    const char *not_collected; /* why the number of passes is unknown, or NULL */
};

static void check_options(void *options, struct argp_state *state)
{
    if (!((const struct options *)options)->count)
        cw_usage_error(state, "found no metric to describe");
}

static const struct cw_option option_list[] = {
    {"format", 0, "text|json", "the form of the description (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, json)},
    {.called = "metrics", CW_OPTION_LIST(struct options, metrics, count)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

/* ---- gathering -------------------------------------------------------------------------------------------------- */

static enum cw_status find(struct facts *f, const struct counterworks_chip *chip, struct cw_error *err)
{
    struct counterworks_error error;
    enum cw_metric_type type;
    uint32_t base;
    counterworks_metric_find(&f->found, chip, f->name, &error);
    f->full = !cw_chip_find(chip->chip, f->name, strlen(f->name), &type, &base);
    if (f->full && f->found)
        cw_metric_parse(&f->m, chip->chip, f->name, NULL);
    else if (f->found)
        f->m = cw_metric_usual(chip->chip, type, base);
    return cw_cli_take(&error, err);
}

static void describe_formula(struct facts *f, const struct cw_formula *formula, struct cw_arena *arena)
{
    const char *file = strrchr(formula->path, '/');
    const char *where =
        formula->shipped
            ? cw_arena_printf(arena, "it comes with the data: formulas%s:%u", file ? file : "", formula->line)
            : cw_arena_printf(arena, "a metric of yours: %s:%u", formula->path, formula->line);
    f->unit = "";
    f->evidence = f->legacy ? "a name of CUPTI's, by formula; metric-query legacy says more"
                  : where   ? where
                            : "a metric of yours";
}

/* "32 * dram__sectors_read - x", and the meaning of the average if the terms have different instances. */
static const char *derivation(const struct cw_chip *chip, const struct cw_counter *c, struct cw_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; text && i < c->terms.count; i++) {
        double by = c->coefficients[i];
        char factor[40] = "";
        if (fabs(by) != 1)
            snprintf(factor, sizeof factor, "%g * ", fabs(by));
        text = cw_arena_printf(arena, "%s%s%s%s", text,
                               i        ? by < 0 ? " - " : " + "
                               : by < 0 ? "-"
                                        : "",
                               factor, chip->counters[c->terms.items[i]].name);
    }
    return text && c->per != 1 ? cw_arena_printf(arena, "%s, the average times %g", text, c->per) : text;
}

static bool within(const struct cw_list *a, const struct cw_list *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t k = 0;
        while (k < b->count && b->items[k] != a->items[i])
            k++;
        if (k == b->count)
            return false;
    }
    return true;
}

/* Whether simpler counters cover all raw counters of a recorded counter, so that it may follow from them. Among
 * counters with the same raw counters the first counts as simpler; with `any`, every other. */
static bool may_follow(const struct cw_chip *chip, uint32_t counter, bool any)
{
    const struct cw_list *raws = &chip->counters[counter].raws;
    for (uint32_t i = 0; i < raws->count; i++) {
        const struct cw_list one = {1, &raws->items[i]};
        bool found = false;
        for (uint32_t k = 0; k < chip->counter_count && !found; k++) {
            const struct cw_list *other = &chip->counters[k].raws;
            bool simpler =
                other->count < raws->count || (other->count == raws->count && (any ? k != counter : k < counter));
            found = simpler && !chip->counters[k].terms.count && within(&one, other) && within(other, raws);
        }
        if (!found)
            return false;
    }
    return raws->count != 0;
}

static void describe_counter(struct facts *f, const struct cw_chip *chip, uint32_t counter, struct cw_arena *arena)
{
    const struct cw_counter *c = &chip->counters[counter];
    f->peak = c->peak;
    f->instances = c->instances;
    if (c->terms.count) {
        const char *what = cw_counter_follows(chip, counter, CW_MIN)
                               ? "derived"
                               : "derived but for minimum and maximum, which are recorded";
        f->derived = derivation(chip, c, arena);
        const char *text = cw_arena_printf(arena, "%s; formula %s", what,
                                           c->confirmed ? "confirmed against captures"
                                                        : "inferred, not confirmed against a capture of this chip");
        f->evidence = text ? text : what;
    } else if (may_follow(chip, counter, false)) {
        f->evidence =
            "recorded: it has the raw counters of others, but no captures have confirmed how it follows from them";
    } else if (may_follow(chip, counter, true)) {
        f->evidence = "recorded: others with its raw counters may follow from it";
    } else {
        f->evidence = "recorded: there are no other counters that it could follow from";
    }
}

static void describe_base(struct facts *f, const struct cw_chip *chip, struct cw_arena *arena)
{
    uint32_t base = f->m.base;
    f->type = cw_metric_type_text(f->m.type);
    f->peak = NAN;
    if (f->m.type == CW_FORMULA) {
        describe_formula(f, &chip->formulas->items[base], arena);
        return;
    }
    if (f->m.type == CW_FACT) {
        f->unit = "";
        f->evidence = "recorded of each launch or its device; it costs no pass";
        return;
    }
    const struct cw_query_base facts = cw_query_base(chip, f->m.type, base);
    f->unit = chip->units[facts.unit].name;
    f->instances = chip->units[facts.unit].instances; /* a counter overrides it below */
    f->raws = *facts.raws;
    f->confirmed = facts.confirmed;
    if (f->m.type == CW_COUNTER) {
        describe_counter(f, chip, base, arena);
    } else if (f->m.type == CW_RATIO) {
        const struct cw_ratio *r = &chip->ratios[base];
        f->evidence = r->numerator == CW_NONE ? "no formula known"
                      : r->confirmed          ? "formula confirmed against captures"
                                              : "formula inferred, not confirmed against a capture";
    } else {
        const struct cw_throughput *t = &chip->throughputs[base];
        f->evidence = !t->counters.count && !t->throughputs.count ? "no constituents known"
                      : t->confirmed                              ? "constituents confirmed against captures"
                                     : "constituents imported, not confirmed against a capture";
    }
}

static void need(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((uint8_t *)context)[counter] = 1;
}

static enum cw_status list_marked(struct cw_list *list, const uint8_t *marks, uint32_t count, struct cw_arena *arena,
                                  struct cw_error *err)
{
    uint32_t n = 0, *items = cw_arena_alloc(arena, count, sizeof *items);
    if (!items)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        if (marks[i])
            items[n++] = i;
    *list = (struct cw_list){n, items};
    return CW_OK;
}

/* Finds the counters of a full name and their raw counters; without a formula, the base's raw counters. */
static enum cw_status gather_counters(struct facts *f, const struct cw_chip *chip, struct cw_arena *arena,
                                      struct cw_error *err)
{
    uint8_t *needed = cw_arena_alloc(arena, chip->counter_count, 1);
    uint8_t *raws = cw_arena_alloc(arena, chip->raw_count, 1);
    if (!needed || !raws)
        return cw_error_nomem(err);
    enum cw_status status =
        cw_metric_needs(&(struct cw_needs){.chip = chip, .add = need, .context = needed}, &f->m, NULL);
    if (status != CW_OK) /* no formula */
        return status == CW_ERR_NOMEM ? cw_error_nomem(err) : CW_OK;
    status = list_marked(&f->counters, needed, chip->counter_count, arena, err);
    if (status != CW_OK || !f->full)
        return status;
    for (uint32_t i = 0; i < f->counters.count; i++) {
        const struct cw_list *of = &chip->counters[f->counters.items[i]].raws;
        for (uint32_t k = 0; k < of->count; k++)
            raws[of->items[k]] = 1;
    }
    return list_marked(&f->raws, raws, chip->raw_count, arena, err);
}

static enum cw_status count_passes(struct facts *f, const struct counterworks_chip *chip, struct cw_arena *arena,
                                   struct cw_error *err)
{
    char name[CW_METRIC_NAME_MAX];
    const char *names[] = {cw_metric_name(chip->chip, &f->m, name)};
    struct counterworks_plan *plan;
    struct counterworks_error why;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    options.prefer = COUNTERWORKS_PASSES;
    if (counterworks_plan_make(&plan, chip, names, 1, &options, &why) == COUNTERWORKS_OK)
        f->passes = counterworks_plan_passes(plan, NULL);
    else
        f->not_collected = cw_arena_strdup(arena, why.message);
    counterworks_plan_free(plan);
    bool good = why.status != COUNTERWORKS_NOMEM && (f->not_collected || why.status == COUNTERWORKS_OK);
    return good ? CW_OK : cw_error_nomem(err);
}

/* Lists possible sub-metrics of a base name, and the formula of a ratio or throughput. */
static const char *base_formula(const struct facts *f, struct cw_arena *arena)
{
    const struct cw_metric *m = &f->m;
    if (m->type == CW_COUNTER)
        return "with .sum, .avg, .min or .max, and perhaps .per_second, .per_cycle_active, "
               ".pct_of_peak_sustained_elapsed ...";
    return cw_arena_printf(arena, "with .%s%s%s: %s", m->type == CW_RATIO ? "" : cw_rollup_text(m->rollup),
                           m->type == CW_RATIO ? "" : ".", cw_submetric_text(m->sub), f->found->formula);
}

static enum cw_status gather(struct facts *f, const struct counterworks_chip *chip, struct cw_arena *arena,
                             struct cw_error *err)
{
    enum cw_status status = find(f, chip, err);
    if (status != CW_OK)
        return status;
    describe_base(f, chip->chip, arena);
    f->formula = f->full ? f->found->formula : base_formula(f, arena);
    status = f->formula ? gather_counters(f, chip->chip, arena, err) : cw_error_nomem(err);
    return status == CW_OK ? count_passes(f, chip, arena, err) : status;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static void print_words(const char *label, const char *text, size_t length)
{
    enum { COLUMN = 16 };
    cw_text_print(stdout, "  %-13s ", label);
    cw_text_put_words(stdout, text, length, COLUMN, cw_text_width(STDOUT_FILENO));
    putc('\n', stdout);
}

static void print_line(const char *label, const char *text)
{
    print_words(label, text, strlen(text));
}

/* Prints a trusted text with several lines. */
static void print_lines(const char *label, const char *lines)
{
    for (const char *end; *lines; lines = *end ? end + 1 : end, label = "") {
        end = lines + strcspn(lines, "\n");
        print_words(label, lines, (size_t)(end - lines));
    }
}

static void print_raws(const struct facts *f, const struct cw_chip *chip)
{
    for (uint32_t i = 0; i < f->raws.count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[f->raws.items[i]];
        cw_text_print(stdout, "  %-13s 0x%016" PRIx64 " in", i ? "" : "raw counters", raw->id);
        for (uint32_t k = 0; k < raw->placement_count; k++)
            cw_text_print(stdout, "%s %s", k ? " or" : "",
                          chip->domains[chip->placements[raw->placement + k].domain].name);
        cw_text_print(stdout, "\n");
    }
}

static void print_unit(const struct facts *f, const struct cw_chip *chip)
{
    cw_text_print(stdout, "  %-13s %s", "unit", f->unit);
    if (f->instances)
        cw_text_print(stdout, ", %" PRIu32 " instance%s expected\n", f->instances, f->instances == 1 ? "" : "s");
    else if (cw_chip_measured(chip))
        cw_text_print(stdout, ", none on the devices that the database was made from\n");
    else
        cw_text_print(stdout, ", instances not known: the database was made without captures of %s\n", chip->name);
}

static void print_text(const struct facts *f, const struct cw_chip *chip)
{
    char unit[CW_UNIT_SIZE];
    cw_text_print(stdout, "%s\n", f->name);
    if (*f->found->description)
        print_line("meaning", f->found->description);
    if (f->reading)
        print_line("in practice", f->reading);
    print_line("type", f->type);
    if (*f->unit)
        print_unit(f, chip);
    print_line("measured in", cw_unit_or_one(f->found->unit, unit));
    (f->m.type == CW_THROUGHPUT ? print_lines : print_line)("formula", f->formula);
    if (f->derived)
        print_line("derived as", f->derived);
    for (uint32_t i = 0; i < f->counters.count; i++)
        print_line(i ? "" : "counters", chip->counters[f->counters.items[i]].name);
    print_raws(f, chip);
    if (!isnan(f->peak) && f->instances)
        cw_text_print(stdout, "  %-13s %g for each cycle and instance, %g in all\n", "peak", f->peak,
                      f->peak * f->instances);
    else if (!isnan(f->peak))
        cw_text_print(stdout, "  %-13s %g for each cycle and instance\n", "peak", f->peak);
    else if (f->m.type == CW_COUNTER && !cw_chip_measured(chip))
        cw_text_print(stdout, "  %-13s not known; captures bring that of their device\n", "peak");
    cw_text_print(stdout, "  %-13s %s", "evidence", f->evidence);
    if (f->confirmed)
        cw_text_print(stdout, " (%" PRIu32 ")", f->confirmed);
    cw_text_print(stdout, "\n");
    if (!f->counters.count && f->passes) /* even without counters, a plan has one pass */
        print_line("passes", "none: it needs no counter");
    else if (f->not_collected)
        print_line("passes", f->not_collected);
    else
        cw_text_print(stdout, "  %-13s %" PRIu32 " when collected alone\n", "passes", f->passes);
}

static json_t *json_of_domains(const struct cw_raw_counter *raw, const struct cw_chip *chip)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < raw->placement_count; k++)
        cw_json_append(&list, json_string(chip->domains[chip->placements[raw->placement + k].domain].name));
    return list;
}

static json_t *json_of_raws(const struct facts *f, const struct cw_chip *chip)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->raws.count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[f->raws.items[i]];
        char id[32];
        snprintf(id, sizeof id, "0x%016" PRIx64, raw->id);
        cw_json_append(&list, json_pack("{s:s, s:o}", "id", id, "domains", json_of_domains(raw, chip)));
    }
    return list;
}

static json_t *json_of_counters(const struct facts *f, const struct cw_chip *chip)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->counters.count; i++)
        cw_json_append(&list, json_string(chip->counters[f->counters.items[i]].name));
    return list;
}

static json_t *json_of(const struct facts *f, const struct cw_chip *chip)
{
    return json_pack("{s:s, s:s, s:s?, s:s, s:s, s:I, s:s, s:s, s:s?, s:o, s:o, s:o, s:s, s:I, s:o}", "name", f->name,
                     "description", f->found->description, "reading", f->reading, "type", f->type, "hardware_unit",
                     f->unit, "instances", (json_int_t)f->instances, "unit", f->found->unit, "formula", f->formula,
                     "derived_as", f->derived, "counters", json_of_counters(f, chip), "raw_counters",
                     json_of_raws(f, chip), "peak", isnan(f->peak) ? json_null() : json_real(f->peak), "evidence",
                     f->evidence, "confirmed", (json_int_t)f->confirmed, "passes",
                     f->not_collected    ? json_null()
                     : f->counters.count ? json_integer(f->passes)
                                         : json_integer(0));
}

static enum cw_status print_json(const struct facts *facts, size_t count, const struct cw_chip *chip,
                                 struct cw_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        cw_json_append(&list, json_of(&facts[i], chip));
    enum cw_status status = cw_json_print(list, JSON_INDENT(2) | JSON_PRESERVE_ORDER, stdout, err);
    cw_text_print(stdout, "\n");
    return status;
}

static enum cw_status read_glossary(struct facts *f, const struct cw_chip *chip, struct cw_arena *arena,
                                    struct cw_error *err)
{
    const struct cw_glossary *glossary;
    const char *base = f->m.type < CW_METRIC_TYPE_COUNT ? cw_chip_base_name(chip, f->m.type, f->m.base) : f->name;
    struct cw_error lost = CW_ERROR_INIT;
    enum cw_status status = cw_glossary_load_if_there(&glossary, NULL, base, arena, &lost);
    if (status == CW_ERR_IO && !*f->found->description)
        return CW_OK; /* an earlier call reported it */
    if (status != CW_OK)
        *err = lost;
    f->reading = glossary ? cw_glossary_reading(glossary, base) : NULL;
    return status;
}

static enum cw_status describe(const struct options *o, struct counterworks_chip *chip, struct facts *facts,
                               struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    uint32_t own = chip->chip->formulas ? chip->chip->formulas->count : 0;
    counterworks_chip_add_legacy(chip, o->metrics, o->count, &error);
    enum cw_status status = cw_cli_take(&error, err);
    for (size_t i = 0; status == CW_OK && i < o->count; i++) {
        facts[i].name = o->metrics[i];
        facts[i].legacy = cw_formulas_find(chip->chip, o->metrics[i]) >= own;
        status = gather(&facts[i], chip, arena, err);
        if (status == CW_OK)
            status = read_glossary(&facts[i], chip->chip, arena, err);
    }
    if (status == CW_OK && o->json)
        return print_json(facts, o->count, chip->chip, err);
    for (size_t i = 0; status == CW_OK && i < o->count; i++) {
        fputs(i ? "\n" : "", stdout);
        print_text(&facts[i], chip->chip);
    }
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct facts *facts = cw_arena_alloc(arena, o->count, sizeof *facts);
    enum cw_status status = facts ? describe(o, chip, facts, arena, err) : cw_error_nomem(err);
    for (size_t i = 0; facts && i < o->count; i++)
        counterworks_metric_free(facts[i].found);
    return status;
}

int cw_query_describe(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "METRIC...",
        "Describes metrics, each by its full name (sm__inst_executed.sum) or its base name (sm__inst_executed).\v"
        "Example:\n  $0 --chip GH100 lts__t_sector_hit_rate.pct"};
    static struct options options;
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}
