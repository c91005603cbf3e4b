/* Locks the clocks of a capture's GPUs to their base, as ncu's --clock-control base does, by the driver's management
 * library (NVML). A process of its own locks them, and gives them back when the agent's end of a socket closes: also
 * where the agent is killed. They stay locked where all processes of a job are killed at once. A lock that somebody
 * else has set is lost. */
#ifndef CW_AGENT_CLOCK_CONTROL_H
#define CW_AGENT_CLOCK_CONTROL_H

#include <stdbool.h>

struct cw_clock_control {
    bool wanted; /* the caller's */
    bool begun, told;
    int socket; /* valid after `begun`; -1: there is no guard */
};

/* Locks the GPU at this PCI address, if it is wanted. Prints once why a GPU cannot be locked: the capture goes on with
 * the clocks that it has. */
void cw_clock_control_lock(struct cw_clock_control *control, const char *pci);
/* Gives the clocks back. */
void cw_clock_control_end(struct cw_clock_control *control);

#endif
