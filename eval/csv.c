#include "eval/csv.h"

#include <inttypes.h>
#include <string.h>

void cw_csv_field(const char *text, FILE *out)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

void cw_csv_write(const struct cw_result *r, FILE *out)
{
    fputs("range,name,kernel,metric,unit,value,status\r\n", out);
    for (uint32_t i = 0; i < r->range_count; i++) {
        const struct cw_range *range = cw_result_range(r, i);
        for (uint32_t m = 0; m < r->metric_count; m++) {
            size_t at = (size_t)m * r->range_count + i;
            char number[CW_NUMBER_SIZE];
            fprintf(out, "%" PRIu32 ",", r->ranges[i]);
            cw_csv_field(range->name, out);
            putc(',', out);
            cw_csv_field(range->kernel, out);
            putc(',', out);
            cw_csv_field(r->names[m], out);
            putc(',', out);
            cw_csv_field(r->units[m], out);
            fprintf(out, ",%s,%s\r\n", cw_number_text(r->values[at], number),
                    cw_value_status_text((enum cw_value_status)r->statuses[at]));
        }
    }
}
