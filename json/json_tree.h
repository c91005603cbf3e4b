/* JSON trees of jansson that are whole or not there.
 *
 * Texts of its own making (json_dumps, json_dumpf) lose a part where memory does not do, and say nothing. */
#ifndef CW_JSON_TREE_H
#define CW_JSON_TREE_H

#include <stdio.h>

#include <jansson.h>

#include "base/error.h"

/* Add a value, which they take over, to a list or an object. Where memory did not do for one of the two, what was added
 * to is freed and becomes NULL, to which anything may still be added. */
void cw_json_append(json_t **list, json_t *value);
void cw_json_set(json_t **object, const char *key, json_t *value);

/* Prints and frees a value, with the flags of json_dumps, escaped as CW_TEXT_JSON. NULL is CW_ERR_NOMEM; write errors
 * stay in the stream (ferror). */
enum cw_status cw_json_print(json_t *value, size_t flags, FILE *out, struct cw_error *err);

/* The text of a value, which it frees; the caller frees *text. NULL is CW_ERR_NOMEM. */
enum cw_status cw_json_text(json_t *value, size_t flags, char **text, struct cw_error *err);

#endif
