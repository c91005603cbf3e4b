/* Which process of a capture has a GPU's counters. CUPTI gives them to the process that starts first, until it disables
 * its profiler; the start of another fails. So processes take turns: one that finds them taken says that it waits, and
 * whoever has them gives them back as soon as nothing is being collected.
 *
 * Both are locks on bytes of a file in the agent's folder, two for each GPU. The kernel drops those of a process that
 * ends, however it ends. */
#ifndef CW_INJECT_COUNTERS_H
#define CW_INJECT_COUNTERS_H

#include <stdatomic.h>

#include "agent/inject/driver/descriptor.h"
#include "agent/inject/driver/inject.h"

#define CW_WHY_ANOTHER_PROCESS "a launch while another process held the counters"
#define CW_WHY_ANOTHER_PROFILER "a launch while another profiler, which is not of this capture, held the counters"

enum { CW_PCI = 32 };

struct cw_counters_of { /* a GPU */
    char pci[CW_PCI];
    off_t place; /* of its bytes */
    _Atomic bool held, waits;
    uint64_t first_ns, vain_ns;  /* when they were first to be taken; how long it was waited in vain since */
    uint64_t waited_ns, gave_ns; /* when it last waited in vain, and gave them back */
    uint64_t refused_ns;         /* when CUPTI first refused a start, since one that it did not; else 0 */
    uint64_t retry_ns;           /* not before then again */
};

struct cw_counters {
    struct cw_descriptor file;
    bool opened, watched; /* it was tried; a thread looks who waits */
    _Atomic uint32_t count;
    struct cw_counters_of of[CW_MOST_CONTEXTS];
    void (*wanted)(const char *pci);
};
extern struct cw_counters *const cw_counters;

/* Opens the file. Where it cannot be had, nobody waits for anybody. From then on a thread of ours calls `wanted`, with
 * the lock, for each GPU whose counters this process has while another waits for them: again and again, until they are
 * given back. */
void cw_counters_open(void (*wanted)(const char *pci));

/* Before the first start: waits, with the lock, until no other process of the capture has the counters, at most two
 * seconds. Each wait in vain makes the next one shorter, so that all of them take no more than some seconds and a tenth
 * of the time. NULL, or why it has not got them. */
const char *cw_counters_take(const char *pci);
/* Behind that start: where CUPTI says that the GPU is busy, a profiler outside of the capture has the counters. True:
 * it is to be tried again, after a little wait. Else *why is NULL, or why it is not: then it is not tried for some
 * seconds. */
bool cw_counters_try_again(const char *pci, CUptiResult result, const char **why);
/* When the profiler was disabled. */
void cw_counters_give(const char *pci);
/* Whether another process waits for counters that this one has. */
bool cw_counters_any_wanted(void);

#endif
