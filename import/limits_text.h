/* The sections 'classes' and 'limits' of a chip file as text: lists that go on in a new line, and loading what was
 * written. */
#ifndef CW_IMPORT_LIMITS_TEXT_H
#define CW_IMPORT_LIMITS_TEXT_H

#include "base/bytes.h"
#include "metricdb/chip.h"
#include "metricdb/yaml.h"

enum { CW_LIMITS_WIDTH = 118 };

struct cw_limits_text {
    struct cw_writer *out;
    uint32_t column; /* where the line is */
};

__attribute__((format(printf, 2, 3))) void cw_limits_put(struct cw_limits_text *t, const char *format, ...);
/* An item of a list, on a new line when the old one is full. */
void cw_limits_put_item(struct cw_limits_text *t, bool first, const char *text);

/* Makes the lines of both sections one document, in `text`, and its limits those of the chip: through the loader that
 * users have. `name` is for messages; `root` and the limits live in `arena`. */
enum cw_status cw_limits_text_load(struct cw_chip *chip, const char *name, const struct cw_writer *classes,
                                   const struct cw_writer *limits, struct cw_writer *text, struct cw_yaml **root,
                                   struct cw_arena *arena, struct cw_error *err);

#endif
