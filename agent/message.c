#define _GNU_SOURCE
#include "agent/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool send_all(int fd, const uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = recv(fd, data, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* The descriptor goes with the first byte. */
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
    ssize_t n;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t receive_first(int fd, uint8_t *data, size_t size, int *memory)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof *memory)];
    } control;
    struct iovec bytes = {data, size};
    /* no room for a second descriptor */
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_LEN(sizeof *memory)};
    ssize_t n;
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    const struct cmsghdr *found = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
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

bool cw_message_tell(int fd, enum cw_message_type type)
{
    uint8_t head[CW_MESSAGE_HEADER] = {0};
    cw_store_u32(head, type);
    return send(fd, head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof head;
}

static bool receive(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size, int *memory)
{
    uint8_t head[CW_MESSAGE_HEADER];
    ssize_t n = receive_first(fd, head, sizeof head, memory);
    errno = 0;
    if (n <= 0 || !receive_all(fd, head + n, sizeof head - (size_t)n))
        return false;
    struct cw_reader in;
    cw_reader_init(&in, head, sizeof head, "message", 0, NULL);
    uint32_t number = cw_read_u32(&in);
    uint64_t length = cw_read_u64(&in);
    if (number == 0 || number >= CW_MESSAGE__END || length > CW_MESSAGE_MAX) {
        errno = EBADMSG;
        return false;
    }
    *type = (enum cw_message_type)number;
    if (!length)
        return true;
    *payload = malloc(length);
    *size = (size_t)length;
    if (*payload && receive_all(fd, *payload, *size))
        return true;
    errno = *payload ? 0 : ENOMEM;
    free(*payload);
    *payload = NULL;
    return false;
}

bool cw_message_receive_with(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size, int *memory)
{
    *payload = NULL;
    *size = 0;
    *memory = -1;
    bool received = receive(fd, type, payload, size, memory);
    if (!received && *memory >= 0) {
        close(*memory);
        *memory = -1;
    }
    return received;
}

bool cw_message_receive(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    int memory;
    bool received = cw_message_receive_with(fd, type, payload, size, &memory);
    if (memory >= 0)
        close(memory);
    return received;
}

const char *const cw_replay_names[CW_REPLAY__COUNT] = {"batch", "kernel", "application", "user", "once"};
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
    cw_write_u32(out, launch->graphs);
    cw_write_u64(out, launch->context);
    cw_write_u64(out, launch->stream);
    cw_write_u64(out, launch->start_ns);
    cw_write_u64(out, launch->end_ns);
    for (int i = 0; i < 3; i++) {
        cw_write_u32(out, launch->grid[i]);
        cw_write_u32(out, launch->block[i]);
    }
}

void cw_launch_read(struct cw_reader *in, struct cw_launch *launch, struct cw_arena *arena)
{
    launch->kernel = cw_read_string(in, arena);
    launch->nvtx = cw_read_string(in, arena);
    launch->user = cw_read_u8(in);
    launch->unwanted = cw_read_u8(in);
    uint32_t replay = cw_read_u32(in), scope = cw_read_u32(in);
    launch->replay = replay < CW_REPLAY__COUNT ? (enum cw_replay)replay : CW_REPLAY_BATCH;
    launch->scope = scope < CW_SCOPE__COUNT ? (enum cw_scope)scope : CW_SCOPE_SHARED;
    launch->once = cw_read_string(in, arena);
    launch->graphs = cw_read_u32(in);
    launch->context = cw_read_u64(in);
    launch->stream = cw_read_u64(in);
    launch->start_ns = cw_read_u64(in);
    launch->end_ns = cw_read_u64(in);
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = cw_read_u32(in);
        launch->block[i] = cw_read_u32(in);
    }
}

void cw_graph_name(uint32_t kernels, char *text, size_t size)
{
    if (kernels)
        snprintf(text, size, "graph (%" PRIu32 " kernel%s)", kernels, kernels == 1 ? "" : "s");
    else
        snprintf(text, size, "graph");
}
