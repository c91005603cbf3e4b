/* A capture of the process by itself (counterworks/collect.h): the library beside the program starts the agent, calls
 * the functions below, and ends the agent. */
#ifndef CW_INJECT_INSIDE_H
#define CW_INJECT_INSIDE_H

#include <stdbool.h>

/* Begins a session with the agent's environment (cw_program_adopt). NULL, or why there is none. */
const char *counterworks_inside_begin(const char *environment);
/* Opens or closes the capture, as cudaProfilerStart and cudaProfilerStop do. */
void counterworks_inside_control(bool open);
/* Ends what is being collected, which goes to the agent. */
void counterworks_inside_flush(void);
/* Ends the session: the agent has all data, and the program runs as before. Another session may follow. */
void counterworks_inside_end(void);

#endif
