#define _GNU_SOURCE
#include "agent/inject/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/inject/descriptor.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken last */
static struct cw_descriptor agent;
static bool tried;
static uint64_t taken; /* pieces of memory that the agent has read */

bool cw_wire_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, path);
    tried = true;
    return cw_descriptor_take(&agent, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) &&
           connect(agent.fd, (struct sockaddr *)&address, sizeof address) == 0;
}

bool cw_wire_was_tried(void)
{
    return tried;
}

void cw_wire_leave(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* another thread may have held it */
    cw_descriptor_close(&agent);
}

bool cw_wire_send(enum cw_message_type type, const struct cw_writer *out, int memory)
{
    pthread_mutex_lock(&lock);
    bool sent = cw_message_send_with(cw_descriptor_number(&agent), type, out->data, out->size, memory);
    pthread_mutex_unlock(&lock);
    return sent;
}

/* What the agent says of memory is counted, whatever is waited for. */
static bool receive(enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    bool received = cw_message_receive(cw_descriptor_number(&agent), type, payload, size);
    taken += received && *type == CW_MESSAGE_TAKEN;
    return received;
}

/* The answer follows the question: nothing else may come between on the socket. */
bool cw_wire_ask(const struct cw_writer *question, enum cw_message_type *type, uint8_t **payload, size_t *size)
{
    pthread_mutex_lock(&lock);
    bool ok = cw_message_send(cw_descriptor_number(&agent), CW_MESSAGE_HELLO, question->data, question->size) &&
              receive(type, payload, size);
    while (ok && *type == CW_MESSAGE_TAKEN) {
        free(*payload);
        ok = receive(type, payload, size);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

bool cw_wire_wait_taken(uint64_t number)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    pthread_mutex_lock(&lock);
    while (taken < number && receive(&type, &payload, &size))
        free(payload);
    bool read = taken >= number;
    pthread_mutex_unlock(&lock);
    return read;
}
