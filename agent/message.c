#define _GNU_SOURCE
#include "agent/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

bool cw_message_send(int fd, enum cw_message_type type, const void *payload, size_t size)
{
    uint8_t head[CW_MESSAGE_HEADER];
    cw_store_u32(head, type);
    cw_store_u64(head + 4, size);
    return send_all(fd, head, sizeof head) && send_all(fd, payload, size);
}

bool cw_message_receive(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    uint8_t head[CW_MESSAGE_HEADER];
    *payload = NULL;
    *size = 0;
    if (!receive_all(fd, head, sizeof head))
        return false;
    struct cw_reader in;
    cw_reader_init(&in, head, sizeof head, "message", 0, NULL);
    uint32_t number = cw_read_u32(&in);
    uint64_t length = cw_read_u64(&in);
    if (number == 0 || number >= CW_MESSAGE__END || length > CW_MESSAGE_MAX)
        return false;
    *type = (enum cw_message_type)number;
    if (!length)
        return true;
    *payload = malloc(length);
    *size = (size_t)length;
    if (*payload && receive_all(fd, *payload, *size))
        return true;
    free(*payload);
    *payload = NULL;
    return false;
}

const char *const cw_replay_names[CW_REPLAY__COUNT] = {"batch", "kernel", "application", "user"};

void cw_launch_write(struct cw_writer *out, const struct cw_launch *launch)
{
    cw_write_string(out, launch->kernel);
    cw_write_string(out, launch->nvtx ? launch->nvtx : "");
    cw_write_u8(out, launch->user);
    cw_write_u8(out, launch->unwanted);
    cw_write_u32(out, launch->replay);
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
    uint32_t replay = cw_read_u32(in);
    launch->replay = replay < CW_REPLAY__COUNT ? (enum cw_replay)replay : CW_REPLAY_BATCH;
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
