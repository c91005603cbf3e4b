/* The passes of a graph, under a profiler that has no GPU: it insists on what CUPTI does. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#include "agent/inject/checkpoint.h"
#include "agent/inject/graph.h"
#include "agent/inject/graph_range.h"
#include "agent/inject/user_ranges.h"
#include "tests/support/fake_driver.h"

enum { PARTS = 2, PASSES = 3, IMAGE = 16 };

/* ---- the profiler, and what the rest of the injection library would do ------------------------------------------ */

static struct {
    int objects, passes, launches, fails_at; /* fails_at: the launch that does, from 1 */
    bool configured, running, open;
    CUpti_ProfilerRange range;
    uint32_t device, saved;
    uint8_t pinned[16];
    char failure[200];
    uint32_t sent_launches, sent_parts;
    struct cw_launch sent;
} fake;

static struct cw_arena *arena;

static CUptiResult enable(CUpti_RangeProfiler_Enable_Params *p)
{
    fake.objects++;
    fake.configured = false;
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&fake;
    return CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_RangeProfiler_Disable_Params *p)
{
    (void)p;
    cr_expect(!fake.running);
    return CUPTI_SUCCESS;
}

static CUptiResult data_size(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = IMAGE;
    return CUPTI_SUCCESS;
}

static CUptiResult initialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    memset(p->pCounterData, 0, IMAGE);
    return CUPTI_SUCCESS;
}

/* An object goes on with what it was configured for first. */
static CUptiResult set_config(CUpti_RangeProfiler_SetConfig_Params *p)
{
    cr_expect(!fake.configured);
    fake.configured = true;
    fake.range = p->range;
    fake.passes = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult start(CUpti_RangeProfiler_Start_Params *p)
{
    (void)p;
    cr_expect(fake.configured && !fake.running);
    fake.running = true;
    return CUPTI_SUCCESS;
}

static CUptiResult stop(CUpti_RangeProfiler_Stop_Params *p)
{
    cr_expect(fake.running && !fake.open);
    fake.running = false;
    p->isAllPassSubmitted = ++fake.passes == PASSES;
    return CUPTI_SUCCESS;
}

static CUptiResult push(CUpti_RangeProfiler_PushRange_Params *p)
{
    (void)p;
    cr_expect(fake.running && !fake.open && fake.range == CUPTI_UserRange);
    fake.open = true;
    return CUPTI_SUCCESS;
}

static CUptiResult pop(CUpti_RangeProfiler_PopRange_Params *p)
{
    (void)p;
    cr_expect(fake.open);
    fake.open = false;
    return CUPTI_SUCCESS;
}

static CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params *p)
{
    (void)p;
    cr_expect(!fake.running && fake.passes == PASSES);
    return CUPTI_SUCCESS;
}

/* What the graph does to device memory and to memory of the host's. */
static CUresult launch(CUgraphExec exec, CUstream stream)
{
    (void)exec;
    (void)stream;
    cr_expect(fake.open);
    cr_expect_eq(fake.device, 5, "each launch finds what was there before");
    cr_expect_eq(fake.pinned[3], 7);
    fake.device = fake.device * 3 + 1;
    fake.pinned[3]++;
    return ++fake.launches == fake.fails_at ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

bool cw_checkpoint_init(void)
{
    return true;
}

bool cw_checkpoint_save(struct cw_checkpoint *checkpoint, CUcontext context)
{
    checkpoint->context = context;
    fake.saved = fake.device;
    return true;
}

bool cw_checkpoint_restore(struct cw_checkpoint *checkpoint)
{
    (void)checkpoint;
    fake.device = fake.saved;
    return true;
}

void cw_checkpoint_free(struct cw_checkpoint *checkpoint)
{
    checkpoint->context = NULL;
}

bool cw_inject_synchronize(CUcontext context)
{
    return context != NULL;
}

uint64_t cw_inject_now_ns(void)
{
    return 1;
}

char *cw_user_ranges_path(uint64_t id)
{
    (void)id;
    return NULL;
}

void cw_inject_fail(enum cw_status status, const char *format, ...)
{
    (void)status;
    va_list args;
    va_start(args, format);
    vsnprintf(fake.failure, sizeof fake.failure, format, args);
    va_end(args);
    cw_inject.over = true;
}

bool cw_inject_good(CUptiResult result, const char *call)
{
    cr_expect_eq(result, CUPTI_SUCCESS, "%s", call);
    return true;
}

bool cw_inject_send(enum cw_message_type type, struct cw_writer *out)
{
    struct cw_reader in;
    cw_reader_init(&in, out->data, out->size, "message", 0, NULL);
    cr_expect_eq(type, CW_MESSAGE_RANGES);
    cw_read_u32(&in);
    cw_read_u32(&in);
    cw_read_string(&in, arena);
    fake.sent_launches = cw_read_count(&in, 4, "launches");
    cw_launch_read(&in, &fake.sent, arena);
    fake.sent_parts = cw_read_u32(&in);
    cw_writer_free(out);
    return true;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static CUgraphExec exec = (CUgraphExec)0x1000;
static struct cw_collection *collection;
static struct fake_graph graph;
static uint64_t word;
static void *parameters[] = {&word};

static void set_up(void)
{
    struct cw_writer setup;
    struct cw_reader in;
    fake_driver();
    arena = cw_inject.arena = cw_arena_create();
    cw_inject.api.cuGraphLaunch = launch;
    cw_inject.api.cuptiRangeProfilerEnable = enable;
    cw_inject.api.cuptiRangeProfilerDisable = disable;
    cw_inject.api.cuptiRangeProfilerGetCounterDataSize = data_size;
    cw_inject.api.cuptiRangeProfilerCounterDataImageInitialize = initialize;
    cw_inject.api.cuptiRangeProfilerSetConfig = set_config;
    cw_inject.api.cuptiRangeProfilerStart = start;
    cw_inject.api.cuptiRangeProfilerStop = stop;
    cw_inject.api.cuptiRangeProfilerPushRange = push;
    cw_inject.api.cuptiRangeProfilerPopRange = pop;
    cw_inject.api.cuptiRangeProfilerDecodeData = decode;
    cw_writer_init(&setup);
    cw_write_u32(&setup, 4);
    cw_write_u32(&setup, PARTS);
    for (int i = 0; i < PARTS; i++) {
        cw_write_u32(&setup, 1);
        cw_write_string(&setup, "smsp__inst_executed.sum");
        cw_write_u32(&setup, 8);
        cw_write_u64(&setup, 0);
    }
    cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
    cr_assert(cw_collection_setup(&in));
    cw_writer_free(&setup);
    collection = cw_collection_open((CUcontext)0x10, 0);
    cr_assert(collection);
    fake.device = 5;
    fake.pinned[3] = 7;
    fake_memory[0] = (struct fake_memory){fake.pinned, sizeof fake.pinned, CU_MEMORYTYPE_HOST, false, 0};
    word = (uintptr_t)fake.pinned;
    fake_kernel(&graph, parameters, 1);
}

static void tear_down(void)
{
    cw_collection_close(collection);
    cw_arena_destroy(arena);
}

TestSuite(graph_range, .init = set_up, .fini = tear_down);

static const char *collect(void)
{
    const cuGraphInstantiateWithFlags_params made = {.phGraphExec = &exec, .hGraph = (CUgraph)&graph};
    const cuGraphLaunch_params params = {.hGraph = exec, .hStream = (CUstream)0x20};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    fake_call(cw_graph_follow, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &made, CUDA_SUCCESS);
    return cw_graph_collect(collection, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &call, CW_REPLAY_BATCH);
}

Test(graph_range, goes_through_all_passes_of_all_parts_and_leaves_memory_as_it_was)
{
    cr_expect_null(collect());
    cr_expect_eq(fake.launches, PARTS * PASSES);
    cr_expect_eq(fake.device, 5);
    cr_expect_eq(fake.pinned[3], 7);
    cr_expect_eq(fake.sent_launches, 1);
    cr_expect_eq(fake.sent_parts, PARTS);
    cr_expect_str_eq(fake.sent.kernel, "graph (1 kernel)");
    cr_expect_eq(fake.sent.graphs, 1);
    cr_expect_eq(fake.sent.stream, 0x20);
    cr_expect(!collection->running && !collection->count && !cw_inject.over);
}

Test(graph_range, another_kind_of_range_takes_another_object)
{
    int objects = fake.objects;
    bool more;
    cr_assert(cw_collection_arm(collection, CUPTI_UserReplay));
    cr_expect_eq(fake.objects, objects, "the first is as good as new");
    cr_expect(cw_collection_stop_pass(collection, &more));
    collection->running = false;
    cr_expect_null(collect());
    cr_expect_eq(fake.objects, objects + PARTS);
    cr_assert(cw_collection_arm(collection, CUPTI_UserReplay));
    cr_expect_eq(fake.objects, objects + PARTS + 1);
    cr_expect_eq(fake.range, CUPTI_AutoRange);
    cr_expect(cw_collection_stop_pass(collection, &more));
}

Test(graph_range, memory_is_as_it_was_after_a_launch_that_fails)
{
    fake.fails_at = 2;
    cr_expect_null(collect());
    cr_expect_str_eq(fake.failure, "a CUDA graph could not be launched for its passes");
    cr_expect_eq(fake.device, 5);
    cr_expect_eq(fake.pinned[3], 7);
    cr_expect_eq(fake.sent_launches, 0);
    cr_expect(!fake.running);
}

Test(graph_range, a_graph_with_a_host_node_is_not_touched)
{
    fake_other(&graph, CU_GRAPH_NODE_TYPE_HOST);
    cr_expect_str_eq(collect(), "a CUDA graph with a host node, whose function would run again in each pass");
    cr_expect_eq(fake.launches, 0);
    cr_expect(!fake.configured);
}
