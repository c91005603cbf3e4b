/* The code that runs on the GPU: kept so that instructions can be named afterwards. */
#include <pthread.h>
#include <stdlib.h>

#include "agent/inject/driver/inject.h"

static struct {
    uint64_t *crcs;
    size_t count, capacity;
} sent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what was sent */

static bool is_new(uint64_t crc)
{
    for (size_t i = 0; i < sent.count; i++)
        if (sent.crcs[i] == crc)
            return false;
    if (sent.count == sent.capacity) {
        size_t capacity = sent.capacity ? 2 * sent.capacity : 64;
        uint64_t *grown = realloc(sent.crcs, capacity * sizeof *grown);
        if (!grown)
            return true; /* sent twice, then */
        sent.crcs = grown;
        sent.capacity = capacity;
    }
    sent.crcs[sent.count++] = crc;
    return true;
}

void cw_inject_send_module(const CUpti_ModuleResourceData *module)
{
    if (!module || !module->pCubin || !module->cubinSize || module->cubinSize > CW_MESSAGE_MAX - 8)
        return;
    CUpti_GetCubinCrcParams params = {
        .size = CUpti_GetCubinCrcParamsSize, .cubin = module->pCubin, .cubinSize = module->cubinSize};
    if (!CALL(cuptiGetCubinCrc, params))
        return;
    pthread_mutex_lock(&lock);
    bool wanted = is_new(params.cubinCrc);
    pthread_mutex_unlock(&lock);
    if (!wanted)
        return;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u64(&out, params.cubinCrc);
    cw_write_bytes(&out, module->pCubin, module->cubinSize);
    cw_inject_send(CW_MESSAGE_MODULE, &out);
}

bool cw_inject_synchronize(CUcontext context)
{
    CUcontext popped;
    if (cw_inject.api.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return false;
    bool good = cw_inject.api.cuCtxSynchronize() == CUDA_SUCCESS;
    cw_inject.api.cuCtxPopCurrent_v2(&popped);
    return good;
}
