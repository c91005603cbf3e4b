/* Forwards signals that would end the agent to the captured program: SIGTERM of a batch system, timeout(1) or
 * kill(1). */
#ifndef CW_AGENT_SIGNALS_H
#define CW_AGENT_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Call it first. Afterwards the agent can wait for children and ignores closed pipes and file size limits; children of
 * cw_signals_fork get the original settings of everything changed here and later. */
void cw_signals_begin(void);
/* Catches SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2, so that they do not end this process. Without a child,
 * the second request for an end does end it. Signals that this process ignored at its start stay ignored. */
void cw_signals_catch(void);
/* Catches the signals, forks, and forwards them to the child, except a terminal's, which the child gets itself. */
pid_t cw_signals_fork(void);
/* Starts a thread with these signals blocked, so that this thread handles them. */
bool cw_signals_thread(pthread_t *thread, void *(*run)(void *), void *user);
/* Stops forwarding, because the child has ended. Call it before waiting for the child, while its number is still its
 * own. */
void cw_signals_keep(void);
/* Whether a signal that asks for an end has come: any but SIGUSR1 and SIGUSR2. */
bool cw_signals_end(void);
/* The same for signals that came while there was no child. */
bool cw_signals_end_alone(void);
/* Keeps SIGUSR2 for this process instead of the child, even if this process ignored or blocked it at its start; the
 * child still does. Call it before the signals are caught. cw_signals_user2 returns the number received since. */
void cw_signals_keep_user2(void);
unsigned cw_signals_user2(void);
/* Ignores the signals, for a child that ends with its parent and leaves them to it. */
void cw_signals_ignore(void);

#endif
