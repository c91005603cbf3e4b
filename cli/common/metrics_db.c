#include "cli/common/metrics_db.h"

#include "base/usage.h"
#include "metricdb/formula_load.h"

enum { KEY_METRICS_DB = 768 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cw_metrics_db *files = state->input;
    if (key != KEY_METRICS_DB)
        return ARGP_ERR_UNKNOWN;
    if (files->count == CW_METRICS_DB_FILES)
        cw_usage_error(state, "found more than %d files of metrics", CW_METRICS_DB_FILES);
    files->paths[files->count++] = arg;
    return 0;
}

static const struct argp_option options[] = {
    {"metrics-db", KEY_METRICS_DB, "FILE", 0, "your own metrics by formula, from a YAML file; may be repeated", 0},
    {0},
};

const struct argp cw_metrics_db_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

enum cw_status cw_metrics_db_load(const struct cw_chip **chip, const struct cw_metrics_db *files,
                                  struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < files->count; i++)
        status = cw_formulas_load(chip, files->paths[i], arena, err);
    return status;
}
