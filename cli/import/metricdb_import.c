/* metricdb-import: writes facts from NVIDIA's host library as YAML files of chips. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/common/chip.h"
#include "cli/common/cli.h"
#include "import/facts.h"
#include "import/fit.h"
#include "import/learn.h"
#include "import/limit_tables.h"
#include "import/transfer.h"
#include "metricdb/chip_load.h"
#include "metricdb/chip_write.h"
#include "metricdb/data.h"

enum { MOST_EVIDENCE = 1024, LARGEST_FILE = 64 << 20, SOURCE_LINE = 1024 };

enum { RANGE, PM };

struct options {
    const char *chip, *output, *library, *limits_from, *formulas_from, *measured_from;
    const char *evidence[MOST_EVIDENCE];
    size_t evidence_count;
    bool all, learn[2]; /* by activity */
    bool mend, force;
};

/* NULL: both. */
static void choose_learned(void *learn, char *name, struct argp_state *state)
{
    bool *learned = learn;
    if (name && strcmp(name, "range") != 0 && strcmp(name, "pm") != 0)
        cw_usage_error(state, "found --learn=%s, expected range or pm", name);
    learned[RANGE] |= !name || *name == 'r';
    learned[PM] |= !name || *name == 'p';
}

static void check_options(void *options, struct argp_state *state)
{
    const struct options *o = options;
    if (!o->chip == !o->all)
        cw_usage_error(state, "one of --chip and --all is required");
    if (o->learn[RANGE] && o->learn[PM] && o->limits_from)
        cw_usage_error(state, "found --learn of all limits and --limits-from, expected one of them");
    if (o->all && (o->learn[RANGE] || o->learn[PM] || o->mend))
        cw_usage_error(state, "found --%s with --all, expected it with --chip: it takes minutes a chip",
                       o->mend ? "mend" : "learn");
    if (o->all && o->measured_from)
        cw_usage_error(state, "found --measured-from with --all, which keeps the facts of existing files");
    if (o->all && o->evidence_count)
        cw_usage_error(state, "found --evidence with --all, expected it with --chip: captures are of one chip");
}

static const struct cw_option option_list[] = {
    {"chip", 'c', "NAME", "the chip, by NVIDIA's name (GH100)", CW_OPTION_TEXT(struct options, chip)},
    {"all", 'a', NULL, "every chip of the library; facts that it lacks stay as in the existing files",
     CW_OPTION_FLAG(struct options, all)},
    {"output", 'o', "FILE", "the file (default: standard output); with --all a folder (default: data/chips)",
     CW_OPTION_TEXT(struct options, output)},
    {"force", 0, NULL, "with --chip: replace a file of the output's name, even if it is no chip's file",
     CW_OPTION_FLAG(struct options, force)},
    {"evidence", 'e', "FILE",
     "a native counter-data image of this chip (capture-agent --keep-native); confirms formulas and gives peak rates "
     "and instance counts; may be repeated",
     CW_OPTION_LIST(struct options, evidence, evidence_count)},
    {"formulas-from", 'F', "FILE",
     "take formulas from the file of another chip if names and raw counters agree (default with --all: the first file "
     "there that has peaks)",
     CW_OPTION_TEXT(struct options, formulas_from)},
    {"learn", 'L', "range|pm",
     "learn the limits of a pass by asking the library: in range profiling, in PM sampling, or in both (takes "
     "minutes); without this and --limits-from the file has no limits",
     CW_OPTION_READ(struct options, learn, choose_learned), .optional = true},
    {"limits-from", 'f', "FILE",
     "take limits of a pass from this chip file, unless they are learned; with --all, a folder that has NAME.yaml for "
     "some of the chips",
     CW_OPTION_TEXT(struct options, limits_from)},
    {"mend", 'M', NULL,
     "correct the limits of a pass in range profiling, learned or taken over, by the library's passes for common sets "
     "(takes minutes)",
     CW_OPTION_FLAG(struct options, mend)},
    {"measured-from", 'm', "FILE",
     "keep the measured facts of this chip file, and add facts from the evidence for other metrics",
     CW_OPTION_TEXT(struct options, measured_from)},
    {"library", 'l', "FILE", "NVIDIA's host library, if not in its usual place",
     CW_OPTION_TEXT(struct options, library)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

static void show_progress(const char *what)
{
    cw_text_print(stderr, "  %s\n", what);
}

struct job {
    const struct options *o;
    const struct cw_nvperf *library;
    const struct cw_chip *formulas; /* of another chip, or NULL */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- one chip --------------------------------------------------------------------------------------------------- */

/* Collected facts of a chip, before its text is written. */
struct draft {
    struct cw_facts *facts;
    const struct cw_chip *earlier; /* the earlier file, or NULL */
    const char *limits_from;
    bool may_drop_limits;   /* drop the earlier file's limits if the library changed */
    const char *pass_costs; /* the earlier file's line about costs of passes, or NULL */
    char formulas[SOURCE_LINE];
    struct cw_limit_table limits[2]; /* by activity */
};

/* Learns limits from metrics of ranges, which come first, so that one library always gives the same limits. */
static struct cw_facts of_ranges(const struct cw_facts *facts)
{
    struct cw_facts view = *facts;
    view.chip.counter_count = cw_chip_listed_count(&facts->chip, CW_COUNTER, CW_OF_RANGES);
    view.chip.ratio_count = cw_chip_listed_count(&facts->chip, CW_RATIO, CW_OF_RANGES);
    view.chip.throughput_count = cw_chip_listed_count(&facts->chip, CW_THROUGHPUT, CW_OF_RANGES);
    return view;
}

/* Learns the limits of range profiling anew. Their source tells how they did on other sets. */
static enum cw_status learn(const struct job *j, struct draft *d)
{
    struct cw_facts ranges = of_ranges(d->facts);
    struct cw_limit_table *table = &d->limits[RANGE];
    struct cw_learn_report r;
    cw_limit_table_free(table);
    cw_limit_table_init(table);
    enum cw_status status =
        cw_learn(&ranges, j->library, CW_NVPERF_PROFILER, table, &r, isatty(2) ? show_progress : NULL, j->err);
    if (status == CW_OK)
        snprintf(
            table->source, sizeof table->source,
            "limits: range profiling, learned by %llu questions to NVIDIA's host library; of fresh passes of our "
            "scheduler, from which nothing was learned, it refused %u of %u for %u random metric sets and %u of %u "
            "for %u natural ones",
            (unsigned long long)r.questions, r.random.refused, r.random.passes, r.random.sets, r.natural.refused,
            r.natural.passes, r.natural.sets);
    return status;
}

/* Learns how far PM sampling exceeds the limits of range profiling. */
static enum cw_status learn_pm(const struct job *j, struct draft *d)
{
    struct cw_facts ranges = of_ranges(d->facts);
    struct cw_limit_table *table = &d->limits[RANGE], *pm = &d->limits[PM];
    struct cw_learn_report r;
    cw_limit_table_free(pm);
    cw_limit_table_init(pm);
    if (!table->limits.size)
        return cw_error_set(j->err, CW_ERR_USAGE,
                            "found no limits of range profiling of %s, which learning of PM sampling needs, expected "
                            "--learn, or --limits-from a file that has some",
                            d->facts->chip.name);
    enum cw_status status = cw_relax(&ranges, j->library, table, &r, isatty(2) ? show_progress : NULL, j->err);
    if (status == CW_OK)
        snprintf(pm->source, sizeof pm->source,
                 "pm_limits: %u of the %u limits have more room in PM sampling, learned by %llu questions to NVIDIA's "
                 "host library; of fresh passes of our scheduler, from which nothing was learned, it refused %u of %u "
                 "for %u random metric sets and %u of %u for %u natural ones",
                 r.relaxed, r.limits, (unsigned long long)r.questions, r.random.refused, r.random.passes, r.random.sets,
                 r.natural.refused, r.natural.passes, r.natural.sets);
    return status;
}

/* Corrects the table of range profiling. Its source then tells how it does on new sets. */
static enum cw_status mend(const struct job *j, struct draft *d)
{
    struct cw_facts ranges = of_ranges(d->facts);
    struct cw_limit_table *table = &d->limits[RANGE];
    struct cw_learn_report r;
    if (!table->limits.size)
        return cw_error_set(j->err, CW_ERR_USAGE,
                            "found no limits of %s to mend, expected --learn, or --limits-from a file that has some",
                            d->facts->chip.name);
    cw_relax_strip(table);
    enum cw_status status =
        cw_mend(&ranges, j->library, CW_NVPERF_PROFILER, table, &r, isatty(2) ? show_progress : NULL, j->err);
    if (status == CW_OK)
        snprintf(
            table->source, sizeof table->source,
            "limits: range profiling, learned from NVIDIA's host library, then mended by %llu questions where its own "
            "passes or ours showed them wrong; of fresh passes of our scheduler, from which nothing was learned, it "
            "refused %u of %u for %u random metric sets and %u of %u for %u natural ones",
            (unsigned long long)r.questions, r.random.refused, r.random.passes, r.random.sets, r.natural.refused,
            r.natural.passes, r.natural.sets);
    return status;
}

/* Sets the limits of a pass: taken over, learned, or unknown. */
static enum cw_status limits(const struct job *j, struct draft *d)
{
    if (d->limits_from) {
        struct cw_error why = CW_ERROR_INIT;
        enum cw_status status = cw_limit_tables_read(d->facts, d->limits_from, &d->limits[RANGE], &d->limits[PM], &why);
        if (status != CW_OK && (status != CW_ERR_DIFFERS || !d->may_drop_limits)) {
            *j->err = why;
            return status;
        }
        if (status != CW_OK)
            cw_text_print(stderr, "metricdb-import: %s\n", why.message);
    }
    bool any = d->facts->chip.domain_count;
    enum cw_status status = any && j->o->learn[RANGE] ? learn(j, d) : CW_OK;
    if (status == CW_OK && j->o->mend)
        status = mend(j, d);
    if ((any && j->o->learn[RANGE]) || j->o->mend)
        *d->limits[PM].source = 0; /* its source was about limits that are gone */
    return status == CW_OK && any && j->o->learn[PM] ? learn_pm(j, d) : status;
}

/* Keeps an earlier file's lines about measurements. */
static void quote_measured(struct draft *d)
{
    for (uint32_t i = 0; i < d->earlier->source_count; i++)
        if (strncmp(d->earlier->source[i], "peaks", 5) == 0)
            snprintf(d->formulas, sizeof d->formulas, "%s", d->earlier->source[i]);
        else if (strncmp(d->earlier->source[i], "pass_costs", 10) == 0)
            d->pass_costs = d->earlier->source[i];
}

/* Adds the evidence for metrics of PM sampling alone, behind the evidence of an earlier file. */
static void add_samples(struct draft *d, size_t captures)
{
    char *before = strstr(d->formulas, "; what PM sampling alone has");
    size_t length = before ? (size_t)(before - d->formulas) : strlen(d->formulas);
    snprintf(d->formulas + length, sizeof d->formulas - length,
             "; what PM sampling alone has, to %zu native captures of samples", captures);
}

/* Copies formulas, peaks and similar facts, with their source. */
static enum cw_status formulas(const struct job *j, struct draft *d)
{
    size_t captures = j->o->evidence_count;
    bool other = j->formulas && strcmp(j->formulas->name, d->facts->chip.name) != 0;
    snprintf(d->formulas, sizeof d->formulas,
             "cycles, ratios: %s%s%sinferred from names and raw counters; peaks and instances are not known without "
             "captures of this chip",
             other ? "as " : "", other ? j->formulas->name : "",
             other ? " has them where raw counters agree, else " : "");
    if (captures)
        snprintf(d->formulas, sizeof d->formulas,
                 "peaks, instances, cycles, derived counters, ratios: fitted to %zu native captures", captures);
    enum cw_status status = cw_fit(d->facts, j->library, j->o->evidence, captures, j->err);
    if (status == CW_OK && other && !captures)
        status = cw_transfer_formulas(d->facts, j->formulas, j->err);
    if (status == CW_OK && d->earlier) {
        status = cw_transfer_facts(d->facts, d->earlier, j->err);
        quote_measured(d);
        if (captures)
            add_samples(d, captures);
    }
    cw_facts_settle_sampled(d->facts);
    return status;
}

static enum cw_status write_chip(const struct job *j, struct draft *d, struct cw_writer *text)
{
    struct cw_limit_table *range = &d->limits[RANGE], *pm = &d->limits[PM];
    cw_limit_table_init(range);
    cw_limit_table_init(pm);
    enum cw_status status = formulas(j, d);
    if (status == CW_OK)
        status = limits(j, d);
    const char *source[6] = {
        d->facts->chip.domain_count
            ? "names, units, dimensions, raw counters, domains, throughputs: imported from NVIDIA's host library"
            : "names, units, dimensions, raw counters, throughputs: imported from NVIDIA's host library, which makes "
              "no passes for this chip",
        d->formulas, *range->source ? range->source : "limits: none"};
    size_t n = 3;
    if (*pm->source)
        source[n++] = pm->source;
    if (d->pass_costs)
        source[n] = d->pass_costs;
    if (status == CW_OK) {
        cw_chip_write(&d->facts->chip, source, text);
        cw_limit_tables_write(range, pm, text);
        if (text->status != CW_OK)
            status = cw_error_nomem(j->err);
    }
    cw_limit_table_free(range);
    cw_limit_table_free(pm);
    return status;
}

static enum cw_status run_chip(const struct job *j)
{
    struct cw_facts facts;
    struct draft d = {.facts = &facts, .limits_from = j->o->limits_from};
    struct cw_writer text;
    cw_writer_init(&text);
    enum cw_status status = cw_facts_import(&facts, j->library, j->o->chip, j->arena, j->err);
    if (status == CW_OK && j->o->measured_from)
        status = cw_chip_load_file(&d.earlier, j->o->measured_from, j->arena, j->err);
    if (status == CW_OK)
        status = write_chip(j, &d, &text);
    if (status == CW_OK)
        status = cw_file_write(j->o->output ? j->o->output : "-", text.data, text.size, j->err);
    cw_writer_free(&text);
    return status;
}

/* ---- all chips -------------------------------------------------------------------------------------------------- */

static bool is_there(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISREG(at.st_mode);
}

/* Returns FOLDER/NAME.yaml, with the name in small letters; NULL when out of memory. */
static const char *chip_path(const struct job *j, const char *folder, const char *name)
{
    char lower[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof lower; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = 0;
    return cw_arena_printf(j->arena, "%s/%s.yaml", folder, lower);
}

/* Returns the limits given for a chip of the kind, in either spelling, else the earlier file's. */
static enum cw_status find_limits(const struct job *j, struct draft *d, const char *earlier)
{
    const struct cw_chip *chip = &d->facts->chip;
    d->limits_from = is_there(earlier) ? earlier : NULL;
    d->may_drop_limits = true;
    for (uint32_t i = 0; j->o->limits_from && i <= chip->also_count; i++) {
        const char *name = i ? chip->also[i - 1] : chip->name;
        const char *paths[] = {chip_path(j, j->o->limits_from, name),
                               cw_arena_printf(j->arena, "%s/%s.yaml", j->o->limits_from, name)};
        for (int k = 0; k < 2; k++) {
            if (!paths[k])
                return cw_error_nomem(j->err);
            if (is_there(paths[k])) {
                d->limits_from = paths[k];
                d->may_drop_limits = false;
                return CW_OK;
            }
        }
    }
    return CW_OK;
}

/* Writes the file of a kind, unless it has exactly this text already. */
static enum cw_status update(const struct job *j, struct cw_facts *facts, const char *path)
{
    struct draft d = {.facts = facts};
    struct cw_bytes before = {0};
    struct cw_writer text;
    cw_writer_init(&text);
    enum cw_status status = is_there(path) ? cw_file_read(&before, path, LARGEST_FILE, j->err) : CW_OK;
    if (status == CW_OK && before.data)
        status = cw_chip_parse(&d.earlier, before.data, before.size, path, j->arena, j->err);
    if (status == CW_OK)
        status = find_limits(j, &d, path);
    if (status == CW_OK)
        status = write_chip(j, &d, &text);
    bool same = before.data && before.size == text.size && memcmp(before.data, text.data, text.size) == 0;
    if (status == CW_OK && !same)
        status = cw_file_write(path, text.data, text.size, j->err);
    if (status == CW_OK) {
        cw_text_print(stdout, "%s: %s", path, facts->chip.name);
        for (uint32_t i = 0; i < facts->chip.also_count; i++)
            cw_text_print(stdout, " %s", facts->chip.also[i]);
        cw_text_print(stdout, ": %s\n", same ? "as before" : before.data ? "changed" : "new");
    }
    cw_writer_free(&text);
    cw_bytes_free(&before);
    return status;
}

/* Copies formulas from the first measured file to the others. */
static enum cw_status find_formulas(struct job *j, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count && !j->formulas; i++) {
        const struct cw_chip *chip;
        if (!is_there(paths[i]))
            continue;
        enum cw_status status = cw_chip_load_file(&chip, paths[i], j->arena, j->err);
        if (status != CW_OK)
            return status;
        if (cw_chip_measured(chip))
            j->formulas = chip;
    }
    return CW_OK;
}

static enum cw_status run_all(struct job *j)
{
    struct cw_facts *kinds;
    size_t count;
    char data[CW_PATH_MAX];
    enum cw_status status = j->o->output ? CW_OK : cw_data_dir(data, NULL, j->err);
    const char *folder = j->o->output ? j->o->output : cw_arena_printf(j->arena, "%s/chips", data);
    if (status == CW_OK)
        status = cw_chips_import(&kinds, &count, j->library, isatty(2) ? show_progress : NULL, j->arena, j->err);
    const char **paths = status == CW_OK ? cw_arena_alloc(j->arena, count, sizeof(const char *)) : NULL;
    for (size_t i = 0; paths && i < count; i++)
        if (!folder || !(paths[i] = chip_path(j, folder, kinds[i].chip.name)))
            paths = NULL;
    if (status == CW_OK && !paths)
        status = cw_error_nomem(j->err);
    if (status == CW_OK && !j->formulas)
        status = find_formulas(j, paths, count);
    for (size_t i = 0; status == CW_OK && i < count; i++)
        status = update(j, &kinds[i], paths[i]);
    return status;
}

/* ---- main ------------------------------------------------------------------------------------------------------- */

/* Heads of files that --all may replace: written here, or begun by people. It reads a file before it replaces it. */
static const struct cw_file_kind chip_file = {"a chip's file", false, {"# The ", "schema:"}};

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    (void)chip;
    struct job j = {.o = o, .arena = arena, .err = err};
    for (size_t i = 0; i < o->evidence_count; i++)
        CW_TRY(cw_file_keep(o->output, o->evidence[i], "evidence", err));
    CW_TRY(o->chip && o->output ? cw_file_may_replace(o->output, &chip_file, o->force, err) : CW_OK);
    CW_TRY(cw_nvperf_open(&j.library, o->library, err));
    if (o->formulas_from)
        CW_TRY(cw_chip_load_file(&j.formulas, o->formulas_from, arena, err));
    return o->all ? run_all(&j) : run_chip(&j);
}

int main(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "",
        "Writes the database of a chip, from facts in NVIDIA's host library. Needs no GPU.\v"
        "Examples:\n  $0 --chip GH100 --evidence run.cd -o gh100.yaml\n"
        "  $0 --all -o chips"};
    struct options options = {0};
    cw_cli_init();
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
