/* The socket of a program that was started under the injection library without an agent and waits for one: an abstract
 * socket with the process number in its name. Each end asks the system about the process at the other. */
#ifndef CW_AGENT_ATTACH_SOCKET_H
#define CW_AGENT_ATTACH_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Writes the address of a process's socket; returns its size. */
socklen_t cw_attach_address(struct sockaddr_un *address, pid_t process);
/* Whether the process at the other end belongs to this process's user or to root; *process: its number. */
bool cw_attach_peer(int fd, pid_t *process);

#endif
