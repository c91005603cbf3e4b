#include "json/json_tree.h"

#include <stdlib.h>

#include "base/text.h"

json_t *cw_json_whole(json_t *value, bool good)
{
    if (good)
        return value;
    json_decref(value);
    return NULL;
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
