#include <inttypes.h>

#include "base/text.h"
#include "eval/pm.h"

void cw_pm_csv_write(const struct cw_pm_result *r, FILE *out)
{
    fputs("sample,time_start,time_end,device,metric,unit,value,status\r\n", out);
    for (uint32_t b = 0; b < r->pm->block_count; b++) {
        const struct cw_pm_block *block = &r->pm->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            for (uint32_t m = 0; m < r->base.metric_count; m++) {
                size_t at = (size_t)m * r->pm->sample_count + i;
                char number[CW_NUMBER_SIZE];
                cw_text_print(out, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", i, r->pm->start_ns[i],
                              r->pm->end_ns[i], r->base.data->devices[block->device].index);
                cw_text_put(out, CW_TEXT_CELL, r->base.names[m]);
                putc(',', out);
                cw_text_put(out, CW_TEXT_CELL, r->base.units[m]);
                cw_text_print(out, ",%s,%s\r\n", cw_number_text(r->values[at], number),
                              cw_value_status_text((enum cw_value_status)r->statuses[at]));
            }
    }
}
