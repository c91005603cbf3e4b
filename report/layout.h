/* What the page shows of a kernel: data/report.yaml (and data/sections.yaml), which the page's scripts read as JSON. */
#ifndef CW_REPORT_LAYOUT_H
#define CW_REPORT_LAYOUT_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "eval/sections.h"

struct cw_layout {
    json_t *tree; /* the mappings, lists and texts of the file; to be freed */
    size_t count; /* of metrics: all texts below a key "metrics" */
    const char **metrics;
    struct cw_sections sections;
};

/* Reads the text of data/report.yaml; what else it has of `layout` is empty. `path` is for messages. */
enum cw_status cw_layout_parse(struct cw_layout *layout, const void *text, size_t size, const char *path,
                               struct cw_arena *arena, struct cw_error *err);
/* Reads both files of a data folder (metricdb/data.h), which may lack them. */
enum cw_status cw_layout_load(struct cw_layout *layout, const char *data, struct cw_arena *arena, struct cw_error *err);

#endif
