/* Kernels, their metrics, and what these are computed from. */
#ifndef CW_REPORT_KERNELS_H
#define CW_REPORT_KERNELS_H

#include <stdio.h>

#include "report/content.h"
#include "report/layout.h"

struct cw_report_kernels {
    const struct cw_report *report;
    const struct cw_layout *layout;
    struct cw_groups groups;    /* those that the page shows, longest first */
    struct cw_result result;    /* a row for each */
    const uint8_t *parts;       /* for each metric: nobody asks for it, it is what others are computed from */
    uint32_t column_count;      /* columns that the metrics read */
    const uint32_t *columns;    /* of the schema */
    const uint32_t *column_of;  /* for each counter of the chip: index into `columns`, or CW_NONE */
    double total, total_before; /* ns, of all kernels, and of those of the baseline */
    uint32_t group_count, left; /* kernels in all; launches of those that are not shown */
    const uint32_t *group_of;   /* for each range: which of `groups`, or CW_NONE */
    struct cw_groups before;    /* of the baseline; no groups without one */
    struct cw_result was;       /* the same metrics of these */
};

/* Chooses the kernels and metrics that the page shows, and evaluates them. All lives in the report's arena. */
enum cw_status cw_report_kernels_make(struct cw_report_kernels *kernels, const struct cw_report *report,
                                      const struct cw_layout *layout, struct cw_error *err);
/* Members of an object: "metrics", "counters", "kernels" and what belongs to them. CW_ERR_NOMEM alone. */
enum cw_status cw_report_kernels_put(FILE *out, const struct cw_report_kernels *kernels, struct cw_error *err);

#endif
