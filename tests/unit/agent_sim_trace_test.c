/* Traces of the simulated program, read as everybody reads them: what CI knows of traces has to be plausible. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/trace_capture.h"
#include "base/file.h"
#include "eval/timeline/timeline.h"

static char folder[] = "/tmp/sim_trace.XXXXXX", path[64];
static char word[] = "true", *program[] = {word, NULL};
static struct cw_trace_options options;
static struct cw_arena *arena;
static struct cw_bytes file;
static struct cw_counter_data data;
static struct cw_trace trace;
static struct cw_timeline timeline;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cr_assert(arena && mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.cwd", folder);
    options = (struct cw_trace_options){
        .capture = {.output = path, .argv = program, .sim_seed = 1, .sim_steps = 6, .sim_processes = 2},
        .filter = {.launch_count = UINT64_MAX},
        .environment_ns = 1000000,
        .quiet = true};
    cr_assert(cw_trace_kinds_read(&options.kinds, "all", &err) == CW_OK);
}

static void tear_down(void)
{
    cw_timeline_free(&timeline);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    unlink(path);
    cr_expect(rmdir(folder) == 0, "something else was left in the folder");
}

TestSuite(sim_trace, .init = set_up, .fini = tear_down);

static void load(void)
{
    cw_timeline_free(&timeline);
    cw_bytes_free(&file);
    cr_assert(cw_file_read(&file, path, 1 << 30, &err) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, path, arena, &err) == CW_OK,
              "%s", err.message);
    cr_assert(cw_timeline_load(&timeline, &trace, &data, file.size, arena, &err) == CW_OK, "%s", err.message);
}

static enum cw_status capture(void)
{
    int exit_status = -1;
    enum cw_status status = cw_sim_trace(&options, &exit_status, &err);
    if (status == CW_OK) {
        cr_assert(exit_status == 0);
        load();
    }
    return status;
}

static void must_capture(void)
{
    cr_assert(capture() == CW_OK, "%s", err.message);
}

Test(sim_trace, has_every_kind)
{
    options.windows.duration_ns = 1000000000;
    must_capture();
    const uint64_t nodes = timeline.rows[CW_TRACE_KERNEL];
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        cr_expect(timeline.rows[k] || k == CW_TRACE_GRAPH || k == CW_TRACE_DEVICE_GRAPH, "%s", cw_trace_kinds[k].name);
    options.whole_graphs = true;
    must_capture();
    cr_expect(timeline.rows[CW_TRACE_GRAPH] == 2 * 6 && timeline.rows[CW_TRACE_DEVICE_GRAPH] &&
              timeline.rows[CW_TRACE_KERNEL] == nodes - 2 * 6 * 8);
    cr_expect(data.device_count == 2 && trace.process_count == 2 && data.complete);
    cr_expect_str_eq(cw_timeline_attribute(&timeline, 1, "rank"), "1");
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "simulated"), "yes");
}

/* Work starts behind the call that launched it, and in a stream one behind the other. */
static uint32_t count_out_of_order(void)
{
    uint32_t wrong = 0;
    for (uint32_t s = 0; s < timeline.stream_count; s++)
        for (uint32_t i = 0; i < timeline.streams[s].gpu.count; i++) {
            const struct cw_timeline_gpu *g = &timeline.gpu[timeline.streams[s].gpu.first + i];
            cr_assert(g->call != CW_TIMELINE_NONE, "nothing launched it");
            wrong += g->start < timeline.calls[g->call].start || g->end <= g->start || (i && g->start < g[-1].end);
        }
    return wrong;
}

Test(sim_trace, causes_come_before_effects)
{
    must_capture();
    cr_expect(timeline.gpu_count > 300 && count_out_of_order() == 0);
    for (uint32_t t = 0; t < timeline.thread_count; t++)
        for (uint32_t i = 1; i < timeline.threads[t].calls.count; i++) {
            const struct cw_timeline_call *c = &timeline.calls[timeline.threads[t].calls.first + i];
            cr_expect(c->start >= c[-1].end,
                      "a thread makes one call at a time, and what that calls itself is not told");
        }
}

Test(sim_trace, clocks_of_gpus_may_run_off)
{
    options.sim_drift = 3000;
    must_capture();
    cr_expect(count_out_of_order() > 0, "the second GPU's runs behind");
}

Test(sim_trace, copies_overlap_with_kernels)
{
    must_capture();
    uint32_t overlaps = 0;
    for (uint32_t i = 0; i < timeline.gpu_count; i++)
        for (uint32_t k = 0; timeline.gpu[i].kind == CW_TRACE_COPY && k < timeline.gpu_count; k++)
            overlaps += timeline.gpu[k].kind == CW_TRACE_KERNEL && timeline.gpu[k].start < timeline.gpu[i].end &&
                        timeline.gpu[k].end > timeline.gpu[i].start;
    cr_expect(overlaps > 0);
}

static const struct cw_timeline_account *find_account(uint32_t process, const char *kind)
{
    for (uint32_t i = 0; i < timeline.account_count; i++)
        if (timeline.accounts[i].process == process && strcmp(timeline.accounts[i].kind, kind) == 0)
            return &timeline.accounts[i];
    return NULL;
}

Test(sim_trace, what_is_lost_is_in_the_books)
{
    options.sim_drop = 7;
    options.sim_untimed = 3;
    must_capture();
    const struct cw_timeline_account *kernels = find_account(0, "kernel");
    cr_assert_not_null(kernels);
    cr_expect(kernels->launched == kernels->recorded + 7 && kernels->dropped == 7 && kernels->untimed == 3);
    cr_expect(timeline.untimed[CW_TRACE_KERNEL] == 3 && data.dropped == 7);
    cr_expect_str_eq(kernels->note, "the buffers of the program were full");
    uint64_t recorded = 0;
    for (uint32_t p = 0; p < 2; p++)
        recorded += find_account(p, "kernel")->recorded;
    cr_expect(recorded == timeline.rows[CW_TRACE_KERNEL]);
    for (int k = 0; k < CW_TRACE_ACCOUNT; k++) {
        const struct cw_timeline_account *a = find_account(1, cw_trace_kinds[k].name);
        const bool followed = k == CW_TRACE_KERNEL || k == CW_TRACE_GRAPH; /* by callbacks, as on a real GPU */
        cr_expect(!a || a->launched == (followed ? a->recorded : CW_TRACE_UNKNOWN), "%s", cw_trace_kinds[k].name);
    }
}

Test(sim_trace, a_process_that_is_killed_says_so)
{
    options.sim_unfinished = true;
    must_capture();
    const struct cw_timeline_account *kernels = find_account(1, "kernel");
    cr_assert_not_null(kernels);
    cr_expect(strstr(kernels->note, "before it had sent all"), "%s", kernels->note);
    cr_expect(kernels->recorded < find_account(0, "kernel")->recorded);
    cr_expect(find_account(0, "kernel")->note[0] == 0);
}

static void *content(size_t *size)
{
    void *copy = malloc(file.size);
    cr_assert(copy);
    *size = file.size;
    return memcpy(copy, file.data, file.size);
}

Test(sim_trace, follows_from_the_seed)
{
    size_t size;
    must_capture();
    void *first = content(&size);
    must_capture();
    cr_expect(file.size == size && memcmp(file.data, first, size) == 0);
    options.capture.sim_seed = 2;
    must_capture();
    cr_expect(file.size != size || memcmp(file.data, first, size) != 0);
    free(first);
}

Test(sim_trace, windows_leave_the_rest_out)
{
    must_capture();
    const uint32_t all = timeline.gpu_count;
    options.windows = (struct cw_trace_window_options){.delay_ns = 3000000, .duration_ns = 1000000};
    must_capture();
    cr_expect(timeline.gpu_count > 0 && timeline.gpu_count < all / 2);
    cr_assert(timeline.window_count == 1);
    cr_expect(timeline.windows[0].end - timeline.windows[0].start <= 1000000);
    for (uint32_t i = 0; i < timeline.call_count; i++)
        cr_expect(timeline.calls[i].end >= timeline.windows[0].start);
    options.windows = (struct cw_trace_window_options){.length_ns = 500000, .every_ns = 2000000};
    must_capture();
    cr_expect(timeline.window_count > 2, "%u", timeline.window_count);
    options.windows = (struct cw_trace_window_options){.toggled = true}; /* which nobody does */
    cr_expect(capture() == CW_ERR_APP);
    cr_expect_str_eq(err.message, "no window opened while true ran (--toggle), so nothing was traced");
}

Test(sim_trace, a_range_or_a_kernel_opens_a_window)
{
    must_capture();
    const uint32_t all = timeline.gpu_count;
    options.filter.range = "^optimizer$";
    must_capture();
    cr_expect(timeline.window_count > 6 && timeline.gpu_count < all / 2);
    for (uint32_t i = 0; i < timeline.gpu_count; i++)
        cr_expect(timeline.gpu[i].in_graph || timeline.gpu[i].kind == CW_TRACE_MEMSET);
    options.filter.range = "^NCCL@ncclAllReduce$"; /* with its domain, as lists show it */
    must_capture();
    cr_expect(timeline.window_count > 6 && timeline.gpu_count == timeline.window_count);
    options.filter.range = "^ncclAllReduce$";
    cr_expect(capture() == CW_ERR_APP);
    options.filter =
        (struct cw_filter_options){.kernels = {"AllReduce"}, .kernel_count = 1, .launch_skip = 1, .launch_count = 2};
    must_capture();
    uint32_t reductions = 0;
    for (uint32_t i = 0; i < timeline.gpu_count; i++)
        reductions += strstr(timeline.names[timeline.gpu[i].name].text, "AllReduce") != NULL;
    cr_expect(reductions == 2 * 2 && timeline.gpu_count > 20, "%u, %u", reductions, timeline.gpu_count);
    options.filter = (struct cw_filter_options){.launch_count = UINT64_MAX};
    options.windows.profiler = true;
    must_capture();
    cr_expect(timeline.gpu_count == all - 1, "all but the copy before it starts");
}

Test(sim_trace, kinds_calls_and_devices_are_chosen)
{
    cr_assert(cw_trace_kinds_read(&options.kinds, "kernel,runtime", &err) == CW_OK);
    options.calls = "cudaLaunch*,cudaMemcpyAsync*";
    options.filter.devices = 1;
    options.filter.process = "true";
    options.latency = true;
    must_capture();
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        cr_expect(!timeline.rows[k] || k == CW_TRACE_KERNEL || k == CW_TRACE_RUNTIME || k == CW_TRACE_SHAPE ||
                      k == CW_TRACE_ACCOUNT,
                  "%s", cw_trace_kinds[k].name);
    for (uint32_t i = 0; i < timeline.call_count; i++) {
        const char *name = timeline.names[timeline.calls[i].name].shown;
        cr_expect(strcmp(name, "cudaLaunchKernel") == 0 || strcmp(name, "cudaMemcpyAsync") == 0, "%s", name);
    }
    options.calls = "cuLaunch*";
    must_capture();
    cr_expect(timeline.rows[CW_TRACE_DRIVER] == 0, "calls of the driver were not asked for");
    cr_assert(cw_trace_kinds_read(&options.kinds, "kernel,driver", &err) == CW_OK);
    must_capture();
    cr_expect(timeline.rows[CW_TRACE_DRIVER] > 6 * 20, "those of the runtime are not recorded, so those they make are");
    options.filter.process = "another";
    cr_expect(capture() == CW_ERR_APP);
    cr_expect_str_eq(err.message, "true used no GPU that was requested, so nothing was traced");
}
