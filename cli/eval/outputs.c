/* Output files: -o FILE, with the format by its suffix or by --format. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "eval/output/perfetto.h"

/* ---- formats ---------------------------------------------------------------------------------------------------- */

static const struct cw_file_kind
    speedscope = {"JSON of speedscope", false, {"{\"$schema\": \"https://www.speedscope"}},
    chrome = {"JSON of Chrome's traces", false, {"{\"displayTimeUnit\": "}}, folded = {"folded stacks", false, {NULL}},
    ndjson = {"lines of JSON of metric-eval", false, {"{\"range\": ", "{\"sample\": ", "{\"device\": "}},
    perfetto = {"a trace of ours for Perfetto", true, {CW_PERFETTO_HEAD}},
    prometheus = {"Prometheus text", false, {"# TYPE "}}, plain_text = {"text", false, {NULL}},
    printed_json = {
        "JSON of metric-eval", false, {"{\n \"source\": ", "{\n \"range\": ", "{\"capture\": ", "{\"schema\": "}};

static const struct cw_eval_format formats[] = {
    {"text", CW_EVAL_PRINTED, CW_VIEW__COUNT, COUNTERWORKS_TABLE, &plain_text},
    {"json", CW_EVAL_PRINTED, CW_VIEW_JSON, COUNTERWORKS_TABLE, &printed_json},
    {"h5", CW_EVAL_TABLES | CW_EVAL_CELLS, CW_VIEW_HDF5, COUNTERWORKS_TABLE, &cw_file_hdf5},
    {"csv", CW_EVAL_TABLES | CW_EVAL_CSV | CW_EVAL_CELLS, CW_VIEW_CSV, COUNTERWORKS_TABLE, &cw_file_csv},
    {"json", CW_EVAL_TABLES, CW_VIEW_JSON, COUNTERWORKS_TABLE, &cw_file_json},
    {"html", CW_EVAL_PAGE, CW_VIEW_HTML, COUNTERWORKS_TABLE, &cw_file_report},
    {"ndjson", CW_EVAL_FOREIGN | CW_EVAL_CELLS, CW_VIEW_NDJSON, COUNTERWORKS_TABLE, &ndjson},
    {"folded", CW_EVAL_FOREIGN, CW_VIEW_FOLDED, COUNTERWORKS_STACKS, &folded},
    {"speedscope", CW_EVAL_FOREIGN, CW_VIEW_SPEEDSCOPE, COUNTERWORKS_STACKS, &speedscope},
    {"prometheus", CW_EVAL_FOREIGN, CW_VIEW_PROMETHEUS, COUNTERWORKS_MONITOR, &prometheus},
    {"perfetto", CW_EVAL_FOREIGN, CW_VIEW_PERFETTO, COUNTERWORKS_TIMELINE, &perfetto},
    {"chrome", CW_EVAL_FOREIGN, CW_VIEW_CHROME, COUNTERWORKS_TIMELINE, &chrome},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const struct cw_eval_format *of_view(enum cw_view_format format)
{
    size_t i = 0;
    while (i < FORMAT_COUNT && (formats[i].format != format || formats[i].taken_as == CW_EVAL_PRINTED))
        i++;
    assert(i < FORMAT_COUNT);
    return &formats[i];
}

/* Text has no suffix. */
static const char *suffix_of(const struct cw_eval_format *format)
{
    return format->format == CW_VIEW__COUNT ? NULL : *cw_view_suffixes[format->format];
}

static size_t suffix_length(const struct cw_eval_format *format, const char *path)
{
    return format->format == CW_VIEW__COUNT ? 0 : cw_view_suffix_length(format->format, path);
}

/* Lists the names, or suffixes, of a command's formats. */
static const char *list_formats(char *text, size_t size, unsigned takes, bool suffixes)
{
    size_t used = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].taken_as & takes && (!suffixes || suffix_of(&formats[i]))) {
            const char *one = suffixes ? suffix_of(&formats[i]) : formats[i].name;
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", one);
            assert(used < size);
        }
    return text;
}

/* Without a suffix, a file is HDF5, as is standard output. */
static bool has_no_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return cw_file_is_standard(path) || !strchr(name, '.');
}

/* Finds a format of these classes by its name, or without one by the suffix; NULL for none. */
static const struct cw_eval_format *find(unsigned takes, const char *name, const char *path)
{
    const struct cw_eval_format *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const size_t length = name ? strcmp(name, formats[i].name) == 0 : suffix_length(&formats[i], path);
        if (formats[i].taken_as & takes && length > longest) {
            found = &formats[i];
            longest = length;
        }
    }
    return found;
}

static const struct cw_eval_format *choose(const struct cw_eval_line *o, const char *path, struct argp_state *state)
{
    const struct cw_eval_format *found = find(o->takes, o->format, path);
    const bool table =
        !(o->takes & (CW_EVAL_TABLES | CW_EVAL_PRINTED)) && find(~(unsigned)CW_EVAL_PRINTED, o->format, path);
    const char *hint = table ? "; counterworks table writes it" : "";
    char all[256];
    if (found)
        return found;
    if (o->format)
        cw_usage_error(state, "found --format '%s', expected %s%s", o->format,
                       list_formats(all, sizeof all, o->takes, false), hint);
    if (o->takes & CW_EVAL_PRINTED && !find(~0u, NULL, path))
        return &formats[0];
    if (!(o->takes & CW_EVAL_TABLES) || !has_no_suffix(path))
        cw_usage_error(state, "found -o %s, expected --format, or a name that ends in %s%s", path,
                       list_formats(all, sizeof all, o->takes, true), hint);
    return of_view(CW_VIEW_HDF5);
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

/* Returns the member for a file of the format; NULL: `others`. */
static const char **member(struct cw_eval_line *o, const struct cw_eval_format *format)
{
    const bool csv = format->format == CW_VIEW_CSV && o->takes & CW_EVAL_TABLES;
    return csv                              ? &o->csv
           : format->format == CW_VIEW_HDF5 ? &o->hdf5
           : format->format == CW_VIEW_JSON ? &o->json
           : format->format == CW_VIEW_HTML ? &o->page
                                            : NULL;
}

static void put(struct cw_eval_line *o, const char *path, const struct cw_eval_format *format,
                const struct argp_state *state)
{
    const char **known = member(o, format), *taken = known ? *known : NULL;
    for (size_t i = 0; i < o->other_count; i++)
        taken = o->others[i].format == format ? o->others[i].path : taken;
    if (taken)
        cw_usage_error(state, "found %s and %s for %s, expected one file of a format", taken, path, format->name);
    if (known)
        *known = path;
    else
        o->others[o->other_count++] = (struct cw_eval_file){path, format};
}

/* Refuses options that do not fit the form. */
static void check_form(const struct cw_eval_line *o, const struct cw_eval_format *format,
                       const struct argp_state *state)
{
    const char *rows = cw_eval_option_of_rows(o);
    const bool metrics = o->request.every || o->sources.count;
    const char *ranges = cw_eval_option_of_ranges(o) ? cw_eval_option_of_ranges(o) : rows;
    if (format->form == COUNTERWORKS_TIMELINE && ranges)
        cw_usage_error(state, "found %s, expected none for a trace", ranges);
    if (rows)
        cw_usage_error(state, "found %s, expected none with %s", rows, format->name);
    if (format->form == COUNTERWORKS_STACKS && metrics)
        cw_usage_error(state, "found metrics, expected none for stacks, which have time or samples");
}

/* Refuses options in place of names, and reports of nsys, which would become pages of that name. */
static void check_paths(const struct cw_eval_line *o, const struct argp_state *state)
{
    struct cw_eval_file files[CW_EVAL_OUTPUTS_MAX];
    for (size_t i = cw_eval_outputs(files, o); i--;)
        if (*files[i].path == '-' && !cw_file_is_standard(files[i].path))
            cw_usage_error(state, "found '%s' as the file for %s, expected a name; --format %s alone prints it",
                           files[i].path, files[i].format->name, files[i].format->name);
    if (o->page && !strpbrk(o->page, "./") && (strstr(o->page, "_sum") || strstr(o->page, "_trace")))
        cw_usage_error(state,
                       "found --report '%s', expected FILE.html; nsys's reports are --by kernel, call, copy, nvtx",
                       o->page);
}

static void place(void *line, struct argp_state *state)
{
    struct cw_eval_line *o = line;
    const size_t count = o->outputs.count;
    if (o->format && strcmp(o->format, "text") == 0 && (o->takes & CW_EVAL_TABLES) && !count)
        return;
    if (o->format && count > 1)
        cw_usage_error(state, "found --format with %zu outputs, expected it with one", count);
    for (size_t i = 0; i < count; i++)
        put(o, o->outputs.items[i], choose(o, o->outputs.items[i], state), state);
    if (o->format && !count)
        put(o, "-", choose(o, "-", state), state);
    for (size_t i = 0; i < o->other_count; i++)
        check_form(o, o->others[i].format, state);
    check_paths(o, state);
}

static void take_perfetto(void *line, char *text, struct argp_state *state)
{
    put(line, text, of_view(CW_VIEW_PERFETTO), state);
}

const struct cw_option cw_eval_output_options[] = {
    {"output", 'o', "FILE", "write a file, whose suffix says the format; - is standard output; may be repeated",
     .called = "outputs", CW_OPTION_LIST(struct cw_eval_line, outputs.items, outputs.count)},
    {"format", 0, "FORMAT", "the format of the output (default: that of its suffix)",
     CW_OPTION_TEXT(struct cw_eval_line, format)},
    {CW_OPTION_GROUP(struct cw_eval_line, force, cw_cli_force_options)},
    {CW_OPTION_CHECK(place)},
    {0},
};

/* ---- outputs of commands that print ------------------------------------------------------------------------------ */

const struct cw_eval_format *cw_eval_printed_format(const struct cw_eval_line *o, const char *path)
{
    const struct cw_eval_format *found = o->takes & CW_EVAL_PRINTED ? find(o->takes, o->format, path) : NULL;
    return found ? found : &formats[0];
}

static void check_printed(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    const char *const *paths = o->outputs.items;
    if (o->format && o->outputs.count > 1)
        cw_usage_error(state, "found --format with %zu outputs, expected it with one", o->outputs.count);
    for (size_t i = 0; i < o->outputs.count; i++) {
        choose(o, paths[i], state);
        for (size_t k = 0; k < i; k++)
            if (cw_file_is_same(paths[k], paths[i]))
                cw_usage_error(state, "found %s as two outputs, expected another file for each", paths[i]);
    }
    if (o->format)
        choose(o, "-", state);
}

const struct cw_option cw_eval_format_options[] = {
    {"format", 0, "FORMAT", "the form: text (default) or json; a command with tables has csv, h5 and ndjson too",
     .called = "the format", CW_OPTION_TEXT(struct cw_eval_line, format)},
    {"output", 'o', "FILE", "write a file, whose suffix says the format, text for others; may be repeated",
     .called = "outputs", CW_OPTION_LIST(struct cw_eval_line, outputs.items, outputs.count)},
    {CW_OPTION_GROUP(struct cw_eval_line, force, cw_cli_force_options)},
    {CW_OPTION_CHECK(check_printed)},
    {0},
};

/* ---- CSV -------------------------------------------------------------------------------------------------------- */

enum cw_view_format cw_eval_csv_format(const struct cw_eval_line *o)
{
    const bool rows = o->takes & CW_EVAL_CSV; /* the command export of 0.1 had a line a value */
    return o->tidy || (o->compat && rows) ? CW_VIEW_TIDY : o->compat ? CW_VIEW_CSV_0 : CW_VIEW_CSV;
}

static void take_compat(void *line, char *text, struct argp_state *state)
{
    if (strcmp(text, "0") != 0)
        cw_usage_error(state, "found --compat '%s', expected 0", text);
    ((struct cw_eval_line *)line)->compat = true;
}

static void check_csv(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    bool csv = o->csv;
    for (size_t i = 0; i < o->other_count; i++)
        csv = csv || o->others[i].format->format == CW_VIEW_CSV;
    if (o->tidy && o->compat)
        cw_usage_error(state, "found --tidy and --compat, expected one of them");
    if ((o->tidy || o->compat) && !csv)
        cw_usage_error(state, "found %s, expected a file of CSV with it", o->tidy ? "--tidy" : "--compat");
}

const struct cw_option cw_eval_csv_options[] = {
    {"tidy", 0, NULL, "CSV with a line for each value, instead of a line for each row",
     CW_OPTION_FLAG(struct cw_eval_line, tidy)},
    {"compat", 0, "0", "CSV in the shape of version 0.1; the next release drops this option", CW_OPTION_RARE,
     CW_OPTION_TAKE(take_compat)},
    {CW_OPTION_CHECK(check_csv)},
    {0},
};

const struct cw_option cw_eval_file_options[] = {
    {"csv", 0, "FILE", "the same as --format csv -o FILE", CW_OPTION_RARE, CW_OPTION_TEXT(struct cw_eval_line, csv)},
    {"json", 0, "FILE", "the same as --format json -o FILE", CW_OPTION_RARE, CW_OPTION_TEXT(struct cw_eval_line, json)},
    {CW_OPTION_ROWS(cw_eval_output_options)},
    {CW_OPTION_ROWS(cw_eval_csv_options)},
    {0},
};

const struct cw_option cw_eval_perfetto_options[] = {
    {"perfetto", 0, "FILE", "the same as --format perfetto -o FILE", CW_OPTION_RARE, CW_OPTION_TAKE(take_perfetto)},
    {0},
};

const struct cw_option cw_eval_report_options[] = {
    {"report", 0, "FILE", "the same as --format html -o FILE", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct cw_eval_line, page)},
    {0},
};

size_t cw_eval_outputs(struct cw_eval_file files[CW_EVAL_OUTPUTS_MAX], const struct cw_eval_line *o)
{
    const struct cw_eval_file all[] = {{o->hdf5, of_view(CW_VIEW_HDF5)},
                                       {o->csv, of_view(CW_VIEW_CSV)},
                                       {o->json, of_view(CW_VIEW_JSON)},
                                       {o->page, of_view(CW_VIEW_HTML)}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].path)
            files[count++] = all[i];
    memcpy(files + count, o->others, o->other_count * sizeof *files);
    return count + o->other_count;
}
