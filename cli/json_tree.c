#include "cli/json_tree.h"

#include <stdio.h>

#include "host/base/text.h"

json_t *cw_json_whole(json_t *value, bool good)
{
    if (good)
        return value;
    json_decref(value);
    return NULL;
}

enum cw_status cw_json_print(json_t *value, size_t flags, struct cw_error *err)
{
    int failed = value ? json_dump_callback(value, cw_text_put_json, stdout, flags) : -1;
    json_decref(value);
    return failed && !ferror(stdout) ? cw_error_nomem(err) : CW_OK;
}
