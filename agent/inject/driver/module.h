/* Handles the code that runs on the GPU: sends it, so that instructions can be named later, and finds the variables
 * that it brings. */
#ifndef CW_INJECT_MODULE_H
#define CW_INJECT_MODULE_H

#include "agent/inject/driver/inject.h"

struct cw_sent_modules {
    atomic_bool wanted; /* requested by the agent */
    pthread_mutex_t lock;
    struct cw_writer crcs; /* of the sent modules; under the lock */
};
extern struct cw_sent_modules *const cw_sent_modules;

enum { CW_MOST_SEEN_MODULES = 1 << 16 }; /* CUPTI numbers modules from 1; modules above the limit always count as new */

/* Variables are memory that a module brings with its content. Earlier saved memory does not include them. */
struct cw_variables {
    _Atomic uint32_t modules; /* number of modules so far with variables that kernels may write */
    atomic_bool managed;      /* the host can also access some of them */
    atomic_bool symmetric;    /* code of NVSHMEM, which holds addresses of other devices' memory */
    atomic_bool beyond;       /* kernels may write memory that no call and no name tells: the heap of the device, or of
                                 a module that could not be read */
    pthread_mutex_t lock;
    struct cw_writer names;                           /* of all variables, each once and with its end; under the lock */
    _Atomic uint32_t seen[CW_MOST_SEEN_MODULES / 32]; /* a bit for each module, by CUPTI's number */
};
extern struct cw_variables *const cw_variables;

/* Looks for a module's functions that launch work themselves. Needs no lock. */
void cw_module_look_for_launchers(const CUpti_ModuleResourceData *module);
/* Whether a kernel is one of these, by its mangled name (NULL: no). Needs no lock. */
bool cw_module_launches(const char *kernel);
/* Looks at the variables of a module. Needs no lock. */
void cw_module_look(const CUpti_ModuleResourceData *module);
/* Copies the names of all variables so far, each with its end, for the caller to free. Needs no lock. */
void cw_module_names(struct cw_writer *names);
/* Sends the code of a module if it is wanted, each content once. Needs no lock. */
void cw_module_send(const CUpti_ModuleResourceData *module);

#endif
