#define _GNU_SOURCE
#include "agent/inject/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "agent/common/attach_socket.h"
#include "agent/inject/driver/inject.h"
#include "agent/inject/driver/wire.h"

#define self cw_attach

enum { LOOK_MS = 100, FIRST_MESSAGE_S = 5, LONGEST_PATH = 4096 };

/* Receives the first message. Limits the time, so that a silent client does not keep others away for long. */
static bool take_first(int fd, char path[LONGEST_PATH])
{
    const struct timeval most = {.tv_sec = FIRST_MESSAGE_S};
    enum cw_message_type type;
    uint8_t *payload = NULL;
    size_t size;
    bool good = setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0 &&
                cw_message_receive(fd, &type, &payload, &size) && type == CW_MESSAGE_ATTACH && size >= 4 &&
                size - 4 < LONGEST_PATH && !memchr(payload + 4, 0, size - 4);
    if (good) {
        memcpy(path, payload + 4, size - 4);
        path[size - 4] = 0;
    }
    free(payload);
    return good;
}

/* Rejects another client by closing its connection. */
static void turn_away(void)
{
    const int fd = accept4(cw_descriptor_number(&self->listener), NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

/* Serves an agent. False if no other may follow. */
static bool serve(int fd)
{
    char path[LONGEST_PATH];
    pid_t peer;
    if (!cw_attach_peer(fd, &peer) || !take_first(fd, path)) {
        close(fd);
        return true;
    }
    if (!cw_wire_adopt(fd)) {
        cw_wire_end();
        return true;
    }
    self->begin(path);
    while (cw_wire_watch(LOOK_MS) && !cw_inject->over)
        turn_away();
    const bool again = self->end();
    cw_wire_end();
    return again;
}

static void *run(void *user)
{
    bool again = true;
    (void)user;
    cw_inject_own_thread();
    prctl(PR_SET_NAME, "counterworks");
    while (again) {
        struct pollfd one = {.fd = cw_descriptor_number(&self->listener), .events = POLLIN};
        if (one.fd < 0)
            break;
        if (poll(&one, 1, -1) <= 0 || cw_descriptor_number(&self->listener) != one.fd) /* may be the program's by now */
            continue;
        const int fd = accept4(one.fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            again = serve(fd);
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            sleep(1); /* the program has no free descriptor */
    }
    cw_attach_leave();
    return NULL;
}

void cw_attach_listen(void (*begin)(const char *cupti), bool (*end)(void))
{
    struct sockaddr_un address;
    const socklen_t size = cw_attach_address(&address, getpid());
    if (self->begin ||
        !cw_descriptor_take(&self->listener, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)))
        return;
    const int fd = cw_descriptor_number(&self->listener);
    self->begin = begin;
    self->end = end;
    if (bind(fd, (const struct sockaddr *)&address, size) != 0 || listen(fd, 4) != 0 ||
        !cw_inject_start_thread(run, NULL))
        cw_attach_leave();
}

bool cw_attach_wait_for_cuda(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    bool stays = true;
    int count;
    while (stays && api->cuDeviceGetCount && api->cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED) {
        turn_away();
        stays = cw_wire_watch(LOOK_MS) && !cw_inject->over;
    }
    return stays;
}

void cw_attach_leave(void)
{
    cw_descriptor_close(&self->listener);
}
