/* SASS metrics: what is counted beside graphs, kernels that launch others, and modules that go. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/sass.h"
#include "agent/inject/modes/sass_counts.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_sass;
static const CUcontext context = (CUcontext)0x10;
static const CUcontext second = (CUcontext)0x20;
static int enabled, disabled, configured, fetched, watched;
static CUcontext lazily; /* there CUPTI can patch single kernels only */
static bool singly;      /* it is to patch single kernels from now on */
static bool breaks;      /* the capture ends as counting stops */
static struct cw_filter_options filter = {.launch_count = UINT64_MAX};
static uint64_t interval_ns = UINT64_C(1) << 60; /* at which counts are sent; 0: at each launch */

static CUptiResult chip_name(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

static CUptiResult properties(CUpti_SassMetrics_GetProperties_Params *p)
{
    p->metric.metricId = 1;
    return CUPTI_SUCCESS;
}

static CUptiResult set_config(CUpti_SassMetricsSetConfig_Params *p)
{
    cr_expect_eq(configured++, 0, "a device can have one config only");
    return p->numOfMetricConfig == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult unset_config(CUpti_SassMetricsUnsetConfig_Params *p)
{
    cr_expect(p->structSize == CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE && p->deviceIndex == 0);
    cr_expect_eq(configured--, 1);
    cr_expect_eq(enabled, disabled, "first every context is disabled");
    return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_SassMetricsEnable_Params *p)
{
    cr_expect(p->ctx == context || p->ctx == second);
    cr_expect(lazily == p->ctx || singly == p->enableLazyPatching, "it would wait inside launches");
    cr_expect_eq(configured, 1);
    cr_expect_eq(watched, 1, "CUPTI counts one kernel only without this callback");
    enabled++;
    return lazily == p->ctx && !p->enableLazyPatching ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_SassMetricsDisable_Params *p)
{
    cr_expect(p->ctx == context || p->ctx == second);
    disabled++;
    if (breaks)
        cw_inject_fail(CW_ERR_DEVICE, "the end");
    return CUPTI_SUCCESS;
}

static const char *const functions[] = {"_Z3addPfi", "_Z3addPfi", "_Z3subPfi"}; /* of each record */
static uint32_t records;

static CUptiResult data_properties(CUpti_SassMetricsGetDataProperties_Params *p)
{
    p->numOfPatchedInstructionRecords = records;
    p->numOfInstances = records ? 1 : 0;
    return CUPTI_SUCCESS;
}

static CUptiResult flush_data(CUpti_SassMetricsFlushData_Params *p)
{
    fetched++;
    for (size_t i = 0; i < p->numOfPatchedInstructionRecords; i++) {
        p->pMetricsData[i].functionName = strdup(functions[i]);
        p->pMetricsData[i].pcOffset = (uint32_t)(16 * i);
        p->pMetricsData[i].pInstanceValues[0] = (CUpti_SassMetrics_InstanceValue){.metricId = 1, .value = 10 + i};
    }
    return CUPTI_SUCCESS;
}

static CUptiResult watch(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                         CUpti_CallbackId id)
{
    (void)subscriber;
    watched += (on ? 1 : -1) * (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_PROFILED);
    return CUPTI_SUCCESS;
}

static CUresult load_function(CUfunction function)
{
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void call_begins(CUpti_CallbackId id)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .context = context};
    cr_expect(mode->wants(id));
    mode->call_entered(id, &call);
}

static void kernel_in(CUcontext c, const char *name)
{
    const cuLaunchKernel_params launch = {.f = (CUfunction)0x77};
    const CUpti_CallbackData call = {.context = c, .symbolName = name, .functionParams = &launch};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

static void kernel(const char *name)
{
    kernel_in(context, name);
}

static void graph(void)
{
    const CUpti_CallbackData call = {.context = context};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call);
}

static void begin(void)
{
    struct cw_writer setup;
    fake_profiler_begin(NULL, 1, 1);
    struct cw_cupti *api = &cw_inject->api;
    api->cuptiDeviceGetChipName = chip_name;
    api->cuptiSassMetricsGetProperties = properties;
    api->cuptiSassMetricsSetConfig = set_config;
    api->cuptiSassMetricsUnsetConfig = unset_config;
    api->cuptiSassMetricsEnable = enable;
    api->cuptiSassMetricsDisable = disable;
    api->cuptiSassMetricsGetDataProperties = data_properties;
    api->cuptiSassMetricsFlushData = flush_data;
    api->cuptiEnableCallback = watch;
    api->cuFuncLoad = load_function;
    cw_writer_init(&setup);
    cw_write_u8(&setup, false);
    cw_write_u64(&setup, interval_ns);
    cw_write_u32(&setup, 1);
    cw_write_string(&setup, "smsp__sass_inst_executed");
    cw_write_u8(&setup, 0);
    cw_filter_write(&setup, &filter);
    fake_ask_when(&setup);
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect_eq(enabled, disabled);
    cr_expect(mode->reset());
    cr_expect_eq(configured, 0);
    fake_profiler_end();
}

/* What the agent is sent: how many kernels were not counted, and the values of the records. */
static uint64_t launches[3];
static void expect_sent(uint32_t uncounted, const uint64_t *values, uint32_t count)
{
    struct cw_reader in;
    struct cw_sass_batch batch;
    struct cw_arena *arena = cw_arena_create();
    cw_reader_init(&in, fake_profiler.other, fake_profiler.other_size, "message", 0, NULL);
    struct cw_uncounted missed;
    cw_uncounted_read(&missed, &in, arena);
    cr_expect_eq(missed.kernels, uncounted);
    cr_expect(missed.graphs == launches[0] && missed.launchers == launches[1] && missed.others == launches[2]);
    cw_sass_batch_read(&batch, &in, arena);
    cr_assert_eq(in.status, CW_OK);
    cr_assert_eq(batch.record_count, count);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_eq(batch.records[i].values[0][0], values[i]);
    cw_arena_destroy(arena);
}

Test(sass, every_context_is_counted_with_one_config)
{
    begin();
    mode->context_created(second, 0);
    kernel("first");
    kernel_in(second, "first");
    cr_expect(enabled == 2 && configured == 1);
    mode->context_destroyed(second);
    cr_expect(disabled == 1 && configured == 1);
    mode->context_destroyed(context);
    cr_expect(disabled == 2 && configured == 1);
    mode->context_created(context, 0);
    kernel("second");
    cr_expect(enabled == 3 && configured == 1);
    end();
}

Test(sass, goes_on_behind_a_graph)
{
    begin();
    kernel("first");
    cr_expect(enabled == 1 && !disabled);
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    cr_expect_eq(disabled, 1);
    kernel("second");
    cr_expect_eq(enabled, 2);
    graph();
    cr_expect_eq(disabled, 2);
    graph();
    kernel("third");
    cr_expect(enabled == 3 && disabled == 2);
    end();
}

Test(sass, does_not_meet_a_graph_that_still_runs)
{
    begin();
    kernel("first");
    graph();
    fake_profiler.busy_one = context;
    kernel("second");
    kernel("third");
    cr_expect_eq(enabled, 1);
    fake_profiler.busy_one = NULL;
    kernel("at once");
    cr_expect_eq(enabled, 1, "the next wait is not yet due");
    fake_profiler.now_ns += 10000000000;
    kernel("later");
    cr_expect_eq(enabled, 2);
    end();
}

/* Whether it takes a setup of these metrics, of one level each. */
static bool takes(const char *const *names, const uint8_t *levels, uint32_t count)
{
    struct cw_writer setup;
    struct cw_reader in;
    fake_profiler_begin(NULL, 1, 1);
    cw_inject->api.cuptiEnableCallback = watch;
    cw_writer_init(&setup);
    cw_write_u8(&setup, false);
    cw_write_u64(&setup, interval_ns);
    cw_write_u32(&setup, count);
    for (uint32_t i = 0; i < count; i++) {
        cw_write_string(&setup, names[i]);
        cw_write_u8(&setup, levels[i]);
    }
    cw_filter_write(&setup, &filter);
    fake_ask_when(&setup);
    cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
    const bool taken = mode->setup(&in);
    cw_writer_free(&setup);
    mode->reset();
    fake_profiler_end();
    return taken;
}

/* A value of CUPTI's names its metric and no level. */
Test(sass, takes_each_metric_once_and_of_a_known_level)
{
    const char *const names[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed"};
    const char *const same[] = {"smsp__sass_inst_executed", "smsp__sass_inst_executed"};
    cr_expect(takes(names, (const uint8_t[]){CW_SASS_GPU, CW_SASS_SMSP}, 2));
    cr_expect_not(takes(names, (const uint8_t[]){CW_SASS_GPU, CW_SASS_LEVEL__COUNT}, 2));
    cr_expect_not(takes(names, (const uint8_t[]){UINT8_MAX, CW_SASS_SM}, 2));
    cr_expect_not(takes(same, (const uint8_t[]){CW_SASS_GPU, CW_SASS_GPU}, 2));
    cr_expect_not(takes(same, (const uint8_t[]){CW_SASS_GPU, CW_SASS_SM}, 2));
}

/* Patched are the kernels that are loaded then. To patch others CUPTI would wait for one that waits for them. */
Test(sass, patches_no_kernel_beside_others)
{
    begin();
    kernel("first");
    kernel("first");
    cr_expect(enabled == 1 && !disabled, "it is patched");
    fake_profiler.busy_one = context;
    kernel("second");
    cr_expect(enabled == 1 && !disabled);
    fake_profiler.busy_one = NULL;
    kernel("second");
    cr_expect(enabled == 1 && !disabled, "the next wait is not yet due");
    fake_profiler.now_ns += 10000000000;
    kernel("second");
    cr_expect(enabled == 2 && disabled == 1);
    kernel("first");
    kernel("second");
    cr_expect(enabled == 2 && disabled == 1);
    mode->finish();
    launches[2] = 2;
    expect_sent(2, NULL, 0);
    end();
}

Test(sass, patches_inside_launches_where_all_at_once_is_refused)
{
    lazily = context;
    begin();
    kernel("first");
    cr_expect(enabled == 2 && disabled == 1);
    kernel("second");
    cr_expect(enabled == 2 && disabled == 1);
    graph();
    kernel("first");
    cr_expect(enabled == 3 && disabled == 2);
    mode->finish();
    launches[0] = 1;
    expect_sent(2, NULL, 0);
    end();
}

/* What CUPTI refuses in one context it does in another. */
Test(sass, each_context_is_patched_as_it_can_be)
{
    lazily = second;
    begin();
    mode->context_created(second, 0);
    kernel("first");
    kernel_in(second, "first");
    cr_expect(enabled == 3 && disabled == 1);
    kernel("second");
    cr_expect(enabled == 4 && disabled == 2);
    kernel_in(second, "second");
    cr_expect(enabled == 4 && disabled == 2);
    mode->context_destroyed(second);
    end();
}

static int waits;

static void count_wait(void)
{
    waits++;
    fake_profiler.beside = count_wait;
}

/* As PyTorch's thread for gradients does. */
Test(sass, what_a_new_thread_launches_first_is_counted_from_its_second_launch)
{
    lazily = context;
    begin();
    kernel("first");
    cr_expect(enabled == 2 && disabled == 1, "all at once, which is refused, and lazily");
    fake_profiler.thread = 2;
    kernel("first");
    fake_profiler.thread = 3;
    kernel("second");
    kernel("third");
    cr_expect(enabled == 2 && disabled == 1);
    kernel("second");
    cr_expect(enabled == 3 && disabled == 2);
    kernel("second");
    cr_expect(enabled == 3 && disabled == 2);
    mode->finish();
    launches[2] = 1;
    expect_sent(3, NULL, 0);
    end();
}

Test(sass, a_thread_that_has_launched_what_is_not_wanted_is_not_new)
{
    lazily = context;
    filter.kernels[filter.kernel_count++] = "^sub\\(";
    begin();
    kernel("_Z3subPfi");
    fake_profiler.thread = 2;
    kernel("_Z3addPfi");
    kernel("_Z3subPi");
    kernel("_Z3subPi");
    cr_expect(enabled == 2 && disabled == 1);
    mode->finish();
    expect_sent(2, NULL, 0);
    end();
}

/* CUPTI waits inside the launch otherwise, and holds up all others. */
Test(sass, waits_for_rest_before_it_patches_inside_a_launch)
{
    lazily = context;
    begin();
    kernel("first");
    fake_profiler.beside = count_wait;
    kernel("first");
    cr_expect_eq(waits, 0);
    kernel("second");
    cr_expect_eq(waits, 1);
    kernel("second");
    cr_expect_eq(waits, 1);
    end();
}

static CUresult refuse(CUfunction function)
{
    (void)function;
    return CUDA_ERROR_INVALID_HANDLE;
}

/* The driver does it in the launch. */
Test(sass, a_kernel_that_cannot_be_loaded_before_is_counted_from_its_second_launch)
{
    begin();
    cw_inject->api.cuFuncLoad = refuse;
    cw_inject->api.cuKernelGetFunction = NULL;
    kernel("first");
    kernel("first");
    kernel("first");
    mode->finish();
    launches[2] = 1;
    expect_sent(1, NULL, 0);
    end();
}

/* Patched kernels would stay so for the rest of the program. */
Test(sass, enables_nothing_behind_its_end)
{
    begin();
    kernel("first");
    breaks = true;
    kernel("second");
    cr_expect(cw_inject->over && enabled == 1 && disabled == 1);
    fake_profiler_end();
}

static void destroy_second(void)
{
    mode->context_destroyed(second);
}

Test(sass, a_context_may_go_while_another_comes_to_rest)
{
    begin();
    mode->context_created(second, 0);
    graph();
    fake_profiler.beside = destroy_second;
    kernel_in(second, "first");
    kernel("first");
    cr_expect(enabled == 1 && !disabled);
    end();
}

/* A program may have more kernels than are followed: others are not counted. */
Test(sass, a_known_kernel_stays_known_beyond_the_limit)
{
    enum { MOST = 1 << 16 };
    static char names[MOST + 1][8];
    begin();
    for (int i = 0; i <= MOST; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        kernel(names[i]);
        cr_assert_eq(enabled, i < MOST ? i + 1 : MOST);
    }
    kernel(names[7]);
    cr_expect_eq(enabled, MOST);
    end();
}

/* Its name may have the same place in memory. */
Test(sass, a_kernel_that_is_loaded_again_is_patched_again)
{
    begin();
    kernel("first");
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload);
    kernel("second");
    cr_expect(enabled == 2 && disabled == 1);
    kernel("first");
    cr_expect(enabled == 3 && disabled == 2);
    end();
}

Test(sass, kernels_that_launch_others_are_let_by)
{
    begin();
    kernel("first");
    kernel("launcher");
    cr_expect_eq(disabled, 1);
    kernel("launcher");
    kernel("second");
    cr_expect_eq(enabled, 2);
    end();
}

Test(sass, collectives_are_let_by)
{
    begin();
    kernel("first");
    kernel("_Z25ncclDevKernel_AllReduce_Sum");
    cr_expect_eq(disabled, 1);
    kernel("ncclDevKernel_AllGather_RING_LL");
    singly = true; /* all of NCCL's code takes seconds */
    kernel("second");
    cr_expect_eq(enabled, 2);
    kernel("third");
    cr_expect_eq(enabled, 2);
    mode->finish();
    launches[1] = 2;
    expect_sent(5, NULL, 0);
    end();
}

Test(sass, a_module_that_goes_is_fetched_first)
{
    begin();
    records = 2;
    kernel("_Z3addPfi");
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload);
    cr_expect(fetched == 1 && disabled == 1);
    end();
    cr_expect_eq(fetched, 1);
}

static void take_a_second(void)
{
    fake_profiler.now_ns += 1000000000;
}

Test(sass, waits_take_a_share_of_the_time)
{
    begin();
    kernel("first");
    for (int i = 0; i < 100; i++) {
        graph();
        fake_profiler.beside = take_a_second;
        kernel("next");
    }
    cr_expect(enabled > 5 && enabled < 20, "%d times", enabled);
    fake_profiler.now_ns += UINT64_C(3600000000000);
    kernel("next");
    const int before = enabled;
    graph();
    kernel("next");
    cr_expect_eq(enabled, before + 1);
    end();
}

static void launch_another(void)
{
    kernel("other");
    cw_in_flight_launch_entered();
}

/* The GPU that came to rest for one thread may work for another by then. */
Test(sass, patches_no_kernel_if_another_thread_has_launched)
{
    begin();
    kernel("first");
    kernel("other");
    fake_profiler.beside = launch_another;
    kernel("second");
    cr_expect_eq(enabled, 2);
    end();
}

static void launch_graph(void)
{
    graph();
}

Test(sass, does_not_go_on_if_another_thread_has_launched_a_graph)
{
    begin();
    kernel("first");
    graph();
    fake_profiler.beside = launch_graph;
    kernel("second");
    cr_expect_eq(enabled, 1);
    kernel("third");
    cr_expect_eq(enabled, 2);
    end();
}

Test(sass, a_graph_outside_the_capture_does_not_meet_kernels_either)
{
    fake_when.profiler = true;
    begin();
    graph();
    fake_profile(mode, true);
    fake_profiler.busy_one = context;
    kernel("first");
    cr_expect_eq(enabled, 0);
    end();
}

Test(sass, counts_each_part_that_is_captured)
{
    fake_when.profiler = true;
    begin();
    kernel("before");
    cr_expect_eq(enabled, 0);
    fake_profile(mode, true);
    kernel("first");
    cr_expect(enabled == 1 && !disabled);
    fake_profile(mode, false);
    cr_expect(enabled == 1 && disabled == 1);
    cr_expect_eq(fake_profiler.others, 1);
    kernel("behind");
    fake_profile(mode, true);
    kernel("again");
    end();
    cr_expect(enabled == 2 && disabled == 2);
    cr_expect_eq(fake_profiler.others, 2);
}

Test(sass, only_kernels_that_are_asked_for_are_kept)
{
    records = 3;
    filter.kernels[filter.kernel_count++] = "^sub\\(";
    begin();
    kernel("_Z3addPfi");
    kernel("_Z3subPfi");
    mode->finish();
    expect_sent(0, (const uint64_t[]){12}, 1);
    end();
}

Test(sass, what_was_fetched_adds_up)
{
    begin();
    records = 3;
    kernel("_Z3addPfi");
    graph();
    kernel("launcher");
    kernel("_Z3subPfi");
    mode->finish();
    launches[0] = launches[1] = 1;
    expect_sent(1, (const uint64_t[]){20, 22, 24}, 3);
    end();
}

/* As CUPTI does. */
Test(sass, each_metric_of_an_instruction_may_have_its_record)
{
    struct cw_sass_counts counts = {0};
    const uint64_t values[] = {5, 7}, *const lists[] = {&values[0], &values[1]};
    const struct cw_instruction at = {.module = 1, .pc = 16, .function = "f"};
    for (int i = 0; i < 2; i++) {
        const struct cw_sass_record first = {at, (const uint32_t[]){1, 0}, lists},
                                    other = {at, (const uint32_t[]){0, 1}, lists};
        cr_expect(cw_sass_counts_add(&counts, &first, 2) && cw_sass_counts_add(&counts, &other, 2));
    }
    cr_assert_eq(counts.count, 1);
    cr_expect(counts.records[0].counts[0] == 1 && counts.records[0].counts[1] == 1);
    cr_expect(counts.records[0].values[0][0] == 10 && counts.records[0].values[1][0] == 14);
    cw_sass_counts_free(&counts);
}

/* Whichever allocation fails, records that come later find the list as it was, or are refused. */
Test(sass, counts_hold_what_found_memory)
{
    const uint64_t values[] = {5, 7}, *const lists[] = {values};
    for (long after = 0;; after++) {
        struct cw_sass_counts counts = {0};
        size_t added = 0;
        cw_alloc_fail_after(after);
        for (uint32_t i = 0; i < 6; i++) {
            char function[] = {(char)('a' + i / 2), '\0'};
            const struct cw_sass_record r = {
                {.module = 1, .pc = 16, .function = function}, (const uint32_t[]){2}, lists};
            added += cw_sass_counts_add(&counts, &r, 1);
        }
        const bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(counts.count <= 3 && added >= counts.count && (added == 6) == !failed);
        cw_sass_counts_free(&counts);
        if (!failed)
            break;
    }
}

Test(sass, a_kernel_that_is_left_out_is_not_one_that_could_not_be_counted)
{
    records = 2;
    filter.excluded[filter.excluded_count++] = "mul";
    begin();
    kernel("_Z3mulPfi");
    kernel("_Z3addPfi");
    kernel("_Z3subPfi");
    mode->finish();
    expect_sent(1, (const uint64_t[]){20, 22}, 2);
    end();
}

/* One that waits for the host, and a program that ends without it. */
Test(sass, a_kernel_that_does_not_end_holds_up_no_end)
{
    begin();
    kernel("_Z4waitPi");
    fake_profiler.busy = true;
    mode->finish();
    cr_expect(cw_inject->over);
    cr_expect(strstr(fake_profiler.failure, "a kernel that does not end"), "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect_not(mode->reset(), "no session can follow");
    cr_expect(configured == 1 && !disabled, "the kernel writes to CUPTI's memory still");
    fake_profiler_end();
}

Test(sass, nor_the_begin_of_a_capture)
{
    begin();
    kernel("_Z4waitPi");
    fake_profiler.busy = true;
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    cr_expect(cw_inject->over);
    cr_expect_eq(disabled, 0);
    fake_profiler_end();
}

/* A program that is killed has sent its counts until then. */
Test(sass, counts_are_sent_while_the_program_runs)
{
    records = 2;
    interval_ns = 0;
    begin();
    graph();
    launches[0] = 1;
    expect_sent(0, NULL, 0);
    launches[0] = 0;
    kernel("_Z3addPfi");
    expect_sent(0, (const uint64_t[]){10, 11}, 2);
    kernel("_Z3subPfi");
    expect_sent(0, (const uint64_t[]){20, 22}, 2);
    cr_expect(disabled < enabled, "counting goes on");
    mode->finish();
    expect_sent(1, (const uint64_t[]){10, 11}, 2);
    end();
}

Test(sass, a_kernel_that_does_not_end_delays_them)
{
    records = 1;
    begin();
    kernel("_Z3addPfi");
    fake_profiler.busy = true;
    mode->flush();
    cr_expect_eq(fake_profiler.others, 0);
    cr_expect(!cw_inject->over);
    fake_profiler.busy = false;
    mode->flush();
    cr_expect_eq(fake_profiler.others, 1);
    expect_sent(0, (const uint64_t[]){10}, 1);
    mode->finish();
    end();
}

Test(sass, each_context_sends_what_it_missed_itself)
{
    begin();
    mode->context_created(second, 0);
    graph();
    kernel_in(second, "_Z3subPfi");
    mode->context_destroyed(second);
    expect_sent(1, NULL, 0);
    mode->finish();
    launches[0] = 1;
    expect_sent(0, NULL, 0);
    end();
}

Test(sass, counts_only_within_ranges_that_are_asked_for)
{
    records = 2;
    filter.range = "step";
    begin();
    graph();
    kernel("_Z3addPfi");
    cr_expect_eq(enabled, 0);
    cw_user_range_push(0, "step");
    kernel("_Z3addPfi");
    cr_expect(enabled == 1 && !disabled);
    cw_user_range_push(0, "inner");
    kernel("_Z3addPfi");
    cw_user_range_pop(0);
    cw_user_range_pop(0);
    cr_expect(enabled == 1 && !disabled, "not before the next launch");
    kernel("_Z3mulPfi");
    cr_expect(enabled == 1 && disabled == 1, "its launch is not counted");
    cw_user_range_push(0, "step");
    graph();
    kernel("_Z3addPfi");
    cw_user_range_pop(0);
    cr_expect_eq(enabled, 2);
    mode->finish();
    launches[0] = 1;
    expect_sent(0, (const uint64_t[]){20, 22}, 2);
    end();
}

Test(sass, counts_only_launches_that_are_asked_for)
{
    records = 2;
    filter.kernels[filter.kernel_count++] = "^add\\(";
    filter.launch_skip = 1;
    filter.launch_count = 2;
    begin();
    kernel("_Z3addPfi");
    kernel("_Z3subPfi");
    cr_expect_eq(enabled, 0);
    kernel("_Z3addPfi");
    kernel("_Z3subPfi");
    kernel("_Z3addPfi");
    cr_expect(enabled == 1 && !disabled, "other kernels are left out by their names");
    kernel("_Z3addPfi");
    cr_expect(enabled == 1 && disabled == 1);
    kernel("_Z3addPfi");
    cr_expect_eq(enabled, 1);
    mode->finish();
    expect_sent(0, (const uint64_t[]){10, 11}, 2);
    end();
}

/* A launch that is left out must not run patched. */
Test(sass, waits_for_the_end_of_launches_before_one_that_is_left_out)
{
    filter.launch_count = 1;
    begin();
    kernel("_Z3addPfi");
    fake_profiler.busy = true;
    kernel("_Z3addPfi");
    cr_expect(cw_inject->over);
    cr_expect(strstr(fake_profiler.failure, "before a launch is left out"), "%s", fake_profiler.failure);
    cr_expect_eq(disabled, 0);
    fake_profiler_end();
}

static int waits;

static void returns_late(void)
{
    fake_profiler.meanwhile = returns_late;
    if (++waits == 5)
        cw_in_flight_launch_left();
}

/* As where the driver's queue is full: other threads need the lock to return. */
Test(sass, a_graph_waits_for_a_launch_that_returns_after_seconds, .timeout = 20)
{
    begin();
    kernel("_Z3addPfi");
    cw_in_flight_launch_entered();
    fake_profiler.meanwhile = returns_late;
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    fake_profiler.meanwhile = NULL;
    cr_expect(waits == 5 && disabled == 1);
    end();
}

static void capture_ends(void)
{
    cw_inject->over = true;
}

Test(sass, a_graph_waits_for_no_launch_behind_the_end_of_the_capture, .timeout = 20)
{
    begin();
    kernel("_Z3addPfi");
    cw_in_flight_launch_entered();
    fake_profiler.meanwhile = capture_ends;
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    cr_expect_str_empty(fake_profiler.failure);
    fake_profiler_end();
}

Test(sass, a_launch_that_is_left_out_does_not_wait_for_other_contexts)
{
    filter.launch_count = 1;
    begin();
    mode->context_created(second, 0);
    kernel_in(second, "_Z3addPfi");
    fake_profiler.busy_one = second;
    kernel("_Z3addPfi");
    cr_expect(!cw_inject->over && enabled == 1 && !disabled);
    fake_profiler.busy_one = NULL;
    mode->context_destroyed(second);
    end();
}
