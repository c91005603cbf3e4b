/* What is known of a launch without counting: facts, numbers that captures name (docs/formats.md). */
#ifndef CW_AGENT_FACTS_H
#define CW_AGENT_FACTS_H

#include <stdbool.h>

enum cw_launch_fact { /* memory is in bytes */
                      CW_FACT_REGISTERS,
                      CW_FACT_SHARED_STATIC,
                      CW_FACT_SHARED_DYNAMIC,
                      CW_FACT_SHARED_DRIVER, /* what the driver reserves of a block's */
                      CW_FACT_LOCAL,
                      CW_FACT_CONSTANT,
                      CW_FACT_MAX_THREADS, /* of a block of this kernel */
                      CW_FACT_CLUSTER_X,   /* blocks; 0 where there is no cluster */
                      CW_FACT_CLUSTER_Y,
                      CW_FACT_CLUSTER_Z,
                      CW_FACT_COOPERATIVE,  /* 0 or 1 */
                      CW_FACT_PROGRAMMATIC, /* programmatic dependent launch: 0 or 1 */
                      CW_FACT_PRIORITY,     /* unknown where the launch does not say: it is the stream's */
                      CW_FACT_CARVEOUT,     /* preferred, per cent of the most shared memory; -1: the driver's choice */
                      CW_FACT_PTX,          /* 90: for 9.0 */
                      CW_FACT_BINARY,
                      CW_FACT__COUNT
};
extern const char *const cw_fact_names[CW_FACT__COUNT];

/* Makes all of them NaN: unknown. */
void cw_facts_forget(double facts[CW_FACT__COUNT]);
/* Those of several launches: what all of them agree in. `first`: there was none before this one. */
void cw_facts_join(double all[CW_FACT__COUNT], const double one[CW_FACT__COUNT], bool first);

#endif
