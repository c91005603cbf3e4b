/* Captures of the simulated GPU that run out of memory, in every allocation in turn, or into a full disk, at every
 * size: what is said to be complete is, and else the error is told. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/backend/pc_capture.h"
#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_gpu.h"
#include "base/file.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/image_samples.h"

static char folder[] = "/tmp/sim_test.XXXXXX";
static char path[64], pattern[64], say[256];
static char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, say, NULL};
static struct cw_config_image plan;
static struct cw_filter_options filter = {
    .launch_count = UINT64_MAX, .range = "outer", .kernels = {"^k"}, .kernel_count = 1};

static void set_up(void)
{
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.7.cwd", folder);
    snprintf(pattern, sizeof pattern, "%s/run.%%p.cwd", folder);
    plan = cw_sample_plan();
    (void)!freopen("/dev/null", "w", stderr); /* of a thousand captures */
}

static void tear_down(void)
{
    unlink(path);
    cr_expect(rmdir(folder) == 0, "something else was left in the folder");
}

TestSuite(agent_sim, .init = set_up, .fini = tear_down, .timeout = 600);

static void program(const char *events)
{
    snprintf(say, sizeof say, "printf '%s' >$COUNTERWORKS_SIM", events);
}

/* ---- the ways --------------------------------------------------------------------------------------------------- */

static enum cw_status range_with(const struct cw_range_options *options, struct cw_error *err)
{
    int exit_status = 0;
    enum cw_status status = cw_backend_sim.range(options, &exit_status, err);
    return status == CW_OK ? (enum cw_status)exit_status : status;
}

static enum cw_status launches(struct cw_error *err)
{
    program("process 7 app 3\\npush outer\\nlaunch k1\\ngraph 2\\ngraph 2 x\\nlaunch k2\\npop\\nlaunch k3\\n");
    return range_with(
        &(struct cw_range_options){
            .capture = {&plan, pattern, argv, 0}, .filter = filter, .for_context = true, .levels = 1},
        err);
}

static enum cw_status ranges_of_runs(struct cw_error *err)
{
    const struct cw_filter_options all = {.launch_count = UINT64_MAX};
    program("process 7 app 3\\npush outer\\npush inner\\nlaunch k\\npop\\nstart wide\\nend wide\\npop\\n");
    return range_with(&(struct cw_range_options){.capture = {&plan, pattern, argv, 0},
                                                 .filter = all,
                                                 .replay = CW_REPLAY_APPLICATION,
                                                 .user = true,
                                                 .for_context = true,
                                                 .levels = 2},
                      err);
}

static enum cw_status in_turn(struct cw_error *err)
{
    program("process 7 app 3\\nlaunch k1\\nlaunch k2\\nlaunch k1\\nlaunch k1\\nlaunch k2\\n");
    return range_with(&(struct cw_range_options){.capture = {&plan, pattern, argv, 0},
                                                 .filter = {.launch_count = UINT64_MAX},
                                                 .replay = CW_REPLAY_MULTIPLEX,
                                                 .for_context = true,
                                                 .levels = 1},
                      err);
}

static enum cw_status samples(struct cw_error *err)
{
    struct cw_config_image one = plan;
    one.profiler = CW_PROFILER_PM;
    one.pass_count = 1;
    int exit_status = 0;
    program("device 0\\nlaunch a\\nlaunch b\\n");
    return cw_backend_sim.pm(&(struct cw_pm_options){.capture = {&one, path, argv, 0}, .devices = 3, .interval = 1000},
                             &exit_status, err);
}

static enum cw_status instructions(bool sass, struct cw_error *err)
{
    static const struct cw_sass_metric metrics[] = {{"smsp__sass_inst_executed", CW_SASS_SM}};
    int exit_status = 0;
    program("push outer\\nlaunch a\\nstart x\\nlaunch b\\nend x\\npop\\nlaunch c\\n");
    return cw_backend_sim.pc(&(struct cw_pc_options){.capture = {NULL, path, argv, 0},
                                                     .sass = sass,
                                                     .filter = {.range = "outer", .launch_count = UINT64_MAX},
                                                     .metric_count = sass,
                                                     .metrics = metrics},
                             &exit_status, err);
}

static enum cw_status pc(struct cw_error *err)
{
    return instructions(false, err);
}

static enum cw_status sass(struct cw_error *err)
{
    return instructions(true, err);
}

static const struct {
    const char *name;
    enum cw_status (*capture)(struct cw_error *err);
} ways[] = {{"launches", launches}, {"runs", ranges_of_runs}, {"turns", in_turn}, {"samples", samples}, {"pc", pc},
            {"sass", sass}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- what is in the file ---------------------------------------------------------------------------------------- */

static double fact(const struct cw_counter_data *data, enum cw_launch_fact fact, uint32_t range)
{
    return data->facts[fact * data->range_count + range];
}

static struct cw_counter_data read_capture(struct cw_arena *arena, struct cw_bytes *file)
{
    struct cw_counter_data data;
    cr_assert(cw_file_read(file, path, 1 << 24, NULL) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file->data, file->size, path, arena, NULL) == CW_OK);
    cr_assert_eq(data.schema.fact_count, CW_FACT__COUNT);
    return data;
}

/* The launches are k1, a graph and k2. */
Test(agent_sim, launches_have_facts_and_graphs_have_none)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes file;
    double of_kernel[CW_FACT__COUNT];
    cr_assert(launches(&err) == CW_OK, "%s", err.message);
    struct cw_counter_data data = read_capture(arena, &file);
    cr_assert_eq(data.range_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        cw_sim_launch_facts(data.ranges[i].kernel, of_kernel);
        cr_expect(fact(&data, CW_FACT_REGISTERS, i) == of_kernel[CW_FACT_REGISTERS]);
        cr_expect(fact(&data, CW_FACT_SHARED_DRIVER, i) == 1024 && isnan(fact(&data, CW_FACT_PRIORITY, i)));
    }
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "max_threads_per_multiprocessor"), "2048");
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
}

/* The ranges are, in their order, inner, wide and outer. */
Test(agent_sim, user_ranges_have_the_facts_of_their_launches_in_every_run)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes file;
    double of_kernel[CW_FACT__COUNT];
    cr_assert(ranges_of_runs(&err) == CW_OK, "%s", err.message);
    struct cw_counter_data data = read_capture(arena, &file);
    cw_sim_launch_facts("k", of_kernel);
    cr_assert_eq(data.range_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        bool launches_k = !strstr(data.ranges[i].name, "wide");
        double registers = fact(&data, CW_FACT_REGISTERS, i);
        cr_expect(launches_k ? registers == of_kernel[CW_FACT_REGISTERS] : isnan(registers), "%s: %g",
                  data.ranges[i].name, registers);
    }
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
}

/* Its size, where it is complete; process numbers make its bytes differ. 0: it is not, or there is none. */
static size_t complete_size(void)
{
    struct cw_bytes file;
    struct cw_counter_data data;
    struct cw_arena *arena = cw_arena_create();
    size_t size = 0;
    if (cw_file_read(&file, path, 1 << 24, NULL) == CW_OK) {
        if (file.size && cw_counter_data_read(&data, file.data, file.size, path, arena, NULL) == CW_OK)
            size = data.complete ? file.size : 0;
        cw_bytes_free(&file);
    }
    cw_arena_destroy(arena);
    return size;
}

static size_t good_size(int way)
{
    struct cw_error err = CW_ERROR_INIT;
    unlink(path);
    cr_assert(ways[way].capture(&err) == CW_OK, "%s: %s", ways[way].name, err.message);
    size_t size = complete_size();
    cr_assert(size > 0, "%s", ways[way].name);
    return size;
}

/* A capture that met trouble says so and its file too; or it did without what failed, and nothing is missing. */
static void expect_honest(int way, long number, size_t good, enum cw_status status, enum cw_status expected)
{
    size_t size = complete_size();
    cr_expect(status == CW_OK ? size == good : status == expected && size == 0, "%s, %ld: status %d, size %zu of %zu",
              ways[way].name, number, status, size, good);
}

Test(agent_sim, every_allocation_may_fail)
{
    for (int way = 0; way < WAYS; way++) {
        size_t good = good_size(way);
        bool failed = true;
        for (long i = 0; failed; i++) {
            struct cw_error err = CW_ERROR_INIT;
            unlink(path);
            cw_alloc_fail_after(i);
            enum cw_status status = ways[way].capture(&err);
            failed = cw_alloc_failed();
            cw_alloc_fail_after(-1);
            cr_assert(i < 5000);
            expect_honest(way, i, good, status, CW_ERR_NOMEM);
        }
    }
}

Test(agent_sim, the_disk_may_be_full_at_every_size)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int way = 0; way < WAYS; way++) {
        size_t good = good_size(way);
        for (size_t size = 0; size < good; size += 1 + good / 97) {
            const struct rlimit limit = {size, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
            struct cw_error err = CW_ERROR_INIT;
            unlink(path);
            setrlimit(RLIMIT_FSIZE, &limit);
            enum cw_status status = ways[way].capture(&err);
            setrlimit(RLIMIT_FSIZE, &none);
            expect_honest(way, (long)size, good, status, CW_ERR_IO);
        }
    }
}

static void take_slowly(void *user, const char *line)
{
    uint32_t *lines = user;
    *lines += line[0] == 'p';
    close(open(path, O_CREAT | O_WRONLY, 0600)); /* the program waits for it */
    usleep(2000);
}

Test(agent_sim, a_child_that_never_stops_is_not_waited_for, .timeout = 600)
{
    struct cw_program run;
    struct cw_error err = CW_ERROR_INIT;
    uint32_t lines = 0;
    snprintf(say, sizeof say,
             "while :; do printf 'pop%%2000s\\n' x; done >$COUNTERWORKS_SIM & until [ -e %s ]; do sleep 0.02; done",
             path);
    cr_expect(cw_sim_program_run(&run, argv, 0, take_slowly, &lines, &err) == CW_OK);
    cr_expect(run.over && lines > 0);
}

Test(agent_sim, a_hindrance_is_not_a_program_without_kernels)
{
    char name[] = "app", *own[] = {name, NULL};
    const struct cw_pc_options options = {.capture = {NULL, "run.cwd", own, 0}, .filter = {.launch_count = UINT64_MAX}};
    const struct cw_program program = {.how = CW_END_EXITED};
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    cr_expect_eq(cw_pc_verdict(&options, &program, 0, 0, "the buffer was full", CW_OK, &exit_status, &err),
                 CW_ERR_DEVICE);
    cr_expect(strstr(err.message, "buffer was full") != NULL, "%s", err.message);
    cr_expect_eq(cw_pc_verdict(&options, &program, 0, 0, NULL, CW_OK, &exit_status, NULL), CW_ERR_APP);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect_eq(cw_pc_verdict(&options, &program, 0, 7, NULL, CW_OK, &exit_status, &err), CW_ERR_APP);
    cr_expect(strstr(err.message, "found 7 samples, all of kernels that CUPTI does not name"), "%s", err.message);
    cr_expect_eq(cw_pc_verdict(&options, &program, 1, 0, "the buffer was full", CW_OK, &exit_status, NULL), CW_OK);
}
