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

/* Compares the result (of the reference's metrics, in its order, on all ranges) to 1e-12 relative, and prints the first
 * differences and a summary. Infinity equals a missing value with a zero denominator. Leaves out values that a range
 * with CUDA graphs lacks, and zeros and infinities of frames and regions without a duration. CW_ERR_DIFFERS if a value
 * differs, CW_ERR_INPUT if the shapes do. */
enum cw_status cw_reference_compare(const struct cw_reference *reference, const struct cw_result *result, FILE *out,
                                    struct cw_error *err);

/* Equal to 1e-12 relative; infinities of one sign are equal, and so are NaNs. */
bool cw_reference_equal(double got, double wanted);

#endif
