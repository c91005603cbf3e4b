/* What a pass can hold, as the text of the sections 'classes', 'limits' and 'pm_limits' of a chip file: taken over from
 * a file, loaded and written. */
#ifndef CW_IMPORT_LIMIT_TABLES_H
#define CW_IMPORT_LIMIT_TABLES_H

#include "base/bytes.h"
#include "import/facts.h"
#include "metricdb/limits.h"

/* One activity's: lines of YAML that belong under `classes:`, and under `limits:` or `pm_limits:`, and the line of
 * `source:` that says where they come from. All are empty where nothing is known. */
struct cw_limit_table {
    struct cw_writer classes, limits;
    char source[1024];
};

void cw_limit_table_init(struct cw_limit_table *table);
void cw_limit_table_free(struct cw_limit_table *table);

/* Makes both sections one document, in `text`, and its limits those of the chip, through the loader that users have.
 * `what` is for messages; the limits and `names`, which may be NULL, live in `arena`. */
enum cw_status cw_limit_table_load(const struct cw_limit_table *table, const char *what, struct cw_chip *chip,
                                   struct cw_limit_names *names, struct cw_writer *text, struct cw_arena *arena,
                                   struct cw_error *err);

/* Takes the tables of range profiling and of PM sampling from the chip file at `path`: learning takes minutes, taking
 * over does not. Classes whose names begin with `pm_` are those of PM sampling. CW_ERR_DIFFERS when the file is about
 * other raw counters or domains than `facts`. */
enum cw_status cw_limit_tables_read(const struct cw_facts *facts, const char *path, struct cw_limit_table *range,
                                    struct cw_limit_table *pm, struct cw_error *err);

/* Appends the sections, as far as they are known. */
void cw_limit_tables_write(const struct cw_limit_table *range, const struct cw_limit_table *pm, struct cw_writer *text);

/* ---- lists that go on in a new line ---- */

enum { CW_LIMITS_WIDTH = 118 };

struct cw_limits_text {
    struct cw_writer *out;
    uint32_t column; /* where the line is */
};

__attribute__((format(printf, 2, 3))) void cw_limits_put(struct cw_limits_text *t, const char *format, ...);
/* An item of a list, behind its bracket or another item; on a new line when the old one is full. */
void cw_limits_put_item(struct cw_limits_text *t, const char *text);
/* What stands before the items of a group: the first of a limit, or another one. */
void cw_limits_put_group(struct cw_limits_text *t, bool first);
/* A class of placements of one domain. */
void cw_limits_put_class(struct cw_limits_text *t, const struct cw_chip *chip, const char *name,
                         const struct cw_list *placements);

#endif
