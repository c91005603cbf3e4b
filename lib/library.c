#include <stdio.h>

#include "lib/handles.h"

const char *counterworks_error_text(const struct counterworks_error *error, char *text, size_t size)
{
    struct cw_error e = {.code = (enum cw_status)error->status,
                         .line = error->line,
                         .column = error->column,
                         .has_offset = error->has_offset,
                         .offset = error->offset};
    snprintf(e.source, sizeof e.source, "%s", error->source);
    snprintf(e.message, sizeof e.message, "%s", error->message);
    return size ? cw_error_format(&e, text, (unsigned)(size < 4096 ? size : 4096)) : text;
}

const char *counterworks_version(void)
{
    return CW_VERSION;
}
