/* Traces an OpenACC program: its runtime reports events through the profiling interface of OpenACC 2.5 and later, whose
 * types are declared here because not every compiler has a header for them. */
#include "agent/inject/modes/trace_early.h"
#include "agent/inject/modes/trace_recording.h"

#define put cw_trace_put

/* ---- the interface ---------------------------------------------------------------------------------------------- */

/* Events come in pairs, except the ones from RUNTIME_SHUTDOWN to FREE. */
enum {
    DEVICE_INIT_START = 1,
    RUNTIME_SHUTDOWN = 5,
    CREATE,
    DELETE,
    ALLOC,
    FREE,
    ENTER_DATA_START,
    UPLOAD_START = 20,
    LAUNCH_START = 18,
    DOWNLOAD_END = 23,
    WAIT_END = 25
};

struct about { /* acc_prof_info */
    int event, bytes, version, device_type, device, thread;
    long queue, own_queue;
    const char *file, *function;
    int line, end_line, function_line, function_end_line;
};

struct event { /* acc_event_info: common members, and members of data and launch events */
    int event, bytes, construct, implicit;
    void *of_tool;    /* passed from the start of a pair to its end */
    const char *name; /* name of a variable or kernel */
    size_t size;
};

struct device { /* acc_api_info */
    int api, bytes, type, vendor;
    const void *device, *context, *queue;
};
enum { OF_CUDA = 1 };

typedef void callback(const struct about *about, struct event *event, const struct device *device);
typedef void registration(int event, callback *function, int how);

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static const char *type_of(int event)
{
    static const char *const types[] = {"device_init",
                                        "device_init",
                                        "device_shutdown",
                                        "device_shutdown",
                                        "runtime_shutdown",
                                        "create",
                                        "delete",
                                        "alloc",
                                        "free",
                                        "enter_data",
                                        "enter_data",
                                        "exit_data",
                                        "exit_data",
                                        "update",
                                        "update",
                                        "compute_construct",
                                        "compute_construct",
                                        "enqueue_launch",
                                        "enqueue_launch",
                                        "enqueue_upload",
                                        "enqueue_upload",
                                        "enqueue_download",
                                        "enqueue_download",
                                        "wait",
                                        "wait"};
    return event >= DEVICE_INIT_START && event <= WAIT_END ? types[event - DEVICE_INIT_START] : NULL;
}

static bool is_of_pair(int event)
{
    return event < RUNTIME_SHUTDOWN || event > FREE;
}

static bool is_start(int event)
{
    return event < RUNTIME_SHUTDOWN ? event % 2 : event > FREE && event % 2 == 0;
}

static bool moves_data(int event)
{
    return (event >= CREATE && event <= FREE) || (event >= UPLOAD_START && event <= DOWNLOAD_END);
}

struct place { /* place in CUDA */
    uint64_t device, context;
};

/* Finds device and context: the runtime has its context current. */
static struct place place_of(const struct device *device)
{
    struct place place = {CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN};
    const struct cw_cupti *api = &cw_inject->api;
    CUcontext context = NULL;
    CUdevice number;
    if (device && device->api == OF_CUDA && api->cuCtxGetCurrent && api->cuCtxGetCurrent(&context) == CUDA_SUCCESS &&
        context && api->cuCtxGetDevice(&number) == CUDA_SUCCESS) {
        const uint64_t id = cw_inject_context_id(context);
        place.device = (uint64_t)number;
        place.context = id ? id : CW_TRACE_UNKNOWN;
    }
    return place;
}

static void put_row(const struct about *about, const struct event *event, const struct place *place, uint64_t start_ns,
                    uint64_t end_ns)
{
    const int number = about->event;
    const bool launches = number == LAUNCH_START + 1;
    const char *name = about->function ? about->function : launches ? event->name : NULL;
    const uint32_t type = cw_trace_text_number(type_of(number)), name_text = cw_trace_text_number(name),
                   file = cw_trace_text_number(about->file);
    if (!cw_trace_row(CW_TRACE_OPENACC))
        return;
    put(CW_FIELD_START, start_ns);
    put(CW_FIELD_END, end_ns);
    put(CW_FIELD_TYPE, type);
    put(CW_FIELD_THREAD, cw_inject_thread());
    put(CW_FIELD_NAME, name_text);
    put(CW_FIELD_FILE, file);
    put(CW_FIELD_LINE, about->line > 0 ? (uint64_t)about->line : CW_TRACE_UNKNOWN);
    put(CW_FIELD_BYTES, moves_data(number) ? event->size : CW_TRACE_UNKNOWN);
    put(CW_FIELD_DEVICE, place->device);
    put(CW_FIELD_CONTEXT, place->context);
}

static void happens(const struct about *about, struct event *event, const struct device *device)
{
    if (!about || !event || !type_of(about->event))
        return;
    const uint64_t now = cw_trace_recording_takes() ? cw_inject_now_ns() : 0;
    if (is_start(about->event)) {
        event->of_tool = (void *)(uintptr_t)now;
        return;
    }
    const uint64_t start = is_of_pair(about->event) ? (uintptr_t)event->of_tool : now;
    if (!start || !cw_inject_enter())
        return;
    const struct place place = place_of(device);
    cw_inject_leave();
    if (!cw_trace_rows_enter())
        return;
    put_row(about, event, &place, start, is_of_pair(about->event) ? cw_inject_now_ns() : start);
    cw_trace_rows_leave();
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

/* Called by OpenACC's runtime when it starts, in the library named by ACC_PROFLIB. */
__attribute__((visibility("default"))) void acc_register_library(registration *add, registration *remove, void *find);
void acc_register_library(registration *add, registration *remove, void *find)
{
    (void)remove, (void)find;
    if (!(cw_trace_early_kinds() & CW_TRACE_BIT(CW_TRACE_OPENACC)))
        return;
    for (int event = DEVICE_INIT_START; event <= WAIT_END; event++)
        add(event, happens, 0);
}
