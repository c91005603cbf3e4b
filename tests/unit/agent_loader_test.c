/* Locks that are not ours. A library of the program's that uses ranges in its constructor, where the loader's lock is
 * held, while another thread makes the calls of CUDA at which the injection library loads something: neither waits for
 * the other. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/fake_cupti.h"

enum { BEFORE_LONG = 100 };

static struct fake_agent agent;
static sem_t in_constructor, may_go_on;
static const char *moment; /* when the constructor goes on: in this call of CUPTI's, or when HELLO has come */

/* Called by the plugin. */
__attribute__((visibility("default"))) void plugin_is_loaded(void);
void plugin_is_loaded(void)
{
    sem_post(&in_constructor);
    sem_wait(&may_go_on);
    counterworks_range_push("static initialisation");
    counterworks_range_pop();
}

static void *load_plugin(void *unused)
{
    void *plugin = dlopen(CW_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    cr_expect(plugin != NULL, "%s", dlerror());
    return unused;
}

/* CUPTI loads libraries of its own at its first use. */
static void at_moment(const char *call)
{
    if (moment && strcmp(call, moment) == 0) {
        moment = NULL;
        sem_post(&may_go_on);
        if (strcmp(call, "cuptiProfilerInitialize") == 0)
            dlopen("libdl.so.2", RTLD_NOW | RTLD_LOCAL);
    }
}

static void *serve(void *unused)
{
    /* the fake CUPTI cannot trace */
    fake_agent_serve(accept(agent.listener, NULL, NULL),
                     fake_cupti.mode == CW_MODE_LAUNCHES ? CW_MESSAGE_FAIL : CW_MESSAGE_RANGES);
    return unused;
}

static void begin(enum cw_mode mode)
{
    pthread_t server;
    cr_assert(sem_init(&in_constructor, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
    fake_agent_listen(&agent);
    fake_cupti.mode = mode;
    fake_cupti.called = at_moment;
    cr_assert(pthread_create(&server, NULL, serve, NULL) == 0);
    InitializeInjection();
}

/* Does something while a plugin is being loaded. */
static void meet(const char *when, void (*call)(void))
{
    pthread_t loader;
    moment = when;
    cr_assert(pthread_create(&loader, NULL, load_plugin, NULL) == 0);
    sem_wait(&in_constructor);
    call();
    pthread_join(loader, NULL);
    fake_agent_close(&agent);
}

static void launch(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

Test(loader, is_not_waited_for_with_the_lock_where_cupti_begins, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_RANGE);
    meet("cuptiProfilerInitialize", fake_cupti_create_context);
}

Test(loader, is_not_waited_for_with_the_lock_at_setup, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_BATCH);
    meet("HELLO", fake_cupti_create_context);
}

Test(loader, is_not_waited_for_with_the_lock_at_the_setup_of_a_trace, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_LAUNCHES);
    meet("HELLO", fake_cupti_create_context);
}

Test(loader, is_not_waited_for_with_the_lock_at_a_launch, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_RANGE);
    fake_cupti_create_context();
    meet("cuptiGetVersion", launch);
}

static void *load_code(void *unused)
{
    fake_cupti_load_module();
    return unused;
}

/* The driver loads a kernel's code in the middle of its launch, with a lock that it takes in calls of ours as well. */
static void load_code_beside(const char *call)
{
    pthread_t loader;
    if (moment && strcmp(call, moment) == 0) {
        moment = NULL;
        cr_assert(pthread_create(&loader, NULL, load_code, NULL) == 0);
        pthread_join(loader, NULL);
    }
}

static void *use_range(void *unused)
{
    counterworks_range_push("beside");
    return unused;
}

static void use_range_beside(const char *call)
{
    pthread_t other;
    if (moment && strcmp(call, moment) == 0) {
        moment = NULL;
        cr_assert(pthread_create(&other, NULL, use_range, NULL) == 0);
        pthread_join(other, NULL);
    }
}

/* It may load the kernel's code, which waits for what other threads do. */
Test(loader, the_driver_is_not_asked_about_kernels_with_the_lock, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_RANGE);
    fake_cupti_create_context();
    fake_cupti.called = use_range_beside;
    moment = "cuFuncGetAttribute";
    launch();
    cr_expect_null(moment);
    fake_agent_close(&agent);
}

Test(loader, the_driver_is_not_waited_for_with_the_lock, .timeout = BEFORE_LONG)
{
    begin(CW_MODE_RANGE);
    fake_cupti_create_context();
    fake_cupti.called = load_code_beside;
    moment = "cuptiGetVersion";
    launch();
    cr_expect_null(moment);
    fake_agent_close(&agent);
}
