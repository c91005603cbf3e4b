/* SASS metrics of a program with CUDA graphs: they end before the first. */
#include <criterion/criterion.h>

#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/sass.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_sass;
static const CUcontext context = (CUcontext)0x10;
static const CUcontext second = (CUcontext)0x20;
static int enabled, disabled, configured;
static struct cw_filter_options filter;

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
    cr_expect_eq(configured++, 0, "a device has one config at a time");
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
    cr_expect_eq(configured, 1);
    enabled++;
    return CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_SassMetricsDisable_Params *p)
{
    cr_expect(p->ctx == context || p->ctx == second);
    disabled++;
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
    for (size_t i = 0; i < p->numOfPatchedInstructionRecords; i++) {
        p->pMetricsData[i].functionName = (char *)functions[i];
        p->pMetricsData[i].pInstanceValues[0] = (CUpti_SassMetrics_InstanceValue){.metricId = 1, .value = 10 + i};
    }
    return CUPTI_SUCCESS;
}

static void call_begins(CUpti_CallbackId id)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .context = context};
    cr_expect(mode->wants(id));
    mode->call_entered(id, &call);
}

static void kernel_in(CUcontext c, const char *name)
{
    const CUpti_CallbackData call = {.context = c, .symbolName = name};
    mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

static void kernel(const char *name)
{
    kernel_in(context, name);
}

/* CUPTI 13.0.x counts in one context at a time. */
static void begin_with(uint32_t version)
{
    struct cw_writer setup;
    fake_profiler_begin(NULL, 1, 1);
    fake_profiler.version = version;
    struct cw_cupti *api = &cw_inject->api;
    api->cuptiDeviceGetChipName = chip_name;
    api->cuptiSassMetricsGetProperties = properties;
    api->cuptiSassMetricsSetConfig = set_config;
    api->cuptiSassMetricsUnsetConfig = unset_config;
    api->cuptiSassMetricsEnable = enable;
    api->cuptiSassMetricsDisable = disable;
    api->cuptiSassMetricsGetDataProperties = data_properties;
    api->cuptiSassMetricsFlushData = flush_data;
    cw_writer_init(&setup);
    cw_write_u8(&setup, false);
    cw_write_u32(&setup, 1);
    cw_write_string(&setup, "smsp__sass_inst_executed");
    cw_write_u8(&setup, 0);
    cw_filter_write(&setup, &filter);
    fake_ask_when(&setup);
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void begin(void)
{
    begin_with(130001);
}

static void end(void)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect_eq(configured, 0);
    fake_profiler_end();
}

/* Before another is set, and not while a context needs it. */
Test(sass, a_config_is_given_up_behind_its_last_context)
{
    begin_with(120900);
    mode->context_created(second, 0);
    kernel("first");
    kernel_in(second, "first");
    cr_expect(enabled == 2 && configured == 1);
    mode->context_destroyed(second);
    cr_expect(disabled == 1 && configured == 1);
    mode->context_destroyed(context);
    cr_expect(disabled == 2 && configured == 0);
    mode->context_created(context, 0);
    kernel("second");
    cr_expect(enabled == 3 && configured == 1);
    end();
}

/* What is counted by then is sent then. */
Test(sass, ends_where_a_capture_begins)
{
    begin();
    kernel("first");
    cr_expect(enabled == 1 && !disabled);
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    cr_expect_eq(disabled, 1);
    cr_expect_eq(fake_profiler.others, 1);
    kernel("second");
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags);
    cr_expect(enabled == 1 && disabled == 1);
    end();
    cr_expect(enabled == 1 && disabled == 1);
}

/* Counts are fetched once. */
Test(sass, counts_the_first_of_what_is_captured)
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
    cr_expect(enabled == 1 && disabled == 1);
}

Test(sass, does_not_begin_behind_a_graph)
{
    begin();
    call_begins(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags);
    kernel("first");
    end();
    cr_expect_eq(enabled, 0);
    cr_expect_gt(fake_profiler.others, 0, "that nothing was counted is told");
}

/* What the agent is sent: how many kernels were not counted, and the values of the records. */
static void expect_sent(uint32_t uncounted, const uint64_t *values, uint32_t count)
{
    struct cw_reader in;
    struct cw_sass_batch batch;
    struct cw_arena *arena = cw_arena_create();
    cw_reader_init(&in, fake_profiler.other, fake_profiler.other_size, "message", 0, NULL);
    cr_expect_eq(cw_read_u32(&in), uncounted);
    cw_read_string(&in, arena);
    cw_read_u8(&in);
    cw_sass_batch_read(&batch, &in, arena);
    cr_assert_eq(in.status, CW_OK);
    cr_assert_eq(batch.record_count, count);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_eq(batch.records[i].values[0][0], values[i]);
    cw_arena_destroy(arena);
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

Test(sass, a_kernel_that_is_left_out_is_not_one_that_could_not_be_counted)
{
    records = 2;
    filter.excluded[filter.excluded_count++] = "mul";
    begin();
    kernel("_Z3mulPfi");
    kernel("_Z3addPfi");
    kernel("_Z3subPfi");
    mode->finish();
    expect_sent(1, (const uint64_t[]){10, 11}, 2);
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
