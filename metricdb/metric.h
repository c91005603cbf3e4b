/* Metric names: base, rollup and sub-metric.
 *
 *     counter    BASE.(sum|avg|min|max)[.SUBMETRIC]     sm__inst_executed.avg.per_cycle_active
 *     ratio      BASE.(ratio|pct|max_rate)              lts__t_sector_hit_rate.pct
 *     throughput BASE.(sum|avg|min|max).pct_of_peak_sustained_(active|elapsed|frame|region)
 *     formula    NAME                                   a user's formula or a shipped one (metricdb/formula.h)
 *     fact       NAME                                   known without counting (metricdb/fact.h)
 *
 * data/schema.md explains their meaning to people, metricdb/term.h to programs. The tests compare the values with those
 * of NVIDIA's evaluator. */
#ifndef CW_METRICDB_METRIC_H
#define CW_METRICDB_METRIC_H

#include "metricdb/chip.h"

/* The order of sub-metrics of counters is NVIDIA's. */
enum cw_submetric {
    CW_SUB_NONE,
    CW_SUB_PEAK,
    CW_SUB_PEAK_ACTIVE,
    CW_SUB_PEAK_ACTIVE_PER_SECOND,
    CW_SUB_PEAK_ELAPSED,
    CW_SUB_PEAK_ELAPSED_PER_SECOND,
    CW_SUB_PEAK_FRAME,
    CW_SUB_PEAK_FRAME_PER_SECOND,
    CW_SUB_PEAK_REGION,
    CW_SUB_PEAK_REGION_PER_SECOND,
    CW_SUB_PER_CYCLE_ACTIVE,
    CW_SUB_PER_CYCLE_ELAPSED,
    CW_SUB_PER_CYCLE_IN_FRAME,
    CW_SUB_PER_CYCLE_IN_REGION,
    CW_SUB_PER_SECOND,
    CW_SUB_PCT_ACTIVE,
    CW_SUB_PCT_ELAPSED,
    CW_SUB_PCT_FRAME,
    CW_SUB_PCT_REGION,
    CW_SUB_COUNTER_COUNT,
    CW_SUB_RATIO = CW_SUB_COUNTER_COUNT,
    CW_SUB_RATIO_PCT,
    CW_SUB_RATIO_MAX_RATE,
    CW_SUB__COUNT
};

/* The cycles of its unit that a sub-metric uses: as divisor, or as the span of a peak. */
enum cw_cycles { CW_CYCLES_NONE, CW_CYCLES_ACTIVE, CW_CYCLES_ELAPSED, CW_CYCLES_FRAME, CW_CYCLES_REGION };

struct cw_metric {
    enum cw_metric_type type;
    uint32_t base;         /* index of the counter, ratio, throughput, formula or fact */
    enum cw_rollup rollup; /* CW_SUM for all types but counters and throughputs */
    enum cw_submetric sub;
};

enum { CW_METRIC_NAME_MAX = 256 };

/* Parses a full name. The error says which part is unknown and gives the nearest valid spelling. */
enum cw_status cw_metric_parse(struct cw_metric *metric, const struct cw_chip *chip, const char *name,
                               struct cw_error *err);
/* Writes the full name. Returns `buffer` (CW_METRIC_NAME_MAX bytes). */
const char *cw_metric_name(const struct cw_chip *chip, const struct cw_metric *metric, char *buffer);
/* Compares metrics by type, base, rollup and sub-metric, for qsort. */
int cw_metric_compare(const void *a, const void *b);
/* "per_cycle_active", "" for none; "sum" and so on for a rollup. */
const char *cw_submetric_text(enum cw_submetric sub);
const char *cw_rollup_text(enum cw_rollup rollup);
/* "counter", "ratio", "throughput", "formula" or "fact". */
const char *cw_metric_type_text(enum cw_metric_type type);

/* Number of base names of a type, formulas and facts included, and the name of one. */
uint32_t cw_metric_base_count(const struct cw_chip *chip, enum cw_metric_type type);
const char *cw_metric_base_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);
/* Description by the author of a formula or a fact; NULL for a metric of the chip's file. */
const char *cw_metric_remark(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);
/* Number of full names that a type has for each base, and the i-th of them. */
uint32_t cw_metric_variants(enum cw_metric_type type);
struct cw_metric cw_metric_variant(enum cw_metric_type type, uint32_t base, uint32_t variant);

/* The default metric of a base name: a counter's sum; a ratio, in percent if it is a hit rate; a throughput's average
 * in percent of the peak over all cycles. */
struct cw_metric cw_metric_usual(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);

/* Writes the unit of measurement: "instructions/sm_cycles", "%", "1", "bytes/s". Returns `buffer`. */
const char *cw_metric_dimension(const struct cw_chip *chip, const struct cw_metric *metric, char *buffer, size_t size);

/* The counter that divides values such as "per cycle active", for a sub-metric of a counter; CW_NONE if the sub-metric
 * divides by no cycles. */
uint32_t cw_metric_cycles(const struct cw_chip *chip, uint32_t counter, enum cw_submetric sub);
enum cw_cycles cw_submetric_cycles(enum cw_submetric sub);
bool cw_submetric_needs_time(enum cw_submetric sub);

#endif
