/* The metrics a person asks for: -m A,B,..., --metrics-file F and --set NAME, in the order given. */
#ifndef CW_CLI_METRIC_LIST_H
#define CW_CLI_METRIC_LIST_H

#include "host/base/arena.h"
#include "metricdb/chip.h"

struct cw_metric_list {
    size_t count, capacity;
    const char **names; /* malloc memory; release with cw_metric_list_free */
};

/* Each appends. Names live in `arena`. */
enum cw_status cw_metric_list_names(struct cw_metric_list *list, const char *comma_separated, struct cw_arena *arena,
                                    struct cw_error *err);
/* One name a line; blank lines and what follows a # do not count. */
enum cw_status cw_metric_list_file(struct cw_metric_list *list, const char *path, struct cw_arena *arena,
                                   struct cw_error *err);
enum cw_status cw_metric_list_set(struct cw_metric_list *list, const char *set, const struct cw_chip *chip,
                                  struct cw_arena *arena, struct cw_error *err);
void cw_metric_list_free(struct cw_metric_list *list);

#endif
