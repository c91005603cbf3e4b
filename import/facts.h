/* Imports facts about a chip from NVIDIA's host library: names, units, dimensions, raw counters, domains, throughput
 * constituents. No GPU needed. Further facts are inferred here from names and dependencies, or fitted to captures by
 * import/fit.h. */
#ifndef CW_IMPORT_FACTS_H
#define CW_IMPORT_FACTS_H

#include "host/nvperf/nvperf.h"
#include "metricdb/chip.h"

/* A chip whose arrays may still change, and data that only the importer needs. Everything lives in one arena. */
struct cw_facts {
    struct cw_chip chip; /* its arrays are the mutable ones below */
    struct cw_unit *units;
    struct cw_counter *counters;
    struct cw_ratio *ratios;
    struct cw_throughput *throughputs;
    struct cw_list *active_raws, *elapsed_raws; /* for each counter: raw counters of .sum.per_cycle_active, _elapsed */
    struct cw_list *sampled_active_raws, *sampled_elapsed_raws; /* the same in PM sampling, of what both have */
    struct cw_arena *arena;
};

/* Imports a chip. Leaves open cycles, formulas of ratios, peaks and instances, which cw_fit sets. */
enum cw_status cw_facts_import(struct cw_facts *facts, const struct cw_nvperf *library, const char *chip,
                               struct cw_arena *arena, struct cw_error *err);

/* Counters that may be the cycles a counter is divided by, judged by raw counters and names, best first: writes up to
 * `room` indices and returns how many. */
enum cw_facts_cycles { CW_FACTS_ACTIVE, CW_FACTS_ELAPSED, CW_FACTS_SAMPLED_ACTIVE, CW_FACTS_SAMPLED_ELAPSED };
uint32_t cw_facts_cycle_candidates(const struct cw_facts *facts, uint32_t counter, enum cw_facts_cycles which,
                                   uint32_t *out, uint32_t room);

/* Sets the values of each unit to the most frequent values of its counters. */
void cw_facts_settle_units(struct cw_facts *facts);

/* What samples over time divide by where it is not the cycles that ranges do, once these are settled. */
void cw_facts_settle_sampled(struct cw_facts *facts);

bool cw_list_equal(const struct cw_list *a, const struct cw_list *b);
/* For sorted lists: whether `a` is contained in `b`, and whether each item of `list` is in `a` or in `b`. */
bool cw_list_within(const struct cw_list *a, const struct cw_list *b);
bool cw_list_covered(const struct cw_list *list, const struct cw_list *a, const struct cw_list *b);

/* Imports the chips in the library's order. The chip of an entry has the first of its names; the others are in `also`.
 * `progress` is called for each chip and may be NULL. Everything lives in `arena`. */
enum cw_status cw_chips_import(struct cw_facts **chips, size_t *count, const struct cw_nvperf *library,
                               void (*progress)(const char *chip), struct cw_arena *arena, struct cw_error *err);

/* Whether a throughput lists no counter, directly or through other throughputs. */
bool cw_facts_lists_nothing(const struct cw_facts *facts, uint32_t throughput);

#endif
