/* Comparing a result with values recorded elsewhere. */
#ifndef CW_EVAL_CHECK_H
#define CW_EVAL_CHECK_H

#include "eval/result.h"

/* Recorded values: {"metrics": [NAME, ...], "ranges": [[VALUE, ...], ...]}, one list a range with one value for each
 * metric, a number or one of "inf", "-inf", "nan". */
struct cw_reference {
    size_t metric_count, range_count;
    const char *const *metrics;
    const double *values; /* [range][metric] */
};

/* Reads the file; everything lives in `arena`. */
enum cw_status cw_reference_load(struct cw_reference *reference, const char *path, struct cw_arena *arena,
                                 struct cw_error *err);

/* Compares the result (of the reference's metrics, in its order, on all ranges) to 1e-12 relative, prints the first
 * differences and a summary. Infinity equals a value that has none for a zero denominator. What a range with CUDA
 * graphs lacks is left out, and zeros and infinities of frames and regions without a duration. CW_ERR_DIFFERS when a
 * value differs, CW_ERR_INPUT when the shapes do. */
enum cw_status cw_reference_compare(const struct cw_reference *reference, const struct cw_result *result, FILE *out,
                                    struct cw_error *err);

/* Equal to 1e-12 relative; infinities of one sign are equal, and so are NaNs. */
bool cw_reference_equal(double got, double wanted);

#endif
