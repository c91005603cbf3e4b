/* Limits of a pass as text: the sections 'classes', 'limits' and 'pm_limits' of a chip file. Reads them from a file,
 * loads and writes them. */
#ifndef CW_IMPORT_LIMIT_TABLES_H
#define CW_IMPORT_LIMIT_TABLES_H

#include "base/bytes.h"
#include "import/facts.h"
#include "metricdb/limits.h"

/* The table of one activity: YAML lines for `classes:`, and for `limits:` or `pm_limits:`, and the line of `source:`
 * with their origin. All are empty if nothing is known. */
struct cw_limit_table {
    struct cw_writer classes, limits;
    char source[1024];
};

void cw_limit_table_init(struct cw_limit_table *table);
void cw_limit_table_free(struct cw_limit_table *table);

/* Joins both sections into one document, in `text`, and loads its limits into the chip through the users' loader.
 * `what` is for messages; the limits and `names`, which may be NULL, live in `arena`. */
enum cw_status cw_limit_table_load(const struct cw_limit_table *table, const char *what, struct cw_chip *chip,
                                   struct cw_limit_names *names, struct cw_writer *text, struct cw_arena *arena,
                                   struct cw_error *err);

/* Takes the tables of range profiling and of PM sampling from the chip file at `path`, because learning them takes
 * minutes. Classes whose names begin with `pm_` belong to PM sampling. CW_ERR_DIFFERS if the raw counters or domains of
 * the file differ from `facts`. */
enum cw_status cw_limit_tables_read(const struct cw_facts *facts, const char *path, struct cw_limit_table *range,
                                    struct cw_limit_table *pm, struct cw_error *err);

/* Appends the known sections. */
void cw_limit_tables_write(const struct cw_limit_table *range, const struct cw_limit_table *pm, struct cw_writer *text);

/* ---- lists with line breaks ---- */

struct cw_limits_text {
    struct cw_writer *out;
    uint32_t column; /* current column of the line */
};

__attribute__((format(printf, 2, 3))) void cw_limits_put(struct cw_limits_text *t, const char *format, ...);
/* Puts an item of a list behind the bracket or another item, on a new line if the current one is full. */
void cw_limits_put_item(struct cw_limits_text *t, const char *text);
/* Puts the separator before the items of a group: the first group of a limit, or another one. */
void cw_limits_put_group(struct cw_limits_text *t, bool first);
/* Puts a class of placements of one domain. */
void cw_limits_put_class(struct cw_limits_text *t, const struct cw_chip *chip, const char *name,
                         const struct cw_list *placements);

#endif
