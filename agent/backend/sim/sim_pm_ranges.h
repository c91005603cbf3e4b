/* Writes the user ranges of a simulated program beside samples of PM sampling, as rows of a trace. */
#ifndef CW_AGENT_SIM_PM_RANGES_H
#define CW_AGENT_SIM_PM_RANGES_H

#include "agent/output/trace_output.h"

enum { CW_SIM_MOST_OPEN = 64, CW_SIM_MOST_RANGE_NAMES = 256 };

struct cw_sim_pm_ranges {
    struct cw_trace_output out;
    struct cw_trace_beside beside;
    bool begun; /* a process has begun */
    const uint32_t *gpus;
    uint32_t gpu_count, process;
    uint32_t depth; /* number of open ranges; ranges too deep for `open` are left out */
    struct {
        uint64_t start_ns;
        uint32_t name; /* number of its text */
    } open[CW_SIM_MOST_OPEN];
    uint32_t text_count, name_count;
    struct {
        const char *text;
        uint32_t number;
    } names[CW_SIM_MOST_RANGE_NAMES];
};

/* Begins. `gpus` are the numbers of the sampled devices; borrows them and the collector. Close in any case. */
enum cw_status cw_sim_pm_ranges_begin(struct cw_sim_pm_ranges *ranges, struct cw_collector *collector,
                                      const uint32_t *gpus, uint32_t gpu_count, struct cw_error *err);
/* Begin and end a range at a wall clock time; `pid` is the program's. */
enum cw_status cw_sim_pm_ranges_push(struct cw_sim_pm_ranges *ranges, uint32_t pid, const char *name, uint64_t ns,
                                     struct cw_error *err);
enum cw_status cw_sim_pm_ranges_pop(struct cw_sim_pm_ranges *ranges, uint64_t ns, struct cw_error *err);
/* Ends all; ranges still open get no end. */
enum cw_status cw_sim_pm_ranges_finish(struct cw_sim_pm_ranges *ranges, struct cw_error *err);
void cw_sim_pm_ranges_close(struct cw_sim_pm_ranges *ranges);

#endif
