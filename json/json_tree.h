/* Builds and prints jansson trees that are either complete or NULL.
 *
 * Needed because json_dumps and json_dumpf silently lose a part of the text when they run out of memory. */
#ifndef CW_JSON_TREE_H
#define CW_JSON_TREE_H

#include <stdio.h>

#include <jansson.h>

#include "base/error.h"

/* Add a value to a list or an object and take the value over. When out of memory for either, they free the list or
 * object and set it to NULL; further calls on NULL are allowed. */
void cw_json_append(json_t **list, json_t *value);
void cw_json_set(json_t **object, const char *key, json_t *value);

/* Prints and frees a value, with the flags of json_dumps, escaped as CW_TEXT_JSON. CW_ERR_NOMEM if the value is NULL;
 * write errors stay in the stream (ferror). */
enum cw_status cw_json_print(json_t *value, size_t flags, FILE *out, struct cw_error *err);

/* Makes the text of a value and frees the value; the caller frees *text. CW_ERR_NOMEM if the value is NULL. */
enum cw_status cw_json_text(json_t *value, size_t flags, char **text, struct cw_error *err);

#endif
