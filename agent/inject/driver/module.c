#include "agent/inject/driver/module.h"

#include <stdlib.h>

#define self cw_sent_modules

static bool is_new(uint64_t crc)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->crcs[i] == crc)
            return false;
    if (self->count == self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 64;
        uint64_t *grown = realloc(self->crcs, capacity * sizeof *grown);
        if (!grown)
            return true; /* sent twice, then */
        self->crcs = grown;
        self->capacity = capacity;
    }
    self->crcs[self->count++] = crc;
    return true;
}

void cw_module_send(const CUpti_ModuleResourceData *module)
{
    if (!self->wanted || !module || !module->pCubin || !module->cubinSize || module->cubinSize > CW_MESSAGE_MAX - 8)
        return;
    CUpti_GetCubinCrcParams params = {
        .size = CUpti_GetCubinCrcParamsSize, .cubin = module->pCubin, .cubinSize = module->cubinSize};
    if (!CALL(cuptiGetCubinCrc, params))
        return;
    pthread_mutex_lock(&self->lock);
    bool wanted = is_new(params.cubinCrc);
    pthread_mutex_unlock(&self->lock);
    if (!wanted)
        return;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u64(&out, params.cubinCrc);
    cw_write_bytes(&out, module->pCubin, module->cubinSize);
    cw_inject_send(CW_MESSAGE_MODULE, &out);
}
