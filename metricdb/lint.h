/* Checks a loaded chip file by rules beyond the loader's (data/schema.md lists them).
 *
 * An error is a mistake in the file. A warning is something to know about, which may be a fact of the hardware. */
#ifndef CW_METRICDB_LINT_H
#define CW_METRICDB_LINT_H

#include <stddef.h>

#include "metricdb/chip.h"
#include "metricdb/glossary.h"

enum cw_lint_level { CW_LINT_WARNING, CW_LINT_ERROR };

struct cw_finding {
    enum cw_lint_level level;
    const char *rule; /* "ratio-raw": stable, for filters */
    const char *source;
    unsigned line, column;
    const char *message;
};

/* Called for each finding, whose data lives until the call returns. */
typedef void (*cw_lint_report)(void *context, const struct cw_finding *finding);

/* Checks the text of a chip file. With a NULL glossary it skips the rule about words. Fails, with `err`, if the file
 * does not load; findings are no failure. */
enum cw_status cw_lint_chip(const void *data, size_t size, const char *path, const struct cw_glossary *glossary,
                            cw_lint_report report, void *context, struct cw_error *err);
/* Checks that a set file loads and that the chip has its metrics. */
enum cw_status cw_lint_set(const void *data, size_t size, const char *path, const struct cw_chip *chip,
                           cw_lint_report report, void *context, struct cw_error *err);
/* Checks a chip file by path, with the glossary of the data folder, and every set and all rules of the data folder
 * against it. */
enum cw_status cw_lint_file(const char *path, cw_lint_report report, void *context, struct cw_error *err);

#endif
