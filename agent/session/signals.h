/* What would end the agent is for the program that it captures: a SIGTERM of a batch system, timeout(1) or kill(1). */
#ifndef CW_AGENT_SIGNALS_H
#define CW_AGENT_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Before all else: children can be waited for, what the agent prints may stay unread, and children of cw_signals_fork
 * have what the agent changes here and later as it was. */
void cw_signals_begin(void);
/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 do not end this process, but for the second without
 * a child that asks for an end. Those that it was started to ignore it goes on to ignore. */
void cw_signals_catch(void);
/* Catches them, forks, and sends the child those that come; but a terminal's, which it gets itself. */
pid_t cw_signals_fork(void);
/* Starts a thread that leaves them to this one. */
bool cw_signals_thread(pthread_t *thread, void *(*run)(void *), void *user);
/* The child has ended: they are not sent any more. To be called before it is waited for, while its number is its own.
 */
void cw_signals_keep(void);
/* Whether one has come that asks for an end: not SIGUSR1 or SIGUSR2. */
bool cw_signals_end(void);
/* The same of those that came while there was no child to send them to. */
bool cw_signals_end_alone(void);
/* From now on SIGUSR2 is for this process and not for the child, also where this one was started to ignore or block it,
 * which the child still does. To be called before they are caught. How many have come since. */
void cw_signals_keep_user2(void);
unsigned cw_signals_user2(void);
/* For a child that ends with its parent: they are the parent's alone. */
void cw_signals_ignore(void);

#endif
