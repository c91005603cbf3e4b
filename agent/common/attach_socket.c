#define _GNU_SOURCE
#include "agent/common/attach_socket.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

socklen_t cw_attach_address(struct sockaddr_un *address, pid_t process)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* a zero first byte makes the name abstract */
    const int size = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "counterworks-%ld", (long)process);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

bool cw_attach_peer(int fd, pid_t *process)
{
    struct ucred other;
    socklen_t size = sizeof other;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
        return false;
    *process = other.pid;
    return other.uid == geteuid() || other.uid == 0;
}
