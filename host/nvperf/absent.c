/* The bridge in a build without NVIDIA's headers. cw_nvperf_open fails with a message. The other functions that such a
 * build calls exist only so that everything links: without an open library nothing reaches them. */
#include "host/nvperf/nvperf.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static enum cw_status absent(struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_UNSUPPORTED,
                        "this build has no bridge to NVIDIA's host library: CUDA headers were not found when it was "
                        "built");
}

#define ABSENT(declaration) enum cw_status declaration { return absent(err); }

enum cw_status cw_nvperf_open(const struct cw_nvperf **library, const char *path, struct cw_error *err)
{
    *library = NULL;
    return absent(err);
}

ABSENT(cw_nvperf_chips(const struct cw_nvperf *library, const char *const **names, size_t *count, struct cw_error *err))
ABSENT(cw_nvperf_evaluator_create(struct cw_nvperf_evaluator **evaluator, const struct cw_nvperf *library,
                                  const char *chip, enum cw_nvperf_activity activity, const void *image,
                                  size_t image_size, struct cw_error *err))

void cw_nvperf_evaluator_destroy(struct cw_nvperf_evaluator *evaluator)
{
}

size_t cw_nvperf_metric_count(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type)
{
    return 0;
}

const char *cw_nvperf_metric_name(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type, size_t index)
{
    return "";
}

size_t cw_nvperf_submetrics(const struct cw_nvperf_evaluator *evaluator, enum cw_nvperf_type type,
                            const char *suffixes[CW_NVPERF_SUBMETRICS])
{
    return 0;
}

ABSENT(cw_nvperf_range_count(const struct cw_nvperf_evaluator *evaluator, size_t *count, struct cw_error *err))
ABSENT(cw_nvperf_requests_create(struct cw_nvperf_requests **requests, const struct cw_nvperf_evaluator *evaluator,
                                 const char *const *metrics, size_t count, struct cw_error *err))

void cw_nvperf_requests_destroy(struct cw_nvperf_requests *requests)
{
}

ABSENT(cw_nvperf_set_durations(struct cw_nvperf_evaluator *evaluator, double frame_ns, double region_ns,
                               struct cw_error *err))
ABSENT(cw_nvperf_evaluate(struct cw_nvperf_evaluator *evaluator, const struct cw_nvperf_requests *requests,
                          size_t range, double *values, struct cw_error *err))
ABSENT(cw_nvperf_scheduler_create(struct cw_nvperf_scheduler **scheduler, const struct cw_nvperf *library,
                                  const char *chip, enum cw_nvperf_activity activity, struct cw_error *err))

void cw_nvperf_scheduler_destroy(struct cw_nvperf_scheduler *scheduler)
{
}

ABSENT(cw_nvperf_pass_count(const struct cw_nvperf_scheduler *scheduler, const struct cw_nvperf_placement *placements,
                            size_t count, bool merge, size_t *passes, struct cw_error *err))
ABSENT(cw_nvperf_fits(struct cw_nvperf_scheduler *scheduler, const struct cw_nvperf_placement *placements, size_t count,
                      bool *fits, struct cw_error *err))
ABSENT(cw_nvperf_config_image(const struct cw_nvperf_scheduler *scheduler, const struct cw_nvperf_placement *placements,
                              const size_t *counts, size_t pass_count, struct cw_writer *image, struct cw_error *err))
