/* A capture of the process by itself (counterworks/collect.h): the library beside the program starts the agent, calls
 * the functions below, and ends the agent. */
#ifndef CW_INJECT_INSIDE_H
#define CW_INJECT_INSIDE_H

#include <stdbool.h>

struct counterworks_collect_launch;
typedef void cw_launched(void *user, const struct counterworks_collect_launch *launch);

/* Begins a session with the agent's environment (cw_program_adopt), which calls on_launch with `user`. NULL, or why
 * there is none. */
const char *counterworks_inside_open(const char *environment, cw_launched *on_launch, void *user);
/* Opens or closes the capture, as cudaProfilerStart and cudaProfilerStop do. */
void counterworks_inside_control(bool open);
/* Ends what is being collected, which goes to the agent. */
void counterworks_inside_flush(void);
/* Ends the session: the agent has all data, and the program runs as before. Another session may follow. */
void counterworks_inside_close(void);

#endif
