#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* Records the first error only; `at` is the error without its texts. */
static void set(struct cw_error *err, struct cw_error at, const char *source, const char *format, va_list args)
{
    if (!err || err->code != CW_OK)
        return;
    *err = at;
    cw_text_format(err->source, sizeof err->source, "%s", source);
    cw_text_vformat(err->message, sizeof err->message, format, args);
}

enum cw_status cw_error_set(struct cw_error *err, enum cw_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, (struct cw_error){.code = code}, "", format, args);
    va_end(args);
    return code;
}

enum cw_status cw_error_at(struct cw_error *err, enum cw_status code, const char *source, unsigned line,
                           unsigned column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, (struct cw_error){.code = code, .line = line, .column = column}, source, format, args);
    va_end(args);
    return code;
}

enum cw_status cw_error_offset(struct cw_error *err, enum cw_status code, const char *source, uint64_t offset,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, (struct cw_error){.code = code, .has_offset = true, .offset = offset}, source, format, args);
    va_end(args);
    return code;
}

void cw_error_add(struct cw_error *err, const char *format, ...)
{
    const size_t used = strlen(err->message);
    va_list args;
    va_start(args, format);
    cw_text_vformat(err->message + used, sizeof err->message - used, format, args);
    va_end(args);
}

enum cw_status cw_error_nomem(struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_NOMEM, "out of memory");
}

const char *cw_error_format(const struct cw_error *err, char *buffer, unsigned size)
{
    if (err->line)
        cw_text_format(buffer, size, "%s:%u:%u: %s", err->source, err->line, err->column, err->message);
    else if (err->has_offset)
        cw_text_format(buffer, size, "%s: offset %" PRIu64 ": %s", err->source, err->offset, err->message);
    else if (err->source[0])
        cw_text_format(buffer, size, "%s: %s", err->source, err->message);
    else
        cw_text_format(buffer, size, "%s", err->message);
    return buffer;
}
