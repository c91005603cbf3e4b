/* Messages of an agent, as the injection library receives them under a CUPTI without a GPU. With ATTACH first, an agent
 * comes to the running program. Otherwise the program begins a session, launches in a range, and ends the session. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/common/attach_socket.h"
#include "agent/inject/state.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fake_cupti.h"

static uint8_t *messages;
static size_t length;
static int agent; /* its end of the connection */
/* What the last byte of an input says, a bit for each. */
enum { BUSY = 1, UNDER_MPS = 2, PATCHES_SINGLY = 4 };
static uint8_t gpu;

static void speak(int fd)
{
    const int room = 1 << 20;
    agent = fd;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    (void)!send(fd, messages, length, MSG_DONTWAIT | MSG_NOSIGNAL); /* as much as there is room for */
    shutdown(fd, SHUT_WR);
}

bool __wrap_cw_wire_connect(const char *path);
bool __wrap_cw_wire_connect(const char *path)
{
    int ends[2];
    CW_FUZZ_CHECK(path && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    speak(ends[0]);
    return cw_wire_adopt(ends[1]);
}

/* The thread that listens serves one agent, here. No other can be had, so that inputs cannot meet one another. */
bool __wrap_cw_inject_start_thread(void *(*run)(void *), void *user);
bool __wrap_cw_inject_start_thread(void *(*run)(void *), void *user)
{
    struct sockaddr_un address;
    const socklen_t size = cw_attach_address(&address, getpid());
    if (agent >= 0)
        return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CW_FUZZ_CHECK(connect(fd, (const struct sockaddr *)&address, size) == 0);
    speak(fd);
    run(user);
    cw_own_calls.inside = false; /* it was a thread of the library's */
    return true;
}

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    const int taken = __real_accept4(fd, address, size, flags);
    cw_attach_leave(); /* no other agent follows */
    return taken;
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left);
int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
    (void)duration;
    (void)left;
    return 0;
}

/* No thread waits for the GPU, which a busy one's kernels leave once the capture is over. */
bool __wrap_cw_idle_wait(CUcontext context, uint64_t patience_ns);
bool __wrap_cw_idle_wait(CUcontext context, uint64_t patience_ns)
{
    return context && patience_ns && (cw_inject->over || !(gpu & BUSY));
}

bool __wrap_cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns);
bool __wrap_cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns)
{
    return __wrap_cw_idle_wait(context, patience_ns);
}

/* CUPTI gets no buffer: large ones are the user's choice, and no part of an input's budget. */
void CUPTIAPI __wrap_cw_trace_buffer_requested(uint8_t **buffer, size_t *size, size_t *most);
void CUPTIAPI __wrap_cw_trace_buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    CW_FUZZ_CHECK(cw_trace_buffers->bytes && cw_trace_buffers->bytes <= CW_TRACE_BUFFER_MOST_BYTES &&
                  cw_trace_buffers->bytes % CW_TRACE_BUFFER_ALIGNMENT == 0);
    *buffer = NULL;
    *size = *most = 0;
}

/* No library is there, on a node with a GPU neither. */
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    (void)path;
    (void)flags;
    return NULL;
}

/* It looks at names of calls, which stay the same, and takes longer than all else. */
void __real_cw_reach_init(void);
void __wrap_cw_reach_init(void);
void __wrap_cw_reach_init(void)
{
    static bool done;
    if (!done)
        __real_cw_reach_init();
    done = true;
}

/* Makes the first SETUP as long as the rest of the input. */
static void stretch_setup(void)
{
    struct cw_reader in;
    cw_reader_init(&in, messages, length, "messages", 0, NULL);
    while (in.status == CW_OK) {
        const uint32_t type = cw_read_u32(&in);
        const uint64_t size = cw_read_u64(&in), rest = length - in.pos;
        if (in.status == CW_OK && type == CW_MESSAGE_SETUP) {
            cw_store_u64(messages + in.pos - 8, rest);
            return;
        }
        cw_read_bytes(&in, size);
    }
}

static void launch(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

static void run_session(void)
{
    static const char environment[] = CW_AGENT_SOCKET_VARIABLE "=none\0";
    cw_inject_state.entry.had_session = false; /* after which batches would be refused */
    CW_FUZZ_CHECK(!counterworks_inside_open(environment, NULL, NULL));
    fake_cupti_create_context();
    counterworks_range_push("outer");
    launch();
    counterworks_range_pop();
    counterworks_inside_control(true);
    launch();
    counterworks_inside_flush();
    counterworks_inside_control(false);
    launch();
    counterworks_inside_close();
    CW_FUZZ_CHECK(!cw_inject_state.entry.spent && !fake_cupti.sampled && !fake_cupti.patched);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    messages = malloc(size + 1);
    length = size;
    CW_FUZZ_CHECK(messages);
    memcpy(messages, data, size);
    gpu = size ? data[size - 1] : 0;
    stretch_setup();
    *cw_standard_error = (struct cw_descriptor){0}; /* quiet */
    fake_cupti.traces = true;
    fake_cupti.mps = gpu & UNDER_MPS;
    fake_cupti.singly = gpu & PATCHES_SINGLY;
    fake_cupti.current = NULL;
    agent = -1;
    if (size && *data == CW_MESSAGE_ATTACH) {
        InitializeInjection();
        *cw_attach = (struct cw_attach){0};
    } else
        run_session();
    CW_FUZZ_CHECK(!cw_inject->arena && !cw_inject->mode);
    close(agent);
    free(messages);
    return 0;
}
