/* Shared by the sub-commands of metric-query. */
#ifndef CW_CLI_QUERY_QUERY_H
#define CW_CLI_QUERY_QUERY_H

#include "base/text.h"
#include "cli/common/chip.h"
#include "lib/handles.h"
#include "metricdb/metric.h"

/* Fields common to counters, ratios and throughputs. */
struct cw_query_base {
    const char *dimension;
    uint32_t unit, confirmed;
    const struct cw_list *raws;
};
struct cw_query_base cw_query_base(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);

/* Finds the unit in a base name ("gcc" is of the unit gpc): `length` bytes of the name, or the chip's unit if the name
 * has none. */
const char *cw_query_unit_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, size_t *length);

/* Whether a unit has this name, in metrics or in the chip, whose units may group several. */
bool cw_query_has_unit(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, const char *unit);
/* CW_ERR_USAGE, with a list of units, if no metric has the unit. */
enum cw_status cw_query_check_unit(const struct cw_chip *chip, const char *unit, struct cw_error *err);

/* The order of --format text|csv|json. */
enum cw_query_format { CW_QUERY_TEXT, CW_QUERY_CSV, CW_QUERY_JSON };

/* Prints a CSV cell or a JSON string, and `end`, a trusted text, behind it. For lists too long for JSON trees. */
void cw_query_put(enum cw_text_kind kind, const char *text, const char *end);

/* Whether the terminal has room for a description that begins at the column. */
bool cw_query_has_room(unsigned column);

/* metric-query, and its sub-commands. */
int cw_query_main(int argc, char **argv);
int cw_query_chips(int argc, char **argv);
int cw_query_lint(int argc, char **argv);
int cw_query_list(int argc, char **argv);
int cw_query_describe(int argc, char **argv);
int cw_query_legacy(int argc, char **argv);
int cw_query_compile(int argc, char **argv);
int cw_query_units(int argc, char **argv);
int cw_query_compare(int argc, char **argv);
int cw_query_complete(int argc, char **argv);
int cw_query_sets(int argc, char **argv);

#endif
