/* --metrics-db FILE: users' own metrics beside the chip's, for any command that takes metric names. */
#ifndef CW_CLI_COMMON_METRICS_DB_H
#define CW_CLI_COMMON_METRICS_DB_H

#include <argp.h>

#include "metricdb/chip.h"

enum { CW_METRICS_DB_FILES = 64 };

/* The input of the argp child. */
struct cw_metrics_db {
    size_t count;
    const char *paths[CW_METRICS_DB_FILES];
};
extern const struct argp cw_metrics_db_argp;

/* Adds the formulas of the files, in the order given; each may refer to those before it. */
enum cw_status cw_metrics_db_load(const struct cw_chip **chip, const struct cw_metrics_db *files,
                                  struct cw_arena *arena, struct cw_error *err);

#endif
