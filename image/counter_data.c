#include "image/counter_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"

/* ---- reading: first find the chunks, so that the columns can be laid out ---- */

struct parse {
    struct cw_counter_data *data;
    struct cw_arena *arena;
    struct cw_reader file;
    struct cw_chunk_list devices, ranges, pm, clocks;
    struct cw_chunk_list about, repeated, facts; /* of each range, of size 0 without one */
    struct cw_chunk next_about, next_repeated, next_facts;
};

static enum cw_status read_schema(struct parse *p)
{
    struct cw_chunk chunk;
    bool found;
    char text[5];
    enum cw_status status = cw_chunk_next(&p->file, &chunk, &found, NULL);
    if (status != CW_OK)
        return status;
    if (!found)
        return cw_reader_fail(&p->file, "found the end of the file, expected chunk SCHM");
    if (chunk.type != CW_CHUNK_SCHEMA || chunk.flags != 0)
        return cw_reader_fail_at(&p->file, (size_t)chunk.offset,
                                 "found chunk %s with flags %u, expected chunk SCHM with flags 0",
                                 cw_chunk_type_text(chunk.type, text), chunk.flags);
    struct cw_reader in;
    cw_chunk_open(&p->file, &chunk, &in);
    cw_schema_read(&p->data->schema, &in, p->arena);
    return cw_chunk_finish(&in, &chunk);
}

static enum cw_status read_end(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    uint64_t ranges = cw_read_u64(&in);
    if (ranges != p->ranges.count)
        cw_reader_fail_at(&in, 0, "found an end chunk for %" PRIu64 " ranges, expected the %zu of the file", ranges,
                          p->ranges.count);
    p->data->dropped = cw_read_u64(&in);
    p->data->how = (enum cw_capture_end)cw_field_read_enum(&in, CW_END__COUNT, "end of the capture",
                                                           "0 (exited), 1 (signalled) or 2 (no program)");
    p->data->code = cw_read_u32(&in);
    p->data->complete = true;
    return cw_chunk_finish(&in, chunk);
}

static enum cw_status add_range(struct parse *p, const struct cw_chunk *chunk)
{
    enum cw_status status = cw_chunk_list_add(&p->about, &p->next_about, &p->file);
    if (status == CW_OK)
        status = cw_chunk_list_add(&p->repeated, &p->next_repeated, &p->file);
    if (status == CW_OK)
        status = cw_chunk_list_add(&p->facts, &p->next_facts, &p->file);
    p->next_about = p->next_repeated = p->next_facts = (struct cw_chunk){0};
    return status == CW_OK ? cw_chunk_list_add(&p->ranges, chunk, &p->file) : status;
}

/* RPTS and FNAM. */
static enum cw_status read_of_ranges(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_schema *s = &p->data->schema;
    bool repeats = chunk->type == CW_CHUNK_REPEATS;
    char text[5];
    if ((repeats ? (const void *)s->repeats : s->fact_names) || p->ranges.count || s->profiler != CW_PROFILER_RANGE)
        return cw_reader_fail_at(&p->file, (size_t)chunk->offset,
                                 "found chunk %s, expected it once, before the ranges of a range capture",
                                 cw_chunk_type_text(chunk->type, text));
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    (repeats ? cw_schema_read_repeats : cw_schema_read_fact_names)(s, &in, p->arena);
    return cw_chunk_finish(&in, chunk);
}

static enum cw_status read_meanings(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_schema *s = &p->data->schema;
    if (s->meanings)
        return cw_reader_fail_at(&p->file, (size_t)chunk->offset, "found chunk MEAN again, expected it once");
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    s->meaning_count = cw_field_read_meanings(&in, p->arena, &s->meanings);
    return cw_chunk_finish(&in, chunk);
}

static enum cw_status sort_chunk(struct parse *p, const struct cw_chunk *chunk)
{
    char text[5];
    cw_chunk_type_text(chunk->type, text);
    struct cw_chunk *next = chunk->type == CW_CHUNK_ABOUT      ? &p->next_about
                            : chunk->type == CW_CHUNK_REPEATED ? &p->next_repeated
                            : chunk->type == CW_CHUNK_FACTS    ? &p->next_facts
                                                               : NULL;
    if (next && chunk->flags == CW_CHUNK_OPTIONAL) {
        *next = *chunk;
        return CW_OK;
    }
    if ((chunk->type == CW_CHUNK_REPEATS || chunk->type == CW_CHUNK_FACT_NAMES) && chunk->flags == CW_CHUNK_OPTIONAL)
        return read_of_ranges(p, chunk);
    if (chunk->type == CW_CHUNK_MEANINGS && chunk->flags == CW_CHUNK_OPTIONAL)
        return read_meanings(p, chunk);
    bool known = chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_RANGE || chunk->type == CW_CHUNK_END;
    if (known && chunk->flags == 0)
        return chunk->type == CW_CHUNK_END      ? read_end(p, chunk)
               : chunk->type == CW_CHUNK_DEVICE ? cw_chunk_list_add(&p->devices, chunk, &p->file)
                                                : add_range(p, chunk);
    if (cw_pm_chunk_is_known(chunk->type) && chunk->flags == CW_CHUNK_OPTIONAL)
        return cw_chunk_list_add(&p->pm, chunk, &p->file);
    if (chunk->type == CW_CHUNK_GPU_CLOCKS && chunk->flags == CW_CHUNK_OPTIONAL)
        return cw_chunk_list_add(&p->clocks, chunk, &p->file);
    const size_t pos = (size_t)chunk->offset;
    if (known)
        return cw_reader_fail_at(&p->file, pos, "found chunk %s with flags %u, expected flags 0", text, chunk->flags);
    if (chunk->type == CW_CHUNK_SCHEMA)
        return cw_reader_fail_at(&p->file, pos, "found chunk SCHM again, expected it once");
    if (!(chunk->flags & CW_CHUNK_OPTIONAL))
        return cw_reader_fail_at(&p->file, pos,
                                 "found an unknown chunk %s that is not optional, expected one of version 1.5", text);
    return CW_OK;
}

static enum cw_status find_chunks(struct parse *p)
{
    for (;;) {
        struct cw_chunk chunk;
        bool found, truncated = false;
        if (p->data->complete && p->file.pos < p->file.size)
            return cw_reader_fail(&p->file, "found %zu bytes after the end chunk, expected the end of the file",
                                  p->file.size - p->file.pos);
        enum cw_status status = cw_chunk_next(&p->file, &chunk, &found, &truncated);
        if (status == CW_OK && found)
            status = sort_chunk(p, &chunk);
        if (status != CW_OK || !found)
            return status;
    }
}

/* ---- reading: devices ---- */

static enum cw_status read_device(struct parse *p, const struct cw_chunk *chunk, struct cw_device *device)
{
    uint32_t counters = p->data->schema.counter_count;
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    device->index = cw_read_u32(&in);
    device->attribute_count = cw_field_read_pairs(&in, p->arena, &device->attributes, "attributes");
    uint64_t expected = (uint64_t)counters * (4 + 8 * CW_ROLLUP_COUNT);
    if (in.status == CW_OK && in.size - in.pos != expected)
        cw_reader_fail(&in, "found %zu bytes of counter facts, expected the %" PRIu64 " of %" PRIu32 " counters",
                       in.size - in.pos, expected, counters);
    struct cw_device_facts *facts = cw_field_array(&in, p->arena, counters, sizeof *facts);
    for (uint32_t i = 0; i < counters && in.status == CW_OK; i++) {
        facts[i].instances = cw_read_u32(&in);
        cw_read_f64s(&in, facts[i].peak, CW_ROLLUP_COUNT);
    }
    device->facts = facts;
    return cw_chunk_finish(&in, chunk);
}

struct located {
    struct cw_device device;
    struct cw_chunk chunk;
};

static int by_number(const void *left, const void *right)
{
    const struct located *a = left, *b = right;
    int order = (a->device.index > b->device.index) - (a->device.index < b->device.index);
    return order ? order : (a->chunk.offset > b->chunk.offset) - (a->chunk.offset < b->chunk.offset);
}

/* Devices, and with them the list of their chunks, are kept by number: a file has them as they were met. */
static enum cw_status keep_devices(struct parse *p, struct located *found, struct cw_device *devices)
{
    size_t count = p->devices.count;
    for (size_t i = 0; i < count; i++) {
        found[i].chunk = p->devices.items[i];
        enum cw_status status = read_device(p, &found[i].chunk, &found[i].device);
        if (status != CW_OK)
            return status;
    }
    qsort(found, count, sizeof *found, by_number);
    for (size_t i = 0; i < count; i++) {
        devices[i] = found[i].device;
        p->devices.items[i] = found[i].chunk;
        if (i == 0 || devices[i - 1].index != devices[i].index)
            continue;
        return cw_reader_fail_at(&p->file, (size_t)found[i].chunk.offset,
                                 "found device %" PRIu32 " again, expected each once", devices[i].index);
    }
    p->data->devices = devices;
    p->data->device_count = (uint32_t)count;
    return CW_OK;
}

static enum cw_status read_devices(struct parse *p)
{
    size_t count = p->devices.count;
    struct cw_device *devices = cw_field_array(&p->file, p->arena, count, sizeof *devices);
    if (!devices)
        return p->file.status;
    struct located *found = calloc(count + 1, sizeof *found);
    enum cw_status status = found ? keep_devices(p, found, devices) : cw_error_nomem(p->file.err);
    free(found);
    return status;
}

static int by_device_and_time(const void *left, const void *right)
{
    const struct cw_gpu_clocks *a = left, *b = right;
    int order = (a->device > b->device) - (a->device < b->device);
    uint64_t x = a->readings->wall_ns, y = b->readings->wall_ns;
    return order ? order : (x > y) - (x < y);
}

static enum cw_status read_clocks(struct parse *p)
{
    struct cw_gpu_clocks *clocks = cw_field_array(&p->file, p->arena, p->clocks.count, sizeof *clocks);
    enum cw_status status = p->file.status;
    for (size_t i = 0; i < p->clocks.count && status == CW_OK; i++) {
        struct cw_reader in;
        cw_chunk_open(&p->file, &p->clocks.items[i], &in);
        cw_gpu_clocks_read(&clocks[i], &in, p->arena);
        uint32_t number = clocks[i].device;
        if (in.status == CW_OK && !cw_device_find(p->data->devices, p->data->device_count, number, &clocks[i].device))
            cw_reader_fail_at(&in, 0, "found clocks of device %" PRIu32 ", expected one with a DEVC chunk", number);
        status = cw_chunk_finish(&in, &p->clocks.items[i]);
    }
    if (status == CW_OK && p->clocks.count)
        qsort(clocks, p->clocks.count, sizeof *clocks, by_device_and_time);
    p->data->clocks = clocks;
    p->data->clocks_count = (uint32_t)p->clocks.count;
    return status;
}

/* ---- reading: ranges ---- */

/* The index of the device that the range names by its number. */
static uint32_t read_device_number(struct parse *p, struct cw_reader *in)
{
    size_t pos = in->pos;
    uint32_t number = cw_read_u32(in), index;
    if (cw_device_find(p->data->devices, p->data->device_count, number, &index) &&
        p->devices.items[index].offset < in->base)
        return index;
    cw_reader_fail_at(in, pos, "found a range of device %" PRIu32 ", expected one with a DEVC chunk before it", number);
    return 0;
}

static void read_launch(struct parse *p, struct cw_reader *in, struct cw_range *range)
{
    range->name = cw_read_string(in, p->arena);
    range->kernel = cw_read_string(in, p->arena);
    range->device = read_device_number(p, in);
    range->process = cw_read_u32(in);
    range->context = cw_read_u64(in);
    range->stream = cw_read_u64(in);
    for (int i = 0; i < 3; i++)
        range->grid[i] = cw_read_u32(in);
    for (int i = 0; i < 3; i++)
        range->block[i] = cw_read_u32(in);
    range->start_ns = cw_read_u64(in);
    range->end_ns = cw_read_u64(in);
}

static void read_durations(struct parse *p, struct cw_reader *in, struct cw_range *range)
{
    uint32_t count = p->data->schema.pass_count;
    if (in->status == CW_OK && count > (in->size - in->pos) / 8)
        cw_reader_fail(in, "found %zu bytes, expected the durations of %" PRIu32 " passes", in->size - in->pos, count);
    double *durations = cw_field_array(in, p->arena, count, sizeof *durations);
    if (in->status == CW_OK)
        cw_read_f64s(in, durations, count);
    range->durations = durations;
}

static enum cw_status read_about(struct parse *p, size_t index, struct cw_range *range)
{
    const struct cw_chunk *chunk = &p->about.items[index];
    struct cw_reader in;
    if (!chunk->size)
        return CW_OK;
    cw_chunk_open(&p->file, chunk, &in);
    range->attribute_count = cw_field_read_pairs(&in, p->arena, &range->attributes, "attributes");
    return cw_chunk_finish(&in, chunk);
}

/* A NaN among the instances makes every rollup NaN. */
static void read_instances(struct cw_reader *in, double rollup[CW_ROLLUP_COUNT])
{
    uint32_t count = cw_read_count(in, 8, "instances");
    if (count == 0)
        cw_reader_fail_at(in, in->pos - 4, "found a value of 0 instances, expected at least 1");
    if (in->status != CW_OK)
        return;
    double first = cw_read_f64(in), sum = first, min = first, max = first;
    for (uint32_t i = 1; i < count; i++) {
        double value = cw_read_f64(in);
        sum += value;
        min = value < min || isnan(value) ? value : min;
        max = value > max || isnan(value) ? value : max;
    }
    rollup[CW_SUM] = sum;
    rollup[CW_AVG] = sum / count;
    rollup[CW_MIN] = min;
    rollup[CW_MAX] = max;
}

static enum cw_value_form read_value(struct cw_reader *in, double rollup[CW_ROLLUP_COUNT])
{
    enum cw_value_form form = (enum cw_value_form)cw_field_read_enum(in, CW_FORM__COUNT, "form", "a form below 8");
    if (form == CW_FORM_ROLLUPS || form == CW_FORM_OVERFLOW || form == CW_FORM_INCOMPLETE) {
        cw_read_f64s(in, rollup, CW_ROLLUP_COUNT);
        return form;
    }
    double all = form == CW_FORM_ZERO ? 0.0 : form == CW_FORM_ONE ? cw_read_f64(in) : NAN;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        rollup[r] = all;
    if (form == CW_FORM_INSTANCES)
        read_instances(in, rollup);
    return form;
}

/* Values come range by range and go to columns. Taking a few ranges side by side fills whole cache lines of each
 * column: up to twice as fast where the columns are many. */
enum { SIDE_BY_SIDE = 16 };

static enum cw_status read_some_ranges(struct parse *p, size_t first, size_t count, struct cw_range *ranges)
{
    struct cw_counter_data *data = p->data;
    struct cw_reader in[SIDE_BY_SIDE], more[SIDE_BY_SIDE];
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        cw_chunk_open(&p->file, &p->ranges.items[first + i], &in[i]);
        cw_chunk_open(&p->file, &p->repeated.items[first + i], &more[i]);
        read_launch(p, &in[i], &ranges[first + i]);
        read_durations(p, &in[i], &ranges[first + i]);
        status = in[i].status;
        if (status == CW_OK)
            status = read_about(p, first + i, &ranges[first + i]);
    }
    for (uint32_t c = 0; c < cw_schema_columns(&data->schema) && status == CW_OK; c++) {
        struct cw_reader *from = c < data->schema.counter_count ? in : more;
        for (size_t i = 0; i < count && status == CW_OK; i++) {
            size_t at = (size_t)c * data->range_count + first + i;
            double rollup[CW_ROLLUP_COUNT];
            data->forms[at] = (uint8_t)read_value(&from[i], rollup);
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                data->rollups[r][at] = rollup[r];
            status = from[i].status;
        }
    }
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        status = cw_chunk_finish(&in[i], &p->ranges.items[first + i]);
        if (status == CW_OK && data->schema.repeat_count)
            status = cw_chunk_finish(&more[i], &p->repeated.items[first + i]);
    }
    return status;
}

static enum cw_status read_facts(struct parse *p)
{
    struct cw_counter_data *data = p->data;
    uint32_t names = data->schema.fact_count;
    double of_range[CW_FACTS_MAX];
    data->facts = cw_field_array(&p->file, p->arena, p->ranges.count * names, sizeof *data->facts);
    enum cw_status status = p->file.status;
    for (size_t i = 0; i < p->ranges.count && names && status == CW_OK; i++) {
        status = cw_facts_read(&p->file, &p->facts.items[i], of_range, names);
        for (uint32_t f = 0; f < names; f++)
            data->facts[f * p->ranges.count + i] = of_range[f];
    }
    return status;
}

static enum cw_status check_size(struct parse *p, size_t size, uint32_t expected, const char *what, size_t range)
{
    if (size >= expected)
        return CW_OK;
    return cw_reader_fail_at(&p->file, (size_t)p->ranges.items[range].offset,
                             "found a range of %zu bytes%s, expected a value for each of %" PRIu32 " %s", size, what,
                             expected, *what ? "repeats" : "counters");
}

/* A value has at least one byte, so no range chunk is shorter than the schema has counters: with that the columns are
 * bounded by the size of the file. */
static enum cw_status check_range_sizes(struct parse *p)
{
    const struct cw_schema *s = &p->data->schema;
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < p->ranges.count && status == CW_OK; i++) {
        status = check_size(p, p->ranges.items[i].size, s->counter_count, "", i);
        if (status == CW_OK)
            status = check_size(p, p->repeated.items[i].size, s->repeat_count, " in RVAL", i);
    }
    return status;
}

static enum cw_status read_ranges(struct parse *p)
{
    struct cw_counter_data *data = p->data;
    enum cw_status status = check_range_sizes(p);
    if (status != CW_OK)
        return status;
    size_t values = p->ranges.count * cw_schema_columns(&data->schema);
    struct cw_range *ranges = cw_field_array(&p->file, p->arena, p->ranges.count, sizeof *ranges);
    data->forms = cw_field_array(&p->file, p->arena, values, 1);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        data->rollups[r] = cw_field_array(&p->file, p->arena, values, sizeof *data->rollups[r]);
    data->ranges = ranges;
    data->range_count = (uint32_t)p->ranges.count;
    status = p->file.status;
    for (size_t i = 0; i < p->ranges.count && status == CW_OK; i += SIDE_BY_SIDE) {
        size_t left = p->ranges.count - i;
        status = read_some_ranges(p, i, left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE, ranges);
    }
    return status == CW_OK ? read_facts(p) : status;
}

enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err)
{
    *data = (struct cw_counter_data){0};
    struct parse p = {.data = data, .arena = arena};
    cw_reader_init(&p.file, bytes, size, source, 0, err);
    enum cw_status status = cw_chunk_check_header(&p.file, &cw_counter_data_kind);
    if (status == CW_OK)
        status = read_schema(&p);
    if (status == CW_OK)
        status = find_chunks(&p);
    if (status == CW_OK)
        status = read_devices(&p);
    if (status == CW_OK)
        status = read_clocks(&p);
    if (status == CW_OK)
        status = read_ranges(&p);
    if (status == CW_OK)
        status = cw_pm_read(&data->pm, &data->schema, data->devices, data->device_count, &p.file, p.pm.items,
                            p.pm.count, arena);
    free(p.pm.items);
    free(p.clocks.items);
    free(p.devices.items);
    free(p.ranges.items);
    free(p.about.items);
    free(p.repeated.items);
    free(p.facts.items);
    if (status != CW_OK)
        *data = (struct cw_counter_data){0};
    return status;
}

static uint32_t clocks_before(const struct cw_counter_data *data, uint64_t device)
{
    uint32_t low = 0, high = data->clocks_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (data->clocks[middle].device < device)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t cw_counter_data_clocks(const struct cw_counter_data *data, uint32_t device, uint32_t *first)
{
    *first = clocks_before(data, device);
    return clocks_before(data, (uint64_t)device + 1) - *first;
}

const char *cw_device_attribute(const struct cw_device *device, const char *key)
{
    return cw_pair_find(device->attributes, device->attribute_count, key);
}

const char *cw_range_attribute(const struct cw_range *range, const char *key)
{
    return cw_pair_find(range->attributes, range->attribute_count, key);
}
