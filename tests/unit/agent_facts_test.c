/* What the injection library knows of launches without counting. */
#include <criterion/criterion.h>
#include <math.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_range;
static const CUcontext context = (CUcontext)0x10;
static const CUfunction plain = (CUfunction)0x1000, clustered = (CUfunction)0x2000, of_library = (CUfunction)0x3000,
                        unknown = (CUfunction)0x4000;

/* ---- a driver that knows kernels -------------------------------------------------------------------------------- */

static int asked, asked_with_lock, asked_not_in_flight;
static int carveout;

/* A kernel's registers follow from its handle. */
static CUresult attribute_of(int *value, CUfunction_attribute attribute, uintptr_t kernel)
{
    asked++;
    asked_with_lock += !fake_profiler.let_go;
    asked_not_in_flight += cw_in_flight->launches == 0;
    *value = 0;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)(kernel >> 8);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = 2048;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 24;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 12;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        *value = kernel == (uintptr_t)clustered ? 4 : 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = kernel == (uintptr_t)clustered;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    default: /* the PTX version among them */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    bool is = function != of_library && function != unknown;
    return is ? attribute_of(value, attribute, (uintptr_t)function) : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult kernel_attribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    cr_expect_eq(device, 0);
    bool is = (CUfunction)kernel == of_library;
    asked += !is;
    return is ? attribute_of(value, attribute, (uintptr_t)kernel) : CUDA_ERROR_INVALID_HANDLE;
}

static CUfunction loaded; /* the last; the function of a library's kernel is known when it is asked for */
static const CUfunction of_its_kernel = (CUfunction)0x3008;

static CUresult load_function(CUfunction function)
{
    asked_with_lock += !fake_profiler.let_go;
    loaded = function;
    return function == of_library || function == unknown ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

static CUresult function_of(CUfunction *function, CUkernel kernel)
{
    *function = of_its_kernel;
    return (CUfunction)kernel == of_library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    bool is = attribute == CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK && device == 0;
    *value = 1024;
    return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static const CUpti_CallbackId plain_call = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                              extended = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;

static void begin(bool user)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, 1, 1);
    cw_inject->api.cuFuncGetAttribute = function_attribute;
    cw_inject->api.cuKernelGetAttribute = kernel_attribute;
    cw_inject->api.cuDeviceGetAttribute = device_attribute;
    cw_inject->api.cuFuncLoad = load_function;
    cw_inject->api.cuKernelGetFunction = function_of;
    asked = asked_with_lock = asked_not_in_flight = 0;
    carveout = -1;
    fake_ask(&setup, CW_REPLAY_APPLICATION, user, NULL);
    fake_profiler.current = context;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    fake_profiler_end();
    cr_expect_eq(asked_with_lock, 0);
    cr_expect_eq(asked_not_in_flight, 0);
}

/* As entry.c does. */
static void launch_with(CUpti_CallbackId id, const void *params)
{
    static uint32_t correlation;
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .functionParams = params,
                               .context = context,
                               .symbolName = "step",
                               .correlationId = ++correlation};
    cw_kernel_facts_learn(id, &call);
    mode->launch_entered(id, &call);
    cw_in_flight_launch_entered();
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cw_in_flight_launch_left();
    mode->launch_left(id, &call);
}

static void launch(CUfunction kernel, unsigned shared)
{
    const cuLaunchKernel_params params = {.f = kernel, .gridDimX = 1, .blockDimX = 1, .sharedMemBytes = shared};
    launch_with(plain_call, &params);
}

static void launch_ex(CUfunction kernel, CUlaunchAttribute *attributes, unsigned count)
{
    const CUlaunchConfig config = {.gridDimX = 2, .blockDimX = 32, .attrs = attributes, .numAttrs = count};
    const cuLaunchKernelEx_params params = {.config = &config, .f = kernel};
    launch_with(extended, &params);
}

static double sent(uint32_t launch, enum cw_launch_fact fact)
{
    return fake_profiler.sent[launch].facts[fact];
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

Test(facts, are_what_the_driver_and_the_launch_say)
{
    begin(false);
    launch(plain, 4096);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 1);
    static const double expected[CW_FACT__COUNT] = {
        [CW_FACT_REGISTERS] = 16, [CW_FACT_SHARED_STATIC] = 2048,        [CW_FACT_SHARED_DYNAMIC] = 4096,
        [CW_FACT_LOCAL] = 24,     [CW_FACT_SHARED_DRIVER] = 1024,        [CW_FACT_CONSTANT] = 12,
        [CW_FACT_CARVEOUT] = -1,  [CW_FACT_MAX_THREADS] = 1024,          [CW_FACT_BINARY] = 90,
        [CW_FACT_PRIORITY] = NAN, /* the stream's */[CW_FACT_PTX] = NAN, /* the driver does not say */
    };
    for (int f = 0; f < CW_FACT__COUNT; f++)
        cr_expect(sent(0, f) == expected[f] || (isnan(sent(0, f)) && isnan(expected[f])), "%s: found %g, expected %g",
                  cw_fact_names[f], sent(0, f), expected[f]);
    end();
}

Test(facts, of_a_kernel_are_asked_for_once)
{
    begin(false);
    launch(plain, 0);
    int once = asked;
    for (int i = 0; i < 3; i++)
        launch(plain, 16);
    cr_expect(once > 0 && asked == once);
    launch(clustered, 0);
    cr_expect_eq(asked, 2 * once);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 5);
    cr_expect(sent(0, CW_FACT_SHARED_DYNAMIC) == 0 && sent(3, CW_FACT_SHARED_DYNAMIC) == 16);
    cr_expect(sent(3, CW_FACT_REGISTERS) == 16 && sent(4, CW_FACT_REGISTERS) == 32);
    end();
}

/* Also of thousands, of which older ones are forgotten. */
Test(facts, are_of_the_kernel_that_is_launched)
{
    struct cw_driver_launch l = {0};
    double facts[CW_FACT__COUNT];
    begin(true); /* nothing is collected */
    for (uintptr_t k = 1; k < 3 * CW_MOST_KNOWN_KERNELS; k++) {
        l.function = (CUfunction)(k << 8);
        if (l.function == of_library || l.function == unknown)
            continue;
        launch(l.function, 0);
        cw_kernel_facts_get(&l, facts);
        cr_assert(facts[CW_FACT_REGISTERS] == (double)k, "%g", facts[CW_FACT_REGISTERS]);
    }
    end();
}

Test(facts, a_librarys_kernel_has_them_too)
{
    begin(false);
    launch(of_library, 0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect(sent(0, CW_FACT_REGISTERS) == 48 && sent(0, CW_FACT_LOCAL) == 24);
    end();
}

Test(facts, that_the_driver_does_not_know_are_unknown)
{
    begin(false);
    launch(unknown, 64);
    int once = asked;
    launch(unknown, 64);
    cr_expect_eq(asked, once, "it is not asked again");
    cw_inject->api.cuFuncGetAttribute = NULL;
    launch(plain, 64);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(isnan(sent(i, CW_FACT_REGISTERS)) && isnan(sent(i, CW_FACT_CLUSTER_X)) &&
                  sent(i, CW_FACT_SHARED_DYNAMIC) == 64);
    end();
}

Test(facts, say_what_a_launch_asks_for)
{
    begin(false);
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 3}},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value.programmaticStreamSerializationAllowed = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -5},
        {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, .value.sharedMemCarveout = 50},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
    launch_ex(plain, attributes, 6);
    launch_ex(plain, NULL, 0);
    launch_ex(clustered, NULL, 0); /* its code says so */
    const cuLaunchCooperativeKernel_params together = {.f = plain, .gridDimX = 1, .blockDimX = 1};
    launch_with(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, &together);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 4);
    cr_expect(sent(0, CW_FACT_CLUSTER_X) == 2 && sent(0, CW_FACT_CLUSTER_Y) == 1 && sent(0, CW_FACT_CLUSTER_Z) == 3);
    cr_expect(sent(0, CW_FACT_PROGRAMMATIC) == 1 && sent(0, CW_FACT_COOPERATIVE) == 1);
    cr_expect(sent(0, CW_FACT_PRIORITY) == -5 && sent(0, CW_FACT_CARVEOUT) == 50);
    cr_expect(sent(1, CW_FACT_CLUSTER_X) == 0 && sent(1, CW_FACT_CLUSTER_Z) == 0 && sent(1, CW_FACT_COOPERATIVE) == 0);
    cr_expect(sent(1, CW_FACT_PROGRAMMATIC) == 0 && isnan(sent(1, CW_FACT_PRIORITY)));
    cr_expect(sent(2, CW_FACT_CLUSTER_X) == 4 && sent(2, CW_FACT_CLUSTER_Y) == 1 && sent(2, CW_FACT_CLUSTER_Z) == 1);
    cr_expect_eq(sent(3, CW_FACT_COOPERATIVE), 1);
    end();
}

static void change(CUfunction_attribute attribute)
{
    const cuFuncSetAttribute_params params = {.hfunc = plain, .attrib = attribute};
    fake_call(cw_kernel_facts_follow, CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute, &params, CUDA_SUCCESS);
}

/* What its code brings is there before its launch is noted. */
Test(facts, a_kernel_is_loaded_first)
{
    begin(false);
    launch(plain, 0);
    cr_expect_eq(loaded, plain);
    launch(of_library, 0);
    cr_expect_eq(loaded, of_its_kernel);
    launch(unknown, 0);
    cr_expect_eq(loaded, unknown);
    mode->finish();
    end();
}

Test(facts, that_the_program_changes_are_asked_for_again)
{
    begin(false);
    launch(plain, 0);
    int once = asked;
    carveout = 30;
    change(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES); /* is none of them */
    launch(plain, 0);
    cr_expect_eq(asked, once);
    change(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    launch(plain, 0);
    cr_expect_eq(asked, 2 * once);
    const cuKernelSetAttribute_params of_kernel = {.attrib = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    fake_call(cw_kernel_facts_follow, CUPTI_DRIVER_TRACE_CBID_cuKernelSetAttribute, &of_kernel, CUDA_SUCCESS);
    launch(plain, 0);
    cr_expect_eq(asked, 3 * once);
    cw_kernel_facts_forget(); /* its code was unloaded */
    launch(plain, 0);
    cr_expect_eq(asked, 4 * once);
    mode->finish();
    cr_expect(sent(1, CW_FACT_CARVEOUT) == -1 && sent(2, CW_FACT_CARVEOUT) == 30);
    end();
}

Test(facts, are_not_asked_for_while_a_stream_is_captured)
{
    begin(false);
    fake_capture(mode, context, (CUstream)0x7, true);
    launch(plain, 0);
    cr_expect_eq(asked, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    launch(plain, 0);
    cr_expect(asked > 0);
    mode->finish();
    cr_expect(fake_profiler.sent_count == 1 && sent(0, CW_FACT_REGISTERS) == 16);
    end();
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

Test(facts, of_a_user_range_are_what_all_its_launches_agree_in)
{
    begin(true);
    cw_user_range_push(0, "same");
    launch(plain, 8);
    launch(plain, 8);
    cw_user_range_pop(0);
    cw_user_range_push(0, "others");
    launch(plain, 8);
    launch(clustered, 8);
    launch(plain, 8);
    cw_user_range_pop(0);
    cw_user_range_push(0, "none");
    cw_user_range_pop(0);
    cw_user_range_push(0, "graph");
    launch(plain, 8);
    const cuGraphLaunch_params graph = {0};
    launch_with(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &graph);
    launch(plain, 8);
    cw_user_range_pop(0);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 4);
    cr_expect(sent(0, CW_FACT_REGISTERS) == 16 && sent(0, CW_FACT_SHARED_DYNAMIC) == 8);
    cr_expect(isnan(sent(1, CW_FACT_REGISTERS)) && sent(1, CW_FACT_SHARED_DYNAMIC) == 8);
    cr_expect(isnan(sent(2, CW_FACT_REGISTERS)) && isnan(sent(2, CW_FACT_SHARED_DYNAMIC)));
    cr_expect(isnan(sent(3, CW_FACT_REGISTERS)) && isnan(sent(3, CW_FACT_SHARED_DYNAMIC)));
    cr_expect_eq(fake_profiler.sent[3].graphs, 1);
    end();
}

Test(facts, attributes_that_are_not_there_are_the_driver_s_to_refuse)
{
    begin(false);
    launch_ex(plain, NULL, 1);
    mode->finish();
    cr_expect_eq(sent(0, CW_FACT_REGISTERS), 16);
    end();
}
