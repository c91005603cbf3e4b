/* JSON as diff and gate print it, piece by piece. */
#ifndef CW_EVAL_OUTPUT_JSON_PUT_H
#define CW_EVAL_OUTPUT_JSON_PUT_H

#include <stdio.h>

#include "image/counter_data.h"

/* Each prints `before`, which is ours, and then the value. A number reads back as the same; what is none is null. */
void cw_json_put_number(FILE *out, const char *before, double value);
void cw_json_put_text(FILE *out, const char *before, const char *text);
/* Members "grid" and "block". */
void cw_json_put_shape(FILE *out, const struct cw_range *range);

#endif
