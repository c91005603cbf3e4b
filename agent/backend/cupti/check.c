/* Checks a node. Asks driver and CUPTI in a process of its own: the agent itself never holds a GPU context, and a
 * library that crashes stops only the check. */
#define _GNU_SOURCE
#include "agent/backend/cupti/check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend/cupti/availability.h"
#include "agent/backend/cupti/node_links.h"
#include "agent/common/cupti_api.h"
#include "agent/common/device.h"
#include "agent/common/message.h"
#include "agent/common/cupti_path.h"
#include "agent/session/node_facts.h"
#include "host/nvperf/nvperf.h"

#define PARAMS(type, variable)                                                                                         \
    type variable;                                                                                                     \
    memset(&variable, 0, sizeof variable);                                                                             \
    variable.structSize = type##_STRUCT_SIZE

struct node {
    FILE *to; /* target of answers */
    const struct cw_node_needs *needs;
    struct cw_cupti api;
    struct cw_node_gpus all;
    int gpus;
    uint64_t devices; /* a bit for each GPU to check */
};

static const char *result_name(const struct node *n, CUptiResult result)
{
    const char *name = NULL;
    n->api.cuptiGetResultString(result, &name);
    return name ? name : "unknown error";
}

/* ---- driver and CUPTI ------------------------------------------------------------------------------------------- */

static bool check_driver(struct node *n)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!cuda)
        return cw_answer(n->to, CW_ERR_DEVICE, "no NVIDIA driver: libcuda.so.1 was not found; is this a GPU node?");
    CUresult (*init)(unsigned) = NULL;
    CUresult (*devices)(int *) = NULL;
    CUresult (*version)(int *) = NULL;
    *(void **)&init = dlsym(cuda, "cuInit");
    *(void **)&devices = dlsym(cuda, "cuDeviceGetCount");
    *(void **)&version = dlsym(cuda, "cuDriverGetVersion");
    CUresult result = init ? init(0) : CUDA_ERROR_UNKNOWN;
    int cuda_version = 0;
    if (result == CUDA_ERROR_NO_DEVICE)
        return cw_answer(n->to, CW_ERR_DEVICE, "no GPU: the driver is here but finds no device");
    if (result != CUDA_SUCCESS || devices(&n->gpus) != CUDA_SUCCESS || n->gpus == 0)
        return cw_answer(n->to, CW_ERR_DEVICE, "no usable GPU: cuInit returned %d", (int)result);
    version(&cuda_version);
    char kernel[64] = "";
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (f && fgets(kernel, sizeof kernel, f))
        kernel[strcspn(kernel, "\n")] = 0;
    if (f)
        fclose(f);
    return cw_answer(n->to, CW_ANSWER_OK, "driver %s for CUDA %d.%d, %d GPU%s", kernel, cuda_version / 1000,
                     cuda_version % 1000 / 10, n->gpus, n->gpus == 1 ? "" : "s");
}

static bool check_cupti(struct node *n)
{
    char path[1024];
    if (!cw_cupti_load(&n->api, cw_cupti_path(path, sizeof path)))
        return cw_answer(n->to, CW_ERR_UNSUPPORTED, "%s; CW_CUPTI may name it", n->api.missing);
    uint32_t version = 0;
    Dl_info info;
    n->api.cuptiGetVersion(&version);
    bool known = dladdr(*(void **)&n->api.cuptiGetVersion, &info) && info.dli_fname;
    cw_answer(n->to, CW_ANSWER_OK, "CUPTI %u%s%s", version, known ? " in " : "", known ? info.dli_fname : "");
    if (version < CW_CUPTI_OF_CUDA_13 && (n->needs->need == CW_NEED_RANGE || n->needs->need == CW_NEED_ALL))
        cw_answer(n->to, CW_ANSWER_NOTE,
                  "CUPTI %u is older than CUDA 13.0's and does no kernel replay here, only batched, application and "
                  "user replay; CW_CUPTI may name a newer one",
                  version);
    PARAMS(CUpti_Profiler_Initialize_Params, init); /* needed before chip names can be read */
    CUptiResult result = n->api.cuptiProfilerInitialize(&init);
    return result == CUPTI_SUCCESS || cw_answer(n->to, CW_ERR_DEVICE, "cuptiProfilerInitialize failed: %s (%d)",
                                                result_name(n, result), (int)result);
}

/* Checks that every requested GPU exists and has the plan's chip. */
static bool check_asked(const struct node *n)
{
    bool good = true;
    for (int i = 0; i < 64 && n->needs->devices != CW_EVERY_DEVICE; i++) {
        PARAMS(CUpti_Device_GetChipName_Params, p);
        p.deviceIndex = (size_t)i;
        if (!(n->needs->devices >> i & 1) || (n->devices >> i & 1))
            continue;
        good = false;
        if (i >= n->gpus)
            cw_answer(n->to, CW_ERR_DEVICE, "found no GPU %d, expected a number below %d", i, n->gpus);
        else if (n->api.cuptiDeviceGetChipName(&p) != CUPTI_SUCCESS)
            cw_answer(n->to, CW_ERR_DEVICE, "CUPTI does not know the chip of GPU %d", i);
        else
            cw_answer(n->to, CW_ERR_DEVICE, "found the chip %s on GPU %d, expected %s", p.pChipName, i, n->needs->chip);
    }
    return good;
}

/* Chooses the GPUs to check: the requested ones, else the first suitable one. */
static bool check_chips(struct node *n)
{
    char seen[256] = "";
    const struct cw_node_needs *needs = n->needs;
    for (int i = 0; i < n->gpus && i < 64; i++) {
        PARAMS(CUpti_Device_GetChipName_Params, p);
        p.deviceIndex = (size_t)i;
        if (n->api.cuptiDeviceGetChipName(&p) != CUPTI_SUCCESS)
            continue;
        size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", p.pChipName);
        if (needs->chip && strcmp(p.pChipName, needs->chip) != 0)
            continue;
        if (needs->devices ? !(needs->devices >> i & 1) : n->devices != 0)
            continue;
        if (!n->devices)
            cw_answer(n->to, CW_ANSWER_CHIP, "%s", p.pChipName);
        cw_answer(n->to, CW_ANSWER_DEVICE, "%d", i);
        cw_answer(n->to, CW_ANSWER_OK, "GPU %d has the chip %s", i, p.pChipName);
        n->devices |= UINT64_C(1) << i;
    }
    if (!n->devices && (!needs->devices || needs->devices == CW_EVERY_DEVICE))
        return cw_answer(n->to, CW_ERR_DEVICE, "found the chip %s, expected %s", *seen ? seen : "?",
                         needs->chip ? needs->chip : "one that CUPTI knows");
    return check_asked(n);
}

/* ---- facts ------------------------------------------------------------------------------------------------------ */

static void tell_fact(const struct node *n, const char *format, const char *text)
{
    if (n->needs->facts)
        cw_answer(n->to, CW_ANSWER_FACT, format, text);
}

static void tell_attribute(void *node, const char *key, const char *value)
{
    const struct node *n = node;
    cw_answer(n->to, CW_ANSWER_FACT, "attribute %s %s", key, value);
}

/* Reports the attributes of a GPU that the driver knows, as a captured process does, and those of the management
 * library. */
static void tell_attributes(const struct node *n, CUdevice device)
{
    struct cw_writer out;
    uint32_t count = 0;
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = (size_t)device;
    struct cw_arena *arena = n->needs->facts ? cw_arena_create() : NULL;
    if (!arena)
        return;
    cw_writer_init(&out);
    if (n->api.cuptiDeviceGetChipName(&chip) == CUPTI_SUCCESS &&
        cw_cupti_describe(&n->api, device, &out, &count) == CUPTI_SUCCESS && out.status == CW_OK) {
        struct cw_reader in;
        cw_reader_init(&in, out.data, out.size, "attributes", 0, NULL);
        cw_answer(n->to, CW_ANSWER_FACT, "gpu %d %s", device, chip.pChipName);
        for (uint32_t i = 0; i < count && in.status == CW_OK; i++) {
            const char *key = cw_read_string(&in, arena), *value = cw_read_string(&in, arena);
            if (in.status == CW_OK)
                tell_attribute((void *)n, key, value);
        }
        cw_node_gpu_facts(&n->all, device, tell_attribute, (void *)n);
    }
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

/* ---- obstacles in the GPU's configuration ----------------------------------------------------------------------- */

static const struct {
    CUpti_Profiler_API api;
    const char *what, *command;
} kinds[] = {[CW_NEED_RANGE] = {CUPTI_PROFILER_RANGE_PROFILING, "ranges", "range"},
             [CW_NEED_PM] = {CUPTI_PROFILER_PM_SAMPLING, "PM sampling", "pm"},
             [CW_NEED_PC] = {CUPTI_PROFILER_PC_SAMPLING, "PC sampling", "pc"},
             [CW_NEED_SASS] = {CUPTI_PROFILER_SASS_METRICS, "SASS metrics", "sass"}};

/* Explains CUPTI's refusal by the most likely reason. */
static const char *refusal(const CUpti_Profiler_DeviceSupported_Params *p)
{
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *reason, *when_disabled;
    } reasons[] = {
        {p->architecture, "the GPU is too old", NULL},
        {p->vGpu, "this virtual GPU cannot be profiled",
         "profiling of this virtual GPU is off: the host's administrator may set its plugin parameter "
         "enable_profiling=1"},
        {p->confidentialCompute, "confidential computing hides the counters: switch it off for this GPU",
         "confidential computing hides the counters: switch it off for this GPU"},
        {p->sli, "the GPU is in SLI: switch it off", NULL},
        {p->cmp, "the GPU is a mining processor", NULL},
        {p->wsl, "Windows' subsystem for Linux is not supported here",
         "let Windows' NVIDIA control panel allow counters to all users"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)
            return reasons[i].reason;
        if (reasons[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return reasons[i].when_disabled ? reasons[i].when_disabled : reasons[i].reason;
    }
    return "CUPTI gives no reason";
}

static bool check_support(const struct node *n, enum cw_need need, CUdevice device)
{
    PARAMS(CUpti_Profiler_DeviceSupported_Params, p);
    p.cuDevice = device;
    p.api = kinds[need].api;
    CUptiResult result = n->api.cuptiProfilerDeviceSupported(&p);
    if (result != CUPTI_SUCCESS)
        return cw_answer(n->to, CW_ANSWER_NOTE, "CUPTI does not say whether GPU %d does %s: %s (%d)", device,
                         kinds[need].what, result_name(n, result), (int)result);
    if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        tell_fact(n, "does %s", kinds[need].command);
    if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return cw_answer(n->to, CW_ANSWER_OK, "GPU %d does %s", device, kinds[need].what);
    return cw_answer(n->to, CW_ERR_UNSUPPORTED, "GPU %d does no %s: %s", device, kinds[need].what, refusal(&p));
}

/* Checks MIG through the management library, and does nothing without it. Its GPU numbers may differ from the
 * program's. */
static void check_mig(const struct node *n, CUdevice device)
{
    const struct cw_nvml *nvml = &n->all.nvml;
    const struct cw_node_gpu *gpu = &n->all.gpus[device];
    unsigned now = 0, pending;
    if (gpu->device && nvml->nvmlDeviceGetMigMode && nvml->nvmlDeviceGetMigMode(gpu->device, &now, &pending) == 0)
        cw_check_mig(n->to, device, gpu->pci, now);
}

/* Checks MPS in this process's environment, which the program shares. Does nothing if the driver does not know the
 * attribute. */
static bool check_mps(const struct node *n, CUdevice device)
{
    int shared = 0;
    return n->api.cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, device) != CUDA_SUCCESS || !shared ||
           cw_check_mps(n->to, n->needs->need, device);
}

/* ---- permission ------------------------------------------------------------------------------------------------- */

static bool profiler_answer(const struct node *n, CUptiResult result, CUdevice device)
{
    const char *advice;
    switch (result) {
    case CUPTI_SUCCESS:
        return cw_answer(n->to, CW_ANSWER_OK, "permission for the counters of GPU %d, and no other profiler holds them",
                         device);
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        advice = cw_check_permission_advice();
        return cw_answer(n->to, CW_ERR_DEVICE, "no permission for the performance counters of GPU %d: %s", device,
                         *advice ? advice
                                 : "the driver refuses, although this process has the rights of an administrator");
    case CUPTI_ERROR_HARDWARE_BUSY:
        return cw_answer(n->to, CW_ERR_DEVICE,
                         "another profiler holds the counters of GPU %d: end it, or pause DCGM by 'dcgmi profile "
                         "--pause'",
                         device);
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return cw_answer(n->to, CW_ERR_UNSUPPORTED, "GPU %d is split by MIG, which the profiler does not support",
                         device);
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return cw_answer(n->to, CW_ERR_UNSUPPORTED,
                         "GPU %d runs in confidential-computing mode, which hides its "
                         "counters",
                         device);
    default:
        return cw_answer(n->to, CW_ERR_DEVICE, "the profiler does not start: cuptiRangeProfilerEnable failed: %s (%d)",
                         result_name(n, result), (int)result);
    }
}

static CUcontext make_context(const struct node *n, CUdevice device)
{
    CUresult (*retain)(CUcontext *, CUdevice) = NULL;
    *(void **)&retain = dlsym(RTLD_DEFAULT, "cuDevicePrimaryCtxRetain");
    CUcontext context = NULL;
    if (retain && retain(&context, device) == CUDA_SUCCESS)
        return context;
    cw_answer(n->to, CW_ERR_DEVICE, "cannot make a context on GPU %d: is it used exclusively by another process?",
              device);
    return NULL;
}

/* Checks the permission by enabling the profiler on a context. */
static bool check_permission(const struct node *n, CUdevice device, CUcontext context)
{
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context;
    CUptiResult result = n->api.cuptiRangeProfilerEnable(&enable);
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = enable.pRangeProfilerObject;
    if (result == CUPTI_SUCCESS)
        n->api.cuptiRangeProfilerDisable(&disable);
    return profiler_answer(n, result, device);
}

/* ---- units ------------------------------------------------------------------------------------------------------ */

struct list {
    const struct node *node;
    char text[400];
    int count;
};

static void add_unit(void *user, const char *unit, int length)
{
    struct list *l = user;
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%s%.*s", used ? ", " : "", length, unit);
    l->count++;
    char name[64];
    snprintf(name, sizeof name, "%.*s", length, unit);
    tell_fact(l->node, "lacks %s", name);
}

/* Reports the units that GPUs of this chip may have and this one lacks, such as NVLink without a link. */
static void check_units(const struct node *n, CUdevice device)
{
    struct cw_availability availability;
    struct list missing = {n, "", 0};
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = (size_t)device;
    if (n->api.cuptiDeviceGetChipName(&chip) != CUPTI_SUCCESS)
        return;
    cw_availability_load(&availability, n->api.cupti_library);
    cw_availability_ask(&availability, (uint32_t)device, chip.pChipName);
    if (availability.image)
        tell_fact(n, "lacks %s", "");
    cw_availability_units(&availability, add_unit, &missing);
    if (missing.count)
        cw_answer(n->to, CW_ANSWER_NOTE, "GPU %d lacks %s, or %s not up: their metrics are unavailable", device,
                  missing.text, missing.count == 1 ? "it is" : "they are");
    else if (availability.image)
        cw_answer(n->to, CW_ANSWER_OK, "GPU %d has every unit that its chip can have", device);
    cw_availability_free(&availability);
}

/* ---- stall reasons ---------------------------------------------------------------------------------------------- */

static void use_reasons(const struct node *n, char *const *names, size_t count)
{
    const struct cw_node_needs *needs = n->needs;
    for (size_t i = 0; needs->list && i < count; i++)
        cw_answer(n->to, CW_ANSWER_METRIC, "%s", names[i]);
    for (uint32_t w = 0; w < needs->reason_count; w++) {
        size_t i = 0;
        while (i < count && !cw_stall_reason_is(names[i], needs->reasons[w]))
            i++;
        if (i == count)
            cw_answer(n->to, CW_ERR_USAGE,
                      "found the stall reason '%.100s', expected one of this GPU: capture-agent pc --list names them",
                      needs->reasons[w]);
    }
}

/* CUPTI lists stall reasons only after PC sampling is enabled. */
static void check_reasons(const struct node *n, CUcontext context)
{
    size_t count = 0;
    CUpti_PCSamplingEnableParams enable = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = context};
    CUpti_PCSamplingGetNumStallReasonsParams number = {
        .size = CUpti_PCSamplingGetNumStallReasonsParamsSize, .ctx = context, .numStallReasons = &count};
    CUptiResult result = n->api.cuptiPCSamplingEnable(&enable);
    if (result == CUPTI_SUCCESS)
        result = n->api.cuptiPCSamplingGetNumStallReasons(&number);
    char(*texts)[CUPTI_STALL_REASON_STRING_SIZE] = calloc(count + 1, sizeof *texts);
    char **names = calloc(count + 1, sizeof *names);
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    if (result == CUPTI_SUCCESS && texts && names && numbers) {
        for (size_t i = 0; i < count; i++)
            names[i] = texts[i];
        CUpti_PCSamplingGetStallReasonsParams get = {.size = CUpti_PCSamplingGetStallReasonsParamsSize,
                                                     .ctx = context,
                                                     .numStallReasons = count,
                                                     .stallReasonIndex = numbers,
                                                     .stallReasons = names};
        result = n->api.cuptiPCSamplingGetStallReasons(&get);
        if (result == CUPTI_SUCCESS)
            use_reasons(n, names, count);
    }
    if (result != CUPTI_SUCCESS)
        cw_answer(n->to, CW_ERR_DEVICE, "CUPTI does not list stall reasons: %s (%d)", result_name(n, result),
                  (int)result);
    free(texts);
    free(names);
    free(numbers);
}

/* ---- SASS metrics ----------------------------------------------------------------------------------------------- */

static void list_metrics(const struct node *n, const char *chip)
{
    PARAMS(CUpti_SassMetrics_GetNumOfMetrics_Params, number);
    number.pChipName = chip;
    CUptiResult result = n->api.cuptiSassMetricsGetNumOfMetrics(&number);
    PARAMS(CUpti_SassMetrics_GetMetrics_Params, get);
    get.pChipName = chip;
    get.numOfMetrics = number.numOfMetrics;
    get.pMetricsList = calloc(number.numOfMetrics + 1, sizeof *get.pMetricsList);
    if (result == CUPTI_SUCCESS && get.pMetricsList)
        result = n->api.cuptiSassMetricsGetMetrics(&get);
    if (result != CUPTI_SUCCESS || !get.pMetricsList)
        cw_answer(n->to, CW_ERR_DEVICE, "cuptiSassMetricsGetMetrics failed: %s (%d)", result_name(n, result),
                  (int)result);
    for (size_t i = 0; result == CUPTI_SUCCESS && i < get.numOfMetrics; i++)
        cw_answer(n->to, CW_ANSWER_METRIC, "%-60s %s", get.pMetricsList[i].pMetricName,
                  get.pMetricsList[i].pMetricDescription);
    free(get.pMetricsList);
}

static void check_metrics(const struct node *n, CUdevice device)
{
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = (size_t)device;
    if (n->api.cuptiDeviceGetChipName(&chip) != CUPTI_SUCCESS)
        return;
    if (n->needs->list && n->needs->need == CW_NEED_SASS)
        list_metrics(n, chip.pChipName);
    uint32_t version = 0;
    n->api.cuptiGetVersion(&version);
    for (uint32_t i = 0; i < n->needs->metric_count; i++) {
        /* Seen with a kernel that ran longer on SMs of higher numbers: all instances had the count of SM 0. */
        if (n->needs->metrics[i].level != CW_SASS_GPU && version / 100 == 1300) {
            cw_answer(n->to, CW_ERR_UNSUPPORTED,
                      "found the level %s, expected gpu: CUPTI 13.0 gives every instance the first one's count",
                      cw_sass_level_names[n->needs->metrics[i].level]);
            return;
        }
        PARAMS(CUpti_SassMetrics_GetProperties_Params, p);
        p.pChipName = chip.pChipName;
        p.pMetricName = n->needs->metrics[i].name;
        if (n->api.cuptiSassMetricsGetProperties(&p) != CUPTI_SUCCESS)
            cw_answer(n->to, CW_ERR_USAGE,
                      "found the SASS metric '%.200s', expected one of %s: capture-agent sass --list names them",
                      p.pMetricName, chip.pChipName);
    }
}

static void check_device(const struct node *n, CUdevice device, bool first)
{
    const struct cw_node_needs *needs = n->needs;
    bool supported = check_mps(n, device);
    if (needs->report)
        check_mig(n, device);
    for (int need = CW_NEED_RANGE; need < CW_NEED_ALL; need++)
        if (needs->need == CW_NEED_ALL || (int)needs->need == need)
            supported = check_support(n, (enum cw_need)need, device) && supported;
    if (first)
        check_metrics(n, device);
    if (needs->need == CW_NEED_TRACE) /* the driver restricts counters only */
        return;
    CUcontext context = supported && !(needs->list && needs->need == CW_NEED_SASS) ? make_context(n, device) : NULL;
    bool permitted = context && check_permission(n, device, context);
    if (permitted && (needs->report || needs->facts) && needs->need == CW_NEED_ALL)
        check_units(n, device);
    if (permitted && first && (needs->list || needs->reason_count))
        check_reasons(n, context);
}

static void know_all(struct node *n)
{
    char pci[CW_NODE_GPUS][32];
    int count = 0;
    for (; count < n->gpus && count < CW_NODE_GPUS; count++)
        if (n->api.cuDeviceGetPCIBusId(pci[count], sizeof pci[count], count) != CUDA_SUCCESS)
            *pci[count] = 0;
    cw_node_gpus_read(&n->all, count, pci);
}

static void report_links(const struct node *n)
{
    char line[CW_LINKS_SIZE];
    cw_node_links_head(&n->all, line);
    cw_answer(n->to, CW_ANSWER_OK, "%s", line);
    for (int i = 0; i < n->all.count; i++) {
        cw_node_links_row(&n->all, i, line);
        cw_answer(n->to, CW_ANSWER_OK, "%s", line);
    }
    for (int i = 0; i < n->all.count; i++) {
        char others[CW_LINKS_SIZE] = "";
        for (int k = i + 1; k < n->all.count; k++)
            if (cw_node_links_apart(&n->all, i, k))
                snprintf(others + strlen(others), sizeof others - strlen(others), "%s%d", *others ? ", " : "", k);
        if (*others)
            cw_answer(n->to, CW_ANSWER_NOTE,
                      "GPU %d and %s cannot reach each other's memory: copies go through the host", i, others);
    }
}

/* Reports the answers of driver and CUPTI. Leaves contexts behind: call it in a process that ends. */
static void check_gpus(FILE *to, const struct cw_node_needs *needs)
{
    static struct node n;
    n = (struct node){.to = to, .needs = needs};
    bool first = true;
    if (!check_driver(&n) || !check_cupti(&n) || !check_chips(&n))
        return;
    if (needs->report || needs->facts)
        know_all(&n);
    for (CUdevice device = 0; device < n.gpus && device < CW_NODE_GPUS; device++) {
        const bool chosen = n.devices >> device & 1;
        if (chosen || needs->need != CW_NEED_ALL) /* a program may use other GPUs, too */
            tell_attributes(&n, device);
        if (!chosen)
            continue;
        check_device(&n, device, first);
        first = false;
    }
    if (needs->report && n.all.count > 1)
        report_links(&n);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

static void check_host_library(FILE *to, enum cw_need need)
{
    const struct cw_nvperf *library;
    struct cw_error missing = CW_ERROR_INIT;
    if (need == CW_NEED_PC || need == CW_NEED_SASS || need == CW_NEED_TRACE)
        return;
    if (cw_nvperf_open(&library, NULL, &missing) == CW_OK)
        cw_answer(to, CW_ANSWER_OK, "NVIDIA's host library");
    else
        cw_answer(to, missing.code, "%s", missing.message);
}

static void check_all(FILE *to, const struct cw_node_needs *needs)
{
    check_host_library(to, needs->need);
    if (needs->report)
        cw_check_environment(to);
    check_gpus(to, needs);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

static void take_fact(struct cw_node_facts *facts, const char *text)
{
    char word[16] = "", key[64] = "";
    unsigned number;
    int read = 0;
    if (sscanf(text, "gpu %u %n", &number, &read) == 1 && read)
        cw_node_facts_gpu(facts, number, text + read);
    else if (sscanf(text, "attribute %63s %n", key, &read) == 1 && read)
        cw_node_facts_attribute(facts, key, text + read);
    else if (sscanf(text, "%15s %63s", word, key) >= 1 && strcmp(word, "does") == 0)
        cw_node_facts_does(facts, key);
    else if (strcmp(word, "lacks") == 0)
        cw_node_facts_lacks(facts, *key ? key : NULL);
}

static void take_line(const struct cw_node_needs *needs, int kind, const char *text, struct cw_error *err)
{
    if (kind == CW_ANSWER_FACT) {
        if (needs->facts)
            take_fact(needs->facts, text);
        return;
    }
    if (kind == CW_ANSWER_CHIP) {
        if (needs->found_chip)
            snprintf(needs->found_chip, CW_CHIP_NAME_SIZE, "%s", text);
        return;
    }
    if (kind == CW_ANSWER_DEVICE) {
        unsigned long number = strtoul(text, NULL, 10);
        if (needs->found_devices && number < 64)
            *needs->found_devices |= UINT64_C(1) << number;
        return;
    }
    if (kind == CW_ANSWER_METRIC) {
        puts(text);
        return;
    }
    if (needs->report)
        printf("%-5s %s\n", kind == CW_ANSWER_OK ? "ok" : kind == CW_ANSWER_NOTE ? "note" : "FAIL", text);
    if (kind > CW_ANSWER_NOTE)
        cw_error_set(err, (enum cw_status)kind, "%s", text);
}

static void read_answers(FILE *from, const struct cw_node_needs *needs, struct cw_error *err)
{
    char line[CW_LONGEST_ANSWER + 16];
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = 0;
        char *text;
        int kind = (int)strtol(line, &text, 10);
        take_line(needs, kind, text + (*text == ' '), err);
    }
}

enum cw_status cw_node_check(const struct cw_node_needs *needs, struct cw_error *err)
{
    int ends[2];
    struct cw_error first = CW_ERROR_INIT; /* `err` may be NULL */
    if (needs->found_chip)
        *needs->found_chip = 0;
    if (needs->found_devices)
        *needs->found_devices = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        FILE *to = fdopen(ends[1], "w");
        if (to)
            check_all(to, needs);
        _exit(to ? 0 : CW_ERR_NOMEM);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    if (pid > 0 && from)
        read_answers(from, needs, &first);
    else
        cw_error_nomem(&first);
    if (from)
        fclose(from);
    int how = 0;
    if (pid > 0 && waitpid(pid, &how, 0) == pid && WIFSIGNALED(how))
        cw_error_set(&first, CW_ERR_DEVICE, "the check of driver and CUPTI crashed with signal %d", WTERMSIG(how));
    else if (pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == CW_ERR_NOMEM)
        cw_error_nomem(&first);
    else if (pid > 0 && how)
        cw_error_set(&first, CW_ERR_DEVICE, "the check of driver and CUPTI ended with status %d, expected 0",
                     WEXITSTATUS(how));
    return first.code == CW_OK ? CW_OK : cw_error_set(err, first.code, "%s", first.message);
}
