/* Opening a capture: one walk over all its chunks. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "image/directory.h"
#include "base/search.h"
#include "image/pc_data.h"
#include "image/pm_view.h"
#include "image/range_read.h"
#include "image/range_view.h"

struct located {
    struct cw_device device;
    uint64_t offset;
};

struct missed {
    struct cw_uncounted uncounted;
    uint64_t place; /* of the chunk */
};

/* State of the one walk over all chunks. */
struct parse {
    struct cw_counter_data *data;
    struct cw_arena *arena;
    struct cw_chunk_walk walk;
    struct cw_reader file; /* without bytes, for messages */
    struct cw_directory *directory;
    struct located *devices;
    struct cw_gpu_clocks *clocks;
    uint64_t *clocks_at;
    struct missed *missed;
    size_t device_count, device_room, clocks_room, clocks_at_room, missed_count, missed_room;
    void *numbers; /* a tree of the devices' numbers */
    struct cw_range_parts parts;
    struct cw_chunk_gaps part_places; /* where they are outside packs, as gaps */
    struct cw_pm_reading *pm;
    bool ended;          /* ENDC was read */
    bool doubts;         /* parts of the next range may be lost */
    uint64_t dropped_to; /* end of the last range that was dropped */
};

/* ---- the schema ------------------------------------------------------------------------------------------------- */

static enum cw_status read_schema(struct parse *p)
{
    struct cw_chunk chunk;
    bool found;
    char text[5];
    enum cw_status status = cw_chunk_walk_next(&p->walk, &chunk, &found, NULL);
    if (status != CW_OK)
        return status;
    if (!found)
        return cw_reader_fail_at(&p->file, (size_t)p->walk.pos, "found the end of the file, expected chunk SCHM");
    if (chunk.type != CW_CHUNK_SCHEMA || chunk.flags != 0)
        return cw_reader_fail_at(&p->file, (size_t)chunk.offset,
                                 "found chunk %s with flags %u, expected chunk SCHM with flags 0",
                                 cw_chunk_type_text(chunk.type, text), chunk.flags);
    struct cw_reader in;
    cw_chunk_open(&p->file, &chunk, &in);
    cw_schema_read(&p->data->schema, &in, p->arena);
    return cw_chunk_finish(&in, &chunk);
}

/* Reads RPTS and FNAM. */
static enum cw_status read_of_ranges(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_schema *s = &p->data->schema;
    bool repeats = chunk->type == CW_CHUNK_REPEATS;
    char text[5];
    if ((repeats ? (const void *)s->repeats : s->fact_names) || p->directory->count || p->parts.any ||
        s->profiler != CW_PROFILER_RANGE)
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
    if (s->meanings || p->parts.any) /* a range that is dropped takes all from its first part on */
        return cw_reader_fail_at(&p->file, (size_t)chunk->offset,
                                 "found chunk MEAN again or inside of a range, expected it once");
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    s->meaning_count = cw_field_read_meanings(&in, p->arena, &s->meanings);
    return cw_chunk_finish(&in, chunk);
}

static enum cw_status read_end(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    uint64_t ranges = cw_read_u64(&in);
    const uint64_t found = p->directory->count;
    const bool some = p->directory->gaps.ranks != NULL; /* only some ranks were wanted */
    const bool lost = (p->directory->gaps.count || some) && ranges > found;
    p->data->damage.counted = !some;
    p->data->damage.ranges = lost && !some ? ranges - found : 0;
    if (ranges != found && !lost)
        cw_reader_fail_at(&in, 0, "found an end chunk for %" PRIu64 " ranges, expected the %" PRIu32 " of the file",
                          ranges, p->directory->count);
    p->data->dropped = cw_read_u64(&in);
    p->data->how = (enum cw_capture_end)cw_field_read_enum(&in, CW_END__COUNT, "end of the capture",
                                                           "0 (exited), 1 (signalled) or 2 (no program)");
    p->data->code = cw_read_u32(&in);
    p->ended = true;
    return cw_chunk_finish(&in, chunk);
}

/* ---- devices and their clocks ----------------------------------------------------------------------------------- */

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

static enum cw_status add_device(struct parse *p, const struct cw_chunk *chunk)
{
    struct located *grown = cw_grown(p->devices, &p->device_room, p->device_count, sizeof *grown);
    if (!grown)
        return cw_error_nomem(p->file.err);
    p->devices = grown;
    struct located *to = &p->devices[p->device_count];
    *to = (struct located){.offset = chunk->offset};
    const enum cw_status status = read_device(p, chunk, &to->device);
    if (status != CW_OK)
        return status;
    uint32_t *number = cw_arena_alloc(p->arena, 1, sizeof *number);
    if (!number || (*number = to->device.index, !tsearch(number, &p->numbers, cw_compare_u32)))
        return cw_error_nomem(p->file.err);
    if (p->device_count++ == UINT32_MAX)
        return cw_reader_fail_at(&p->file, (size_t)chunk->offset, "found more than %u devices, expected no more",
                                 UINT32_MAX);
    return CW_OK;
}

static int by_number(const void *left, const void *right)
{
    const struct located *a = left, *b = right;
    int order = (a->device.index > b->device.index) - (a->device.index < b->device.index);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static enum cw_status add_uncounted(struct parse *p, const struct cw_chunk *chunk)
{
    struct missed *grown = cw_grown(p->missed, &p->missed_room, p->missed_count, sizeof *grown);
    if (!grown)
        return cw_error_nomem(p->file.err);
    p->missed = grown;
    grown[p->missed_count].place = chunk->place;
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    cw_uncounted_read(&grown[p->missed_count++].uncounted, &in, p->arena);
    return cw_chunk_finish(&in, chunk);
}

static int by_device_and_place(const void *left, const void *right)
{
    const struct missed *a = left, *b = right;
    const int order = (a->uncounted.device > b->uncounted.device) - (a->uncounted.device < b->uncounted.device);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Adds texts about launches that were not counted to the attributes of their device. */
static bool describe_uncounted(struct cw_device *device, const struct cw_uncounted *sum, struct cw_arena *arena)
{
    const char *launches = cw_uncounted_launches(sum, arena);
    const char *example = cw_arena_printf(arena, "%" PRIu32 ", such as %s", sum->kernels, sum->example);
    uint32_t n = device->attribute_count;
    struct cw_pair *pairs = cw_arena_alloc(arena, (size_t)n + 2, sizeof *pairs);
    if (!launches || !example || !pairs)
        return false;
    if (n)
        memcpy(pairs, device->attributes, n * sizeof *pairs);
    if (*launches)
        pairs[n++] = (struct cw_pair){"launches_not_counted", launches};
    if (sum->kernels)
        pairs[n++] = (struct cw_pair){"kernels_not_counted", example};
    device->attributes = pairs;
    device->attribute_count = n;
    return true;
}

/* Sums up NCNT chunks by device. A device whose description is lost has none. */
static bool describe_all_uncounted(struct parse *p)
{
    size_t at = 0;
    if (p->missed_count)
        qsort(p->missed, p->missed_count, sizeof *p->missed, by_device_and_place);
    for (size_t i = 0; i < p->device_count; i++) {
        struct cw_device *device = &p->devices[i].device;
        while (at < p->missed_count && p->missed[at].uncounted.device < device->index)
            at++;
        struct cw_uncounted sum = {.example = ""};
        for (; at < p->missed_count && p->missed[at].uncounted.device == device->index; at++)
            cw_uncounted_add(&sum, &p->missed[at].uncounted);
        if (cw_uncounted_any(&sum) && !describe_uncounted(device, &sum, p->arena))
            return false;
    }
    return true;
}

/* Sorts devices by number: a file has them in the order of their first use. */
static enum cw_status sort_devices(struct parse *p)
{
    struct cw_device *devices = cw_field_array(&p->file, p->arena, p->device_count, sizeof *devices);
    if (p->device_count)
        qsort(p->devices, p->device_count, sizeof *p->devices, by_number);
    if (!describe_all_uncounted(p))
        return cw_error_nomem(p->file.err);
    for (size_t i = 0; devices && i < p->device_count; i++) {
        devices[i] = p->devices[i].device;
        if (i && devices[i - 1].index == devices[i].index)
            return cw_reader_fail_at(&p->file, (size_t)p->devices[i].offset,
                                     "found device %" PRIu32 " again, expected each once", devices[i].index);
    }
    p->data->devices = devices;
    p->data->device_count = (uint32_t)p->device_count;
    return p->file.status;
}

static enum cw_status add_clocks(struct parse *p, const struct cw_chunk *chunk)
{
    const uint32_t count = p->data->clocks_count;
    struct cw_gpu_clocks *clocks = cw_grown(p->clocks, &p->clocks_room, count, sizeof *clocks);
    p->clocks = clocks ? clocks : p->clocks;
    uint64_t *at = cw_grown(p->clocks_at, &p->clocks_at_room, count, sizeof *at);
    p->clocks_at = at ? at : p->clocks_at;
    if (!clocks || !at)
        return cw_error_nomem(p->file.err);
    struct cw_reader in;
    cw_chunk_open(&p->file, chunk, &in);
    cw_gpu_clocks_read(&clocks[count], &in, p->arena);
    at[count] = in.base;
    p->data->clocks_count++;
    return cw_chunk_finish(&in, chunk);
}

static int by_device_and_time(const void *left, const void *right)
{
    const struct cw_gpu_clocks *a = left, *b = right;
    int order = (a->device > b->device) - (a->device < b->device);
    uint64_t x = a->readings->wall_ns, y = b->readings->wall_ns;
    return order ? order : (x > y) - (x < y);
}

/* Sorts clocks, and leaves out clocks of a device whose description is lost. */
static enum cw_status sort_clocks(struct parse *p)
{
    struct cw_counter_data *d = p->data;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->clocks_count; i++) {
        const uint32_t number = p->clocks[i].device;
        const bool known = cw_device_find(d->devices, d->device_count, number, &p->clocks[i].device);
        if (!known && !p->directory->gaps.count)
            return cw_reader_fail_at(&p->file, (size_t)p->clocks_at[i],
                                     "found clocks of device %" PRIu32 ", expected one with a DEVC chunk", number);
        if (known)
            p->clocks[kept++] = p->clocks[i];
    }
    d->clocks_count = kept;
    if (d->clocks_count)
        qsort(p->clocks, d->clocks_count, sizeof *p->clocks, by_device_and_time);
    d->clocks = p->clocks;
    return CW_OK;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static enum cw_status read_about(struct parse *p, struct cw_range *range)
{
    struct cw_reader in;
    if (!p->parts.about.type)
        return CW_OK;
    cw_chunk_open(&p->file, &p->parts.about, &in);
    range->attribute_count = cw_field_read_pairs(&in, p->arena, &range->attributes, "attributes");
    return cw_chunk_finish(&in, &p->parts.about);
}

/* Reads a launch. Its device keeps the number of the file until all devices are known. */
static enum cw_status read_launch(struct parse *p, const struct cw_chunk *chunk, struct cw_range *range)
{
    struct cw_reader in;
    size_t device_at;
    cw_chunk_open(&p->file, chunk, &in);
    cw_range_read_head(range, &device_at, &in, p->arena);
    if (in.status == CW_OK && !tfind(&range->device, &p->numbers, cw_compare_u32))
        cw_reader_fail_at(&in, device_at,
                          "found a range of device %" PRIu32 ", expected one with a DEVC chunk before it",
                          range->device);
    return in.status == CW_OK ? read_about(p, range) : in.status;
}

static enum cw_status check_facts(struct parse *p)
{
    double facts[CW_FACTS_MAX];
    const uint32_t count = p->data->schema.fact_count;
    const enum cw_status status = count ? cw_facts_read(&p->file, &p->parts.facts, facts, count) : CW_OK;
    for (uint32_t f = 0; status == CW_OK && f < count; f++)
        p->directory->facts_known |= (uint64_t)!isnan(facts[f]) << f;
    return status;
}

/* Checks the values behind the launch. */
static enum cw_status check_values(struct parse *p, const struct cw_chunk *chunk, size_t head)
{
    const struct cw_schema *s = &p->data->schema;
    struct cw_directory *d = p->directory;
    struct cw_reader in, more;
    cw_chunk_open(&p->file, chunk, &in);
    cw_chunk_open(&p->file, &p->parts.repeated, &more);
    cw_read_bytes(&in, head);
    const uint64_t start = cw_read_u64(&in);
    cw_read_u64(&in);
    d->first_ns = start && (!d->first_ns || start < d->first_ns) ? start : d->first_ns;
    if (in.status == CW_OK && s->pass_count > (in.size - in.pos) / 8)
        cw_reader_fail(&in, "found %zu bytes, expected the durations of %" PRIu32 " passes", in.size - in.pos,
                       s->pass_count);
    cw_read_bytes(&in, 8 * (size_t)s->pass_count);
    cw_range_skip_values(&in, s->counter_count);
    enum cw_status status = cw_chunk_finish(&in, chunk);
    if (status == CW_OK && s->repeat_count) {
        cw_range_skip_values(&more, s->repeat_count);
        status = cw_chunk_finish(&more, &p->parts.repeated);
    }
    return status == CW_OK ? check_facts(p) : status;
}

static enum cw_status check_size(struct parse *p, const struct cw_chunk *range, size_t size, uint32_t expected,
                                 const char *what)
{
    if (size >= expected)
        return CW_OK;
    return cw_reader_fail_at(&p->file, (size_t)range->offset,
                             "found a range of %zu bytes%s, expected a value for each of %" PRIu32 " %s", size, what,
                             expected, *what ? "repeats" : "counters");
}

static enum cw_status find_launch(struct parse *p, const struct cw_chunk *chunk, size_t head, uint32_t *launch)
{
    const struct cw_launch_bytes bytes = {chunk->payload, p->parts.about.payload, head, p->parts.about.size};
    bool known;
    enum cw_status status = cw_directory_find(p->directory, &bytes, launch, &known, p->arena, p->file.err);
    return status == CW_OK && !known ? read_launch(p, chunk, &p->directory->items[*launch]) : status;
}

/* Whether damage before the range may have lost one of its parts or its device's description, so that its launch is
 * unknown. */
static bool is_orphan(const struct parse *p, const struct cw_chunk *chunk, size_t head)
{
    enum { DEVICE_TO_END = 4 + 4 + 8 + 8 + 12 + 12 };
    struct cw_reader in;
    if (p->doubts || !p->directory->gaps.count || !head)
        return p->doubts;
    cw_reader_quiet(&in, chunk->payload + head - DEVICE_TO_END, 4);
    const uint32_t device = cw_read_u32(&in);
    return !tfind(&device, &p->numbers, cw_compare_u32);
}

static void clear_parts(struct parse *p)
{
    cw_range_parts_clear(&p->parts);
    p->part_places.count = 0;
}

static struct cw_chunk_gap place_of(const struct cw_chunk *chunk)
{
    return (struct cw_chunk_gap){chunk->offset, chunk->offset + CW_CHUNK_HEADER_SIZE + chunk->size, 0};
}

static enum cw_status take_part(struct parse *p, const struct cw_chunk *chunk, bool *taken)
{
    const struct cw_chunk_gap place = place_of(chunk);
    const enum cw_status status = cw_range_parts_take(&p->parts, chunk, taken, p->file.err);
    return status == CW_OK && *taken && !chunk->packed ? cw_chunk_gaps_add(&p->part_places, &place, p->file.err)
                                                       : status;
}

/* Drops the parts that were read. Chunks of other types among them were taken, and stay. */
static enum cw_status drop_parts(struct parse *p)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < p->part_places.count && status == CW_OK; i++)
        status = cw_chunk_gaps_add(&p->directory->gaps, &p->part_places.items[i], p->file.err);
    clear_parts(p);
    return status;
}

/* Drops a range with its parts. */
static enum cw_status drop_range(struct parse *p, const struct cw_chunk *chunk)
{
    const struct cw_chunk_gap gap = place_of(chunk);
    const uint64_t place = p->parts.start;
    p->doubts = false;
    if (chunk->packed) {
        clear_parts(p);
        return cw_chunk_gaps_drop(&p->directory->gaps, place, p->file.err);
    }
    p->dropped_to = gap.to;
    CW_TRY(drop_parts(p));
    return cw_chunk_gaps_add(&p->directory->gaps, &gap, p->file.err);
}

static enum cw_status list_range(struct parse *p, const struct cw_chunk *chunk, size_t head)
{
    const struct cw_schema *s = &p->data->schema;
    uint32_t launch = 0;
    CW_TRY(check_size(p, chunk, chunk->size, s->counter_count, ""));
    CW_TRY(check_size(p, chunk, p->parts.repeated.size, s->repeat_count, " in RVAL"));
    if (p->directory->count == UINT32_MAX)
        return cw_reader_fail_at(&p->file, (size_t)chunk->offset,
                                 "found more than %" PRIu32 " ranges, expected no more", UINT32_MAX);
    if (!head) /* this call gives the message */
        CW_TRY(read_launch(p, chunk, &(struct cw_range){0}));
    CW_TRY(find_launch(p, chunk, head, &launch));
    CW_TRY(check_values(p, chunk, head));
    return cw_directory_add(p->directory, p->parts.start, launch, p->file.err);
}

static enum cw_status add_range(struct parse *p, const struct cw_chunk *chunk)
{
    const size_t head = cw_range_head_size(chunk);
    if (is_orphan(p, chunk, head))
        return drop_range(p, chunk);
    enum cw_status status = list_range(p, chunk, head);
    clear_parts(p);
    return status;
}

static void index_devices(struct parse *p)
{
    for (uint32_t i = 0; i < p->directory->item_count; i++) {
        struct cw_range *launch = &p->directory->items[i];
        cw_device_find(p->data->devices, p->data->device_count, launch->device, &launch->device);
    }
}

/* ---- all chunks ------------------------------------------------------------------------------------------------- */

/* Called before each chunk. If damage ends at this chunk, earlier parts of the next range are lost as well. The chunks
 * that follow may lack parts, unless the damage is a single chunk of a type that is no such part, or a range begins
 * anew with its attributes. */
static enum cw_status take_gap(struct parse *p, const struct cw_chunk *chunk)
{
    struct cw_chunk_gaps *gaps = &p->directory->gaps;
    if (gaps->count && gaps->items[gaps->count - 1].to == chunk->offset && chunk->offset != p->dropped_to) {
        const uint32_t type = gaps->items[gaps->count - 1].type;
        p->doubts = type != CW_CHUNK_RANGE && type != CW_CHUNK_DEVICE && type != CW_CHUNK_GPU_CLOCKS;
        if (chunk->packed) { /* records are whole, so only the first one follows the damage */
            p->doubts = false;
            if (chunk->place != chunk->offset || (p->parts.any && p->parts.start == chunk->place))
                return CW_OK;
        }
        const struct cw_chunk_gap damaged = gaps->items[--gaps->count]; /* the parts are before it */
        CW_TRY(drop_parts(p));
        CW_TRY(cw_chunk_gaps_add(gaps, &damaged, p->file.err));
    }
    p->doubts = p->doubts &&
                (chunk->type == CW_CHUNK_REPEATED || chunk->type == CW_CHUNK_FACTS || chunk->type == CW_CHUNK_RANGE);
    return CW_OK;
}

static enum cw_status take_chunk(struct parse *p, const struct cw_chunk *chunk)
{
    char text[5];
    bool taken;
    enum cw_status status = take_part(p, chunk, &taken);
    if (status != CW_OK || taken)
        return status;
    cw_chunk_type_text(chunk->type, text);
    if ((chunk->type == CW_CHUNK_REPEATS || chunk->type == CW_CHUNK_FACT_NAMES) && chunk->flags == CW_CHUNK_OPTIONAL)
        return read_of_ranges(p, chunk);
    if (chunk->type == CW_CHUNK_MEANINGS && chunk->flags == CW_CHUNK_OPTIONAL)
        return read_meanings(p, chunk);
    bool known = chunk->type == CW_CHUNK_DEVICE || chunk->type == CW_CHUNK_RANGE || chunk->type == CW_CHUNK_END;
    if (known && chunk->flags == 0)
        return chunk->type == CW_CHUNK_END      ? read_end(p, chunk)
               : chunk->type == CW_CHUNK_DEVICE ? add_device(p, chunk)
                                                : add_range(p, chunk);
    if (cw_pm_chunk_is_known(chunk->type) && chunk->flags == CW_CHUNK_OPTIONAL)
        return cw_pm_reading_take(p->pm, chunk);
    if (chunk->type == CW_CHUNK_GPU_CLOCKS && chunk->flags == CW_CHUNK_OPTIONAL)
        return add_clocks(p, chunk);
    if (chunk->type == CW_CHUNK_UNCOUNTED && chunk->flags == CW_CHUNK_OPTIONAL)
        return add_uncounted(p, chunk);
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

static enum cw_status take_chunks(struct parse *p)
{
    for (;;) {
        struct cw_chunk chunk;
        bool found, truncated = false;
        const uint64_t left = p->walk.window.input->size - p->walk.pos;
        if (p->ended && left)
            return cw_reader_fail_at(&p->file, (size_t)p->walk.pos,
                                     "found %" PRIu64 " bytes after the end chunk, expected the end of the file", left);
        enum cw_status status = cw_chunk_walk_next(&p->walk, &chunk, &found, &truncated);
        if (status == CW_OK && found)
            status = take_gap(p, &chunk);
        if (status == CW_OK && found)
            status = take_chunk(p, &chunk);
        if (status != CW_OK || !found)
            return status;
    }
}

static void sum_up_damage(struct parse *p)
{
    const struct cw_chunk_gaps *gaps = &p->directory->gaps;
    struct cw_damage *damage = &p->data->damage;
    damage->places = gaps->count;
    damage->first = gaps->count ? gaps->items[0].from : 0;
    for (size_t i = 0; i < gaps->count; i++)
        damage->bytes += gaps->items[i].to - gaps->items[i].from;
    p->data->complete = p->ended && !gaps->count;
}

static void leave(void *number)
{
    (void)number;
}

/* Moves the lists that were read into the arena. */
static enum cw_status keep(struct parse *p, enum cw_status status)
{
    struct cw_directory *d = p->directory;
    cw_directory_finish(d);
    void *const lists[] = {d->places, d->launches, d->items, p->clocks, d->gaps.items, d->gaps.dropped};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!cw_arena_adopt(p->arena, lists[i]) && status == CW_OK)
            status = cw_error_nomem(p->file.err);
    p->data->directory = d;
    p->data->range_count = d->count;
    return status;
}

enum cw_status cw_counter_data_open(struct cw_counter_data *data, const struct cw_input *input, struct cw_arena *arena,
                                    struct cw_error *err)
{
    return cw_counter_data_open_ranks(data, input, NULL, arena, err);
}

enum cw_status cw_counter_data_open_ranks(struct cw_counter_data *data, const struct cw_input *input, const char *ranks,
                                          struct cw_arena *arena, struct cw_error *err)
{
    struct parse p = {.data = data, .arena = arena, .directory = cw_arena_alloc(arena, 1, sizeof *p.directory)};
    *data = (struct cw_counter_data){.input = input};
    p.pm = cw_pm_reading_begin(&data->pm, &data->schema, &p.file, arena);
    if (!p.directory || !p.pm)
        return cw_error_nomem(err);
    enum cw_status status = cw_chunk_walk_begin(&p.walk, input, &cw_counter_data_kind, 0, err);
    p.file = cw_chunk_walk_reader(&p.walk);
    if (status == CW_OK)
        status = read_schema(&p);
    p.directory->gaps.ranks = ranks;
    p.walk.mends = &p.directory->gaps;
    if (status == CW_OK)
        status = take_chunks(&p);
    sum_up_damage(&p);
    if (status == CW_OK)
        status = sort_devices(&p);
    if (status == CW_OK)
        status = sort_clocks(&p);
    if (status == CW_OK)
        index_devices(&p);
    status = cw_pm_reading_finish(p.pm, data->devices, data->device_count, status);
    status = keep(&p, status);
    cw_chunk_walk_end(&p.walk);
    cw_range_parts_free(&p.parts);
    free(p.part_places.items);
    tdestroy(p.numbers, leave);
    free(p.devices);
    free(p.clocks_at);
    free(p.missed);
    if (status != CW_OK)
        *data = (struct cw_counter_data){0};
    return status;
}

/* ---- whole captures ---------------------------------------------------------------------------------------------- */

/* Loads a whole capture into memory. */

static enum cw_status allocate(struct cw_counter_data *to, struct cw_range **ranges, double **durations,
                               struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *s = &to->schema;
    const size_t count = to->range_count, values = count * cw_schema_columns(s);
    to->ranges = *ranges = cw_arena_alloc(arena, count, sizeof **ranges);
    *durations = cw_arena_alloc(arena, count * s->pass_count, sizeof **durations);
    to->forms = cw_arena_alloc(arena, values, sizeof *to->forms);
    to->facts = cw_arena_alloc(arena, count * s->fact_count, sizeof *to->facts);
    bool good = *ranges && *durations && to->forms && to->facts;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        to->rollups[r] = cw_arena_alloc(arena, values, sizeof *to->rollups[r]);
        good = good && to->rollups[r];
    }
    return good ? CW_OK : cw_error_nomem(err);
}

/* Copies the columns of a view, whose ranges begin at `first`. */
static void take_columns(struct cw_counter_data *to, const struct cw_counter_data *view, uint32_t first)
{
    const uint32_t columns = cw_schema_columns(&to->schema), count = view->range_count;
    for (uint32_t c = 0; c < columns; c++) {
        const size_t at = (size_t)c * to->range_count + first, from = (size_t)c * count;
        memcpy(to->forms + at, view->forms + from, count * sizeof *to->forms);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            memcpy(to->rollups[r] + at, view->rollups[r] + from, count * sizeof *to->rollups[r]);
    }
    for (uint32_t f = 0; f < to->schema.fact_count; f++)
        memcpy(to->facts + (size_t)f * to->range_count + first, view->facts + (size_t)f * count,
               count * sizeof *to->facts);
}

static enum cw_status load_ranges(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_counter_data to = *data;
    struct cw_range_view view;
    struct cw_range *ranges;
    double *durations;
    const uint32_t passes = data->schema.pass_count;
    enum cw_status status = cw_range_view_init(&view, data, arena, err);
    if (status == CW_OK)
        status = allocate(&to, &ranges, &durations, arena, err);
    for (uint32_t first = 0, n; status == CW_OK && first < data->range_count; first += n) {
        n = data->range_count - first < view.room ? data->range_count - first : view.room;
        status = cw_range_view_load(&view, first, NULL, n);
        if (status != CW_OK)
            break;
        take_columns(&to, &view.data, first);
        for (uint32_t i = 0; i < n; i++) {
            double *own = durations + (size_t)(first + i) * passes;
            ranges[first + i] = view.ranges[i];
            ranges[first + i].durations = own;
            memcpy(own, view.ranges[i].durations, passes * sizeof *own);
        }
    }
    cw_range_view_free(&view);
    to.directory = NULL;
    if (status == CW_OK)
        *data = to;
    return status;
}

static enum cw_status load_times(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pm_data *pm = &data->pm;
    struct cw_pm_view view;
    pm->start_ns = cw_arena_alloc(arena, pm->sample_count, sizeof *pm->start_ns);
    pm->end_ns = cw_arena_alloc(arena, pm->sample_count, sizeof *pm->end_ns);
    if (!pm->start_ns || !pm->end_ns)
        return cw_error_nomem(err);
    enum cw_status status = cw_pm_view_init(&view, data, arena, err);
    for (uint32_t b = 0; b < pm->block_count && status == CW_OK; b++)
        for (uint32_t first = 0, n; first < pm->blocks[b].count && status == CW_OK; first += n) {
            n = cw_pm_view_load_times(&view, data, b, first);
            memcpy(pm->start_ns + pm->blocks[b].first + first, view.start_ns, n * sizeof *view.start_ns);
            memcpy(pm->end_ns + pm->blocks[b].first + first, view.end_ns, n * sizeof *view.end_ns);
            status = view.status;
        }
    cw_pm_view_free(&view);
    return status;
}

enum cw_status cw_counter_data_load(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = data->directory ? load_ranges(data, arena, err) : CW_OK;
    return status == CW_OK && !data->pm.start_ns ? load_times(data, arena, err) : status;
}

enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *name,
                                    struct cw_arena *arena, struct cw_error *err)
{
    struct cw_input *input = cw_arena_alloc(arena, 1, sizeof *input);
    *data = (struct cw_counter_data){0};
    if (!input)
        return cw_error_nomem(err);
    *input = cw_input_of(bytes, size, name);
    enum cw_status status = cw_counter_data_open(data, input, arena, err);
    if (status == CW_OK)
        status = cw_counter_data_load(data, arena, err);
    if (status != CW_OK)
        *data = (struct cw_counter_data){0};
    return status;
}
