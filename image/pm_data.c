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

/* ---- reading: what there is, so that everything is allocated once ----------------------------------------------- */

bool cw_pm_chunk_is_known(uint32_t type)
{
    return type == CW_CHUNK_SAMPLES || type == CW_CHUNK_CLOCK || type == CW_CHUNK_WINDOW || type == CW_CHUNK_LAUNCHES;
}

struct parse {
    struct cw_pm_data *pm;
    const struct cw_schema *schema;
    const struct cw_device *devices;
    uint32_t device_count;
    const struct cw_reader *file;
    struct cw_arena *arena;
    struct cw_pm_block *blocks;
    struct cw_clock_reading *clocks;
    struct cw_pm_window *windows;
    struct line *lines; /* for each device: its clock and the wall's */
};

static uint32_t read_device(const struct parse *p, struct cw_reader *in)
{
    size_t pos = in->pos;
    uint32_t number = cw_read_u32(in), index = 0;
    if (!cw_device_find(p->devices, p->device_count, number, &index))
        cw_reader_fail_at(in, pos, "found device %" PRIu32 ", expected one with a DEVC chunk", number);
    return index;
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

static void find_block(struct parse *p, struct cw_reader *in, struct cw_pm_block *block)
{
    uint32_t counters = p->schema->counter_count;
    block->device = read_device(p, in);
    block->lost = cw_read_u64(in);
    block->overflow = cw_field_read_enum(in, 2, "overflow", "0 or 1");
    block->first = p->pm->sample_count;
    block->count = cw_read_count(in, 16, "samples");
    if (!check_count(in, block->count, counters))
        return;
    if (block->count > UINT32_MAX - p->pm->sample_count) {
        cw_reader_fail(in, "found more than %" PRIu32 " samples, expected no more", UINT32_MAX);
        return;
    }
    cw_read_bytes(in, (size_t)block->count * 16);
    block->columns = in->data + in->pos;
    block->size = in->size - in->pos;
    block->offset = in->base + in->pos;
    for (uint32_t c = 0; c < counters && in->status == CW_OK; c++)
        skip_column(in, block->count);
    p->pm->sample_count += block->count;
    p->pm->lost += block->lost;
    p->pm->overflow_count += block->overflow;
    p->pm->largest = block->count > p->pm->largest ? block->count : p->pm->largest;
}

static void read_clock(struct parse *p, struct cw_reader *in, struct cw_clock_reading *to)
{
    to->device = read_device(p, in);
    to->pair.device_ns = cw_read_u64(in);
    to->pair.wall_ns = cw_read_u64(in);
    to->pair.error_ns = cw_read_u64(in);
}

static void read_window(struct parse *p, struct cw_reader *in, struct cw_pm_window *to)
{
    to->device = read_device(p, in);
    to->start_ns = cw_read_u64(in);
    to->end_ns = cw_read_u64(in);
    if (in->status == CW_OK && to->end_ns < to->start_ns)
        cw_reader_fail_at(in, in->pos - 8, "found a window that ends %" PRIu64 " ns before it begins, expected none",
                          to->start_ns - to->end_ns);
}

static void count_launches(struct parse *p, struct cw_reader *in)
{
    cw_read_u32(in);
    p->pm->launches_dropped += cw_read_u64(in);
    uint32_t names = cw_read_count(in, 4, "names");
    for (uint32_t i = 0; i < names && in->status == CW_OK; i++)
        cw_read_bytes(in, cw_read_u32(in));
    uint32_t count = cw_read_count(in, CW_LAUNCH_SIZE, "launches");
    if (in->status == CW_OK && (names > UINT32_MAX - p->pm->name_count || count > UINT32_MAX - p->pm->launch_count)) {
        cw_reader_fail(in, "found more than %" PRIu32 " launches, expected no more", UINT32_MAX);
        return;
    }
    cw_read_bytes(in, (size_t)count * CW_LAUNCH_SIZE);
    p->pm->name_count += names;
    p->pm->launch_count += count;
}

static enum cw_status survey(struct parse *p, const struct cw_chunk *chunks, size_t count)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        struct cw_reader in;
        cw_chunk_open(p->file, &chunks[i], &in);
        if (chunks[i].type == CW_CHUNK_SAMPLES)
            find_block(p, &in, &p->blocks[p->pm->block_count++]);
        else if (chunks[i].type == CW_CHUNK_CLOCK)
            read_clock(p, &in, &p->clocks[p->pm->clock_count++]);
        else if (chunks[i].type == CW_CHUNK_WINDOW)
            read_window(p, &in, &p->windows[p->pm->window_count++]);
        else
            count_launches(p, &in);
        status = cw_reader_finish(&in, "a chunk of PM sampling");
    }
    return status;
}

/* ---- reading: times --------------------------------------------------------------------------------------------- */

/* The wall clock's time for a device's: on the line through the first and the last pair of the device, parallel to the
 * axes' diagonal where there is one pair only. */
struct line {
    bool known;
    struct cw_clock_pair first, last;
};

static uint64_t to_wall(const struct line *l, uint64_t device_ns)
{
    if (!l->known)
        return device_ns;
    double since = device_ns >= l->first.device_ns ? (double)(device_ns - l->first.device_ns)
                                                   : -(double)(l->first.device_ns - device_ns);
    double device_span = (double)(int64_t)(l->last.device_ns - l->first.device_ns);
    double wall_span = (double)(int64_t)(l->last.wall_ns - l->first.wall_ns);
    double drift = device_span > 0 ? wall_span / device_span - 1 : 0;
    /* clocks that differ by more than a per mille are not what this is for: then only the offset is believed */
    double correction = fabs(drift) < 1e-3 ? since * drift : 0;
    correction = correction > 1e15 ? 1e15 : correction < -1e15 ? -1e15 : correction;
    return l->first.wall_ns + (device_ns - l->first.device_ns) + (uint64_t)(int64_t)llround(correction);
}

static enum cw_status find_lines(struct parse *p)
{
    struct cw_pm_data *pm = p->pm;
    p->lines = calloc((size_t)p->device_count + 1, sizeof *p->lines);
    if (!p->lines)
        return cw_error_nomem(p->file->err);
    for (uint32_t i = 0; i < pm->clock_count; i++) {
        struct line *l = &p->lines[p->clocks[i].device];
        if (!l->known)
            l->first = p->clocks[i].pair;
        l->last = p->clocks[i].pair;
        l->known = true;
    }
    for (uint32_t d = 0; d < p->device_count; d++)
        pm->correlated[d] = p->lines[d].known;
    return CW_OK;
}

static void read_times(struct parse *p)
{
    struct cw_pm_data *pm = p->pm;
    for (uint32_t b = 0; b < pm->block_count; b++) {
        const struct cw_pm_block *block = &pm->blocks[b];
        size_t size = (size_t)block->count * 16;
        struct cw_reader in;
        cw_reader_init(&in, block->columns - size, size, p->file->source, 0, NULL);
        for (int k = 0; k < 2; k++)
            for (uint32_t i = 0; i < block->count; i++)
                (k ? pm->end_ns : pm->start_ns)[block->first + i] = to_wall(&p->lines[block->device], cw_read_u64(&in));
    }
    for (uint32_t w = 0; w < pm->window_count; w++) {
        struct cw_pm_window *window = &p->windows[w];
        window->start_ns = to_wall(&p->lines[window->device], window->start_ns);
        window->end_ns = to_wall(&p->lines[window->device], window->end_ns);
    }
}

/* ---- reading: launches ------------------------------------------------------------------------------------------ */

static enum cw_status read_launches(struct parse *p, const struct cw_chunk *chunk, uint32_t *names, uint32_t *done)
{
    struct cw_reader in;
    cw_chunk_open(p->file, chunk, &in);
    uint32_t process = cw_read_u32(&in), first = *names;
    cw_read_u64(&in);
    uint32_t count = cw_read_count(&in, 4, "names");
    for (uint32_t i = 0; i < count && in.status == CW_OK; i++)
        p->pm->names[(*names)++] = cw_read_string(&in, p->arena);
    uint32_t launches = cw_read_count(&in, CW_LAUNCH_SIZE, "launches");
    for (uint32_t i = 0; i < launches && in.status == CW_OK; i++) {
        struct cw_kernel_launch *l = &p->pm->launches[*done];
        l->process = process;
        l->name = first + cw_field_read_index(&in, count, "name");
        l->device = cw_read_u32(&in);
        l->context = cw_read_u64(&in);
        l->stream = cw_read_u64(&in);
        l->start_ns = cw_read_u64(&in);
        l->end_ns = cw_read_u64(&in);
        if (!l->start_ns && !l->end_ns) {
            p->pm->launches_untimed++;
            continue;
        }
        (*done)++;
        uint32_t device;
        if (cw_device_find(p->devices, p->device_count, l->device, &device)) {
            l->start_ns = to_wall(&p->lines[device], l->start_ns);
            l->end_ns = to_wall(&p->lines[device], l->end_ns);
        }
    }
    return in.status;
}

/* ---- reading: all ----------------------------------------------------------------------------------------------- */

static enum cw_status allocate(struct parse *p)
{
    struct cw_pm_data *pm = p->pm;
    pm->start_ns = cw_arena_alloc(p->arena, pm->sample_count, sizeof *pm->start_ns);
    pm->end_ns = cw_arena_alloc(p->arena, pm->sample_count, sizeof *pm->end_ns);
    pm->correlated = cw_arena_alloc(p->arena, p->device_count, sizeof *pm->correlated);
    pm->names = cw_arena_alloc(p->arena, pm->name_count, sizeof *pm->names);
    pm->launches = cw_arena_alloc(p->arena, pm->launch_count, sizeof *pm->launches);
    bool good = pm->start_ns && pm->end_ns && pm->correlated && pm->names && pm->launches;
    return good ? CW_OK : cw_error_nomem(p->file->err);
}

enum cw_status cw_pm_read(struct cw_pm_data *pm, const struct cw_schema *schema, const struct cw_device *devices,
                          uint32_t device_count, const struct cw_reader *file, const struct cw_chunk *chunks,
                          size_t count, struct cw_arena *arena)
{
    struct parse p = {
        .pm = pm, .schema = schema, .devices = devices, .device_count = device_count, .file = file, .arena = arena};
    *pm = (struct cw_pm_data){0};
    p.blocks = cw_arena_alloc(arena, count, sizeof *p.blocks);
    p.clocks = cw_arena_alloc(arena, count, sizeof *p.clocks);
    p.windows = cw_arena_alloc(arena, count, sizeof *p.windows);
    pm->blocks = p.blocks;
    pm->clocks = p.clocks;
    pm->windows = p.windows;
    enum cw_status status = p.blocks && p.clocks && p.windows ? survey(&p, chunks, count) : cw_error_nomem(file->err);
    if (status == CW_OK)
        status = allocate(&p);
    if (status == CW_OK)
        status = find_lines(&p);
    if (status == CW_OK)
        read_times(&p);
    uint32_t names = 0, launches = 0;
    for (size_t i = 0; i < count && status == CW_OK; i++)
        if (chunks[i].type == CW_CHUNK_LAUNCHES)
            status = read_launches(&p, &chunks[i], &names, &launches);
    pm->launch_count = launches;
    free(p.lines);
    return status;
}
