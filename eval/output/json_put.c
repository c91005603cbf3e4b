#include "eval/output/json_put.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "eval/result.h"

void cw_json_put_number(FILE *out, const char *before, double value)
{
    char text[CW_NUMBER_SIZE];
    cw_text_print(out, "%s%s", before, isfinite(value) ? cw_number_text(value, text) : "null");
}

void cw_json_put_text(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    cw_text_put(out, CW_TEXT_JSON, text);
}

void cw_json_put_shape(FILE *out, const struct cw_range *r)
{
    cw_text_print(
        out, "\"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
        r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2]);
}
