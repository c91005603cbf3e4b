/* The code that runs on the GPU: kept so that instructions can be named afterwards. */
#ifndef CW_INJECT_MODULE_H
#define CW_INJECT_MODULE_H

#include "agent/inject/driver/inject.h"

struct cw_sent_modules {
    bool wanted; /* by the agent */
    pthread_mutex_t lock;
    struct cw_writer crcs; /* of those that were sent; with the lock */
};
extern struct cw_sent_modules *const cw_sent_modules;

/* Sends the code of a module where it is wanted, once for each content. Needs no lock. */
void cw_module_send(const CUpti_ModuleResourceData *module);

#endif
