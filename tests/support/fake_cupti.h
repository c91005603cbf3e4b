/* A CUPTI without a GPU under the whole injection library, which is linked beside it, and an agent that listens. It
 * loads a library when it is first needed, whose end at exit is its own. */
#ifndef CW_TEST_FAKE_CUPTI_H
#define CW_TEST_FAKE_CUPTI_H

#include <sys/un.h>

#include "agent/common/trace_window.h"
#include "agent/inject/driver/inject.h"

int InitializeInjection(void);
int counterworks_range_push(const char *name);
int counterworks_range_pop(void);

struct fake_cupti {
    CUpti_CallbackFunc _Atomic callback; /* the injection library's */
    CUcontext current;                   /* none, as where contexts are made with the driver's calls */
    void (*called)(const char *call);    /* of CUPTI, or HELLO: what is done meanwhile; NULL: nothing */
    enum cw_mode mode;                   /* of SETUP */
    bool mps;                            /* contexts are made through it */
    const char *asked;      /* of SETUP: a stall reason (NULL: all) or a SASS metric (NULL: instructions) */
    uint32_t parts;         /* of the plan, of one pass each; 0: one */
    bool traces;            /* it has activity records: one for each launch that has returned */
    uint32_t finalized;     /* how often */
    _Atomic uint32_t newer; /* calls that are wanted of a driver newer than this was built with */
    struct cw_trace_window_options when; /* of SETUP: to capture */
    _Atomic uint32_t profiler;           /* calls of the profiler's API that are wanted */
    bool busy;                           /* set by `called`: a start finds that another process has the counters */
    _Atomic bool sampled, patched;       /* the context is under PC sampling, under SASS metrics */
    _Atomic uint32_t early;              /* looks at the devices before CUDA is initialised */
    bool singly;                         /* SASS metrics patch single kernels only, inside their launches */
};
extern struct fake_cupti fake_cupti;

/* The program makes its context and destroys it; code is loaded; it launches a kernel, or the launch returns. */
void fake_cupti_create_context(void);
void fake_cupti_destroy_context(void);
void fake_cupti_load_module(void);
/* CUPTI tells of itself, where it was asked to. */
void fake_cupti_tell_state(CUpti_CallbackIdState id, CUptiResult result, const char *message);
void fake_cupti_launch(CUpti_ApiCallbackSite site);
/* The same, which pairs its return with its start by a number. */
void fake_cupti_launch_numbered(CUpti_ApiCallbackSite site, uint32_t number);

/* The program calls cudaProfilerStart, or cudaProfilerStop; or it takes the time between two events. */
void fake_cupti_profile(bool starts);
void fake_cupti_take_time(void);

#define FAKE_CUPTI_CONTEXT ((CUcontext)0x10) /* the one of the functions above, and another of the same device */
#define FAKE_CUPTI_SECOND ((CUcontext)0x20)
/* Any call of the driver, from its begin to its return, or any change of a resource, where a callback is enabled. */
void fake_cupti_call(CUpti_CallbackId id, const void *parameters);
void fake_cupti_change(CUcontext context, CUpti_CallbackIdResource id, void *changed);

struct fake_agent {
    char folder[32];
    struct sockaddr_un address;
    int listener;
};
/* Listens, and names the socket in the environment. */
void fake_agent_listen(struct fake_agent *agent);
void fake_agent_close(const struct fake_agent *agent);
/* SETUP of a trace of kernels and ranges, in a mode that has the options of one. */
void fake_agent_write_trace(struct cw_writer *setup, enum cw_mode mode, uint64_t flush_ns);
/* SETUP: a trace, PC sampling, a SASS metric, or one metric in one pass under kernel replay, counting for the context
 * or the device, of every kernel */
void fake_agent_answer(int fd);
/* Answers until the program ends: how many messages of a type come. Besides HELLO there are no others. */
int fake_agent_serve(int fd, enum cw_message_type expected);

#endif
