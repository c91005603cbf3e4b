#define _GNU_SOURCE
#include "agent/common/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Whether to repeat a call that a signal interrupted. The socket's time limit (SO_SNDTIMEO, SO_RCVTIMEO) restarts with
 * the call, so this checks the total time: EAGAIN when it is over. */
static bool again(int fd, int limit, time_t since)
{
    struct timeval most = {0};
    socklen_t size = sizeof most;
    if (errno != EINTR)
        return false;
    getsockopt(fd, SOL_SOCKET, limit, &most, &size);
    errno = EAGAIN;
    return !most.tv_sec || seconds() - since <= most.tv_sec;
}

static bool send_all(int fd, const uint8_t *data, size_t size)
{
    time_t since = seconds();
    while (size) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && again(fd, SO_SNDTIMEO, since))
            continue;
        if (n <= 0)
            return false;
        since = seconds();
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Sends the first bytes with the descriptor, which goes with the first byte. */
static ssize_t send_first(int fd, uint8_t *data, size_t size, int memory)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof memory)];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof memory), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec bytes = {data, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (memory >= 0) {
        memcpy(CMSG_DATA(&control.head), &memory, sizeof memory);
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
    }
    time_t since = seconds();
    ssize_t n;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (n < 0 && again(fd, SO_SNDTIMEO, since));
    return n;
}

/* Receives the next bytes, with the memory that may come with a message's first byte. */
static ssize_t receive_some(int fd, uint8_t *data, size_t size, int *memory, bool wait)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof *memory)];
    } control;
    struct iovec bytes = {data, size};
    /* room for one descriptor only; the system closes any others */
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = memory ? control.room : NULL,
                             .msg_controllen = memory ? CMSG_LEN(sizeof *memory) : 0};
    time_t since = seconds();
    ssize_t n;
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (n < 0 && again(fd, SO_RCVTIMEO, since));
    const struct cmsghdr *found = n > 0 && memory ? CMSG_FIRSTHDR(&message) : NULL;
    if (found && found->cmsg_level == SOL_SOCKET && found->cmsg_type == SCM_RIGHTS &&
        found->cmsg_len == CMSG_LEN(sizeof *memory))
        memcpy(memory, CMSG_DATA(found), sizeof *memory);
    return n;
}

bool cw_message_send_with(int fd, enum cw_message_type type, const void *payload, size_t size, int memory)
{
    uint8_t head[CW_MESSAGE_HEADER];
    cw_store_u32(head, type);
    cw_store_u64(head + 4, size);
    ssize_t n = send_first(fd, head, sizeof head, memory);
    return n > 0 && send_all(fd, head + n, sizeof head - (size_t)n) && send_all(fd, payload, size);
}

bool cw_message_send(int fd, enum cw_message_type type, const void *payload, size_t size)
{
    return cw_message_send_with(fd, type, payload, size, -1);
}

void cw_message_begin(struct cw_message_in *in)
{
    *in = (struct cw_message_in){.memory = -1};
}

void cw_message_drop(struct cw_message_in *in)
{
    free(in->payload);
    if (in->memory >= 0)
        close(in->memory);
    cw_message_begin(in);
}

static enum cw_arrival bad(int reason)
{
    errno = reason;
    return CW_ARRIVAL_BAD;
}

/* Limits the size by type: introducing a device or reporting a failure is short, from any sender. */
static bool take_header(struct cw_message_in *in)
{
    struct cw_reader head;
    cw_reader_init(&head, in->head, sizeof in->head, "message", 0, NULL);
    uint32_t type = cw_read_u32(&head);
    uint64_t size = cw_read_u64(&head);
    uint64_t most =
        type == CW_MESSAGE_HELLO || type == CW_MESSAGE_FAIL ? (uint64_t)CW_MESSAGE_SHORT : (uint64_t)CW_MESSAGE_MAX;
    if (type == 0 || type >= CW_MESSAGE__END || size > most)
        return false;
    in->type = (enum cw_message_type)type;
    in->size = (size_t)size;
    return true;
}

/* Makes room for more of the payload. The room grows with received data, not with the announced size. */
static bool make_room(struct cw_message_in *in, size_t have, size_t most)
{
    size_t capacity = in->capacity ? 2 * in->capacity : 64 << 10;
    if (have < in->capacity)
        return true;
    capacity = capacity < in->size ? capacity : in->size;
    uint8_t *grown = capacity <= most ? realloc(in->payload, capacity) : NULL;
    if (!grown)
        return false;
    in->payload = grown;
    in->capacity = capacity;
    return true;
}

enum cw_arrival cw_message_read(struct cw_message_in *in, int fd, bool wait, size_t most)
{
    bool in_header = in->got < sizeof in->head;
    size_t have = in_header ? 0 : in->got - sizeof in->head;
    if (!in_header && !make_room(in, have, most))
        return bad(ENOMEM);
    uint8_t *to = in_header ? in->head + in->got : in->payload + have;
    size_t room = in_header ? sizeof in->head - in->got : in->capacity - have;
    ssize_t n = receive_some(fd, to, room, in->got ? NULL : &in->memory, wait);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return wait ? bad(EAGAIN) : CW_ARRIVAL_PART;
    if (n <= 0)
        return in->got ? CW_ARRIVAL_CUT : CW_ARRIVAL_END;
    in->got += (size_t)n;
    if (in_header && in->got == sizeof in->head && !take_header(in))
        return bad(EBADMSG);
    return in->got >= sizeof in->head && in->got == sizeof in->head + in->size ? CW_ARRIVAL_WHOLE : CW_ARRIVAL_PART;
}

bool cw_message_receive(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    struct cw_message_in in;
    enum cw_arrival arrival;
    cw_message_begin(&in);
    do
        arrival = cw_message_read(&in, fd, true, CW_MESSAGE_MAX);
    while (arrival == CW_ARRIVAL_PART);
    int reason = arrival == CW_ARRIVAL_BAD ? errno : 0;
    *type = in.type;
    *size = in.size;
    *payload = NULL;
    if (arrival == CW_ARRIVAL_WHOLE) {
        *payload = in.payload; /* the caller owns it from here on */
        in.payload = NULL;
    }
    cw_message_drop(&in);
    errno = reason;
    return arrival == CW_ARRIVAL_WHOLE;
}

void cw_message_write_failure(struct cw_writer *out, enum cw_status status, const char *format, va_list args)
{
    char text[700];
    vsnprintf(text, sizeof text, format, args);
    cw_writer_init(out);
    cw_write_u32(out, status);
    cw_write_string(out, text);
}

enum cw_status cw_message_failure(struct cw_reader *in, struct cw_arena *arena, const char *of, struct cw_error *err)
{
    uint32_t number = cw_read_u32(in);
    const char *text = cw_read_string(in, arena);
    bool known = number >= CW_ERR_USAGE && number <= CW_ERR_DIFFERS;
    return cw_error_set(err, known ? (enum cw_status)number : CW_ERR_DEVICE, "%s%s", of, text);
}

const char *const cw_replay_names[CW_REPLAY__COUNT] = {"batch", "kernel", "application", "user", "multiplex", "once"};
const char *const cw_scope_names[CW_SCOPE__COUNT] = {"context", "device", "shared device"};

void cw_launch_write(struct cw_writer *out, const struct cw_launch *launch)
{
    cw_write_string(out, launch->kernel);
    cw_write_string(out, launch->nvtx ? launch->nvtx : "");
    cw_write_u8(out, launch->user);
    cw_write_u8(out, launch->unwanted);
    cw_write_u32(out, launch->replay);
    cw_write_u32(out, launch->scope);
    cw_write_string(out, launch->once ? launch->once : "");
    cw_write_u8(out, launch->cold);
    cw_write_u8(out, launch->pushed);
    cw_write_u32(out, launch->graphs);
    cw_write_u32(out, launch->graph_kernel);
    cw_write_u32(out, launch->graph_kernels);
    cw_write_u32(out, launch->period);
    cw_write_u64(out, launch->context);
    cw_write_u64(out, launch->stream);
    cw_write_u64(out, launch->start_ns);
    cw_write_u64(out, launch->end_ns);
    for (int i = 0; i < 3; i++) {
        cw_write_u32(out, launch->grid[i]);
        cw_write_u32(out, launch->block[i]);
    }
    cw_write_bytes(out, launch->facts, sizeof launch->facts); /* in one piece for speed: other threads wait */
}

void cw_launch_read(struct cw_reader *in, struct cw_launch *launch, struct cw_arena *arena)
{
    launch->kernel = cw_read_string(in, arena);
    launch->nvtx = cw_read_string(in, arena);
    launch->user = cw_read_u8(in);
    launch->unwanted = cw_read_u8(in);
    uint32_t replay = cw_read_u32(in), scope = cw_read_u32(in);
    launch->replay = replay < CW_REPLAY__COUNT ? (enum cw_replay_kind)replay : CW_REPLAY_BATCH;
    launch->scope = scope < CW_SCOPE__COUNT ? (enum cw_scope)scope : CW_SCOPE_SHARED;
    launch->once = cw_read_string(in, arena);
    launch->cold = cw_read_u8(in);
    launch->pushed = cw_read_u8(in);
    launch->graphs = cw_read_u32(in);
    launch->graph_kernel = cw_read_u32(in);
    launch->graph_kernels = cw_read_u32(in);
    launch->period = cw_read_u32(in);
    launch->context = cw_read_u64(in);
    launch->stream = cw_read_u64(in);
    launch->start_ns = cw_read_u64(in);
    launch->end_ns = cw_read_u64(in);
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = cw_read_u32(in);
        launch->block[i] = cw_read_u32(in);
    }
    const uint8_t *facts = cw_read_bytes(in, sizeof launch->facts);
    if (facts)
        memcpy(launch->facts, facts, sizeof launch->facts);
    else
        cw_facts_forget(launch->facts);
}

void cw_graph_name(uint32_t kernels, char *text, size_t size)
{
    if (kernels)
        snprintf(text, size, "graph (%" PRIu32 " kernel%s)", kernels, kernels == 1 ? "" : "s");
    else
        snprintf(text, size, "graph");
}
