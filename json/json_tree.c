#include "json/json_tree.h"

#include <stdlib.h>

#include "base/text.h"

static void drop(json_t **value)
{
    json_decref(*value);
    *value = NULL;
}

void cw_json_append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0)
        drop(list);
}

void cw_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0)
        drop(object);
}

enum cw_status cw_json_print(json_t *value, size_t flags, FILE *out, struct cw_error *err)
{
    int failed = value ? json_dump_callback(value, cw_text_put_json, out, flags) : -1;
    json_decref(value);
    return failed && !ferror(out) ? cw_error_nomem(err) : CW_OK;
}

enum cw_status cw_json_text(json_t *value, size_t flags, char **text, struct cw_error *err)
{
    size_t size = value ? json_dumpb(value, NULL, 0, flags) : 0;
    *text = size ? malloc(size + 1) : NULL;
    bool good = *text && json_dumpb(value, *text, size, flags) == size;
    json_decref(value);
    if (good) {
        (*text)[size] = 0;
        return CW_OK;
    }
    free(*text);
    *text = NULL;
    return cw_error_nomem(err);
}
