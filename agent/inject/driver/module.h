/* The code that runs on the GPU: kept so that instructions can be named afterwards, and what it brings with it. */
#ifndef CW_INJECT_MODULE_H
#define CW_INJECT_MODULE_H

#include "agent/inject/driver/inject.h"

struct cw_sent_modules {
    bool wanted; /* by the agent */
    pthread_mutex_t lock;
    struct cw_writer crcs; /* of those that were sent; with the lock */
};
extern struct cw_sent_modules *const cw_sent_modules;

enum { CW_MOST_SEEN_MODULES = 1 << 16 }; /* CUPTI numbers them from 1; behind these, each is taken for a new one */

/* Memory that a module brings with what it holds. What was saved before does not hold it. */
struct cw_variables {
    _Atomic uint32_t modules;                         /* with variables that kernels may write, so far */
    atomic_bool managed;                              /* some of them are the host's as well */
    _Atomic uint32_t seen[CW_MOST_SEEN_MODULES / 32]; /* a bit for each module, by CUPTI's number */
};
extern struct cw_variables *const cw_variables;

/* Sees what variables a module brings. Needs no lock. */
void cw_module_look(const CUpti_ModuleResourceData *module);
/* Sends the code of a module where it is wanted, once for each content. Needs no lock. */
void cw_module_send(const CUpti_ModuleResourceData *module);

#endif
