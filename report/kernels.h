/* Kernels on the page: their metrics, the metrics and counters behind these, and facts about their launches. */
#ifndef CW_REPORT_KERNELS_H
#define CW_REPORT_KERNELS_H

#include <jansson.h>
#include <stdio.h>

#include "eval/sections.h"
#include "report/content.h"

/* data/report.yaml and data/sections.yaml: the parts of the page that show a kernel. */
struct cw_layout {
    json_t *tree; /* mappings, lists and texts of report.yaml, for the page's scripts; to be freed */
    size_t count;
    const char **metrics; /* all texts below keys "metrics" */
    struct cw_sections sections;
};

/* Reads the text of a report.yaml; `path` is for messages. Leaves `sections` empty. */
enum cw_status cw_layout_parse(struct cw_layout *layout, const void *text, size_t size, const char *path,
                               struct cw_arena *arena, struct cw_error *err);
/* Reads both files of a data folder (metricdb/data.h); the folder may lack them. */
enum cw_status cw_layout_load(struct cw_layout *layout, const char *data, struct cw_arena *arena, struct cw_error *err);

struct cw_report_kernels {
    const struct cw_report *report;
    const struct cw_layout *layout;
    struct cw_groups groups;    /* kernels on the page, longest first */
    struct cw_result result;    /* a row for each of them */
    const uint8_t *parts;       /* by metric: shown only as a part of other metrics */
    uint32_t column_count;      /* columns that the metrics read */
    const uint32_t *columns;    /* their indices in the schema */
    const uint32_t *column_of;  /* by counter of the chip: index into `columns`, or CW_NONE */
    double total, total_before; /* ns of all kernels, now and in the baseline; NaN if launches there have no time */
    uint64_t untimed;           /* launches without a time */
    uint32_t group_count, left; /* number of all kernels; launches of kernels that the page leaves out */
    const uint32_t *group_of;   /* by range: index into `groups`, or CW_NONE */
    struct cw_groups before;    /* kernels of the baseline; empty without one */
    struct cw_result was;       /* a row for each of them, with the same metrics */
};

/* Chooses the kernels and metrics of the page, and evaluates them. Everything lives in the report's arena. */
enum cw_status cw_report_kernels_make(struct cw_report_kernels *kernels, const struct cw_report *report,
                                      const struct cw_layout *layout, struct cw_error *err);
/* Prints members of an object: "metrics", "counters", "kernels" and their details. CW_ERR_NOMEM alone. */
enum cw_status cw_report_kernels_put(FILE *out, const struct cw_report_kernels *kernels, struct cw_error *err);
/* Prints members of an object. "unwanted": number of launches that nobody asked for. "told": the ways that launches
 * were counted, each with its number of launches. If launches lie in NVTX ranges, also "nvtx": kernels, launches and
 * time by path of ranges, and "nvtx_left": number of paths left out. CW_ERR_NOMEM alone. */
enum cw_status cw_report_launches_put(FILE *out, const struct cw_report_kernels *kernels, struct cw_error *err);

#endif
