/* JSON trees that are whole or not there. */
#ifndef CW_CLI_JSON_TREE_H
#define CW_CLI_JSON_TREE_H

#include <stdbool.h>

#include <jansson.h>

#include "host/base/error.h"

/* A value to which all was added; frees it and returns NULL where memory did not do for something. */
json_t *cw_json_whole(json_t *value, bool good);

/* Prints and frees a value, with the flags of json_dumps. NULL is CW_ERR_NOMEM; write errors stay in stdout. */
enum cw_status cw_json_print(json_t *value, size_t flags, struct cw_error *err);

#endif
