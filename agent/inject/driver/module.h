/* The code that runs on the GPU: kept so that instructions can be named afterwards. */
#ifndef CW_INJECT_MODULE_H
#define CW_INJECT_MODULE_H

#include "agent/inject/driver/inject.h"

struct cw_sent_modules { /* by CRC */
    pthread_mutex_t lock;
    uint64_t *crcs;
    size_t count, capacity;
};
extern struct cw_sent_modules *const cw_sent_modules;

/* Sends the code of a module, once for each content. Needs no lock. */
void cw_inject_send_module(const CUpti_ModuleResourceData *module);

#endif
