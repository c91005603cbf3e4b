#include "import/limits_text.h"

#include <stdarg.h>
#include <string.h>

void cw_limits_put(struct cw_limits_text *t, const char *format, ...)
{
    size_t start = t->out->size;
    va_list args;
    va_start(args, format);
    cw_write_vformat(t->out, format, args);
    va_end(args);
    for (; start < t->out->size; start++)
        t->column = t->out->data[start] == '\n' ? 0 : t->column + 1;
}

void cw_limits_put_item(struct cw_limits_text *t, bool first, const char *text)
{
    if (!first)
        cw_limits_put(t, t->column + strlen(text) + 2 > CW_LIMITS_WIDTH ? ",\n      " : ", ");
    cw_limits_put(t, "%s", text);
}
