#define _GNU_SOURCE
#include "agent/inject/driver/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/inject/driver/clock.h"
#include "agent/inject/driver/say.h"

#define self cw_wire

static void read_patience(void)
{
    const char *text = secure_getenv(CW_AGENT_PATIENCE_VARIABLE);
    long seconds = text ? strtol(text, NULL, 10) : 0;
    self->patience.tv_sec = seconds > 0 && seconds <= CW_AGENT_MOST_PATIENCE ? seconds : CW_AGENT_PATIENCE;
}

/* Connects, and repeats the call if a signal interrupts it. */
static bool connect_to(const struct sockaddr_un *address)
{
    uint64_t until = cw_inject_now_ns() + (uint64_t)self->patience.tv_sec * 1000000000u;
    while (connect(self->agent.fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (errno != EINTR)
            return false;
        errno = EAGAIN;
        if (cw_inject_now_ns() > until)
            return false;
    }
    return true;
}

static bool limit(struct timeval most)
{
    int fd = cw_descriptor_number(&self->agent);
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0;
}

void cw_wire_leave(void)
{
    self->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* another thread may have held it */
    cw_descriptor_close(&self->agent);
}

/* Sends the reason, behind whole messages, for an agent that resumes later. */
static void tell_why(const char *text)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, CW_ERR_DEVICE);
    cw_write_string(&out, text);
    if (out.status == CW_OK && limit((struct timeval){.tv_usec = 1000}))
        cw_message_send(cw_descriptor_number(&self->agent), CW_MESSAGE_FAIL, out.data, out.size);
    cw_writer_free(&out);
}

/* Why there is no connection, if the user of the program can do something about it. */
static const char *reason(int error)
{
    snprintf(self->late, sizeof self->late, "capture-agent has not read or answered for %ld s",
             (long)self->patience.tv_sec);
    if (error == EAGAIN)
        return self->late;
    if (error == ENOENT || error == ECONNREFUSED || error == EACCES) {
        snprintf(self->late, sizeof self->late, "capture-agent has ended, or cannot be reached from here (%s)",
                 strerror(error));
        return self->late;
    }
    if (error == EMFILE || error == ENFILE)
        return "no descriptor is free for the connection to capture-agent";
    bool closed = self->agent.inode && cw_descriptor_number(&self->agent) < 0;
    return closed ? "the program has closed the connection to capture-agent" : NULL;
}

/* Closes the connection. Always returns false. */
static bool give_up(bool in_a_message)
{
    int error = errno;
    const char *why = reason(error);
    if (why)
        cw_say("%s; the program goes on without a capture", why);
    if (error == EAGAIN && !in_a_message)
        tell_why(why);
    cw_descriptor_close(&self->agent);
    return false;
}

const char *cw_wire_variable(const char *name)
{
    const size_t length = strlen(name);
    if (!self->environment)
        return secure_getenv(name);
    for (const char *at = self->environment; *at; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

bool cw_wire_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, path);
    self->tried = true;
    self->detached = false;
    self->taken = 0; /* of the connection of an earlier session */
    read_patience();
    return (cw_descriptor_take(&self->agent, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) && limit(self->patience) &&
            connect_to(&address)) ||
           give_up(true);
}

bool cw_wire_adopt(int fd)
{
    pthread_mutex_lock(&self->lock);
    read_patience();
    self->tried = true;
    self->detached = false;
    self->taken = 0;
    const bool taken = cw_descriptor_take(&self->agent, fd) && limit(self->patience);
    pthread_mutex_unlock(&self->lock);
    return taken;
}

void cw_wire_end(void)
{
    pthread_mutex_lock(&self->lock);
    cw_descriptor_close(&self->agent);
    self->tried = false;
    pthread_mutex_unlock(&self->lock);
}

static bool send_message(enum cw_message_type type, const struct cw_writer *out, int memory)
{
    return cw_message_send_with(cw_descriptor_number(&self->agent), type, out->data, out->size, memory) ||
           give_up(true);
}

bool cw_wire_send(enum cw_message_type type, const struct cw_writer *out, int memory)
{
    pthread_mutex_lock(&self->lock);
    bool sent = send_message(type, out, memory);
    pthread_mutex_unlock(&self->lock);
    return sent;
}

/* Receives a message, and counts the agent's reports of memory it has read. */
static bool receive(enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    if (!cw_message_receive(cw_descriptor_number(&self->agent), type, payload, size))
        return give_up(false);
    self->taken += *type == CW_MESSAGE_TAKEN;
    self->detached = self->detached || *type == CW_MESSAGE_DETACH;
    return true;
}

/* Sends a question and waits for its answer, with the lock held: no other message may come between. */
bool cw_wire_ask(const struct cw_writer *question, enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    pthread_mutex_lock(&self->lock);
    bool ok = send_message(CW_MESSAGE_HELLO, question, -1) && receive(type, payload, size);
    while (ok && (*type == CW_MESSAGE_TAKEN || *type == CW_MESSAGE_DETACH)) {
        free(*payload);
        ok = receive(type, payload, size);
    }
    pthread_mutex_unlock(&self->lock);
    return ok;
}

/* Waits for messages; another thread may have read them while it waited for an answer. */
bool cw_wire_watch(int ms)
{
    struct pollfd one = {.events = POLLIN};
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    pthread_mutex_lock(&self->lock); /* a thread that sends may close it */
    one.fd = cw_descriptor_number(&self->agent);
    pthread_mutex_unlock(&self->lock);
    if (one.fd < 0)
        return false;
    const bool may_read = poll(&one, 1, ms) > 0;
    pthread_mutex_lock(&self->lock);
    one.fd = cw_descriptor_number(&self->agent);
    if (may_read && one.fd >= 0 && poll(&one, 1, 0) > 0 && receive(&type, &payload, &size))
        free(payload);
    const bool on = cw_descriptor_number(&self->agent) >= 0 && !self->detached;
    pthread_mutex_unlock(&self->lock);
    return on;
}

bool cw_wire_wait_taken(uint64_t number)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    pthread_mutex_lock(&self->lock);
    while (self->taken < number && receive(&type, &payload, &size))
        free(payload);
    bool read = self->taken >= number;
    pthread_mutex_unlock(&self->lock);
    return read;
}
