/* metric-query complete: completions of a word on a command line, for shells. */
#include "cli/query/query.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"

enum { MOST_CHIPS = 256 };

struct options {
    const char *chip, *what, *prefix;
    bool quiet; /* it prints only data */
};

/* Chips whose names are offered; without --chip, of every file. */
struct chips {
    size_t count;
    const struct cw_chip *items[MOST_CHIPS];
};

static void add_word(void *options, char *word, struct argp_state *state)
{
    struct options *o = options;
    if (o->prefix)
        cw_usage_error(state, "found '%s', expected nothing after the word", word);
    *(o->what ? &o->prefix : &o->what) = word;
}

static void check_options(void *options, struct argp_state *state)
{
    if (!((const struct options *)options)->what)
        cw_usage_error(state, "found nothing to complete, expected chips, sets, units or metrics");
}

static const struct cw_option option_list[] = {
    {"chip", 'c', "NAME", "the chip that has the units and metrics (default: any)",
     CW_OPTION_TEXT(struct options, chip)},
    {CW_OPTION_GROUP(struct options, quiet, cw_cli_quiet_options)},
    {CW_OPTION_TAKE(add_word)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

static void offer(const char *word)
{
    cw_text_print(stdout, "%s\n", word);
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum cw_status complete_chips(const char *prefix, struct cw_error *err)
{
    struct counterworks *data;
    struct counterworks_error error;
    counterworks_open(&data, NULL, &error);
    for (size_t i = 0; data && i < counterworks_chip_count(data); i++)
        if (begins(counterworks_chip_name(data, i), prefix))
            offer(counterworks_chip_name(data, i));
    counterworks_close(data);
    return cw_cli_take(&error, err);
}

static bool offer_set(void *prefix, const char *name, const char *title, size_t count)
{
    (void)title;
    (void)count;
    if (begins(name, prefix))
        offer(name);
    return true;
}

static enum cw_status complete_sets(const char *prefix, struct cw_error *err)
{
    struct counterworks *data;
    struct counterworks_error error;
    if (counterworks_open(&data, NULL, &error) == COUNTERWORKS_OK)
        counterworks_set_each(data, offer_set, (void *)(uintptr_t)prefix, &error);
    counterworks_close(data);
    return cw_cli_take(&error, err);
}

/* By file: most files have several names. */
static enum cw_status load_chips(struct chips *chips, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip_file *files;
    size_t count;
    enum cw_status status = cw_chip_files(&files, &count, NULL, arena, err);
    for (size_t i = 0; status == CW_OK && i < count && i < MOST_CHIPS; i++)
        status = cw_chip_load_file(&chips->items[chips->count++], files[i].path, arena, err);
    return status;
}

/* Whether an earlier chip has offered the base name. */
static bool offered(const struct chips *chips, size_t n, const char *name)
{
    enum cw_metric_type type;
    uint32_t index;
    for (size_t i = 0; i < n; i++)
        if (cw_chip_find(chips->items[i], name, strlen(name), &type, &index))
            return true;
    return false;
}

/* Offers base names, and full names once the base is typed: all full names would be a quarter of a million. */
static void complete_base(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, const char *prefix)
{
    const char *name = cw_chip_base_name(chip, type, base);
    size_t length = strlen(name);
    if (begins(name, prefix))
        offer(name);
    bool whole = begins(prefix, name) && (prefix[length] == '.' || !prefix[length]);
    for (uint32_t v = 0; whole && v < cw_metric_variants(type); v++) {
        char full[CW_METRIC_NAME_MAX];
        struct cw_metric m = cw_metric_variant(type, base, v);
        if (begins(cw_metric_name(chip, &m, full), prefix))
            offer(full);
    }
}

static void complete_metrics(const struct chips *chips, const char *prefix)
{
    for (size_t n = 0; n < chips->count; n++)
        for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
            for (uint32_t i = 0; i < cw_chip_base_count(chips->items[n], (enum cw_metric_type)t); i++)
                if (!offered(chips, n, cw_chip_base_name(chips->items[n], (enum cw_metric_type)t, i)))
                    complete_base(chips->items[n], (enum cw_metric_type)t, i, prefix);
}

static void complete_units(const struct chips *chips, const char *prefix)
{
    for (size_t n = 0; n < chips->count; n++)
        for (uint32_t i = 0; i < chips->items[n]->unit_count; i++) {
            const char *name = chips->items[n]->units[i].name;
            bool before = false;
            for (size_t k = 0; k < n && !before; k++)
                for (uint32_t u = 0; u < chips->items[k]->unit_count; u++)
                    before |= strcmp(chips->items[k]->units[u].name, name) == 0;
            if (!before && begins(name, prefix))
                offer(name);
        }
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct counterworks_chip *named = NULL;
    (void)handle;
    const char *prefix = o->prefix ? o->prefix : "";
    if (strcmp(o->what, "chips") == 0)
        return complete_chips(prefix, err);
    if (strcmp(o->what, "sets") == 0)
        return complete_sets(prefix, err);
    bool units = strcmp(o->what, "units") == 0;
    if (!units && strcmp(o->what, "metrics") != 0)
        return cw_error_set(err, CW_ERR_USAGE, "found '%.40s' to complete, expected chips, sets, units or metrics",
                            o->what);
    struct chips chips = {0};
    enum cw_status status = o->chip ? cw_cli_chip_open(&named, &(struct cw_cli_chip){.name = o->chip}, err)
                                    : load_chips(&chips, arena, err);
    if (named)
        chips = (struct chips){1, {named->chip}};
    if (status == CW_OK && units)
        complete_units(&chips, prefix);
    else if (status == CW_OK)
        complete_metrics(&chips, prefix);
    counterworks_chip_close(named);
    return status;
}

int cw_query_complete(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "chips|sets|units|metrics [WORD]",
        "Prints the completions of WORD, one a line, for shells. A metric is completed to "
        "its base name first, and then to full names.\v"
        "Example:\n  $0 metrics --chip GH100 lts__t_sector_hit"};
    struct options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
