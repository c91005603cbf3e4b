/* Writes a long capture of samples over time out of a short one: repeat_samples IN.cwd SAMPLES OUT.cwd
 *
 * Its samples are those of IN.cwd again and again, 2 us each, with counters that differ a little. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "image/pm_view.h"

static uint32_t state = 1;

/* About 1. */
static double near_one(void)
{
    state = state * 1664525 + 1013904223;
    return 0.97 + 0.06 * (state >> 8) / (1 << 24);
}

static void write_samples(const struct cw_counter_data *d, uint32_t count, struct cw_writer *out,
                          struct cw_arena *arena, struct cw_error *err)
{
    enum { AT_ONCE = 4096 };
    struct cw_pm_view view;
    uint64_t *start = calloc(AT_ONCE, sizeof *start), *end = calloc(AT_ONCE, sizeof *end), now = 1700000000000000000;
    if (!start || !end || cw_pm_view_init(&view, d, arena, err) != CW_OK)
        abort();
    for (uint32_t done = 0; done < count;) {
        const uint32_t b = done / AT_ONCE % d->pm.block_count;
        uint32_t some = cw_pm_view_load(&view, d, b, d->pm.blocks[b].first);
        struct cw_block block = {
            .device = d->devices[d->pm.blocks[b].device].index, .start = start, .end = end, .forms = view.columns};
        some = some < count - done ? some : count - done;
        some = some < AT_ONCE ? some : AT_ONCE;
        for (uint32_t i = 0; i < some; i++, now += 2000) {
            start[i] = now;
            end[i] = now + 2000;
        }
        block.count = some;
        for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
            const uint32_t room = view.data.range_count;
            double *packed = calloc((size_t)d->schema.counter_count * some, sizeof *packed);
            if (!packed)
                abort();
            for (uint32_t c = 0; c < d->schema.counter_count; c++)
                for (uint32_t i = 0; i < some; i++)
                    packed[(size_t)c * some + i] = floor(view.data.rollups[r][(size_t)c * room + i] * near_one());
            block.rollups[r] = packed;
        }
        cw_pm_write_block(&d->schema, &block, out);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            free((void *)block.rollups[r]);
        done += some;
    }
    free(start);
    free(end);
}

int main(int argc, char **argv)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_arena *arena = cw_arena_create();
    struct cw_bytes file = {0};
    struct cw_counter_data d;
    struct cw_writer out;
    if (argc != 4 || !arena)
        return 2;
    enum cw_status status = cw_file_read(&file, argv[1], (size_t)1 << 30, &err);
    if (status == CW_OK)
        status = cw_counter_data_read(&d, file.data, file.size, argv[1], arena, &err);
    if (status == CW_OK && !d.pm.sample_count)
        status = cw_error_set(&err, CW_ERR_INPUT, "%s: found no samples", argv[1]);
    cw_writer_init(&out);
    if (status == CW_OK) {
        cw_schema_write_header(&d.schema, &out);
        cw_schema_write(&d.schema, &out);
        for (uint32_t i = 0; i < d.device_count; i++)
            cw_counter_data_write_device(&d.schema, &d.devices[i], &out);
        write_samples(&d, (uint32_t)strtoul(argv[2], NULL, 10), &out, arena, &err);
        cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &out);
        status = cw_file_write(argv[3], out.data, out.size, &err);
    }
    if (status != CW_OK)
        fprintf(stderr, "repeat_samples: %s\n", err.message);
    cw_writer_free(&out);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    return status;
}
