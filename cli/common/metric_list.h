/* Metrics of the command line: -m A,B,..., --metrics-file F and --set NAME, in the given order. */
#ifndef CW_CLI_COMMON_METRIC_LIST_H
#define CW_CLI_COMMON_METRIC_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/usage.h"
#include "cli/common/chip.h"
#include "include/counterworks/counterworks.h"

enum { CW_METRIC_SOURCES_MAX = 256 };

enum cw_metric_source { CW_METRIC_NAMES, CW_METRIC_FILE, CW_METRIC_SET };

/* The options in the order of the command line. */
struct cw_metric_sources {
    size_t count;
    struct {
        enum cw_metric_source kind;
        const char *text;
    } items[CW_METRIC_SOURCES_MAX];
};
extern const struct cw_option cw_metric_sources_options[];
/* Adds "A,B,..." to the sources, as -m does, for rows of other options. */
void cw_metric_sources_add(void *sources, char *names, struct argp_state *state);

/* Refuses an output that would replace a file of the chip or of the sources (cw_file_keep). */
enum cw_status cw_cli_keep_inputs(const char *output, const struct cw_cli_chip *chip,
                                  const struct cw_metric_sources *sources, struct cw_error *err);

/* Appends the names of the sources; the list and the names live in `arena`. */
enum cw_status cw_metric_list_gather(struct counterworks_names *list, const struct cw_metric_sources *sources,
                                     const struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err);
/* Appends metrics so that a plan of them records the inputs of all metrics. */
enum cw_status cw_metric_list_add_all(struct counterworks_names *list, const struct counterworks_chip *chip,
                                      struct cw_arena *arena, struct cw_error *err);
/* Appends the metrics that advice needs, by the shipped rules and by `rules`, a file or folder, or NULL. */
enum cw_status cw_metric_list_add_advice(struct counterworks_names *list, const struct counterworks_chip *chip,
                                         const char *rules, struct cw_arena *arena, struct cw_error *err);

#endif
