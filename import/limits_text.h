/* Writing the sections 'classes' and 'limits' of a chip file: lists that go on in a new line. */
#ifndef CW_IMPORT_LIMITS_TEXT_H
#define CW_IMPORT_LIMITS_TEXT_H

#include "base/bytes.h"

enum { CW_LIMITS_WIDTH = 118 };

struct cw_limits_text {
    struct cw_writer *out;
    uint32_t column; /* where the line is */
};

__attribute__((format(printf, 2, 3))) void cw_limits_put(struct cw_limits_text *t, const char *format, ...);
/* An item of a list, on a new line when the old one is full. */
void cw_limits_put_item(struct cw_limits_text *t, bool first, const char *text);

#endif
