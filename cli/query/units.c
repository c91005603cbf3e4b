/* metric-query units: the units of a chip, with their numbers of metrics. */
#include "cli/query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "metricdb/glossary.h"

struct options {
    struct cw_cli_chip chip;
    enum cw_query_format format;
};

/* A unit by its name in metrics, which may be a part of the chip's unit. */
struct row {
    const char *name;
    uint32_t unit, counts[CW_METRIC_TYPE_COUNT];
};

static const struct cw_option option_list[] = {
    {"format", 0, "text|csv|json", "the form of the table (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, format)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {0},
};

static enum cw_status count(struct row *rows, size_t *row_count, const struct cw_chip *chip, struct cw_arena *arena)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            size_t length, n = 0;
            if (!cw_chip_lists(chip, (enum cw_metric_type)t, i, CW_OF_RANGES))
                continue;
            const char *name = cw_query_unit_name(chip, (enum cw_metric_type)t, i, &length);
            while (n < *row_count && (strncmp(rows[n].name, name, length) != 0 || rows[n].name[length]))
                n++;
            if (n == *row_count) {
                rows[n].name = cw_arena_strndup(arena, name, length);
                rows[n].unit = cw_query_base(chip, (enum cw_metric_type)t, i).unit;
                if (!rows[n].name)
                    return CW_ERR_NOMEM;
                ++*row_count;
            }
            rows[n].counts[t]++;
        }
    return CW_OK;
}

static void print_json(const struct row *row, const struct cw_unit *unit, const char *meaning, bool first)
{
    fputs(first ? "[\n{\"unit\":" : ",\n{\"unit\":", stdout);
    cw_query_put(CW_TEXT_JSON, row->name, ",\"hardware_unit\":");
    cw_query_put(CW_TEXT_JSON, unit->name, ",\"instances\":");
    cw_text_print(stdout,
                  "%" PRIu32 ",\"counters\":%" PRIu32 ",\"ratios\":%" PRIu32 ",\"throughputs\":%" PRIu32
                  ",\"description\":",
                  unit->instances, row->counts[CW_COUNTER], row->counts[CW_RATIO], row->counts[CW_THROUGHPUT]);
    cw_query_put(CW_TEXT_JSON, meaning, "}");
}

static void print(const struct options *o, const struct cw_chip *chip, const struct cw_glossary *glossary,
                  const struct row *rows, size_t row_count)
{
    static const char *const numbers[] = {"%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%s\n",
                                          "%-8s  %-8s  %9" PRIu32 "  %8" PRIu32 "  %6" PRIu32 "  %11" PRIu32 "  "};
    enum { MEANING = 62 }; /* its column */
    bool aligned = o->format == CW_QUERY_TEXT && isatty(STDOUT_FILENO);
    if (o->format == CW_QUERY_CSV)
        puts("unit,hardware_unit,instances,counters,ratios,throughputs,description");
    else if (aligned)
        puts("unit      hardware  instances  counters  ratios  throughputs  what it is");
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        const struct cw_unit *unit = &chip->units[row->unit];
        const char *known = cw_glossary_unit(glossary, row->name), *meaning = known ? known : "";
        if (o->format == CW_QUERY_JSON)
            print_json(row, unit, meaning, i == 0);
        else if (o->format == CW_QUERY_TEXT) {
            cw_text_print(stdout, numbers[aligned], row->name, unit->name, unit->instances, row->counts[CW_COUNTER],
                          row->counts[CW_RATIO], row->counts[CW_THROUGHPUT], meaning);
            if (aligned) {
                cw_text_put_words(stdout, meaning, strlen(meaning), MEANING, cw_text_width(STDOUT_FILENO));
                putc('\n', stdout);
            }
        } else {
            cw_query_put(CW_TEXT_CELL, row->name, ",");
            cw_query_put(CW_TEXT_CELL, unit->name, ",");
            cw_text_print(stdout, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", unit->instances,
                          row->counts[CW_COUNTER], row->counts[CW_RATIO], row->counts[CW_THROUGHPUT]);
            cw_query_put(CW_TEXT_CELL, meaning, "\n");
        }
    }
    if (o->format == CW_QUERY_JSON)
        puts(row_count ? "\n]" : "[]");
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    const struct cw_chip *chip = handle->chip;
    const struct cw_glossary *glossary;
    CW_TRY(cw_glossary_load(&glossary, arena, err));
    size_t row_count = 0, most = (size_t)chip->counter_count + chip->ratio_count + chip->throughput_count;
    struct row *rows = cw_arena_alloc(arena, most, sizeof *rows);
    if (!rows || count(rows, &row_count, chip, arena) != CW_OK)
        return cw_error_nomem(err);
    print(o, chip, glossary, rows, row_count);
    return CW_OK;
}

int cw_query_units(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "",
        "Lists the units of a chip: the name in metrics and that of the hardware unit, the instances expected, the "
        "number of counters, ratios and throughputs, and a description.\v"
        "Example:\n  $0 --chip GH100"};
    struct options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}
