/* Bridge to NVIDIA's host library (libnvperf_host.so), through its public API only.
 *
 * The library is loaded at run time and is optional everywhere: cw_nvperf_open returns CW_ERR_UNSUPPORTED if it is not
 * found, or if this program was built without NVIDIA's headers. Nothing here needs a GPU. No NVIDIA type appears in
 * this header. Raw counters are 64-bit numbers, which the library spells "0x%016x"; number 0 stands for "no counter
 * needed" and is never returned. */
#ifndef CW_NVPERF_H
#define CW_NVPERF_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

struct cw_nvperf;

/* Loads the library once for the process. If `path` is NULL, tries CW_NVPERF_HOST, the loader's search path and the
 * usual places of a toolkit. The handle lives as long as the process; there is nothing to close. */
enum cw_status cw_nvperf_open(const struct cw_nvperf **library, const char *path, struct cw_error *err);

/* Lists the chips that the library describes, in its order. The names belong to the library. */
enum cw_status cw_nvperf_chips(const struct cw_nvperf *library, const char *const **names, size_t *count,
                               struct cw_error *err);

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

struct cw_nvperf_evaluator;
enum cw_nvperf_activity { CW_NVPERF_PROFILER, CW_NVPERF_PM_SAMPLING };
enum cw_nvperf_type { CW_NVPERF_COUNTER, CW_NVPERF_RATIO, CW_NVPERF_THROUGHPUT, CW_NVPERF_TYPE_COUNT };

/* For a chip by name (`image` NULL): enumeration and dependencies only. With a native counter-data image of that chip,
 * evaluation too; the image must outlive the evaluator. Each activity has metrics of its own, and evaluates its own
 * images alone. */
enum cw_status cw_nvperf_evaluator_create(struct cw_nvperf_evaluator **evaluator, const struct cw_nvperf *library,
                                          const char *chip, enum cw_nvperf_activity activity, const void *image,
                                          size_t image_size, struct cw_error *err);
void cw_nvperf_evaluator_destroy(struct cw_nvperf_evaluator *evaluator);

/* Base names, by type and index; they belong to the evaluator. */
size_t cw_nvperf_metric_count(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type);
const char *cw_nvperf_metric_name(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type, size_t index);
/* Writes the hardware unit's name in lower case ("sm", "l1tex"), "" if there is none; `buffer` has 32 bytes. */
const char *cw_nvperf_metric_unit(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type, size_t index,
                                  char buffer[32]);
/* Lists suffixes of a type's base names, behind the rollup if the type has one (ratios have none): "", ".per_second",
 * ".pct". Writes at most CW_NVPERF_SUBMETRICS pointers to constants and returns their number. */
enum { CW_NVPERF_SUBMETRICS = 32 };
size_t cw_nvperf_submetrics(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type,
                            const char *suffixes[CW_NVPERF_SUBMETRICS]);
/* Lists the constituents of a throughput: indices of counters and of other throughputs, owned by the evaluator. */
enum cw_status cw_nvperf_throughput_parts(const struct cw_nvperf_evaluator *evaluator, size_t index,
                                          const size_t **counters, size_t *counter_count, const size_t **throughputs,
                                          size_t *throughput_count, struct cw_error *err);

/* Finds the raw counters that `metrics` (full names) need together, sorted, without number 0 and without optional
 * dependencies. The caller frees *raws. */
enum cw_status cw_nvperf_raw_counters(const struct cw_nvperf_evaluator *evaluator, const char *const *metrics,
                                      size_t metric_count, uint64_t **raws, size_t *raw_count, struct cw_error *err);
/* Writes the dimension of a metric: "bytes", "instructions", "bytes/second", "1" for a plain number. */
enum cw_status cw_nvperf_dimension(const struct cw_nvperf_evaluator *evaluator, const char *metric, char *buffer,
                                   size_t size, struct cw_error *err);

/* Counts the ranges in the evaluator's native image. */
enum cw_status cw_nvperf_range_count(const struct cw_nvperf_evaluator *evaluator, size_t *count, struct cw_error *err);

/* Metric names, looked up once. */
struct cw_nvperf_requests;
enum cw_status cw_nvperf_requests_create(struct cw_nvperf_requests **requests,
                                         const struct cw_nvperf_evaluator *evaluator, const char *const *metrics,
                                         size_t count, struct cw_error *err);
void cw_nvperf_requests_destroy(struct cw_nvperf_requests *requests);
/* Sets the durations of the user's frame and region in nanoseconds, for metrics that use them; 0 for none. */
enum cw_status cw_nvperf_set_durations(struct cw_nvperf_evaluator *evaluator, double frame_ns, double region_ns,
                                       struct cw_error *err);
/* Sets values[i] to request i on range `range`. The caller checks that `range` is below the range count: the library
 * does not. */
enum cw_status cw_nvperf_evaluate(struct cw_nvperf_evaluator *evaluator, const struct cw_nvperf_requests *requests,
                                  size_t range, double *values, struct cw_error *err);

/* ---- passes ----------------------------------------------------------------------------------------------------- */

struct cw_nvperf_domain {
    uint32_t id;
    char name[48];
    bool cooperative; /* a group of domains that collect a counter together */
    uint32_t member_count;
    uint32_t members[8];
};

/* A raw counter and the domain to collect it; domain 0 lets the library choose. */
struct cw_nvperf_placement {
    uint64_t raw;
    uint32_t domain;
};

struct cw_nvperf_scheduler;
enum cw_status cw_nvperf_scheduler_create(struct cw_nvperf_scheduler **scheduler, const struct cw_nvperf *library,
                                          const char *chip, enum cw_nvperf_activity activity, struct cw_error *err);
void cw_nvperf_scheduler_destroy(struct cw_nvperf_scheduler *scheduler);

/* Lists domains, then cooperative groups; owned by the scheduler. */
const struct cw_nvperf_domain *cw_nvperf_domains(const struct cw_nvperf_scheduler *scheduler, size_t *count);
/* Lists the raw counters that a domain can collect, in the library's order; the caller frees *raws. */
enum cw_status cw_nvperf_domain_counters(const struct cw_nvperf_scheduler *scheduler, uint32_t domain, uint64_t **raws,
                                         size_t *count, struct cw_error *err);
/* Counts the passes that the library makes of one pass group with all placements. `merge` lets the library merge
 * passes. */
enum cw_status cw_nvperf_pass_count(const struct cw_nvperf_scheduler *scheduler,
                                    const struct cw_nvperf_placement *placements, size_t count, bool merge,
                                    size_t *passes, struct cw_error *err);
/* Counts the passes that the library makes of one pass group with all placements, merged. pass_of[i] is the first pass
 * that collects placement i. */
enum cw_status cw_nvperf_passes(const struct cw_nvperf_scheduler *scheduler,
                                const struct cw_nvperf_placement *placements, size_t count, uint32_t *pass_of,
                                size_t *passes, struct cw_error *err);
/* Whether all placements fit one pass. Faster than counting passes (about 50 us). */
enum cw_status cw_nvperf_fits(struct cw_nvperf_scheduler *scheduler, const struct cw_nvperf_placement *placements,
                              size_t count, bool *fits, struct cw_error *err);

/* Makes the native config image with one pass for each element of `counts`: pass p takes the next counts[p] placements.
 * CW_ERR_UNSUPPORTED if the library would split a pass. */
enum cw_status cw_nvperf_config_image(const struct cw_nvperf_scheduler *scheduler,
                                      const struct cw_nvperf_placement *placements, const size_t *counts,
                                      size_t pass_count, struct cw_writer *image, struct cw_error *err);

#endif
