/* libcounterworks as a program uses it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/counterworks/hdf5.h"
#include "tests/support/comma.h"

#define CAPTURES CW_SOURCE_DIR "/data/captures/"
#define DATA CW_SOURCE_DIR "/data"

static struct counterworks *data;
static struct counterworks_chip *gh100;
static struct counterworks_error error;
static char text[1200];

#define GOOD(call) cr_assert_eq(call, COUNTERWORKS_OK, "%s", counterworks_error_text(&error, text, sizeof text))

static char folder[32];

static void begin(void)
{
    strcpy(folder, "/tmp/library_test.XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    GOOD(counterworks_open(&data, DATA, &error));
    GOOD(counterworks_chip_open(&gh100, data, "GH100", &error));
}

static void end(void)
{
    counterworks_chip_close(gh100);
    counterworks_close(data);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect(system(command) == 0);
}

TestSuite(library, .init = begin, .fini = end);

Test(library, chips_are_listed)
{
    bool found = false;
    for (size_t i = 0; i < counterworks_chip_count(data); i++) {
        found |= strcmp(counterworks_chip_name(data, i), "GH100") == 0;
        cr_expect(i == 0 || strcmp(counterworks_chip_name(data, i - 1), counterworks_chip_name(data, i)) < 0);
    }
    cr_expect(found && counterworks_chip_count(data) >= 30);
    struct counterworks_chip *none = gh100;
    cr_expect_eq(counterworks_chip_open(&none, data, "GH1000", &error), COUNTERWORKS_USAGE);
    cr_expect(!none && strstr(error.message, "GH100"), "%s", error.message);
    cr_expect_eq(counterworks_chip_open(&none, data, "GH1000", NULL), COUNTERWORKS_USAGE);
    struct counterworks *nowhere = data;
    cr_expect_eq(counterworks_open(&nowhere, "/nowhere", &error), COUNTERWORKS_IO);
    cr_expect_null(nowhere);
    counterworks_close(NULL);
    counterworks_chip_close(NULL);
}

static bool count(void *user, const char *name)
{
    cr_expect(*name);
    return ++*(uint32_t *)user != 100000;
}

Test(library, metrics_are_listed_and_described)
{
    uint32_t usual = 0, every = 0;
    GOOD(counterworks_metric_each(gh100, COUNTERWORKS_USUAL, count, &usual, &error));
    GOOD(counterworks_metric_each(gh100, COUNTERWORKS_EVERY, count, &every, &error));
    cr_expect(usual > 3000 && usual < 20000, "%u", usual);
    cr_expect_eq(every, 100000, "it ends where it is told to");
    struct counterworks_metric *m;
    GOOD(counterworks_metric_find(&m, gh100, "l1tex__average_t_sectors_per_request.pct", &error));
    cr_expect_eq(m->type, COUNTERWORKS_RATIO);
    cr_expect_str_eq(m->unit, "%");
    cr_expect(strstr(m->formula, "3.125 * avg("), "%s", m->formula);
    cr_expect(strstr(m->description, "sectors"), "%s", m->description);
    counterworks_metric_free(m);
    counterworks_metric_free(NULL);
    GOOD(counterworks_metric_find(&m, gh100, "lts__t_sector_hit_rate", &error));
    cr_expect(m->type == COUNTERWORKS_RATIO && strcmp(m->unit, "%") == 0 && strstr(m->formula, "100 * "), "%s",
              m->formula);
    cr_expect(strstr(m->description, "sectors") && !strstr(m->description, "percent"), "%s", m->description);
    counterworks_metric_free(m);
    cr_expect_eq(counterworks_metric_find(&m, gh100, "sm__cycles_activ.avg", &error), COUNTERWORKS_USAGE);
    cr_expect(!m && strstr(error.message, "sm__cycles_active"), "%s", error.message);
}

/* The user is the base name's description, which has to begin that of each thread. */
static void *find_often(void *user)
{
    static const char *const names[] = {"sm__cycles_active.avg", "sm__cycles_active.sum", "sm__cycles_active"};
    void *wrong = NULL;
    for (int i = 0; i < 60; i++) {
        struct counterworks_metric *m;
        if (counterworks_metric_find(&m, gh100, names[i % 3], NULL) != COUNTERWORKS_OK ||
            strncmp(m->description, user, strlen(user)) != 0)
            wrong = user;
        counterworks_metric_free(m);
    }
    return wrong;
}

Test(library, threads_describe_metrics_of_one_chip)
{
    pthread_t threads[4];
    struct counterworks_metric *m;
    struct counterworks_chip *other;
    GOOD(counterworks_chip_open(&other, data, "GH100", &error));
    GOOD(counterworks_metric_find(&m, other, "sm__cycles_active", &error));
    cr_assert(*m->description);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, find_often, (void *)m->description), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        cr_expect_null(wrong);
    }
    counterworks_metric_free(m);
    counterworks_chip_close(other);
}

Test(library, users_metrics_are_added)
{
    char path[] = "library_test.XXXXXX";
    static const char own[] =
        "schema: 1\nmetrics:\n  ipc:\n    formula: sm__inst_executed.sum / sm__cycles_active.sum\n";
    int fd = mkstemp(path);
    cr_assert(write(fd, own, sizeof own - 1) == sizeof own - 1 && close(fd) == 0);
    GOOD(counterworks_chip_add_metrics(gh100, path, &error));
    cr_expect_eq(counterworks_chip_add_metrics(gh100, path, &error), COUNTERWORKS_INPUT, "it has it already");
    cr_expect(error.line == 3 && strcmp(error.source, path) == 0, "%s:%u", error.source, error.line);
    struct counterworks_metric *m;
    GOOD(counterworks_metric_find(&m, gh100, "ipc", &error));
    cr_expect_eq(m->type, COUNTERWORKS_FORMULA);
    cr_expect_str_empty(m->description);
    counterworks_metric_free(m);
    unlink(path);
}

Test(library, a_plan_is_that_of_the_command)
{
    static const char *const names[] = {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes.sum",
                                        "sm__inst_executed.sum", "dram__bytes.sum"};
    struct counterworks_plan *plan;
    const char *name;
    const uint32_t *passes;
    uint32_t bound;
    bool whole;
    GOOD(counterworks_plan_make(&plan, gh100, names, 4, NULL, &error));
    cr_expect(counterworks_plan_passes(plan, &bound) >= bound && bound);
    cr_assert_eq(counterworks_plan_metric_count(plan), 3);
    cr_expect_eq(counterworks_plan_metric(plan, 1, &name, &passes, &whole), 1);
    cr_expect(strcmp(name, "dram__bytes.sum") == 0 && passes[0] < counterworks_plan_passes(plan, NULL) && whole);
    counterworks_chip_close(gh100);
    GOOD(counterworks_chip_open(&gh100, data, "GH100", &error));
    GOOD(counterworks_plan_save(plan, "library_test.cwc", &error));
    cr_expect_eq(counterworks_plan_save(plan, "/nowhere/plan.cwc", &error), COUNTERWORKS_IO);
    cr_expect_eq(system(CW_METRIC_CONFIG
                        " --no-native --chip GH100 -m sm__throughput.avg.pct_of_peak_sustained_elapsed,"
                        "dram__bytes.sum,sm__inst_executed.sum -o library_test_2.cwc && cmp "
                        "library_test.cwc library_test_2.cwc"),
                 0);
    counterworks_plan_free(plan);
    unlink("library_test.cwc");
    unlink("library_test_2.cwc");
    cr_expect_eq(counterworks_plan_make(&plan, gh100, names, 0, NULL, &error), COUNTERWORKS_USAGE);
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    options.profiler = COUNTERWORKS_INSTRUCTIONS;
    cr_expect_eq(counterworks_plan_make(&plan, gh100, names, 1, &options, &error), COUNTERWORKS_USAGE);
    options.size = offsetof(struct counterworks_plan_options, profiler); /* of a library that had none */
    GOOD(counterworks_plan_make(&plan, gh100, names, 1, &options, &error));
    counterworks_plan_free(plan);
}

static const char *const few[] = {"lts__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct", "dram__bytes_read.sum",
                                  "sm__inst_executed.avg.per_cycle_active"};
enum { FEW = sizeof few / sizeof *few };

/* Ends the plan. The command has to write the same file. */
static void expect_plan_of(struct counterworks_plan *plan, const char *options)
{
    char path[64], command[1024];
    snprintf(path, sizeof path, "library_test_few.%d", (int)getpid());
    GOOD(counterworks_plan_save(plan, path, &error));
    counterworks_plan_free(plan);
    snprintf(command, sizeof command,
             CW_METRIC_CONFIG " --chip GH100 -m %s,%s,%s,%s %s -o /dev/stdout 2>/dev/null | cmp %s -", few[0], few[1],
             few[2], few[3], options, path);
    cr_expect_eq(system(command), 0, "%s", options);
    unlink(path);
}

static void note(void *user, const char *line)
{
    char *lines = user;
    snprintf(lines + strlen(lines), sizeof text - strlen(lines), "%s\n", line);
}

Test(library, a_plan_keeps_to_the_most_passes)
{
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    char told[sizeof text] = "";
    counterworks_chip_tell(gh100, note, told);
    options.most_passes = 2;
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    cr_expect_eq(counterworks_plan_passes(plan, NULL), 2);
    expect_plan_of(plan, "--no-native");
    options.most_passes = 1;
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect(!plan && strstr(error.message, "found 2 passes") && strstr(error.message, few[0]), "%s", error.message);
    cr_expect_str_empty(told);
    options.drop = true;
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    cr_expect_eq(counterworks_plan_metric_count(plan), FEW - 1);
    cr_expect_str_eq(told, "left out 1 of 4 metrics: lts__t_sector_hit_rate.pct\n");
    expect_plan_of(plan, "--no-native --single-pass --drop");
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, 1, &options, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect_str_eq(error.message, "found no metric that fits 1 pass");
}

static bool take_first(void *user, const char *name)
{
    snprintf(user, 256, "%s", name);
    return false;
}

Test(library, words_find_metrics_as_the_command_does)
{
    static const char *const words[] = {"l2 hit rate", "register spills", "^dram__bytes_(read|write)\\.sum$",
                                        "lts__t_sector_hit_rate.pct"};
    char found[256], told[sizeof text] = "", command[sizeof text];
    counterworks_chip_tell(gh100, note, told);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        GOOD(counterworks_metric_search(gh100, words[i], take_first, found, &error));
        snprintf(command, sizeof command,
                 CW_METRIC_QUERY " list --chip GH100 '%s' 2>/dev/null | head -1 | cut -f1 | grep -qxF '%s'", words[i],
                 found);
        cr_expect_eq(system(command), 0, "%s: %s", words[i], found);
    }
    *found = *told = 0;
    GOOD(counterworks_metric_search(gh100, "l2 bnak", take_first, found, &error));
    cr_expect_str_empty(found);
    cr_expect_str_eq(told, "no metric of GH100 has the word 'bnak'; did you mean bank?\n");
    cr_expect_eq(counterworks_metric_search(gh100, "(", take_first, found, &error), COUNTERWORKS_USAGE);
    cr_expect(strstr(error.message, "found the regular expression '('"), "%s", error.message);
}

Test(library, samples_have_one_pass)
{
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    char told[sizeof text] = "";
    options.profiler = COUNTERWORKS_SAMPLES;
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error), COUNTERWORKS_USAGE);
    options.drop = true;
    counterworks_chip_tell(gh100, note, told);
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    cr_expect_str_eq(told, "left out 1 of 4 metrics: lts__t_sector_hit_rate.pct, which CUPTI does not collect by "
                           "sampling over time\n");
    expect_plan_of(plan, "--no-native --profiler pm --drop");
}

struct list {
    size_t count;
    char names[64][128];
    const char *items[64];
};

static bool keep(void *user, const char *name)
{
    struct list *list = user;
    snprintf(list->names[list->count], sizeof *list->names, "%s", name);
    list->items[list->count] = list->names[list->count];
    return ++list->count < sizeof list->items / sizeof *list->items;
}

Test(library, whole_values_give_way_to_the_most_passes)
{
    static struct list set;
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    bool whole, all = true;
    GOOD(counterworks_set_metrics(gh100, "warp-state", keep, &set, &error));
    GOOD(counterworks_plan_make(&plan, gh100, set.items, set.count, &options, &error));
    options.most_passes = counterworks_plan_passes(plan, NULL) - 1;
    counterworks_plan_free(plan);
    GOOD(counterworks_plan_make(&plan, gh100, set.items, set.count, &options, &error));
    cr_expect_eq(counterworks_plan_passes(plan, NULL), options.most_passes);
    for (size_t i = 0; i < counterworks_plan_metric_count(plan); i++) {
        counterworks_plan_metric(plan, i, NULL, NULL, &whole);
        all &= whole;
    }
    cr_expect_not(all);
    counterworks_plan_free(plan);
}

Test(library, metrics_are_kept_together)
{
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    struct counterworks_names together = {2, &few[1]};
    const uint32_t *first, *second;
    options.together = &together;
    options.together_count = 1;
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    cr_expect_eq(counterworks_plan_metric(plan, 1, NULL, &first, NULL), 1);
    cr_expect_eq(counterworks_plan_metric(plan, 2, NULL, &second, NULL), 1);
    cr_expect_eq(*first, *second);
    expect_plan_of(plan, "--no-native --keep-together l1tex__t_sector_hit_rate.pct,dram__bytes_read.sum");
    together.names = few; /* no pass holds the first */
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect(strstr(error.message, "keeps them together"), "%s", error.message);
    const char *many[64];
    for (size_t i = 0; i < 64; i++)
        many[i] = few[1];
    together = (struct counterworks_names){64, many}; /* one name may stand there often */
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    counterworks_plan_free(plan);
    many[63] = "sm__cycles_active.max";
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error), COUNTERWORKS_USAGE);
    cr_expect(strstr(error.message, "'sm__cycles_active.max' to be kept together"), "%s", error.message);
}

/* Where the host library is not found the plans are the same as without. */
Test(library, the_host_library_proves_a_plan)
{
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    options.native = true;
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    expect_plan_of(plan, "");
}

Test(library, the_host_library_is_where_it_is_said_to_be)
{
    struct counterworks_plan *plan;
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    options.native_library = "/nowhere/libnvperf_host.so";
    GOOD(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error));
    expect_plan_of(plan, "--no-native");
    options.native = true;
    cr_expect_eq(counterworks_plan_make(&plan, gh100, few, FEW, &options, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect(!plan && strstr(error.message, "NVIDIA's host library"), "%s", error.message);
}

Test(library, statuses_by_name)
{
    static const struct {
        enum counterworks_value_status status;
        const char *text;
    } all[] = {{COUNTERWORKS_VALUE_OK, "ok"},
               {COUNTERWORKS_VALUE_MIXED_PASSES, "mixed passes"},
               {COUNTERWORKS_VALUE_MULTIPLEXED, "multiplexed"},
               {COUNTERWORKS_VALUE_ZERO_DENOMINATOR, "zero denominator"},
               {COUNTERWORKS_VALUE_OVERFLOW, "overflow"},
               {COUNTERWORKS_VALUE_INCOMPLETE, "incomplete"},
               {COUNTERWORKS_VALUE_IMPLAUSIBLE, "implausible"},
               {COUNTERWORKS_VALUE_UNAVAILABLE, "unavailable"},
               {COUNTERWORKS_VALUE_NOT_COLLECTED, "not collected"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_expect_str_eq(counterworks_value_status_text(all[i].status), all[i].text);
}

Test(library, ranges_are_evaluated)
{
    static const char *const names[] = {"l1tex__average_t_sectors_per_request.pct", "gpu__time_duration.sum",
                                        "sm__cycles_active.max"};
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_row row = {.size = sizeof row};
    double values[3];
    int8_t statuses[3];
    GOOD(counterworks_capture_open(&capture, CAPTURES "gemm.cwd", &error));
    counterworks_capture_describe(capture, &info);
    cr_expect_str_eq(info.chip, "GH100");
    cr_expect(info.profiler == COUNTERWORKS_RANGES && info.complete && info.metric_count && info.pass_count > 1);
    cr_assert_eq(info.row_count, 1);
    counterworks_capture_row(capture, 0, &row);
    cr_expect(strstr(row.kernel, "gemm") && row.block[0] && row.end_ns > row.start_ns);
    GOOD(counterworks_evaluate(capture, gh100, names, 3, NULL, values, statuses, &error));
    cr_expect_float_eq(values[0], 12.5, 1e-9);
    cr_expect(values[1] > 0 && statuses[1] == COUNTERWORKS_VALUE_OK);
    static const char *const wrong[] = {"sm__cycles_active.maximum"};
    cr_expect_eq(counterworks_evaluate(capture, gh100, wrong, 1, NULL, values, statuses, &error), COUNTERWORKS_USAGE);
    static const char *const of_others[] = {"l1tex__data_bank_conflicts_pipe_lsu_mem_global.sum"};
    cr_expect_eq(counterworks_evaluate(capture, gh100, of_others, 1, NULL, values, statuses, &error),
                 COUNTERWORKS_USAGE);
    cr_expect(strstr(error.message, "t is a metric of AD102"), "%s", error.message);
    const struct counterworks_evaluate_options of_durations[] = {
        {.size = sizeof *of_durations, .frame_ns = -1},
        {.size = sizeof *of_durations, .frame_ns = NAN},
        {.size = sizeof *of_durations, .region_ns = INFINITY},
    };
    for (size_t i = 0; i < sizeof of_durations / sizeof *of_durations; i++) {
        cr_expect_eq(counterworks_evaluate(capture, gh100, names, 3, &of_durations[i], values, statuses, &error),
                     COUNTERWORKS_USAGE);
        cr_expect(strstr(error.message, "ns, expected a number above 0, or 0 for none"), "%s", error.message);
        cr_expect_eq(counterworks_hdf5_write(capture, gh100, names, 3, &of_durations[i], "/nowhere/x.h5", &error),
                     COUNTERWORKS_USAGE);
    }
    values[0] = -1;
    GOOD(counterworks_evaluate(capture, gh100, NULL, 0, NULL, values, statuses, &error));
    cr_expect_eq(values[0], -1, "nothing is not all that it holds");
    struct counterworks_chip *other;
    GOOD(counterworks_chip_open(&other, data, "TU102", &error));
    cr_expect_eq(counterworks_evaluate(capture, other, names, 1, NULL, values, statuses, &error), COUNTERWORKS_INPUT);
    counterworks_chip_close(other);
    struct counterworks_capture_info small = {.size = offsetof(struct counterworks_capture_info, profiler)};
    small.profiler = COUNTERWORKS_INSTRUCTIONS;
    counterworks_capture_describe(capture, &small);
    cr_expect(strcmp(small.chip, "GH100") == 0 && small.profiler == COUNTERWORKS_INSTRUCTIONS, "it had no more");
    counterworks_capture_close(capture);
}

Test(library, samples_are_evaluated)
{
    static const char *const names[] = {"sm__cycles_active.avg", "TPC.TriageCompute.sm__inst_executed_realtime.sum"};
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_row first = {.size = sizeof first}, last = {.size = sizeof last};
    GOOD(counterworks_capture_open(&capture, CAPTURES "pm_gpus.cwd", &error));
    counterworks_capture_describe(capture, &info);
    cr_assert(info.profiler == COUNTERWORKS_SAMPLES && info.row_count > 100 && info.device_count == 2);
    double *values = malloc(2 * info.row_count * sizeof *values);
    int8_t *statuses = malloc(2 * info.row_count);
    GOOD(counterworks_evaluate(capture, gh100, names, 2, NULL, values, statuses, &error));
    double sum = 0;
    for (uint64_t i = info.row_count; i < 2 * info.row_count; i++)
        sum += values[i];
    cr_expect(sum == 2 * 10258832.0 && statuses[info.row_count] == COUNTERWORKS_VALUE_OK, "%g", sum);
    counterworks_capture_row(capture, 0, &first);
    counterworks_capture_row(capture, info.row_count - 1, &last);
    cr_expect(first.end_ns > first.start_ns && first.device < 2 && last.device < 2 && !*first.kernel);
    free(values);
    free(statuses);
    counterworks_capture_close(capture);
}

Test(library, what_is_no_capture_is_refused)
{
    struct counterworks_capture *capture;
    double value;
    int8_t status;
    static const char *const names[] = {"sm__cycles_active.avg"};
    cr_expect_eq(counterworks_capture_open(&capture, "/nowhere.cwd", &error), COUNTERWORKS_IO);
    cr_expect_null(capture);
    cr_expect_eq(counterworks_capture_read(&capture, "no capture", 10, "bytes", &error), COUNTERWORKS_INPUT);
    cr_expect(error.has_offset && strcmp(error.source, "bytes") == 0);
    GOOD(counterworks_capture_open(&capture, CAPTURES "pc_gemm.cwd", &error));
    cr_expect_eq(counterworks_evaluate(capture, gh100, names, 1, NULL, &value, &status, &error),
                 COUNTERWORKS_UNSUPPORTED);
    counterworks_capture_close(capture);
}

Test(library, captures_are_joined)
{
    static const char *const paths[] = {CAPTURES "gemm.cwd", CAPTURES "gemm.cwd"};
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    GOOD(counterworks_capture_merge("library_test.cwd", paths, 2, &error));
    GOOD(counterworks_capture_open(&capture, "library_test.cwd", &error));
    counterworks_capture_describe(capture, &info);
    cr_expect_eq(info.row_count, 2);
    counterworks_capture_close(capture);
    unlink("library_test.cwd");
}

Test(library, hdf5_is_that_of_the_command)
{
    static const char *const captures[] = {CAPTURES "gemm.cwd", CAPTURES "pm_gpus.cwd"};
    static const char *const names[] = {"sm__cycles_active.avg", "dram__bytes_read.sum.per_second"};
    struct counterworks_capture *capture;
    for (int i = 0; i < 2; i++) {
        char command[1024];
        GOOD(counterworks_capture_open(&capture, captures[i], &error));
        GOOD(counterworks_hdf5_write(capture, gh100, names, 2, NULL, "library_test.h5", &error));
        snprintf(command, sizeof command,
                 CW_METRIC_EVAL " %s -m %s,%s -o library_test_2.h5 >/dev/null && cmp library_test.h5 "
                                "library_test_2.h5",
                 captures[i], names[0], names[1]);
        cr_expect_eq(system(command), 0);
        cr_expect_eq(counterworks_hdf5_write(capture, gh100, names, 2, NULL, "/nowhere/x.h5", &error), COUNTERWORKS_IO);
        counterworks_capture_close(capture);
    }
    unlink("library_test.h5");
    unlink("library_test_2.h5");
    GOOD(counterworks_capture_open(&capture, CAPTURES "pc_gemm.cwd", &error));
    cr_expect_eq(counterworks_hdf5_write(capture, gh100, names, 2, NULL, "library_test.h5", &error),
                 COUNTERWORKS_UNSUPPORTED);
    counterworks_capture_close(capture);
}

Test(library, a_chip_of_several_names_is_each_of_them)
{
    struct counterworks_chip *chip;
    struct counterworks_capture *capture;
    double value;
    int8_t status;
    static const char *const names[] = {"gpu__time_duration.sum"};
    GOOD(counterworks_capture_open(&capture, CAPTURES "gemm.cwd", &error));
    for (size_t i = 0; i < counterworks_chip_count(data); i++) {
        const char *name = counterworks_chip_name(data, i);
        GOOD(counterworks_chip_open(&chip, data, name, &error));
        bool same = strcmp(name, "GH100") == 0;
        enum counterworks_status found = counterworks_evaluate(capture, chip, names, 1, NULL, &value, &status, &error);
        cr_expect(same ? found == COUNTERWORKS_OK : found == COUNTERWORKS_OK || found == COUNTERWORKS_INPUT, "%s",
                  name);
        counterworks_chip_close(chip);
    }
    counterworks_capture_close(capture);
}

Test(library, numbers_have_a_point_in_every_locale)
{
    char path[] = "library_test.XXXXXX";
    static const char own[] = "schema: 1\nmetrics:\n  half:\n    formula: 0.5 * sm__cycles_active.max\n";
    static const char *const names[] = {"half", "sm__cycles_active.max"};
    struct counterworks_capture *capture;
    struct counterworks_metric *m;
    double values[2];
    int8_t statuses[2];
    int fd = mkstemp(path);
    cr_assert(write(fd, own, sizeof own - 1) == sizeof own - 1 && close(fd) == 0);
    cw_test_comma("library_test.locale");
    GOOD(counterworks_chip_add_metrics(gh100, path, &error));
    GOOD(counterworks_capture_open(&capture, CAPTURES "gemm.cwd", &error));
    GOOD(counterworks_evaluate(capture, gh100, names, 2, NULL, values, statuses, &error));
    cr_expect(values[0] == values[1] / 2 && values[0] > 0, "%g", values[0]);
    GOOD(counterworks_metric_find(&m, gh100, "l1tex__average_t_sectors_per_request.pct", &error));
    cr_expect(strstr(m->formula, "3.125"), "%s", m->formula);
    cr_assert_str_eq(localeconv()->decimal_point, ",", "the program's stays");
    counterworks_metric_free(m);
    counterworks_capture_close(capture);
    unlink(path);
}

Test(library, nothing_is_not_merged)
{
    cr_expect_eq(counterworks_capture_merge("library_test_none.cwd", NULL, 0, &error), COUNTERWORKS_USAGE);
    cr_expect(access("library_test_none.cwd", F_OK) != 0);
}

/* ---- what is told ----------------------------------------------------------------------------------------------- */

/* Evaluates a metric of a capture, and says what was told. */
static const char *told_of(struct counterworks_chip *chip, const char *path, const char *name)
{
    static char lines[sizeof text];
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    GOOD(counterworks_capture_open(&capture, path, &error));
    counterworks_capture_describe(capture, &info);
    double *values = calloc(info.row_count, sizeof *values);
    int8_t *statuses = calloc(info.row_count, 1);
    *lines = 0;
    counterworks_chip_tell(chip, note, lines);
    counterworks_evaluate(capture, chip, &name, 1, NULL, values, statuses, &error);
    counterworks_capture_close(capture);
    free(values);
    free(statuses);
    return lines;
}

Test(library, what_a_capture_lacks_is_told)
{
    static const char cut_off[] = CAPTURES "nvtx_trap.cwd: the capture is incomplete; it holds 15 whole ranges\n";
    cr_expect_str_eq(told_of(gh100, CAPTURES "gemm.cwd", "sm__cycles_active.avg"), "");
    cr_expect_str_eq(told_of(gh100, CAPTURES "nvtx_trap.cwd", "sm__cycles_active.avg"), cut_off);
    cr_expect_str_eq(told_of(gh100, CAPTURES "gemm.cwd", "tpc__average_cta_latency.ratio"),
                     "GH100: the database knows no formula for tpc__average_cta_latency\n");
}

Test(library, another_version_of_the_database_is_told)
{
    static const char yaml[] = "library_test_gh100.yaml";
    static const char told[] = CAPTURES "gemm.cwd: planned with another version of the GH100 database; this one does "
                                        "not know 1 of its counters: lts__t_sectors_lookup_miss\n";
    struct counterworks_chip *other;
    cr_assert_eq(system("sed 's/\\<lts__t_sectors_lookup_miss\\>/lts__t_sectors_not_found/g' " DATA
                        "/chips/gh100.yaml >library_test_gh100.yaml"),
                 0);
    GOOD(counterworks_chip_open_file(&other, data, yaml, &error));
    cr_expect_str_eq(told_of(other, CAPTURES "gemm.cwd", "lts__t_sectors_op_read.sum"), told);
    cr_expect_eq(error.status, COUNTERWORKS_OK);
    cr_expect_str_eq(told_of(other, CAPTURES "gemm.cwd", "lts__t_sectors_lookup_miss.sum"), told);
    cr_expect(error.status == COUNTERWORKS_USAGE && strstr(error.message, "in the plan"), "%s", error.message);
    counterworks_chip_close(other);
    unlink(yaml);
}

Test(library, a_node_has_its_chip_without_what_its_GPUs_lack)
{
    static const char facts[] = "library_test_node.json";
    static const char *const links[] = {"nvlrx__bytes.sum"}, *const sectors[] = {"lts__t_sectors.sum"};
    struct counterworks_chip *chip;
    struct counterworks_plan *plan;
    FILE *f = fopen(facts, "w");
    cr_assert_not_null(f);
    fputs("{\"schema\": 1, \"devices\": [{\"device\": 0, \"chip\": \"GH100\", \"does\": [\"range\"], "
          "\"lacks\": [\"nvlrx\"]}]}",
          f);
    fclose(f);
    GOOD(counterworks_chip_open_node(&chip, data, facts, NULL, &error));
    GOOD(counterworks_plan_make(&plan, chip, sectors, 1, NULL, &error));
    counterworks_plan_free(plan);
    cr_expect_eq(counterworks_plan_make(&plan, chip, links, 1, NULL, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect_null(plan);
    counterworks_chip_close(chip);
    GOOD(counterworks_chip_open_node(&chip, NULL, facts, "H200", &error));
    counterworks_chip_close(chip);
    cr_expect_eq(counterworks_chip_open_node(&chip, data, facts, "GA100", &error), COUNTERWORKS_USAGE);
    cr_expect_null(chip);
    unlink(facts);
}

/* ---- what a capture holds --------------------------------------------------------------------------------------- */

static bool print_name(void *user, const char *name)
{
    return fprintf(user, "%s\n", name) > 0;
}

static bool take_none(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
    return false;
}

Test(library, what_a_capture_holds_is_what_the_command_evaluates)
{
    static const char *const paths[] = {CAPTURES "gemm.cwd", CAPTURES "pm_gpus.cwd"};
    struct counterworks_capture *capture;
    int taken = 0;
    for (int i = 0; i < 2; i++) {
        char command[1024];
        FILE *names = fopen("library_test.names", "w");
        GOOD(counterworks_capture_open(&capture, paths[i], &error));
        GOOD(counterworks_capture_metric_each(capture, gh100, print_name, names, &error));
        GOOD(counterworks_hdf5_write(capture, gh100, NULL, 0, NULL, "library_test_all.h5", &error));
        counterworks_capture_close(capture);
        cr_assert_eq(fclose(names), 0);
        for (int named = 0; named < 2; named++) {
            snprintf(command, sizeof command,
                     CW_METRIC_EVAL " %s %s -o library_test_all_2.h5 >/dev/null && cmp library_test_all.h5 "
                                    "library_test_all_2.h5",
                     paths[i], named ? "--metrics-file library_test.names" : "--all");
            cr_expect_eq(system(command), 0, "%s", command);
        }
    }
    cr_expect_eq(system("rm library_test.names library_test_all.h5 library_test_all_2.h5"), 0);
    GOOD(counterworks_capture_open(&capture, paths[0], &error));
    GOOD(counterworks_capture_metric_each(capture, gh100, take_none, &taken, &error));
    cr_expect_eq(taken, 1);
    counterworks_capture_close(capture);
    GOOD(counterworks_capture_open(&capture, CAPTURES "pc_gemm.cwd", &error));
    cr_expect_eq(counterworks_capture_metric_each(capture, gh100, take_none, &taken, &error), COUNTERWORKS_UNSUPPORTED);
    counterworks_capture_close(capture);
}

Test(library, values_without_a_chip)
{
    struct counterworks_capture *capture;
    uint32_t taken = 0;
    for (int i = 0; i < 2; i++) {
        const enum counterworks_status expected = i ? COUNTERWORKS_UNSUPPORTED : COUNTERWORKS_USAGE;
        GOOD(counterworks_capture_open(&capture, i ? CAPTURES "trace_train.cwd" : CAPTURES "gemm.cwd", &error));
        cr_expect_eq(counterworks_evaluate(capture, NULL, NULL, 0, NULL, NULL, NULL, &error), expected);
        cr_expect_eq(counterworks_capture_metric_each(capture, NULL, take_none, &taken, &error), expected);
        cr_expect_eq(counterworks_hdf5_write(capture, NULL, NULL, 0, NULL, "library_test.h5", &error), expected);
        counterworks_capture_close(capture);
    }
}
