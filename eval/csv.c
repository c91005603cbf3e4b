#include "eval/csv.h"

#include <inttypes.h>

#include "base/text.h"

void cw_csv_write(const struct cw_result *r, FILE *out)
{
    fputs("range,name,kernel,metric,unit,value,status\r\n", out);
    for (uint32_t i = 0; i < r->range_count; i++) {
        const struct cw_range *range = cw_result_range(r, i);
        for (uint32_t m = 0; m < r->metric_count; m++) {
            size_t at = (size_t)m * r->range_count + i;
            char number[CW_NUMBER_SIZE];
            cw_text_print(out, "%" PRIu32 ",", r->ranges[i]);
            cw_text_put(out, CW_TEXT_CELL, range->name);
            putc(',', out);
            cw_text_put(out, CW_TEXT_CELL, range->kernel);
            putc(',', out);
            cw_text_put(out, CW_TEXT_CELL, r->names[m]);
            putc(',', out);
            cw_text_put(out, CW_TEXT_CELL, r->units[m]);
            cw_text_print(out, ",%s,%s\r\n", cw_number_text(r->values[at], number),
                          cw_value_status_text((enum cw_value_status)r->statuses[at]));
        }
    }
}
