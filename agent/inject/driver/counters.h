/* Shares a GPU's counters between the processes of a capture. CUPTI gives them to the process that starts first, until
 * it disables its profiler; another process's start fails. So processes take turns: a process that finds them taken
 * announces that it waits, and the holder gives them back as soon as it collects nothing.
 *
 * Holding and waiting are locks on bytes of a file in the agent's folder, two bytes for each GPU. The kernel releases
 * the locks of a process that ends in any way. */
#ifndef CW_INJECT_COUNTERS_H
#define CW_INJECT_COUNTERS_H

#include <stdatomic.h>

#include "agent/inject/driver/descriptor.h"
#include "agent/inject/driver/inject.h"

#define CW_WHY_ANOTHER_PROCESS "a launch while another process held the counters"
#define CW_WHY_ANOTHER_PROFILER "a launch while another profiler, which is not of this capture, held the counters"

/* Opens the file. Without the file no process waits. A thread then calls `wanted`, with the lock held, repeatedly for
 * each GPU whose counters this process has while another waits, until they are given back. */
void cw_counters_open(void (*wanted)(const char *pci));
/* For a forked child, which has no thread of ours. */
void cw_counters_renew(void);
/* Closes it, for another agent's. */
void cw_counters_close(void);

/* Call it before the first start. Waits, with the lock held, until no other process of the capture has the counters, at
 * most two seconds. Each wait in vain shortens the next, so that all of them together take only some seconds and a
 * tenth of the time. Returns NULL, or the reason for failure. */
const char *cw_counters_take(const char *pci);
/* Call it after the start. If CUPTI says that the GPU is busy, a profiler outside the capture has the counters. Returns
 * true, after a short wait, if the start is to be tried again. Otherwise *why is NULL, or the reason for giving up; the
 * next attempt is then some seconds away. */
bool cw_counters_try_again(const char *pci, CUptiResult result, const char **why);
/* Call it when the profiler is disabled. */
void cw_counters_give(const char *pci);
/* Whether another process waits for counters that this one has. */
bool cw_counters_any_wanted(void);

#endif
