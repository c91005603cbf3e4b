/* What a thread of the program finds behind a call that the injection library saw: everything as it was. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/driver/module.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/modes/trace.h"
#include "agent/inject/ranges/mode.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

/* An agent that serves one process, and is there until that ends. */
static void *serve(void *listener)
{
    fake_agent_serve(accept(*(int *)listener, NULL, NULL), CW_MESSAGE_RANGES);
    return NULL;
}

static struct fake_agent agent;

static void begin(void)
{
    static pthread_t server;
    fake_agent_listen(&agent);
    cr_assert(pthread_create(&server, NULL, serve, &agent.listener) == 0);
    InitializeInjection();
}

static void end(void)
{
    fake_agent_close(&agent);
}

/* ---- errno ------------------------------------------------------------------------------------------------------ */

static void spoil_errno(const char *call)
{
    errno = *call ? EPERM : 0;
}

Test(entry, keeps_errno, .timeout = 60)
{
    begin();
    fake_cupti.called = spoil_errno;
    errno = ERANGE;
    fake_cupti_create_context();
    cr_expect_eq(errno, ERANGE);
    fake_cupti_launch(CUPTI_API_ENTER);
    cr_expect_eq(errno, ERANGE);
    fake_cupti_launch(CUPTI_API_EXIT);
    cr_expect_eq(errno, ERANGE);
    end();
}

/* ---- when to capture -------------------------------------------------------------------------------------------- */

static int armed, stopped;

static void count_starts(const char *call)
{
    armed += strcmp(call, "cuptiRangeProfilerStart") == 0;
    stopped += strcmp(call, "cuptiRangeProfilerStop") == 0;
}

Test(entry, calls_of_the_profilers_api_begin_and_end_what_is_captured, .timeout = 60)
{
    fake_cupti.when.profiler = true;
    begin();
    fake_cupti.called = count_starts;
    fake_cupti_create_context();
    cr_expect_eq(fake_cupti.profiler, 2);
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    cr_expect_eq(armed, 0);
    fake_cupti_profile(true);
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    cr_expect(armed == 1 && !stopped);
    fake_cupti_profile(false);
    cr_expect_eq(stopped, 1);
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    cr_expect_eq(armed, 1);
    end();
}

Test(entry, which_are_not_followed_by_themselves, .timeout = 60)
{
    begin();
    fake_cupti_create_context();
    cr_expect_eq(fake_cupti.profiler, 0);
    end();
}

/* ---- cancellation ----------------------------------------------------------------------------------------------- */

static void *be_cancelled(void *lived)
{
    pthread_cancel(pthread_self());
    fake_cupti_create_context();
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    counterworks_range_push("step");
    *(bool *)lived = true;
    pthread_testcancel();
    *(bool *)lived = false;
    return NULL;
}

/* A lock that the thread held would stop every other. */
Test(entry, a_thread_is_cancelled_behind_the_call, .timeout = 60)
{
    pthread_t thread;
    void *result;
    bool lived = false;
    begin();
    cr_assert(pthread_create(&thread, NULL, be_cancelled, &lived) == 0 && pthread_join(thread, &result) == 0);
    cr_expect(lived && result == PTHREAD_CANCELED);
    cr_expect_eq(counterworks_range_push("next"), 0);
    end();
}

/* ---- signals ---------------------------------------------------------------------------------------------------- */

static bool interrupts;                    /* where a call into the library is about to return */
static const struct cw_inject_mode *comes; /* where one has begun */

int __real_pthread_setcancelstate(int state, int *before);
int __wrap_pthread_setcancelstate(int state, int *before);
int __wrap_pthread_setcancelstate(int state, int *before)
{
    if (state == PTHREAD_CANCEL_ENABLE && interrupts) {
        interrupts = false;
        raise(SIGUSR1);
    }
    if (state == PTHREAD_CANCEL_DISABLE && comes) {
        cw_inject->mode = comes;
        comes = NULL;
    }
    return __real_pthread_setcancelstate(state, before);
}

static void use_ranges(int number)
{
    counterworks_range_push(number == SIGUSR1 ? "handler" : "");
    counterworks_range_pop();
}

Test(entry, may_be_interrupted_by_a_handler_that_enters_it, .timeout = 60)
{
    int state;
    begin();
    signal(SIGUSR1, use_ranges);
    fake_cupti.called = spoil_errno;
    interrupts = true;
    errno = ERANGE;
    fake_cupti_create_context();
    cr_expect_eq(errno, ERANGE);
    cr_expect_not(interrupts);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    cr_expect_eq(state, PTHREAD_CANCEL_ENABLE);
    end();
}

/* ---- modes ------------------------------------------------------------------------------------------------------ */

/* Another thread introduces the first context or a new agent. This mode sees calls without the lock alone. */
Test(entry, a_mode_may_come_while_a_call_waits_for_the_lock, .timeout = 60)
{
    begin();
    comes = &cw_inject_trace;
    fake_cupti_launch(CUPTI_API_ENTER);
    cr_assert_null(comes);
    fake_cupti_launch(CUPTI_API_EXIT);
    end();
}

/* ---- forks ------------------------------------------------------------------------------------------------------ */

/* 1: a child may enter the library; 2: it may not. */
static int enter_in(pid_t (*fork_by)(void))
{
    int status = -1;
    pid_t child = fork_by();
    if (child == 0) {
        alarm(30);
        bool entered = cw_inject_enter();
        if (entered)
            cw_inject_leave();
        _exit(entered ? 1 : 2);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* glibc's _Fork() calls no handlers. */
Test(entry, a_child_is_kept_out_whether_or_not_it_is_heard_of, .timeout = 60)
{
    begin();
    for (int i = 0; i < 2; i++) {
        cr_assert(cw_inject_enter());
        cw_inject_leave();
        cr_expect_eq(enter_in(_Fork), 2);
        cr_expect_eq(enter_in(fork), 2);
        cr_assert(cw_inject_enter());
        cw_inject_leave();
    }
    end();
}

Test(entry, a_thread_has_its_own_number_also_in_a_child, .timeout = 60)
{
    int status = -1;
    cr_expect_eq(cw_inject_thread(), (uint64_t)gettid());
    pid_t child = cw_test_fork();
    if (child == 0)
        _exit(cw_inject_thread() == (uint64_t)getpid() ? 1 : 2);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

/* ---- memory of the host's --------------------------------------------------------------------------------------- */

static size_t known; /* bytes, as a mode finds them where the program gives some back */

static void note_bytes(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id, (void)call;
    known = cw_pinned->bytes;
}

static bool wants_all(CUpti_CallbackId id)
{
    return id != 0;
}

static void host_memory(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void *params)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t kept = 0;
    const CUpti_CallbackData call = {.callbackSite = site,
                                     .functionParams = params,
                                     .functionReturnValue = &result,
                                     .correlationData = &kept,
                                     .context = (CUcontext)0x10};
    fake_cupti.callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
}

/* A batch that ends at this call puts memory back, and what the program has written to the host's stays only where that
 * is known. */
Test(entry, memory_that_is_no_longer_pinned_is_known_until_the_mode_has_seen_the_call, .timeout = 60)
{
    static uint8_t memory[64];
    static const struct cw_inject_mode looks = {.call_entered = note_bytes, .wants = wants_all};
    const cuMemHostRegister_v2_params registered = {.p = memory, .bytesize = sizeof memory};
    const cuMemHostUnregister_params ended = {.p = memory};
    begin();
    fake_cupti_create_context();
    cw_inject->mode = &looks;
    host_memory(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, CUPTI_API_EXIT, &registered);
    host_memory(CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister, CUPTI_API_ENTER, &ended);
    cr_expect_eq(known, sizeof memory);
    cr_expect_eq(cw_pinned->bytes, 0);
    cw_inject->over = true;
    end();
}

static CUptiResult no_checkpoint(struct cw_checkpoint *checkpoint)
{
    return checkpoint ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_INVALID_PARAMETER;
}

static void begin_with_context(enum cw_mode mode)
{
    *cw_checkpoint_library = (struct cw_checkpoint_library){no_checkpoint, no_checkpoint, no_checkpoint};
    fake_cupti.mode = mode;
    begin();
    fake_cupti_create_context();
}

/* A batch must not be done again behind a call that nobody saw. */
Test(entry, calls_of_a_newer_driver_are_seen_by_batches, .timeout = 60)
{
    begin_with_context(CW_MODE_BATCH);
    cr_expect(cw_inject->mode && !cw_inject->over);
    cr_expect_eq(fake_cupti.newer, 1);
    cw_inject->over = true;
    end();
}

/* Kernels of the next context may have the same handles. */
Test(entry, a_context_that_goes_takes_what_is_known_of_kernels, .timeout = 60)
{
    const CUfunction kernel = (CUfunction)0x100;
    begin_with_context(CW_MODE_BATCH);
    cw_kernel_note(kernel, CW_KERNEL_RESTS);
    cr_expect_eq(cw_kernel_habit(kernel), CW_KERNEL_RESTS);
    fake_cupti_destroy_context();
    cr_expect_eq(cw_kernel_habit(kernel), CW_KERNEL_UNKNOWN);
    cw_inject->over = true;
    end();
}

static int rests; /* of the mode */

static bool come_to_rest(void)
{
    rests++;
    return true;
}

/* For which CUPTI would wait at each of them. */
Test(entry, nothing_is_collected_where_several_gpus_are_given_one_launch, .timeout = 60)
{
    static const struct cw_inject_mode rests_there = {.rest = come_to_rest};
    char text[200] = "";
    int said[2], before = dup(STDERR_FILENO);
    cr_assert(pipe(said) == 0 && dup2(said[1], STDERR_FILENO) >= 0);
    cw_say_begin();
    begin();
    fake_cupti_create_context();
    cw_inject->mode = &rests_there;
    host_memory(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice, CUPTI_API_ENTER, NULL);
    host_memory(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice, CUPTI_API_EXIT, NULL);
    dup2(before, STDERR_FILENO);
    cr_expect_eq(rests, 1);
    cr_expect(read(said[0], text, sizeof text - 1) > 0 && strstr(text, "are not collected"), "%s", text);
    cw_inject->over = true;
    end();
}

static void load_module(uint32_t number, const void *cubin, size_t size)
{
    CUpti_ModuleResourceData module = {.moduleId = number, .cubinSize = size, .pCubin = cubin};
    const CUpti_ResourceData data = {.context = (CUcontext)0x10, .resourceDescriptor = &module};
    fake_cupti.callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}

static unsigned char module_bytes[1 << 14]; /* with variables */

static size_t read_module(void)
{
    FILE *file = fopen(CW_SOURCE_DIR "/tests/fuzz/corpus/cubin/variables", "rb");
    cr_assert_not_null(file);
    const size_t size = fread(module_bytes, 1, sizeof module_bytes, file);
    fclose(file);
    return size;
}

Test(entry, modules_with_variables_are_counted_once, .timeout = 60)
{
    const unsigned char *bytes = module_bytes;
    const size_t size = read_module();
    begin_with_context(CW_MODE_BATCH);
    load_module(1, "no code", 7);
    cr_expect(!cw_variables->modules && !cw_variables->managed);
    load_module(2, bytes, size);
    load_module(2, bytes, size);
    cr_expect(cw_variables->modules == 1 && cw_variables->managed);
    load_module(3, bytes, size);
    cr_expect_eq(cw_variables->modules, 2);
    cw_inject->over = true;
    end();
}

/* As when a question of ours about a kernel loads its module. */
Test(entry, modules_that_our_calls_load_are_looked_into, .timeout = 60)
{
    const size_t size = read_module();
    begin_with_context(CW_MODE_BATCH);
    cw_own_calls.inside = true;
    load_module(2, module_bytes, size);
    cw_own_calls.inside = false;
    cr_expect_eq(cw_variables->modules, 1);
    cw_inject->over = true;
    end();
}

/* Their symbols are read for batches alone. */
Test(entry, modules_are_not_looked_into_where_nothing_is_put_back, .timeout = 60)
{
    const size_t size = read_module();
    begin_with_context(CW_MODE_RANGE);
    load_module(2, module_bytes, size);
    cr_expect(!cw_variables->modules && !cw_variables->managed);
    cw_inject->over = true;
    end();
}
