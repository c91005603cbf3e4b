/* Facts: numbers known about a launch without counting, which captures store by name (docs/formats.md). */
#ifndef CW_AGENT_FACTS_H
#define CW_AGENT_FACTS_H

#include <stdbool.h>

enum cw_launch_fact { /* memory in bytes */
                      CW_FACT_REGISTERS,
                      CW_FACT_SHARED_STATIC,
                      CW_FACT_SHARED_DYNAMIC,
                      CW_FACT_SHARED_DRIVER, /* reserved by the driver for each block */
                      CW_FACT_LOCAL,
                      CW_FACT_CONSTANT,
                      CW_FACT_MAX_THREADS, /* limit on threads of a block for this kernel */
                      CW_FACT_CLUSTER_X,   /* blocks; 0 without a cluster */
                      CW_FACT_CLUSTER_Y,
                      CW_FACT_CLUSTER_Z,
                      CW_FACT_COOPERATIVE,  /* 0 or 1 */
                      CW_FACT_PROGRAMMATIC, /* programmatic dependent launch: 0 or 1 */
                      CW_FACT_PRIORITY,     /* unknown if the launch does not set one: the stream's applies */
                      CW_FACT_CARVEOUT, /* preferred percentage of the maximum shared memory; -1: the driver's choice */
                      CW_FACT_PTX,      /* 90 means 9.0 */
                      CW_FACT_BINARY,
                      CW_FACT__COUNT
};
extern const char *const cw_fact_names[CW_FACT__COUNT];

/* Sets all facts to NaN: unknown. */
void cw_facts_forget(double facts[CW_FACT__COUNT]);
/* Combines the facts of several launches: keeps a fact if all launches agree. `first`: there was no launch before this
 * one. */
void cw_facts_join(double all[CW_FACT__COUNT], const double one[CW_FACT__COUNT], bool first);

#endif
