/* What the sub-commands of metric-query share. */
#ifndef CW_CLI_QUERY_QUERY_H
#define CW_CLI_QUERY_QUERY_H

#include "base/text.h"
#include "cli/common/chip.h"
#include "lib/handles.h"
#include "metricdb/metric.h"

/* What counters, ratios and throughputs alike have. */
struct cw_query_base {
    const char *dimension;
    uint32_t unit, confirmed;
    const struct cw_list *raws;
};
struct cw_query_base cw_query_base(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base);

/* The unit as a base name says it ("gcc" of the unit gpc): `length` bytes of the name, the chip's where the name says
 * none. */
const char *cw_query_unit_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, size_t *length);

/* A unit goes by its name in metrics and by the chip's, which may group several. */
bool cw_query_has_unit(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, const char *unit);
/* CW_ERR_USAGE, with the units that there are, where no metric has the unit. */
enum cw_status cw_query_check_unit(const struct cw_chip *chip, const char *unit, struct cw_error *err);

/* As --format text|csv|json counts them. */
enum cw_query_format { CW_QUERY_TEXT, CW_QUERY_CSV, CW_QUERY_JSON };

/* Prints a CSV cell or a JSON string (for lists too long to build as trees first), and `end`, which is ours, after it.
 */
void cw_query_put(enum cw_text_kind kind, const char *text, const char *end);

/* Whether a description that begins at the column has room there: one in a terminal may not. */
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
