/* Views of libcounterworks as a program uses them. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/counterworks/counterworks.h"

#define CAPTURES CW_SOURCE_DIR "/data/captures/"
#define DATA CW_SOURCE_DIR "/data"
#define GOOD(call) cr_assert_eq(call, COUNTERWORKS_OK, "%s", counterworks_error_text(&error, text, sizeof text))
#define BAD(call, code, words)                                                                                         \
    do {                                                                                                               \
        cr_expect_eq(call, code, "%s", error.message);                                                                 \
        cr_expect(strstr(error.message, words), "%s", error.message);                                                  \
    } while (0)

static struct counterworks_chip *gh100;
static struct counterworks_notices *notices;
static struct counterworks_error error;
static char text[1200], folder[32];

static void begin(void)
{
    strcpy(folder, "/tmp/library_view.XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    setenv("CW_DATA_DIR", DATA, 1);
    GOOD(counterworks_chip_open(&gh100, NULL, "GH100", &error));
    GOOD(counterworks_notices_open(&notices, &error));
}

static void end(void)
{
    char command[64];
    counterworks_notices_close(notices);
    counterworks_chip_close(gh100);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect(system(command) == 0);
}

TestSuite(library_view, .init = begin, .fini = end);

static struct counterworks_capture *open_capture(const char *name)
{
    struct counterworks_capture *capture;
    char path[256];
    snprintf(path, sizeof path, CAPTURES "%s", name);
    GOOD(counterworks_capture_open(&capture, path, &error));
    return capture;
}

static struct counterworks_capture *open_streamed(const char *name)
{
    struct counterworks_files_options options = COUNTERWORKS_FILES_OPTIONS;
    struct counterworks_capture *capture;
    char path[256];
    snprintf(path, sizeof path, CAPTURES "%s", name);
    options.streamed = true;
    GOOD(counterworks_capture_open_files(&capture, (const char *const[]){path}, 1, &options, NULL, &error));
    return capture;
}

static const struct counterworks_request nothing = {.size = sizeof nothing};

static struct counterworks_view *open_view(const struct counterworks_capture *capture,
                                           const struct counterworks_request *request)
{
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_view *view;
    counterworks_capture_describe(capture, &info);
    GOOD(counterworks_view_open(&view, capture, info.has_metrics ? gh100 : NULL, request, notices, &error));
    return view;
}

static struct counterworks_table table_of(const struct counterworks_view *view, size_t table)
{
    struct counterworks_table info = {.size = sizeof info};
    cr_assert_lt(table, counterworks_view_table_count(view));
    counterworks_view_table(view, table, &info);
    return info;
}

static size_t column_of(const struct counterworks_view *view, size_t table, const char *name)
{
    const size_t column = counterworks_view_find_column(view, table, name);
    cr_assert_lt(column, table_of(view, table).column_count, "%s", name);
    return column;
}

static const char *text_at(const struct counterworks_view *view, size_t table, uint64_t row, const char *name)
{
    const char *found;
    const struct counterworks_cells cells = {.column = column_of(view, table, name), .texts = &found};
    const struct counterworks_block block = {.size = sizeof block, .cells = &cells, .cell_count = 1};
    GOOD(counterworks_view_read(view, table, row, 1, &block, &error));
    return found;
}

static double real_at(const struct counterworks_view *view, size_t table, uint64_t row, const char *name)
{
    double found;
    const struct counterworks_cells cells = {.column = column_of(view, table, name), .reals = &found};
    const struct counterworks_block block = {.size = sizeof block, .cells = &cells, .cell_count = 1};
    GOOD(counterworks_view_read(view, table, row, 1, &block, &error));
    return found;
}

/* Prints a view, and looks for words in the text. */
static bool prints(const struct counterworks_view *view, const char *words)
{
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    GOOD(counterworks_view_print(view, out, NULL, &error));
    fclose(out);
    const bool found = strstr(shown, words);
    if (!found)
        cr_log_warn("%s", shown);
    free(shown);
    return found;
}

static bool file_has(const char *path, const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "grep -qF -- '%s' %s", words, path);
    return system(command) == 0;
}

/* ---- versions, notices, files ----------------------------------------------------------------------------------- */

Test(library_view, the_header_is_of_the_library)
{
    snprintf(text, sizeof text, "%d.%d.%d", COUNTERWORKS_VERSION_MAJOR, COUNTERWORKS_VERSION_MINOR,
             COUNTERWORKS_VERSION_PATCH);
    cr_expect_str_eq(text, counterworks_version());
    cr_expect(COUNTERWORKS_VERSION_AT_LEAST(0, 2, 0) && COUNTERWORKS_VERSION_AT_LEAST(0, 1, 9));
    cr_expect(!COUNTERWORKS_VERSION_AT_LEAST(0, 2, 1) && !COUNTERWORKS_VERSION_AT_LEAST(1, 0, 0));
}

Test(library_view, notices_are_a_list_of_different_lines)
{
    struct counterworks_capture *capture = open_capture("nvtx_trap.cwd");
    for (int i = 0; i < 2; i++)
        counterworks_view_close(open_view(capture, &nothing));
    cr_assert_eq(counterworks_notices_count(notices), 1);
    cr_expect(strstr(counterworks_notices_text(notices, 0), "it holds 15 whole ranges"));
    struct counterworks_view *view;
    GOOD(counterworks_view_open(&view, capture, gh100, NULL, NULL, &error));
    counterworks_view_close(view);
    counterworks_capture_close(capture);
    counterworks_notices_close(NULL);
}

Test(library_view, a_file_names_its_chip)
{
    struct counterworks_chip *chip;
    struct counterworks_plan *plan;
    static const char *const metrics[] = {"dram__bytes.sum"};
    GOOD(counterworks_plan_make(&plan, gh100, metrics, 1, NULL, &error));
    GOOD(counterworks_plan_save(plan, "plan.cwc", &error));
    counterworks_plan_free(plan);
    static const char *const files[] = {"plan.cwc", CAPTURES "gemm.cwd"};
    for (int i = 0; i < 2; i++) {
        GOOD(counterworks_chip_open_of(&chip, NULL, files[i], &error));
        counterworks_chip_close(chip);
    }
    cr_expect_eq(counterworks_chip_open_of(&chip, NULL, "/nowhere", &error), COUNTERWORKS_IO);
    cr_expect_eq(counterworks_chip_open_of(&chip, NULL, DATA "/glossary.yaml", &error), COUNTERWORKS_INPUT);
    cr_expect_null(chip);
}

Test(library_view, words_are_opened_as_one_capture)
{
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_files_options options = COUNTERWORKS_FILES_OPTIONS;
    struct counterworks_capture *capture;
    cr_assert_eq(system("mkdir runs && cp " CAPTURES "runs_1.cwd " CAPTURES "runs_2.cwd runs && touch runs/begun.cwd "
                        "&& ls runs/runs_*.cwd >list"),
                 0);
    static const char *const words[] = {"runs", "@list"};
    for (int i = 0; i < 2; i++) {
        GOOD(counterworks_capture_open_files(&capture, &words[i], 1, NULL, notices, &error));
        counterworks_capture_describe(capture, &info);
        cr_expect(info.row_count > 2 && info.has_metrics && info.profiler == COUNTERWORKS_RANGES);
        counterworks_capture_close(capture);
    }
    cr_assert_eq(counterworks_notices_count(notices), 1);
    cr_expect(strstr(counterworks_notices_text(notices, 0), "begun.cwd"), "%s", counterworks_notices_text(notices, 0));
    BAD(counterworks_capture_open_files(&capture, words, 0, NULL, NULL, &error), COUNTERWORKS_USAGE, "found no");
    cr_expect_null(capture);
    options.ranks = "none";
    BAD(counterworks_capture_open_files(&capture, words, 1, &options, NULL, &error), COUNTERWORKS_USAGE, "numbers");
    static const char *const others[] = {CAPTURES "gemm.cwd", CAPTURES "pc_gemm.cwd"};
    cr_expect_neq(counterworks_capture_open_files(&capture, others, 2, NULL, NULL, &error), COUNTERWORKS_OK);
    cr_expect_null(capture);
}

Test(library_view, folders_are_merged_and_indexed)
{
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_files_options options = COUNTERWORKS_FILES_OPTIONS;
    struct counterworks_capture *capture;
    static const char *const job = "job", *const all = "all.cwd";
    cr_assert_eq(system("mkdir job empty && " CW_MAKE_RANKS " " CAPTURES "transformer.cwd 4 job 8 2"), 0);
    cr_assert_eq(system("rm job/run.1.cwd"), 0);
    static const char *const cut = CAPTURES "nvtx_trap.cwd";
    GOOD(counterworks_capture_merge_files("cut.cwd", &cut, 1, notices, &error));
    cr_assert_eq(counterworks_notices_count(notices), 1);
    cr_expect_str_eq(counterworks_notices_text(notices, 0),
                     "cut.cwd: the capture is incomplete, as " CAPTURES "nvtx_trap.cwd is");
    GOOD(counterworks_capture_merge_files(all, &job, 1, notices, &error));
    GOOD(counterworks_capture_index("job", false, notices, &error));
    cr_expect_eq(access("job/run.cwi", R_OK), 0);
    options.ranks = "2";
    GOOD(counterworks_capture_open_files(&capture, &job, 1, &options, NULL, &error));
    counterworks_capture_describe(capture, &info);
    const uint64_t some = info.row_count;
    counterworks_capture_close(capture);
    GOOD(counterworks_capture_open(&capture, all, &error));
    counterworks_capture_describe(capture, &info);
    cr_expect_eq(info.row_count, 3 * some);
    counterworks_capture_close(capture);
    BAD(counterworks_capture_merge_files(all, &job, 0, NULL, &error), COUNTERWORKS_USAGE, "found no");
    static const char *const empty = "empty";
    cr_expect_eq(counterworks_capture_merge_files(all, &empty, 1, NULL, &error), COUNTERWORKS_INPUT);
    cr_expect_neq(counterworks_capture_index("/nowhere", false, NULL, &error), COUNTERWORKS_OK);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"sm__cycles_active.avg", "dram__bytes_read.sum"};

Test(library_view, a_metric_that_is_named_twice_is_there_once)
{
    static const char *const twice[] = {"dram__bytes_read.sum", "sm__cycles_active.avg", "dram__bytes_read.sum"};
    const struct counterworks_request requests[] = {
        {.size = sizeof *requests, .metrics = {3, twice}},
        {.size = sizeof *requests, .metrics = {3, twice}, .by = "kernel"},
    };
    struct counterworks_capture *capture = open_capture("transformer.cwd");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct counterworks_view *view = open_view(capture, &requests[i]);
        struct counterworks_view_metric_info first = {.size = sizeof first}, second = first;
        cr_assert_eq(table_of(view, 0).metric_count, 2);
        counterworks_view_metric(view, 0, 0, &first);
        counterworks_view_metric(view, 0, 1, &second);
        cr_expect(strcmp(first.name, twice[0]) == 0 && strcmp(second.name, twice[1]) == 0);
        counterworks_view_close(view);
    }
    counterworks_capture_close(capture);
}

Test(library_view, ranges_are_rows_with_values)
{
    struct counterworks_request request = {.size = sizeof request, .metrics = {2, names}, .full = true};
    struct counterworks_capture *capture = open_capture("transformer.cwd");
    struct counterworks_view *view = open_view(capture, &request);
    const struct counterworks_table table = table_of(view, 0);
    cr_expect_str_eq(table.name, "ranges");
    cr_assert(counterworks_view_table_count(view) == 1 && table.metric_count == 2 && table.row_count > 4);
    struct counterworks_view_metric_info metric = {.size = sizeof metric};
    counterworks_view_metric(view, 0, 1, &metric);
    cr_expect(strcmp(metric.name, names[1]) == 0 && strcmp(metric.unit, "bytes") == 0 && *metric.description &&
                  strcmp(metric.type, "counter") == 0,
              "%s %s %s %s", metric.name, metric.unit, metric.type, metric.description);
    const uint64_t rows = table.row_count;
    double *values = malloc(2 * rows * sizeof *values), *whole = malloc(2 * rows * sizeof *whole);
    int8_t *statuses = malloc(2 * rows), *of = malloc(2 * rows);
    struct counterworks_block block = {.size = sizeof block, .values = values, .statuses = statuses};
    for (uint64_t at = 0; at < rows; at += 3) { /* in blocks */
        block.values = values + 2 * at;
        block.statuses = statuses + 2 * at;
        GOOD(counterworks_view_read(view, 0, at, rows - at < 3 ? rows - at : 3, &block, &error));
    }
    GOOD(counterworks_evaluate(capture, gh100, names, 2, NULL, whole, of, &error));
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t m = 0; m < 2; m++)
            cr_expect(values[2 * r + m] == whole[m * rows + r] && statuses[2 * r + m] == of[m * rows + r]);
    struct counterworks_row row = {.size = sizeof row};
    counterworks_capture_row(capture, rows - 1, &row);
    cr_expect_str_eq(text_at(view, 0, rows - 1, "kernel"), row.kernel);
    int64_t grid[3], start;
    const struct counterworks_cells cells[] = {{.column = column_of(view, 0, "grid"), .integers = grid},
                                               {.column = column_of(view, 0, "host_start_ns"), .integers = &start}};
    block = (struct counterworks_block){.size = sizeof block, .cells = cells, .cell_count = 2};
    GOOD(counterworks_view_read(view, 0, rows - 1, 1, &block, &error));
    cr_expect(grid[0] == row.grid[0] && grid[1] == row.grid[1] && grid[2] == row.grid[2]);
    cr_expect_eq((uint64_t)start, row.start_ns);
    free(values);
    free(whole);
    free(statuses);
    free(of);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

Test(library_view, columns_are_described_once)
{
    static const char *const captures[] = {"transformer.cwd", "pm_gpus.cwd", "pc_gemm.cwd", "sass_gemm.cwd",
                                           "trace_train.cwd"};
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
        struct counterworks_capture *capture = open_capture(captures[i]);
        struct counterworks_view *view = open_view(capture, &nothing);
        cr_assert(counterworks_view_table_count(view));
        for (size_t t = 0; t < counterworks_view_table_count(view); t++) {
            cr_expect(table_of(view, t).column_count && *table_of(view, t).name, "%s", captures[i]);
            for (size_t c = 0; c < table_of(view, t).column_count; c++) {
                struct counterworks_column column = {.size = sizeof column};
                counterworks_view_column(view, t, c, &column);
                cr_expect(*column.name && column.unit && column.meaning);
                cr_expect_eq(counterworks_view_find_column(view, t, column.name), c, "%s: %s", captures[i],
                             column.name);
                cr_expect(column.width == 1 || column.type != COUNTERWORKS_TEXT);
            }
            cr_expect_eq(counterworks_view_find_column(view, t, "nothing"), table_of(view, t).column_count);
        }
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

Test(library_view, kernels_are_rows_of_ranges_and_of_traces)
{
    const struct counterworks_request request = {.size = sizeof request, .by = "kernel", .sort = "total", .top = 3};
    static const char *const captures[] = {"transformer.cwd", "trace_train.cwd"};
    for (int i = 0; i < 2; i++) {
        struct counterworks_capture *capture = open_capture(captures[i]);
        struct counterworks_view *view = open_view(capture, &request);
        struct counterworks_column column = {.size = sizeof column};
        cr_expect_str_eq(table_of(view, 0).name, "groups");
        cr_assert_eq(table_of(view, 0).row_count, 3);
        counterworks_view_column(view, 0, column_of(view, 0, "total_ns"), &column);
        cr_expect(column.type == COUNTERWORKS_REAL && strcmp(column.unit, "ns") == 0 && column.width == 1);
        cr_expect(real_at(view, 0, 0, "total_ns") > real_at(view, 0, 1, "total_ns"));
        cr_expect(*text_at(view, 0, 0, "group"));
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

Test(library_view, a_trace_has_a_table_for_each_kind)
{
    struct counterworks_request request = {.size = sizeof request, .kinds = "kernel"};
    struct counterworks_capture *capture = open_capture("trace_train.cwd");
    struct counterworks_view *view = open_view(capture, &request);
    cr_assert_eq(counterworks_view_table_count(view), 1);
    cr_expect_str_eq(table_of(view, 0).name, "kernel");
    struct counterworks_column column = {.size = sizeof column};
    counterworks_view_column(view, 0, column_of(view, 0, "name"), &column);
    cr_expect_eq(column.type, COUNTERWORKS_TEXT, "and not the number of one");
    counterworks_view_column(view, 0, column_of(view, 0, "start_ns"), &column);
    cr_expect_str_eq(column.unit, "nanoseconds since 1970-01-01");
    char *last = strdup(text_at(view, 0, table_of(view, 0).row_count - 1, "name"));
    const char *first = text_at(view, 0, 0, "name"); /* backwards as well */
    cr_expect(*last && *first);
    cr_expect_str_eq(text_at(view, 0, table_of(view, 0).row_count - 1, "name"), last);
    free(last);
    counterworks_view_close(view);
    request.kinds = "nothing";
    BAD(counterworks_view_open(&view, capture, NULL, &request, NULL, &error), COUNTERWORKS_USAGE, "kinds of rows");
    request = (struct counterworks_request){.size = sizeof request, .single = true};
    BAD(counterworks_view_open(&view, capture, NULL, &request, NULL, &error), COUNTERWORKS_USAGE, "one kind");
    counterworks_capture_close(capture);
}

Test(library_view, groups_of_multiplexed_ranges_have_a_spread)
{
    const struct counterworks_request request = {.size = sizeof request, .by = "kernel"};
    struct counterworks_capture *capture = open_capture("multiplexed.cwd");
    struct counterworks_view *view = open_view(capture, &request);
    const struct counterworks_table table = table_of(view, 0);
    cr_assert(table.spread && table.metric_count && table.row_count);
    uint32_t *occurrences = calloc(table.metric_count, sizeof *occurrences), greatest = 0;
    double *spreads = calloc(table.metric_count, sizeof *spreads);
    const struct counterworks_block block = {.size = sizeof block, .occurrences = occurrences, .spreads = spreads};
    GOOD(counterworks_view_read(view, 0, 0, 1, &block, &error));
    for (size_t m = 0; m < table.metric_count; m++)
        greatest = occurrences[m] > greatest ? occurrences[m] : greatest;
    cr_expect_gt(greatest, 1);
    free(occurrences);
    free(spreads);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

Test(library_view, wrong_blocks_are_refused)
{
    struct counterworks_capture *capture = open_capture("gemm.cwd");
    struct counterworks_view *view = open_view(capture, &nothing);
    double real;
    int64_t integer;
    struct counterworks_cells cells = {.column = column_of(view, 0, "kernel")};
    struct counterworks_block block = {.size = sizeof block, .cells = &cells, .cell_count = 1};
    BAD(counterworks_view_read(view, 1, 0, 1, &block, &error), COUNTERWORKS_USAGE, "found table 1");
    BAD(counterworks_view_read(view, 0, 0, 2, &block, &error), COUNTERWORKS_USAGE, "found 2 rows from 0 on");
    BAD(counterworks_view_read(view, 0, UINT64_MAX, 2, &block, &error), COUNTERWORKS_USAGE, "rows");
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_USAGE, "column kernel");
    cells.reals = &real;
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_USAGE, "expected one of const char *");
    cells = (struct counterworks_cells){.column = column_of(view, 0, "range"), .reals = &real, .integers = &integer};
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_USAGE, "expected one of int64_t");
    cells = (struct counterworks_cells){.column = 1000, .reals = &real};
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_USAGE, "found column 1000");
    block = (struct counterworks_block){.size = sizeof block, .spreads = &real};
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_USAGE, "no spread");
    block = (struct counterworks_block){.size = offsetof(struct counterworks_block, cells)};
    GOOD(counterworks_view_read(view, 0, 0, 1, &block, &error));
    counterworks_view_close(view);
    counterworks_view_close(NULL);
    counterworks_capture_close(capture);
}

Test(library_view, streamed_captures_have_the_same_rows)
{
    static const char *const captures[] = {"transformer.cwd", "pm_gpus.cwd"};
    for (int i = 0; i < 2; i++) {
        struct counterworks_capture *whole = open_capture(captures[i]), *streamed = open_streamed(captures[i]);
        struct counterworks_view *a = open_view(whole, &nothing), *b = open_view(streamed, &nothing);
        const struct counterworks_table table = table_of(a, 0);
        cr_assert_eq(table_of(b, 0).row_count, table.row_count);
        double *x = malloc(table.metric_count * sizeof *x), *y = malloc(table.metric_count * sizeof *y);
        struct counterworks_block to_x = {.size = sizeof to_x, .values = x}, to_y = {.size = sizeof to_y, .values = y};
        for (uint64_t r = 0; r < table.row_count; r += 7) {
            GOOD(counterworks_view_read(a, 0, r, 1, &to_x, &error));
            GOOD(counterworks_view_read(b, 0, r, 1, &to_y, &error));
            cr_expect_eq(memcmp(x, y, table.metric_count * sizeof *x), 0);
        }
        free(x);
        free(y);
        counterworks_view_close(a);
        counterworks_view_close(b);
        struct counterworks_row row = {.size = sizeof row};
        counterworks_capture_row(streamed, 0, &row);
        cr_expect(row.name && row.kernel);
        double value;
        int8_t status;
        BAD(counterworks_evaluate(streamed, gh100, names, 1, NULL, &value, &status, &error), COUNTERWORKS_UNSUPPORTED,
            "streamed");
        counterworks_capture_close(whole);
        counterworks_capture_close(streamed);
    }
}

Test(library_view, a_file_that_was_cut_meanwhile_is_an_error)
{
    struct counterworks_files_options options = COUNTERWORKS_FILES_OPTIONS;
    struct counterworks_capture *capture;
    static const char *const copy = "copy.cwd";
    double value[64];
    options.streamed = true;
    cr_assert_eq(system("cp " CAPTURES "transformer.cwd copy.cwd"), 0);
    GOOD(counterworks_capture_open_files(&capture, &copy, 1, &options, NULL, &error));
    const struct counterworks_request request = {.size = sizeof request, .metrics = {2, names}};
    struct counterworks_view *view = open_view(capture, &request);
    cr_assert_eq(truncate(copy, 1000), 0);
    const struct counterworks_block block = {.size = sizeof block, .values = value};
    BAD(counterworks_view_read(view, 0, 0, 1, &block, &error), COUNTERWORKS_IO, "cut meanwhile");
    BAD(counterworks_view_write(view, COUNTERWORKS_CSV, "out.csv", NULL, &error), COUNTERWORKS_IO, "cut meanwhile");
    cr_expect_neq(access("out.csv", F_OK), 0);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

/* ---- requests --------------------------------------------------------------------------------------------------- */

static void refuse(const struct counterworks_capture *capture, struct counterworks_request request, const char *words)
{
    struct counterworks_view *view;
    request.size = sizeof request;
    BAD(counterworks_view_open(&view, capture, gh100, &request, NULL, &error), COUNTERWORKS_USAGE, words);
    cr_expect_null(view);
}

Test(library_view, wrong_requests_are_refused)
{
    static const char *const empty = "";
    struct counterworks_capture *capture = open_capture("gemm.cwd");
    struct counterworks_view *view;
    refuse(capture, (struct counterworks_request){.ranks = "a"}, "found ranks 'a'");
    refuse(capture, (struct counterworks_request){.ranges = ""}, "empty text for ranges");
    refuse(capture, (struct counterworks_request){.kernels = {1, &empty}}, "among kernels");
    refuse(capture, (struct counterworks_request){.excluded = {1, &empty}}, "among excluded kernels");
    refuse(capture, (struct counterworks_request){.filters = {1, NULL}}, "among filters");
    refuse(capture, (struct counterworks_request){.metrics = {1, &empty}}, "among metrics");
    refuse(capture, (struct counterworks_request){.every = true, .metrics = {1, names}}, "one of them");
    refuse(capture, (struct counterworks_request){.form = (enum counterworks_form)9}, "form 9");
    refuse(capture, (struct counterworks_request){.least_gain = NAN}, "least gain");
    refuse(capture, (struct counterworks_request){.frame_ns = -1}, "a frame of -1 ns");
    refuse(capture, (struct counterworks_request){.region_ns = INFINITY}, "a region of inf ns");
    refuse(capture, (struct counterworks_request){.by = "process"}, "expected of ranges");
    refuse(capture, (struct counterworks_request){.kinds = "kernel"}, "of a trace alone");
    refuse(capture, (struct counterworks_request){.form = COUNTERWORKS_TIMELINE}, "no trace");
    refuse(capture, (struct counterworks_request){.ranges = "nothing"}, "nothing");
    refuse(capture, (struct counterworks_request){.by = "kernel", .sort = "nothing"}, "nothing");
    BAD(counterworks_view_open(&view, capture, NULL, NULL, NULL, &error), COUNTERWORKS_USAGE, "found no chip");
    struct counterworks_chip *other;
    GOOD(counterworks_chip_open(&other, NULL, "TU102", &error));
    cr_expect_eq(counterworks_view_open(&view, capture, other, NULL, NULL, &error), COUNTERWORKS_INPUT);
    counterworks_chip_close(other);
    counterworks_capture_close(capture);
    capture = open_capture("trace_train.cwd");
    refuse(capture, (struct counterworks_request){.metrics = {1, names}}, "has no metrics");
    counterworks_capture_close(capture);
}

Test(library_view, a_request_may_go_and_may_be_of_an_earlier_library)
{
    struct counterworks_capture *capture = open_capture("transformer.cwd");
    char kernel[] = "layer_norm", by[] = "kernel";
    const char *kernels[] = {kernel};
    struct counterworks_request request = {.size = sizeof request, .kernels = {1, kernels}, .by = by};
    struct counterworks_view *view = open_view(capture, &request);
    memset(kernel, 'x', sizeof kernel - 1);
    memset(by, 'x', sizeof by - 1);
    kernels[0] = NULL;
    memset(&request, 0xff, sizeof request);
    const uint64_t some = table_of(view, 0).row_count;
    GOOD(counterworks_view_write(view, COUNTERWORKS_CSV, "some.csv", NULL, &error));
    cr_expect(file_has("some.csv", "layer_norm"));
    counterworks_view_close(view);
    request.size = offsetof(struct counterworks_request, ranks);
    request.form = COUNTERWORKS_TABLE;
    view = open_view(capture, &request);
    cr_expect_gt(table_of(view, 0).row_count, some);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

/* ---- files and texts -------------------------------------------------------------------------------------------- */

Test(library_view, formats_have_ends)
{
    for (int f = 0; f < COUNTERWORKS_FORMAT_COUNT; f++) {
        const enum counterworks_format format = (enum counterworks_format)f;
        snprintf(text, sizeof text, "run%s", counterworks_format_suffix(format));
        const bool shares = format == COUNTERWORKS_TIDY || format == COUNTERWORKS_CSV_0;
        cr_expect_eq(counterworks_format_of(text), shares ? COUNTERWORKS_FORMAT_COUNT : format);
    }
    cr_expect_eq(counterworks_format_of("run.hdf5"), COUNTERWORKS_HDF5);
    cr_expect_eq(counterworks_format_of("run.trace.json"), COUNTERWORKS_CHROME);
    cr_expect_eq(counterworks_format_of(".json"), COUNTERWORKS_FORMAT_COUNT);
    cr_expect_eq(counterworks_format_of("json"), COUNTERWORKS_FORMAT_COUNT);
}

Test(library_view, files_are_those_of_the_command)
{
    static const struct {
        const char *capture, *by;
    } all[] = {{"transformer.cwd", NULL},    {"transformer.cwd", "family"}, {"pm_gpus.cwd", NULL},
               {"pc_gemm.cwd", NULL},        {"sass_gemm.cwd", NULL},       {"trace_train.cwd", NULL},
               {"trace_train.cwd", "stream"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct counterworks_request request = {.size = sizeof request, .by = all[i].by, .full = true};
        struct counterworks_capture *capture = open_capture(all[i].capture);
        struct counterworks_view *view = open_view(capture, &request);
        char command[512];
        GOOD(counterworks_view_save(view, "a.json", NULL, &error));
        GOOD(counterworks_view_save(view, "a.h5", NULL, &error));
        snprintf(command, sizeof command,
                 CW_METRIC_EVAL " -q " CAPTURES "%s %s %s --json b.json -o b.h5 >/dev/null && cmp a.json b.json && "
                                "cmp a.h5 b.h5 && rm b.json b.h5",
                 all[i].capture, all[i].by ? "--by" : "", all[i].by ? all[i].by : "");
        cr_expect_eq(system(command), 0, "%s", command);
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

Test(library_view, csv_is_that_of_the_command)
{
    static const char *const of[] = {"transformer.cwd", "transformer.cwd --by family", "pm_gpus.cwd", "pc_gemm.cwd",
                                     "trace_train.cwd --by stream"};
    static const struct {
        enum counterworks_format format;
        const char *option;
    } shapes[] = {{COUNTERWORKS_CSV, ""}, {COUNTERWORKS_TIDY, "--tidy"}, {COUNTERWORKS_CSV_0, "--compat 0"}};
    for (size_t i = 0; i < 3 * sizeof of / sizeof *of; i++) {
        char file[64], command[512];
        const char *by = strstr(of[i / 3], "--by "), *option = shapes[i % 3].option;
        const struct counterworks_request request = {.size = sizeof request, .by = by ? by + strlen("--by ") : NULL};
        snprintf(file, sizeof file, "%.*s", (int)strcspn(of[i / 3], " "), of[i / 3]);
        struct counterworks_capture *capture = open_capture(file);
        struct counterworks_view *view = open_view(capture, &request);
        GOOD(counterworks_view_write(view, shapes[i % 3].format, "a.csv", NULL, &error));
        snprintf(command, sizeof command, CW_METRIC_EVAL " -q " CAPTURES "%s %s -o b.csv && cmp a.csv b.csv", of[i / 3],
                 option);
        cr_expect_eq(system(command), 0, "%s", command);
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

/* The first line of the CSV of a capture's kernels. */
static void read_head(const char *name, char *head, int size)
{
    const struct counterworks_request request = {.size = sizeof request, .by = "kernel"};
    struct counterworks_capture *capture = open_capture(name);
    struct counterworks_view *view = open_view(capture, &request);
    GOOD(counterworks_view_save(view, "head.csv", NULL, &error));
    FILE *in = fopen("head.csv", "r");
    cr_assert(in && fgets(head, size, in));
    fclose(in);
    head[strcspn(head, "\n")] = 0;
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

Test(library_view, kernels_of_ranges_and_of_a_trace_have_the_same_columns)
{
    char ranges[8192], trace[8192];
    read_head("reduce.cwd", ranges, sizeof ranges);
    read_head("trace_train.cwd", trace, sizeof trace);
    cr_expect(strncmp(ranges, trace, strlen(trace)) == 0 && strncmp(ranges + strlen(trace), ",status,", 8) == 0, "%s",
              trace);
}

Test(library_view, each_form_has_its_formats)
{
    static const struct {
        const char *capture;
        enum counterworks_form form;
        enum counterworks_format format;
        const char *words;
    } all[] = {
        {"transformer.cwd", COUNTERWORKS_TABLE, COUNTERWORKS_CSV, "host_end_ns,status,"},
        {"transformer.cwd", COUNTERWORKS_TABLE, COUNTERWORKS_TIDY, "host_end_ns,metric,unit,value,status"},
        {"transformer.cwd", COUNTERWORKS_TABLE, COUNTERWORKS_CSV_0, "range,name,kernel,metric,unit,value,status"},
        {"transformer.cwd", COUNTERWORKS_TABLE, COUNTERWORKS_NDJSON, "{\"range\": 0"},
        {"transformer.cwd", COUNTERWORKS_STACKS, COUNTERWORKS_FOLDED, "DeviceRadixSort"},
        {"pc_gemm.cwd", COUNTERWORKS_STACKS, COUNTERWORKS_SPEEDSCOPE, "speedscope"},
        {"transformer.cwd", COUNTERWORKS_MONITOR, COUNTERWORKS_PROMETHEUS, "# TYPE"},
        {"trace_train.cwd", COUNTERWORKS_TIMELINE, COUNTERWORKS_PERFETTO, "sm80_xmma"},
        {"trace_train.cwd", COUNTERWORKS_TIMELINE, COUNTERWORKS_CHROME, "displayTimeUnit"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct counterworks_request request = {.size = sizeof request, .form = all[i].form};
        struct counterworks_capture *capture = open_capture(all[i].capture);
        struct counterworks_view *view = open_view(capture, &request);
        cr_expect(counterworks_view_has(view, all[i].format), "%zu", i);
        cr_expect(!counterworks_view_has(view, COUNTERWORKS_YAML));
        GOOD(counterworks_view_write(view, all[i].format, "out", notices, &error));
        cr_expect(file_has("out", all[i].words), "%zu", i);
        BAD(counterworks_view_write(view, COUNTERWORKS_YAML, "out", NULL, &error), COUNTERWORKS_USAGE, "found YAML");
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

Test(library_view, files_that_cannot_be_written_are_errors)
{
    struct counterworks_capture *capture = open_capture("gemm.cwd");
    struct counterworks_view *view = open_view(capture, &nothing);
    cr_expect_eq(counterworks_view_write(view, COUNTERWORKS_CSV, "/nowhere/a.csv", NULL, &error), COUNTERWORKS_IO);
    cr_expect_eq(counterworks_view_write(view, COUNTERWORKS_HDF5, "/nowhere/a.h5", NULL, &error), COUNTERWORKS_IO);
    BAD(counterworks_view_save(view, "a.txt", NULL, &error), COUNTERWORKS_USAGE, "an unknown suffix");
    BAD(counterworks_view_write(view, COUNTERWORKS_FORMAT_COUNT, "a", NULL, &error), COUNTERWORKS_USAGE, "no format");
    cr_expect(!counterworks_view_has(view, (enum counterworks_format) - 1));
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    BAD(counterworks_view_print(view, full, NULL, &error), COUNTERWORKS_IO, "cannot write");
    fclose(full);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

static size_t print_to(const struct counterworks_view *view, const char *path, unsigned width)
{
    struct counterworks_print_options options = COUNTERWORKS_PRINT_OPTIONS;
    FILE *out = fopen(path, "w");
    options.width = width;
    options.bars = COUNTERWORKS_ASCII_BARS;
    GOOD(counterworks_view_print(view, out, &options, &error));
    const long size = ftell(out);
    cr_assert_eq(fclose(out), 0);
    return (size_t)size;
}

Test(library_view, lists_without_metrics_have_rows)
{
    const struct counterworks_request request = {.size = sizeof request, .form = COUNTERWORKS_LIST};
    struct counterworks_capture *capture = open_capture("nvtx_user.cwd");
    struct counterworks_view *view = open_view(capture, &request);
    const struct counterworks_table table = table_of(view, 0);
    const char *kernel = NULL;
    const struct counterworks_cells cells = {.column = column_of(view, 0, "kernel"), .texts = &kernel};
    const struct counterworks_block block = {.size = sizeof block, .cells = &cells, .cell_count = 1};
    cr_assert(table.row_count && !table.metric_count);
    GOOD(counterworks_view_read(view, 0, 0, 1, &block, &error));
    cr_expect(kernel);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

Test(library_view, lists_are_printed_in_a_width)
{
    const struct counterworks_request request = {.size = sizeof request, .form = COUNTERWORKS_LIST, .top = 2};
    static const char *const captures[] = {"transformer.cwd", "trace_train.cwd"};
    for (int i = 0; i < 2; i++) {
        struct counterworks_capture *capture = open_capture(captures[i]);
        struct counterworks_view *view = open_view(capture, &request);
        const size_t narrow = print_to(view, "narrow", 80), wide = print_to(view, "wide", 300);
        cr_expect(narrow && narrow < wide, "%zu, %zu", narrow, wide);
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
    struct counterworks_capture *capture = open_capture("trace_train.cwd");
    struct counterworks_view *view = open_view(capture, &nothing);
    BAD(counterworks_view_print(view, stdout, NULL, &error), COUNTERWORKS_USAGE, "for programs");
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

/* ---- several captures ------------------------------------------------------------------------------------------- */

Test(library_view, captures_are_compared)
{
    struct counterworks_capture *a = open_capture("runs_1.cwd"), *b = open_capture("runs_6.cwd");
    struct counterworks_capture *trace = open_capture("trace_train.cwd"), *pm = open_capture("pm_gemm.cwd");
    struct counterworks_side before = {a, gh100, 1}, after = {b, gh100, 1}, of_trace = {trace, NULL, 1};
    struct counterworks_view *view;
    struct counterworks_request request = {.size = sizeof request};
    GOOD(counterworks_diff(&view, &before, &after, NULL, notices, &error));
    cr_expect(prints(view, "time"));
    GOOD(counterworks_view_save(view, "diff.json", NULL, &error));
    cr_expect(counterworks_view_has(view, COUNTERWORKS_CSV));
    cr_assert_eq(counterworks_view_table_count(view), 2, "groups and changes");
    cr_expect_eq(real_at(view, 0, 0, "b_total_ns") - real_at(view, 0, 0, "a_total_ns"),
                 real_at(view, 0, 0, "change_ns"));
    cr_expect_eq(counterworks_view_verdict(view), COUNTERWORKS_SAME);
    counterworks_view_close(view);
    GOOD(counterworks_diff(&view, &of_trace, &of_trace, NULL, NULL, &error));
    GOOD(counterworks_view_save(view, "traces.json", NULL, &error));
    cr_expect(system("test $(grep -o '\"created\": *\"2026-' traces.json | wc -l) = 2") == 0);
    counterworks_view_close(view);
    request.by = "device";
    BAD(counterworks_diff(&view, &before, &after, &request, NULL, &error), COUNTERWORKS_USAGE, "kernel or nvtx");
    cr_expect_null(view);
    request.sort = "share";
    BAD(counterworks_diff(&view, &before, &after, &request, NULL, &error), COUNTERWORKS_USAGE, "found --sort");
    BAD(counterworks_diff(&view, &before, &of_trace, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    BAD(counterworks_diff(&view, &of_trace, &before, NULL, NULL, &error), COUNTERWORKS_USAGE, "no trace");
    after = (struct counterworks_side){pm, gh100, 1};
    BAD(counterworks_diff(&view, &before, &after, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    after.chip = NULL;
    BAD(counterworks_diff(&view, &before, &after, NULL, NULL, &error), COUNTERWORKS_USAGE, "found no chip");
    counterworks_capture_close(a);
    counterworks_capture_close(b);
    counterworks_capture_close(trace);
    counterworks_capture_close(pm);
}

static const char *const runs[] = {CAPTURES "runs_1.cwd", CAPTURES "runs_2.cwd", CAPTURES "runs_3.cwd",
                                   CAPTURES "runs_4.cwd", CAPTURES "runs_5.cwd"};

/* The number of runs that JSON has of the side before. */
static void expect_runs(const struct counterworks_side *before, uint32_t wanted)
{
    const struct counterworks_side after = {open_capture("runs_6.cwd"), gh100, 0};
    struct counterworks_view *view;
    char command[128];
    GOOD(counterworks_diff(&view, before, &after, NULL, NULL, &error));
    GOOD(counterworks_view_save(view, "runs.json", NULL, &error));
    counterworks_view_close(view);
    counterworks_capture_close((struct counterworks_capture *)after.capture);
    snprintf(command, sizeof command, "test \"$(grep -o '\"runs\": [0-9]*' runs.json | head -n 1)\" = '\"runs\": %u'",
             wanted);
    cr_expect(system(command) == 0, "%u", wanted);
}

Test(library_view, a_capture_knows_its_runs)
{
    struct counterworks_side before = {open_capture("runs_1.cwd"), gh100, 0};
    struct counterworks_capture *three;
    expect_runs(&before, 1);
    before.runs = 2;
    expect_runs(&before, 2);
    counterworks_capture_close((struct counterworks_capture *)before.capture);
    GOOD(counterworks_capture_open_files(&three, runs, 3, NULL, NULL, &error));
    before = (struct counterworks_side){three, gh100, 0};
    expect_runs(&before, 3);
    before.runs = 1;
    expect_runs(&before, 1);
    counterworks_capture_close(three);
}

Test(library_view, rules_are_learned_and_judge)
{
    struct counterworks_capture *a = open_capture("runs_1.cwd"), *b = open_capture("runs_6.cwd");
    struct counterworks_capture *other = open_capture("stream.cwd");
    struct counterworks_side before = {a, gh100, 1}, after = {b, gh100, 1};
    struct counterworks_view *view;
    GOOD(counterworks_gate_learn(&view, runs, 5, gh100, NULL, notices, &error));
    cr_expect(prints(view, "learned from 5 runs"));
    GOOD(counterworks_view_save(view, "rules.yaml", NULL, &error));
    counterworks_view_close(view);
    GOOD(counterworks_gate(&view, &before, &after, "rules.yaml", 0, NULL, NULL, &error));
    cr_expect_eq(counterworks_view_verdict(view), COUNTERWORKS_SAME);
    cr_expect(prints(view, "same"));
    GOOD(counterworks_view_save(view, "gate.json", NULL, &error));
    counterworks_view_close(view);
    after.capture = other;
    GOOD(counterworks_gate(&view, &before, &after, "rules.yaml", 0, NULL, NULL, &error));
    cr_expect_eq(counterworks_view_verdict(view), COUNTERWORKS_INCOMPARABLE);
    counterworks_view_close(view);
    BAD(counterworks_gate(&view, &before, &after, "rules.yaml", 2, NULL, NULL, &error), COUNTERWORKS_USAGE, "need");
    cr_expect_eq(counterworks_gate(&view, &before, &after, "/nowhere", 0, NULL, NULL, &error), COUNTERWORKS_IO);
    cr_expect_null(view);
    BAD(counterworks_gate_learn(&view, runs, 2, gh100, NULL, NULL, &error), COUNTERWORKS_USAGE, "at least 3");
    BAD(counterworks_gate_learn(&view, runs, 3, NULL, NULL, NULL, &error), COUNTERWORKS_USAGE, "found no chip");
    const char *const mixed[] = {runs[0], runs[1], "/nowhere.cwd"};
    cr_expect_eq(counterworks_gate_learn(&view, mixed, 3, gh100, NULL, NULL, &error), COUNTERWORKS_IO);
    static const char *const verdicts[] = {"same", "better", "ambiguous", "worse", "incomparable"};
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(counterworks_verdict_text((enum counterworks_verdict)i), verdicts[i]);
    counterworks_capture_close(a);
    counterworks_capture_close(b);
    counterworks_capture_close(other);
}

Test(library_view, ranks_of_a_job_are_compared)
{
    struct counterworks_request request = {.size = sizeof request, .metrics = {1, names}};
    struct counterworks_view *view;
    static const char *const job = "job", *const traces[] = {CAPTURES "trace_train.cwd"};
    cr_assert_eq(system("mkdir job && " CW_MAKE_RANKS " " CAPTURES "transformer.cwd 8 job 40 5"), 0);
    GOOD(counterworks_ranks(&view, &job, 1, gh100, &request, notices, &error));
    cr_expect(prints(view, "8 ranks"));
    cr_expect_eq(table_of(view, 0).metric_count, 1);
    cr_expect(*text_at(view, 0, 0, "kernel") && *text_at(view, 0, 0, "host"));
    GOOD(counterworks_view_save(view, "ranks.csv", NULL, &error));
    GOOD(counterworks_view_save(view, "ranks.h5", NULL, &error));
    counterworks_view_close(view);
    request.by = "device";
    BAD(counterworks_ranks(&view, &job, 1, gh100, &request, NULL, &error), COUNTERWORKS_USAGE, "nvtx");
    BAD(counterworks_ranks(&view, &job, 0, gh100, NULL, NULL, &error), COUNTERWORKS_USAGE, "at least 1");
    cr_expect_null(view);
    BAD(counterworks_ranks(&view, traces, 1, gh100, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
}

Test(library_view, a_trace_is_joined_with_metrics)
{
    struct counterworks_capture *trace = open_capture("trace_train.cwd"), *ranges = open_capture("transformer.cwd");
    struct counterworks_capture *pc = open_capture("pc_gemm.cwd");
    struct counterworks_request request = {.size = sizeof request, .by = "nvtx"};
    struct counterworks_view *view;
    GOOD(counterworks_join(&view, trace, ranges, gh100, pc, &request, notices, &error));
    cr_expect(table_of(view, 0).row_count && column_of(view, 0, "not_joined"));
    counterworks_view_close(view);
    request.by = "call";
    BAD(counterworks_join(&view, trace, ranges, gh100, NULL, &request, NULL, &error), COUNTERWORKS_USAGE, "launch");
    BAD(counterworks_join(&view, ranges, ranges, gh100, NULL, NULL, NULL, &error), COUNTERWORKS_USAGE, "a trace");
    BAD(counterworks_join(&view, trace, pc, NULL, NULL, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    BAD(counterworks_join(&view, trace, ranges, gh100, trace, NULL, NULL, &error), COUNTERWORKS_USAGE, "PC samples");
    cr_expect_null(view);
    counterworks_capture_close(trace);
    counterworks_capture_close(ranges);
    counterworks_capture_close(pc);
}

/* ---- advice and the rest ---------------------------------------------------------------------------------------- */

Test(library_view, advice_has_tables)
{
    struct counterworks_capture *capture = open_capture("gemm.cwd"), *pc = open_capture("pc_gemm.cwd");
    struct counterworks_request request = {.size = sizeof request, .by = "device"};
    struct counterworks_view *view;
    GOOD(counterworks_advise(&view, capture, gh100, pc, &request, notices, &error));
    cr_expect_str_eq(table_of(view, 0).name, "kernels");
    cr_expect_str_eq(table_of(view, 1).name, "findings");
    cr_assert(table_of(view, 0).row_count == 1 && table_of(view, 1).row_count);
    cr_expect(strstr(text_at(view, 0, 0, "kernel"), "gemm") && *text_at(view, 0, 0, "limiter"));
    cr_expect_str_eq(text_at(view, 0, 0, "first_finding"), text_at(view, 1, 0, "text"));
    cr_expect_str_eq(text_at(view, 0, 0, "first_rule"), text_at(view, 1, 0, "rule"));
    cr_expect(real_at(view, 0, 0, "share") == 1 && real_at(view, 1, 0, "gain") > 0);
    cr_expect(*text_at(view, 1, 0, "rule") && *text_at(view, 1, 0, "fix"));
    cr_expect(prints(view, text_at(view, 1, 0, "title")));
    GOOD(counterworks_view_save(view, "advice.json", NULL, &error));
    GOOD(counterworks_view_save(view, "advice.csv", NULL, &error));
    GOOD(counterworks_view_save(view, "advice.h5", NULL, &error));
    cr_expect(file_has("advice.csv", "kernel,function,launches"));
    counterworks_view_close(view);
    request = (struct counterworks_request){.size = sizeof request, .least_gain = 1};
    GOOD(counterworks_advise(&view, capture, gh100, NULL, &request, NULL, &error));
    cr_expect_eq(table_of(view, 1).row_count, 0);
    counterworks_view_close(view);
    request = (struct counterworks_request){.size = sizeof request, .by = "call"};
    BAD(counterworks_advise(&view, capture, gh100, NULL, &request, NULL, &error), COUNTERWORKS_USAGE,
        "found --by call");
    BAD(counterworks_advise(&view, pc, NULL, NULL, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    BAD(counterworks_advise(&view, capture, gh100, capture, NULL, NULL, &error), COUNTERWORKS_USAGE, "PC samples");
    request = (struct counterworks_request){.size = sizeof request, .rules = "/nowhere"};
    cr_expect_eq(counterworks_advise(&view, capture, gh100, NULL, &request, NULL, &error), COUNTERWORKS_IO);
    cr_expect_null(view);
    counterworks_capture_close(capture);
    counterworks_capture_close(pc);
}

Test(library_view, a_value_is_explained)
{
    struct counterworks_capture *capture = open_capture("gemm.cwd"), *pc = open_capture("pc_gemm.cwd");
    struct counterworks_view *view;
    char metric[] = "lts__t_sector_hit_rate.pct";
    GOOD(counterworks_explain(&view, capture, gh100, metric, NULL, notices, &error));
    memset(metric, 'x', sizeof metric - 1);
    cr_expect(prints(view, "lts__t_sectors"));
    GOOD(counterworks_view_save(view, "why.json", NULL, &error));
    cr_expect(file_has("why.json", "lts__t_sector_hit_rate"));
    counterworks_view_close(view);
    BAD(counterworks_explain(&view, capture, gh100, "nothing", NULL, NULL, &error), COUNTERWORKS_USAGE, "nothing");
    BAD(counterworks_explain(&view, pc, NULL, "nothing", NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    cr_expect_null(view);
    counterworks_capture_close(capture);
    counterworks_capture_close(pc);
}

Test(library_view, any_capture_is_shown)
{
    static const char *const captures[] = {"gemm.cwd", "pm_gpus.cwd", "pc_gemm.cwd", "sass_gemm.cwd",
                                           "trace_train.cwd"};
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
        struct counterworks_capture *capture = open_capture(captures[i]);
        struct counterworks_view *view;
        GOOD(counterworks_show(&view, capture, notices, &error));
        cr_expect(prints(view, captures[i]));
        GOOD(counterworks_view_save(view, "show.json", NULL, &error));
        counterworks_view_close(view);
        counterworks_capture_close(capture);
    }
}

Test(library_view, captures_of_a_program_are_a_page)
{
    struct counterworks_capture *capture = open_capture("gemm.cwd"), *pc = open_capture("pc_gemm.cwd");
    struct counterworks_capture *trace = open_capture("trace_train.cwd");
    struct counterworks_report_options options = COUNTERWORKS_REPORT_OPTIONS;
    const struct counterworks_side with[] = {{pc, NULL, 1}, {trace, NULL, 1}}, baseline = {capture, gh100, 1};
    struct counterworks_view *view;
    options.with = with;
    options.with_count = 2;
    options.baseline = &baseline;
    const enum counterworks_status status = counterworks_report(&view, capture, gh100, &options, NULL, notices, &error);
    if (status == COUNTERWORKS_UNSUPPORTED)
        cr_skip_test("built without pages");
    cr_assert_eq(status, COUNTERWORKS_OK, "%s", error.message);
    GOOD(counterworks_view_save(view, "page.html", NULL, &error));
    cr_expect(file_has("page.html", "</html>"));
    counterworks_view_close(view);
    options.baseline = &with[0];
    BAD(counterworks_report(&view, capture, gh100, &options, NULL, NULL, &error), COUNTERWORKS_USAGE, "ranges");
    options = (struct counterworks_report_options){.size = sizeof options, .with = &baseline, .with_count = 1};
    BAD(counterworks_report(&view, capture, gh100, &options, NULL, NULL, &error), COUNTERWORKS_USAGE, "a second");
    struct counterworks_side many[17];
    for (int i = 0; i < 17; i++)
        many[i] = with[0];
    options.with = many;
    options.with_count = 17;
    BAD(counterworks_report(&view, capture, gh100, &options, NULL, NULL, &error), COUNTERWORKS_USAGE, "at most 16");
    cr_expect_null(view);
    counterworks_capture_close(capture);
    counterworks_capture_close(pc);
    counterworks_capture_close(trace);
}
