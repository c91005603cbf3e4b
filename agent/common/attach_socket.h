/* Where a program that was started under the injection library, but by no agent, waits for one: an abstract socket that
 * is named by the process. Both ends ask the system who is at the other. */
#ifndef CW_AGENT_ATTACH_SOCKET_H
#define CW_AGENT_ATTACH_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* The address of a process, and its size. */
socklen_t cw_attach_address(struct sockaddr_un *address, pid_t process);
/* Whether the process at the other end is of the same user as this one, or of root; *process: which it is. */
bool cw_attach_peer(int fd, pid_t *process);

#endif
