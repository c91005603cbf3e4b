/* Writes a large capture out of a small one: repeat_ranges IN.cwd RANGES KERNELS OUT.cwd
 *
 * Its ranges are those of IN.cwd again and again, as launches of so many kernels, with durations and counters that
 * differ a little. Instances are left out. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "image/chunk.h"
#include "image/counter_data.h"

enum { RANGES_AT_ONCE = 1000 };

static void write_range(const struct cw_counter_data *data, struct cw_value *values, uint32_t number, uint32_t kernels,
                        struct cw_writer *out)
{
    const uint32_t from = number % data->range_count, columns = cw_schema_columns(&data->schema);
    const double more = 1 + number % 7 / 100.0;
    char name[64], kernel[64];
    struct cw_range range = data->ranges[from];
    snprintf(name, sizeof name, "void ns::kernel_%u<float, 4>(float const*, float*)", number * 7919U % kernels);
    snprintf(kernel, sizeof kernel, "_Zkernel_%u", number * 7919U % kernels);
    range.name = name;
    range.kernel = kernel;
    range.device = data->devices[range.device].index;
    for (uint32_t c = 0; c < columns; c++) {
        const size_t at = (size_t)c * data->range_count + from;
        values[c] =
            (struct cw_value){.form = data->forms[at] > CW_FORM_UNAVAILABLE ? CW_FORM_ROLLUPS : data->forms[at]};
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            values[c].rollup[r] = data->rollups[r][at] * more;
    }
    cw_counter_data_write_range(&data->schema, &range, values, out);
}

static bool flush(struct cw_writer *out, FILE *file)
{
    const bool good = out->status == CW_OK && fwrite(out->data, 1, out->size, file) == out->size;
    cw_writer_free(out);
    cw_writer_init(out);
    return good;
}

static bool write_all(const struct cw_counter_data *data, uint32_t ranges, uint32_t kernels, FILE *file)
{
    struct cw_value *values = calloc(cw_schema_columns(&data->schema), sizeof *values);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_chunk_write_header(&out, &cw_counter_data_kind);
    cw_schema_write(&data->schema, &out);
    for (uint32_t i = 0; i < data->device_count; i++)
        cw_counter_data_write_device(&data->schema, &data->devices[i], &out);
    bool good = values != NULL;
    for (uint32_t i = 0; good && i < ranges; i++) {
        write_range(data, values, i, kernels, &out);
        good = (i + 1) % RANGES_AT_ONCE || flush(&out, file);
    }
    cw_counter_data_write_end(ranges, 0, CW_END_EXITED, 0, &out);
    good = good && flush(&out, file);
    cw_writer_free(&out);
    free(values);
    return good;
}

int main(int argc, char **argv)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_bytes in;
    const uint32_t ranges = argc == 5 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    const uint32_t kernels = argc == 5 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    if (!ranges || !kernels || cw_file_read(&in, argv[1], 1 << 28, NULL) != CW_OK ||
        cw_counter_data_read(&data, in.data, in.size, argv[1], arena, NULL) != CW_OK || !data.range_count) {
        fputs("usage: repeat_ranges IN.cwd RANGES KERNELS OUT.cwd\n", stderr);
        return 2;
    }
    FILE *file = fopen(argv[4], "w");
    const bool good = file && write_all(&data, ranges, kernels, file);
    const bool closed = file && fclose(file) == 0;
    cw_bytes_free(&in);
    cw_arena_destroy(arena);
    return good && closed ? 0 : 5;
}
