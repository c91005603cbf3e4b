/* Takes the pass limits of an existing chip file over into a new one, for a chip whose raw counters and domains are
 * unchanged: learning takes minutes, taking over does not. */
#ifndef CW_IMPORT_CARRY_H
#define CW_IMPORT_CARRY_H

#include "base/bytes.h"
#include "import/facts.h"

/* What a pass can hold in one activity: lines of YAML that belong under `classes:`, and under `limits:` or
 * `pm_limits:`, and the line of `source:` that says where they come from. All are empty where nothing is known. */
struct cw_limit_table {
    struct cw_writer classes, limits;
    char source[1024];
};

void cw_limit_table_init(struct cw_limit_table *table);
void cw_limit_table_free(struct cw_limit_table *table);

/* Takes the tables of range profiling and of PM sampling from the file at `path`. Classes whose names begin with `pm_`
 * are those of PM sampling. CW_ERR_DIFFERS when the file is about other raw counters or domains than `facts`. */
enum cw_status cw_carry_limits(const struct cw_facts *facts, const char *path, struct cw_limit_table *range,
                               struct cw_limit_table *pm, struct cw_error *err);

/* Appends the sections 'classes', 'limits' and 'pm_limits', as far as they are known. */
void cw_limit_tables_write(const struct cw_limit_table *range, const struct cw_limit_table *pm, struct cw_writer *text);

#endif
