#define _GNU_SOURCE
#include "eval/output/once.h"

#include <stdlib.h>

bool cw_output_once_make(struct cw_output_once *once, const struct cw_output_table *metrics,
                         void (*put)(FILE *out, const void *record, const void *context), const void *context)
{
    size_t size;
    *once = (struct cw_output_once){.ends = calloc(metrics->row_count + 1, sizeof *once->ends)};
    FILE *stream = once->ends ? open_memstream(&once->text, &size) : NULL;
    bool good = stream;
    for (size_t m = 0; good && m < metrics->row_count; m++) {
        put(stream, metrics->row(metrics, m).record, context);
        good = fflush(stream) == 0 && !ferror(stream);
        once->ends[m] = size;
    }
    return stream && fclose(stream) == 0 && good;
}

void cw_output_once_put(const struct cw_output_once *once, size_t metric, FILE *out)
{
    const size_t start = metric ? once->ends[metric - 1] : 0;
    fwrite_unlocked(once->text + start, 1, once->ends[metric] - start, out);
}

void cw_output_once_free(struct cw_output_once *once)
{
    free(once->text);
    free(once->ends);
}

void cw_output_put_f64(double value, FILE *out)
{
    char text[CW_DECIMAL_SIZE];
    const size_t size = cw_decimal_text(value, text);
    fwrite_unlocked(text, 1, size, out);
}

void cw_output_put_u64(uint64_t value, FILE *out)
{
    char text[CW_DECIMAL_SIZE];
    const size_t size = cw_decimal_u64(value, text);
    fwrite_unlocked(text, 1, size, out);
}

void cw_output_put_i64(int64_t value, FILE *out)
{
    if (value < 0)
        putc_unlocked('-', out);
    cw_output_put_u64(value < 0 ? -(uint64_t)value : (uint64_t)value, out);
}
