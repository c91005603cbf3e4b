#include "agent/inject/driver/module.h"

#include "agent/common/cubin.h"

#define self cw_sent_modules

static struct {
    atomic_bool any, every; /* every: too many, or a module could not be read */
    pthread_mutex_t lock;
    struct cw_writer names; /* each once and with its end; under the lock */
    _Atomic uint32_t seen[CW_MOST_SEEN_MODULES / 32];
} launchers CW_STATE;

static bool is_new(uint64_t crc)
{
    for (size_t at = 0; at < self->crcs.size; at += sizeof crc)
        if (memcmp(self->crcs.data + at, &crc, sizeof crc) == 0)
            return false;
    cw_write_bytes(&self->crcs, &crc, sizeof crc); /* when out of memory, the module may be sent twice */
    self->crcs.status = CW_OK;
    return true;
}

/* Whether a module was seen: if kernels are loaded one by one, CUPTI may report their module again. */
static bool was_seen(_Atomic uint32_t *seen, uint32_t module)
{
    const uint32_t bit = UINT32_C(1) << module % 32;
    return module < CW_MOST_SEEN_MODULES && atomic_fetch_or(&seen[module / 32], bit) & bit;
}

void cw_module_names(struct cw_writer *names)
{
    cw_writer_init(names);
    pthread_mutex_lock(&cw_variables->lock);
    cw_write_bytes(names, cw_variables->names.data, cw_variables->names.size);
    pthread_mutex_unlock(&cw_variables->lock);
}

static bool has_name(const struct cw_writer *names, const char *name)
{
    size_t at = 0;
    while (at < names->size && strcmp((const char *)names->data + at, name) != 0)
        at += strlen((const char *)names->data + at) + 1;
    return at < names->size;
}

static void keep_name(void *names, const char *name)
{
    if (!has_name(names, name))
        cw_write_bytes(names, name, strlen(name) + 1);
}

void cw_module_look(const CUpti_ModuleResourceData *module)
{
    if (!module || !module->pCubin || was_seen(cw_variables->seen, module->moduleId))
        return;
    pthread_mutex_lock(&cw_variables->lock);
    const struct cw_cubin_variables found =
        cw_cubin_variables(module->pCubin, module->cubinSize, keep_name, &cw_variables->names);
    if (!found.whole || found.allocates || cw_variables->names.status != CW_OK)
        atomic_store(&cw_variables->beyond, true);
    pthread_mutex_unlock(&cw_variables->lock);
    if (found.managed)
        atomic_store(&cw_variables->managed, true);
    if (found.symmetric)
        atomic_store(&cw_variables->symmetric, true);
    if (found.any)
        atomic_fetch_add(&cw_variables->modules, 1);
}

/* Beyond this many bytes of names each kernel counts as one of them, so that a launch is looked at in short time. */
enum { MOST_LAUNCHER_BYTES = 1 << 16 };

static void keep_launcher(void *names, const char *name)
{
    struct cw_writer *out = names;
    if (out->size <= MOST_LAUNCHER_BYTES)
        keep_name(out, name);
}

void cw_module_look_for_launchers(const CUpti_ModuleResourceData *module)
{
    if (!module || !module->pCubin || was_seen(launchers.seen, module->moduleId))
        return;
    pthread_mutex_lock(&launchers.lock);
    if (!cw_cubin_launchers(module->pCubin, module->cubinSize, keep_launcher, &launchers.names) ||
        launchers.names.status != CW_OK || launchers.names.size > MOST_LAUNCHER_BYTES)
        launchers.every = true;
    launchers.any = launchers.names.size > 0 || launchers.every;
    pthread_mutex_unlock(&launchers.lock);
}

bool cw_module_launches(const char *kernel)
{
    if (!kernel || !launchers.any || launchers.every)
        return kernel && launchers.every;
    pthread_mutex_lock(&launchers.lock);
    const bool launches = has_name(&launchers.names, kernel);
    pthread_mutex_unlock(&launchers.lock);
    return launches;
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
