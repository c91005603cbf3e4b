/* Database of one chip, with the contents of its YAML file (data/schema.md); metricdb/chip_load.h loads it.
 *
 * All data is in arrays and refers by index; CW_NONE stands for "none". A loaded chip is immutable. It keeps positions
 * in the file for messages and for the lint. */
#ifndef CW_METRICDB_CHIP_H
#define CW_METRICDB_CHIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rollup.h"

#define CW_NONE UINT32_MAX

enum { CW_MOST_PASS_COSTS = 64 };

/* CW_METRIC_TYPE_COUNT is the number of types in the chip's file. Formulas (metricdb/formula.h) and facts
 * (metricdb/fact.h) are metrics beside them. */
enum cw_metric_type {
    CW_COUNTER,
    CW_RATIO,
    CW_THROUGHPUT,
    CW_METRIC_TYPE_COUNT,
    CW_FORMULA = CW_METRIC_TYPE_COUNT,
    CW_FACT,
    CW_ALL_TYPES_COUNT
};

struct cw_list { /* a list of indices */
    uint32_t count;
    const uint32_t *items;
};

struct cw_unit {
    const char *name;
    uint32_t instances;       /* expected number on a full device; 0 unknown */
    uint32_t active, elapsed; /* counters whose average divides the unit's per-cycle values, or CW_NONE */
};

/* Additional microseconds to set up and read a pass that uses any of these domains. */
struct cw_pass_cost {
    uint32_t cost;
    struct cw_list domains;
};

/* The placements from `members` in one pass belong to at most `max` different groups. */
struct cw_limit {
    uint32_t max;
    uint32_t count;
    const uint32_t *members, *groups; /* placements, and the group of each */
    uint32_t pm_max;                  /* replaces `max` for PM sampling */
    unsigned line;
};
struct cw_limits {
    uint32_t count;
    const struct cw_limit *items;
    bool pm; /* limits of PM sampling */
};

/* Whose list of metrics CUPTI has a metric in: bits. */
enum cw_listed { CW_OF_RANGES = 1, CW_OF_SAMPLES = 2, CW_OF_BOTH = CW_OF_RANGES | CW_OF_SAMPLES };

struct cw_counter {
    const char *name, *dimension; /* "bytes", "1" for a plain number */
    uint32_t unit;
    uint32_t listed;
    uint32_t active, elapsed;                 /* the unit's unless the file says otherwise */
    uint32_t sampled_active, sampled_elapsed; /* what samples over time divide by instead, or CW_NONE */
    uint32_t instances;                       /* likewise */
    double peak;                              /* expected sustained peak for a cycle and instance; NaN unknown */
    struct cw_list raws;
    struct cw_list terms; /* recorded counters of which this one is a linear combination; none: it is recorded itself */
    const double *coefficients; /* one for each term: sum = coefficients * sums of the terms */
    double per;         /* instances of the terms for each of this counter's: avg = per * coefficients * averages */
    uint32_t confirmed; /* captures with a nonzero sum on which the combination was exact */
    unsigned line;
};

struct cw_ratio {
    const char *name, *dimension;
    uint32_t unit;
    uint32_t listed;
    uint32_t numerator, denominator; /* counters; CW_NONE while no formula is known */
    double scale;                    /* the value is scale * numerator / denominator */
    double max_rate;                 /* NaN unknown */
    uint32_t confirmed;              /* captures with a nonzero value on which the formula was exact */
    struct cw_list raws;
    unsigned line;
};

struct cw_throughput {
    const char *name, *dimension;
    uint32_t unit;
    uint32_t listed;
    struct cw_list counters, throughputs; /* the constituents whose largest percentage it is */
    uint32_t confirmed;
    struct cw_list raws;
    unsigned line;
};

struct cw_chip {
    const char *name, *path;
    uint32_t also_count;
    const char *const *also; /* other chips with the same data */
    uint32_t source_count;
    const char *const *source; /* origin of its data, a line for each source */
    uint8_t hash[16];          /* XXH3 (128 bits, big-endian) of the file */
    uint32_t time;             /* the counter of nanoseconds, which divides per-second values */
    uint32_t no_sampling;      /* 1: the hardware has no PM sampling */
    uint32_t device_counter;   /* a raw counter; a pass that collects it counts the whole device, not one context */
    uint32_t unit_count, domain_count, pass_cost_count, raw_count, placement_count, limit_count, pm_limit_count,
        counter_count, ratio_count, throughput_count;
    const struct cw_unit *units;
    const struct cw_domain {
        const char *name;
        uint32_t id; /* NVIDIA's number */
    } * domains;
    const struct cw_pass_cost *pass_costs; /* at most CW_MOST_PASS_COSTS; empty: unknown */
    const struct cw_raw_counter {
        uint64_t id;
        uint32_t placement, placement_count; /* a run of placements */
    } * raws;                                /* ascending by id */
    /* A raw counter and one of the domains that can collect it. The placements of a raw counter are adjacent, the
     * preferred one first. */
    const struct cw_chip_placement {
        uint32_t raw, domain;
    } * placements;
    const struct cw_limit *limits;    /* limits of a pass of range profiling */
    const struct cw_limit *pm_limits; /* limits of PM sampling's pass; the same array if the file has none */
    const struct cw_counter *counters;
    const struct cw_ratio *ratios;
    const struct cw_throughput *throughputs;
    /* Hash table of base names, which have one numbering: counters, ratios, throughputs. A slot holds 1 + the number, 0
     * is empty; a name stands in the slot of its hash or in the first free one behind it. */
    const uint32_t *name_slots;
    uint32_t name_slot_count;
    const struct cw_formulas *formulas; /* metrics by formula, or NULL (metricdb/formula.h) */
    const struct cw_chip_lacks {        /* features that the GPUs of a node lack (metricdb/node.h) */
        const char *where;              /* the file that says so */
        const bool *counters;           /* by counter: its unit is missing or disabled */
        bool range, pm;                 /* the profiler does not work */
    } * lacks;                          /* NULL: no particular GPUs */
};

/* Whether captures of the chip contributed to the file: it has peaks. */
bool cw_chip_measured(const struct cw_chip *chip);
/* Number of groups of limit `i` that a pass may use. */
uint32_t cw_limits_max(const struct cw_limits *limits, uint32_t i);
/* Whether the file has the limits of PM sampling that differ from range profiling. */
bool cw_chip_knows_pm(const struct cw_chip *chip);

/* Finds a base name of `length` bytes. */
bool cw_chip_find(const struct cw_chip *chip, const char *name, size_t length, enum cw_metric_type *type,
                  uint32_t *index);
const char *cw_chip_base_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t index);
uint32_t cw_chip_base_count(const struct cw_chip *chip, enum cw_metric_type type);
/* Whether a base name is in any of the lists of `listed`, and how many are. */
bool cw_chip_lists(const struct cw_chip *chip, enum cw_metric_type type, uint32_t index, uint32_t listed);
uint32_t cw_chip_listed_count(const struct cw_chip *chip, enum cw_metric_type type, uint32_t listed);
/* CW_ERR_UNSUPPORTED if the chip, or each GPU of it that is known, has no such profiler: sampling over time, or ranges.
 */
enum cw_status cw_chip_check_profiler(const struct cw_chip *chip, bool samples, struct cw_error *err);
/* Makes `chip` what samples over time are evaluated by: their counters divide by other cycles. */
enum cw_status cw_chip_as_sampled(const struct cw_chip **chip, struct cw_arena *arena, struct cw_error *err);
/* Whether a rollup of a counter follows from those of its terms: sum and average of
 * every combination, minimum and maximum only of a counter that is another one of its unit times a positive factor. */
bool cw_counter_follows(const struct cw_chip *chip, uint32_t counter, enum cw_rollup rollup);
/* Whether a domain of the chip collects each of a counter's raw counters. */
bool cw_counter_has_domains(const struct cw_chip *chip, uint32_t counter);
/* The index of a raw counter, or CW_NONE. */
uint32_t cw_chip_find_raw(const struct cw_chip *chip, uint64_t id);

/* For loaders: makes the slots. CW_ERR_INPUT with the line in the chip file for a name that occurs twice, and for names
 * chosen to have equal hashes, because look-ups would take long. */
enum cw_status cw_chip_index_names(struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

#endif
