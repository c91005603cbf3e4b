/* JSON trees of jansson that are whole or not there.
 *
 * Texts of its own making (json_dumps, json_dumpf) lose a part where memory does not do, and say nothing. */
#ifndef CW_JSON_TREE_H
#define CW_JSON_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "base/error.h"

/* A value to which all was added; frees it and returns NULL where memory did not do for something. */
json_t *cw_json_whole(json_t *value, bool good);

/* Prints and frees a value, with the flags of json_dumps, escaped as CW_TEXT_JSON. NULL is CW_ERR_NOMEM; write errors
 * stay in the stream (ferror). */
enum cw_status cw_json_print(json_t *value, size_t flags, FILE *out, struct cw_error *err);

/* The text of a value, which it frees; the caller frees *text. NULL is CW_ERR_NOMEM. */
enum cw_status cw_json_text(json_t *value, size_t flags, char **text, struct cw_error *err);

#endif
