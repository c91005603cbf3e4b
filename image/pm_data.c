#include "image/pm_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool all_zero(const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != 0 || signbit(values[i]))
            return false;
    return true;
}

static bool all_counts(const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(values[i] >= 0 && values[i] < 4294967296.0) || signbit(values[i]) ||
            values[i] != (double)(uint32_t)values[i])
            return false;
    return true;
}

static enum cw_column_form choose_form(const struct cw_block *block, uint32_t counter)
{
    size_t at = (size_t)counter * block->count;
    if (block->forms[counter] == CW_COLUMN_SUMS) {
        const double *sums = block->rollups[CW_SUM] + at;
        return all_zero(sums, block->count)     ? CW_COLUMN_ZERO
               : all_counts(sums, block->count) ? CW_COLUMN_COUNTS
                                                : CW_COLUMN_SUMS;
    }
    bool zero = block->forms[counter] == CW_COLUMN_ROLLUPS;
    for (int r = 0; r < CW_ROLLUP_COUNT && zero; r++)
        zero = all_zero(block->rollups[r] + at, block->count);
    return zero ? CW_COLUMN_ZERO : (enum cw_column_form)block->forms[counter];
}

static void write_column(const struct cw_block *block, uint32_t counter, struct cw_writer *out)
{
    enum cw_column_form form = choose_form(block, counter);
    size_t at = (size_t)counter * block->count;
    cw_write_u8(out, (uint8_t)form);
    if (form == CW_COLUMN_COUNTS)
        for (uint32_t i = 0; i < block->count; i++)
            cw_write_u32(out, (uint32_t)block->rollups[CW_SUM][at + i]);
    int rollups = form == CW_COLUMN_SUMS ? 1 : form == CW_COLUMN_ROLLUPS ? CW_ROLLUP_COUNT : 0;
    for (int r = 0; r < rollups; r++)
        for (uint32_t i = 0; i < block->count; i++)
            cw_write_f64(out, block->rollups[r][at + i]);
}

void cw_pm_write_block(const struct cw_schema *schema, const struct cw_block *block, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_SAMPLES, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, block->device);
    cw_write_u64(out, block->lost);
    cw_write_u8(out, block->overflow);
    cw_write_u32(out, block->count);
    for (uint32_t i = 0; i < block->count; i++)
        cw_write_u64(out, block->start[i]);
    for (uint32_t i = 0; i < block->count; i++)
        cw_write_u64(out, block->end[i]);
    for (uint32_t c = 0; c < schema->counter_count; c++)
        write_column(block, c, out);
    cw_chunk_end(out, start);
}

void cw_pm_write_clock(uint32_t device, const struct cw_clock_pair *pair, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_CLOCK, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, device);
    cw_write_u64(out, pair->device_ns);
    cw_write_u64(out, pair->wall_ns);
    cw_write_u64(out, pair->error_ns);
    cw_chunk_end(out, start);
}

void cw_pm_write_window(const struct cw_pm_window *window, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_WINDOW, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, window->device);
    cw_write_u64(out, window->start_ns);
    cw_write_u64(out, window->end_ns);
    cw_chunk_end(out, start);
}

void cw_pm_write_launches(uint32_t process, uint64_t dropped, const char *const *names, uint32_t name_count,
                          const struct cw_kernel_launch *launches, uint32_t count, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_LAUNCHES, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, process);
    cw_write_u64(out, dropped);
    cw_field_write_strings(out, names, name_count);
    cw_write_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        cw_write_u32(out, launches[i].name);
        cw_write_u32(out, launches[i].device);
        cw_write_u64(out, launches[i].context);
        cw_write_u64(out, launches[i].stream);
        cw_write_u64(out, launches[i].start_ns);
        cw_write_u64(out, launches[i].end_ns);
    }
    cw_chunk_end(out, start);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

bool cw_pm_chunk_is_known(uint32_t type)
{
    return type == CW_CHUNK_SAMPLES || type == CW_CHUNK_CLOCK || type == CW_CHUNK_WINDOW || type == CW_CHUNK_LAUNCHES;
}

size_t cw_column_sample_size(enum cw_column_form form)
{
    static const uint8_t sizes[CW_COLUMN__COUNT] = {
        [CW_COLUMN_COUNTS] = 4, [CW_COLUMN_SUMS] = 8, [CW_COLUMN_ROLLUPS] = 8 * CW_ROLLUP_COUNT};
    return sizes[form];
}

static void skip_column(struct cw_reader *in, uint32_t count)
{
    uint8_t form = cw_field_read_enum(in, CW_COLUMN__COUNT, "form of a column", "a form below 6");
    if (in->status == CW_OK)
        cw_read_bytes(in, count * cw_column_sample_size((enum cw_column_form)form));
}

static bool check_count(struct cw_reader *in, uint32_t count, uint32_t counters)
{
    if (count == 0 || (uint64_t)count * counters > CW_BLOCK_VALUES_MAX)
        cw_reader_fail_at(in, in->pos - 4, "found %" PRIu32 " samples of %" PRIu32 " counters, expected 1 to %d values",
                          count, counters, CW_BLOCK_VALUES_MAX);
    return in->status == CW_OK;
}

/* Makes room for one more item in a list of the reading. */
static void *grown(void *items, size_t *room, size_t count, size_t size, struct cw_reader *in)
{
    void *more = cw_grown(items, room, count, size);
    if (!more && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
    return more ? more : items;
}

struct cw_pm_reading {
    struct cw_pm_data *pm;
    const struct cw_schema *schema;
    struct cw_reader *file; /* for messages */
    struct cw_arena *arena;
    struct cw_pm_block *blocks;
    struct cw_clock_reading *clocks;
    struct cw_pm_window *windows;
    struct cw_kernel_launch *launches;
    const char **names;
    uint64_t *clock_at, *window_at; /* their places in the file */
    size_t block_room, clock_room, window_room, launch_room, name_room, clock_at_room, window_at_room;
};

struct cw_pm_reading *cw_pm_reading_begin(struct cw_pm_data *pm, const struct cw_schema *schema, struct cw_reader *file,
                                          struct cw_arena *arena)
{
    struct cw_pm_reading *r = cw_arena_alloc(arena, 1, sizeof *r);
    if (r)
        *r = (struct cw_pm_reading){.pm = pm, .schema = schema, .file = file, .arena = arena};
    return r;
}

/* Keeps the device's number until devices are known. */
static void read_block(struct cw_pm_reading *r, struct cw_reader *in)
{
    const uint32_t counters = r->schema->counter_count;
    struct cw_pm_data *pm = r->pm;
    struct cw_pm_block block = {.device = cw_read_u32(in), .first = pm->sample_count};
    block.lost = cw_read_u64(in);
    block.overflow = cw_field_read_enum(in, 2, "overflow", "0 or 1");
    block.count = cw_read_count(in, 16, "samples");
    if (!check_count(in, block.count, counters))
        return;
    if (block.count > UINT32_MAX - pm->sample_count) {
        cw_reader_fail(in, "found more than %" PRIu32 " samples, expected no more", UINT32_MAX);
        return;
    }
    struct cw_reader times = *in;
    block.offset = in->base + in->pos;
    block.start_ns = cw_read_u64(&times);
    times.pos = in->pos + 16 * (size_t)block.count - 8;
    block.end_ns = cw_read_u64(&times);
    cw_read_bytes(in, (size_t)block.count * 16);
    for (uint32_t c = 0; c < counters && in->status == CW_OK; c++)
        skip_column(in, block.count);
    r->blocks = grown(r->blocks, &r->block_room, pm->block_count, sizeof block, in);
    if (in->status != CW_OK)
        return;
    r->blocks[pm->block_count++] = block;
    pm->sample_count += block.count;
    pm->lost += block.lost;
    pm->overflow_count += block.overflow;
    pm->largest = block.count > pm->largest ? block.count : pm->largest;
}

static void read_clock(struct cw_pm_reading *r, struct cw_reader *in)
{
    const uint32_t count = r->pm->clock_count;
    r->clocks = grown(r->clocks, &r->clock_room, count, sizeof *r->clocks, in);
    r->clock_at = grown(r->clock_at, &r->clock_at_room, count, sizeof *r->clock_at, in);
    if (in->status != CW_OK)
        return;
    struct cw_clock_reading *to = &r->clocks[r->pm->clock_count++];
    r->clock_at[count] = in->base;
    to->device = cw_read_u32(in);
    to->pair.device_ns = cw_read_u64(in);
    to->pair.wall_ns = cw_read_u64(in);
    to->pair.error_ns = cw_read_u64(in);
}

static void read_window(struct cw_pm_reading *r, struct cw_reader *in)
{
    const uint32_t count = r->pm->window_count;
    r->windows = grown(r->windows, &r->window_room, count, sizeof *r->windows, in);
    r->window_at = grown(r->window_at, &r->window_at_room, count, sizeof *r->window_at, in);
    if (in->status != CW_OK)
        return;
    struct cw_pm_window *to = &r->windows[r->pm->window_count++];
    r->window_at[count] = in->base;
    to->device = cw_read_u32(in);
    to->start_ns = cw_read_u64(in);
    to->end_ns = cw_read_u64(in);
    if (in->status == CW_OK && to->end_ns < to->start_ns)
        cw_reader_fail_at(in, in->pos - 8, "found a window that ends %" PRIu64 " ns before it begins, expected none",
                          to->start_ns - to->end_ns);
}

/* `names` names of the chunk begin at index `first` of the file's names. */
static void read_launch(struct cw_pm_reading *r, struct cw_reader *in, uint32_t process, uint32_t first, uint32_t names)
{
    struct cw_pm_data *pm = r->pm;
    struct cw_kernel_launch l = {.process = process, .name = first + cw_field_read_index(in, names, "name")};
    l.device = cw_read_u32(in);
    l.context = cw_read_u64(in);
    l.stream = cw_read_u64(in);
    l.start_ns = cw_read_u64(in);
    l.end_ns = cw_read_u64(in);
    if (!l.start_ns && !l.end_ns) {
        pm->launches_untimed++;
        return;
    }
    r->launches = grown(r->launches, &r->launch_room, pm->launch_count, sizeof l, in);
    if (in->status == CW_OK)
        r->launches[pm->launch_count++] = l;
}

static void read_launches(struct cw_pm_reading *r, struct cw_reader *in)
{
    struct cw_pm_data *pm = r->pm;
    const uint32_t process = cw_read_u32(in), first = pm->name_count;
    pm->launches_dropped += cw_read_u64(in);
    const uint32_t names = cw_read_count(in, 4, "names");
    for (uint32_t i = 0; i < names && in->status == CW_OK; i++) {
        r->names = grown(r->names, &r->name_room, pm->name_count, sizeof *r->names, in);
        const char *name = cw_read_string(in, r->arena);
        if (in->status == CW_OK)
            r->names[pm->name_count++] = name;
    }
    const uint32_t count = cw_read_count(in, CW_LAUNCH_SIZE, "launches");
    if (names > UINT32_MAX - first || count > UINT32_MAX - pm->launch_count)
        cw_reader_fail(in, "found more than %" PRIu32 " launches, expected no more", UINT32_MAX);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        read_launch(r, in, process, first, names);
}

enum cw_status cw_pm_reading_take(struct cw_pm_reading *r, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_chunk_open(r->file, chunk, &in);
    if (chunk->type == CW_CHUNK_SAMPLES)
        read_block(r, &in);
    else if (chunk->type == CW_CHUNK_CLOCK)
        read_clock(r, &in);
    else if (chunk->type == CW_CHUNK_WINDOW)
        read_window(r, &in);
    else
        read_launches(r, &in);
    return cw_reader_finish(&in, "a chunk of PM sampling");
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

/* Converts device time to wall time: on the line through the first and the last clock pair of the device, or with the
 * offset alone if there is only one pair. */
struct cw_clock_line {
    bool known;
    struct cw_clock_pair first, last;
};

static uint64_t to_wall(const struct cw_clock_line *l, uint64_t device_ns)
{
    if (!l->known)
        return device_ns;
    double since = device_ns >= l->first.device_ns ? (double)(device_ns - l->first.device_ns)
                                                   : -(double)(l->first.device_ns - device_ns);
    double device_span = (double)(int64_t)(l->last.device_ns - l->first.device_ns);
    double wall_span = (double)(int64_t)(l->last.wall_ns - l->first.wall_ns);
    double drift = device_span > 0 ? wall_span / device_span - 1 : 0;
    /* If the clocks differ by more than one per mille, the pairs are not credible as a line: use the offset alone. */
    double correction = fabs(drift) < 1e-3 ? since * drift : 0;
    correction = correction > 1e15 ? 1e15 : correction < -1e15 ? -1e15 : correction;
    return l->first.wall_ns + (device_ns - l->first.device_ns) + (uint64_t)(int64_t)llround(correction);
}

uint64_t cw_pm_time(const struct cw_pm_data *pm, uint32_t device, uint64_t device_ns)
{
    return to_wall(&pm->lines[device], device_ns);
}

static enum cw_status find_lines(struct cw_pm_reading *r, uint32_t devices)
{
    struct cw_pm_data *pm = r->pm;
    struct cw_clock_line *lines = cw_arena_alloc(r->arena, devices, sizeof *lines);
    pm->correlated = cw_arena_alloc(r->arena, devices, sizeof *pm->correlated);
    pm->lines = lines;
    if (!lines || !pm->correlated)
        return cw_error_nomem(r->file->err);
    for (uint32_t i = 0; i < pm->clock_count; i++) {
        struct cw_clock_line *l = &lines[r->clocks[i].device];
        if (!l->known)
            l->first = r->clocks[i].pair;
        l->last = r->clocks[i].pair;
        l->known = true;
    }
    for (uint32_t d = 0; d < devices; d++)
        pm->correlated[d] = lines[d].known;
    return CW_OK;
}

/* ---- steps that need all chunks --------------------------------------------------------------------------------- */

struct devices {
    const struct cw_device *list;
    uint32_t count;
};

/* Replaces a device's number by its index; `at` is the number's place in the file. */
static void find_device(struct cw_pm_reading *r, struct devices devices, uint32_t *device, uint64_t at)
{
    const uint32_t number = *device;
    if (r->file->status == CW_OK && !cw_device_find(devices.list, devices.count, number, device))
        cw_reader_fail_at(r->file, (size_t)at, "found device %" PRIu32 ", expected one with a DEVC chunk", number);
}

static enum cw_status find_devices(struct cw_pm_reading *r, struct devices devices)
{
    enum { DEVICE_TO_TIMES = 4 + 8 + 1 + 4 };
    struct cw_pm_data *pm = r->pm;
    for (uint32_t i = 0; i < pm->clock_count; i++)
        find_device(r, devices, &r->clocks[i].device, r->clock_at[i]);
    for (uint32_t i = 0; i < pm->window_count; i++)
        find_device(r, devices, &r->windows[i].device, r->window_at[i]);
    for (uint32_t i = 0; i < pm->block_count; i++)
        find_device(r, devices, &r->blocks[i].device, r->blocks[i].offset - DEVICE_TO_TIMES);
    return r->file->status;
}

static void convert_times(struct cw_pm_reading *r, struct devices devices)
{
    const struct cw_pm_data *pm = r->pm;
    for (uint32_t i = 0; i < pm->block_count; i++) {
        struct cw_pm_block *b = &r->blocks[i];
        b->start_ns = cw_pm_time(pm, b->device, b->start_ns);
        b->end_ns = cw_pm_time(pm, b->device, b->end_ns);
    }
    for (uint32_t i = 0; i < pm->window_count; i++) {
        struct cw_pm_window *w = &r->windows[i];
        w->start_ns = cw_pm_time(pm, w->device, w->start_ns);
        w->end_ns = cw_pm_time(pm, w->device, w->end_ns);
    }
    for (uint32_t i = 0; i < pm->launch_count; i++) {
        struct cw_kernel_launch *l = &r->launches[i];
        uint32_t device;
        if (!cw_device_find(devices.list, devices.count, l->device, &device))
            continue;
        l->start_ns = cw_pm_time(pm, device, l->start_ns);
        l->end_ns = cw_pm_time(pm, device, l->end_ns);
    }
}

enum cw_status cw_pm_reading_finish(struct cw_pm_reading *r, const struct cw_device *devices, uint32_t device_count,
                                    enum cw_status status)
{
    const struct devices of = {devices, device_count};
    void *const lists[] = {r->blocks, r->clocks, r->windows, r->launches, r->names, r->clock_at, r->window_at};
    r->pm->blocks = r->blocks;
    r->pm->clocks = r->clocks;
    r->pm->windows = r->windows;
    r->pm->launches = r->launches;
    r->pm->names = r->names;
    if (status == CW_OK)
        status = find_devices(r, of);
    if (status == CW_OK)
        status = find_lines(r, device_count);
    if (status == CW_OK)
        convert_times(r, of);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!cw_arena_adopt(r->arena, lists[i]) && status == CW_OK)
            status = cw_error_nomem(r->file->err);
    return status;
}
