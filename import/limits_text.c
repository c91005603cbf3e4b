#include "import/limits_text.h"

#include <stdarg.h>
#include <string.h>

#include "metricdb/limits.h"

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

enum cw_status cw_limits_text_load(struct cw_chip *chip, const char *name, const struct cw_writer *classes,
                                   const struct cw_writer *limits, struct cw_writer *text, struct cw_yaml **root,
                                   struct cw_arena *arena, struct cw_error *err)
{
    cw_write_format(text, "classes:\n");
    cw_write_bytes(text, classes->data, classes->size);
    cw_write_format(text, "limits:\n");
    cw_write_bytes(text, limits->data, limits->size);
    bool whole = text->status == CW_OK && classes->status == CW_OK && limits->status == CW_OK;
    struct cw_yaml_reader in = {name, arena, err, .size = text->size};
    in.status = whole ? cw_yaml_parse(root, text->data, text->size, name, arena, err) : cw_error_nomem(err);
    if (in.status == CW_OK)
        cw_limits_load(chip, &in, cw_yaml_get(&in, *root, "classes", true), cw_yaml_get(&in, *root, "limits", true),
                       NULL);
    return in.status;
}
