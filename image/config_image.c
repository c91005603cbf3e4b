#include "image/config_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rollup.h"

/* ---- writing ---- */

static void write_plan(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_string(out, image->chip);
    cw_write_u8(out, (uint8_t)image->profiler);
    cw_write_bytes(out, image->database, sizeof image->database);
    cw_write_string(out, image->producer);
    cw_field_write_pairs(out, image->parameters, image->parameter_count);
}

static void write_domains(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_u32(out, image->domain_count);
    for (uint32_t i = 0; i < image->domain_count; i++) {
        cw_write_u32(out, image->domains[i].id);
        cw_write_string(out, image->domains[i].name);
    }
}

static void write_raws(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_u32(out, image->raw_count);
    for (uint32_t i = 0; i < image->raw_count; i++)
        cw_write_u64(out, image->raws[i]);
}

static void write_placement(const struct cw_placement *placement, struct cw_writer *out)
{
    cw_write_u32(out, placement->raw);
    cw_write_u32(out, placement->domain);
}

static void write_passes(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_u32(out, image->pass_count);
    for (uint32_t i = 0; i < image->pass_count; i++) {
        const struct cw_config_pass *pass = &image->passes[i];
        cw_write_u32(out, pass->count);
        for (uint32_t k = 0; k < pass->count; k++)
            write_placement(&pass->placements[k], out);
    }
}

static void write_counters(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_u32(out, image->counter_count);
    for (uint32_t i = 0; i < image->counter_count; i++) {
        const struct cw_config_counter *counter = &image->counters[i];
        cw_write_string(out, counter->name);
        cw_write_u32(out, counter->instances);
        cw_write_f64(out, counter->peak);
        cw_write_u32(out, counter->raw_count);
        for (uint32_t k = 0; k < counter->raw_count; k++)
            cw_write_u32(out, counter->raws[k]);
    }
}

static void write_metrics(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_field_write_strings(out, image->metrics, image->metric_count);
}

static void write_limits(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_u32(out, image->limit_count);
    for (uint32_t i = 0; i < image->limit_count; i++) {
        const struct cw_config_limit *limit = &image->limits[i];
        cw_write_u32(out, limit->max);
        cw_write_u32(out, limit->count);
        for (uint32_t k = 0; k < limit->count; k++) {
            write_placement(&limit->members[k], out);
            cw_write_u32(out, limit->groups[k]);
        }
    }
}

static void write_meanings(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_field_write_meanings(out, image->meanings, image->meaning_count);
}

static void write_rollups(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_bytes(out, image->rollups, image->counter_count);
}

static void write_native(const struct cw_config_image *image, struct cw_writer *out)
{
    cw_write_string(out, image->native_library);
    cw_write_bytes(out, image->native, image->native_size);
}

void cw_config_image_prefix(const struct cw_config_image *image, struct cw_writer *out)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    if (arena && cw_schema_of_plan(&schema, image, arena) == CW_OK) {
        cw_schema_write_header(&schema, out);
        cw_schema_write(&schema, out);
    } else if (out->status == CW_OK) {
        out->status = CW_ERR_NOMEM;
    }
    cw_arena_destroy(arena);
}

/* ---- reading ---- */

struct parse {
    struct cw_config_image *image;
    struct cw_arena *arena;
};

static void read_plan(struct parse *p, struct cw_reader *in)
{
    struct cw_config_image *image = p->image;
    image->chip = cw_read_string(in, p->arena);
    image->profiler = cw_field_read_profiler(in, CW_PROFILER__PLANNED);
    const uint8_t *hash = cw_read_bytes(in, sizeof image->database);
    if (hash)
        memcpy(image->database, hash, sizeof image->database);
    image->producer = cw_read_string(in, p->arena);
    image->parameter_count = cw_field_read_pairs(in, p->arena, &image->parameters, "parameters");
}

static void read_domains(struct parse *p, struct cw_reader *in)
{
    uint32_t count = cw_read_count(in, 8, "domains");
    struct cw_config_domain *domains = cw_field_array(in, p->arena, count, sizeof *domains);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        domains[i].id = cw_read_u32(in);
        domains[i].name = cw_read_string(in, p->arena);
    }
    p->image->domains = domains;
    p->image->domain_count = count;
}

static void read_raws(struct parse *p, struct cw_reader *in)
{
    uint32_t count = cw_read_count(in, 8, "raw counters");
    uint64_t *raws = cw_field_array(in, p->arena, count, sizeof *raws);
    uint64_t last = 0; /* no raw counter has id 0 */
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        raws[i] = cw_read_u64(in);
        if (raws[i] <= last)
            cw_reader_fail_at(in, pos, "found raw counter id %" PRIu64 ", expected one above %" PRIu64, raws[i], last);
        last = raws[i];
    }
    p->image->raws = raws;
    p->image->raw_count = count;
}

static struct cw_placement read_placement(struct parse *p, struct cw_reader *in)
{
    struct cw_placement placement;
    placement.raw = cw_field_read_index(in, p->image->raw_count, "raw counter");
    placement.domain = cw_field_read_index(in, p->image->domain_count, "domain");
    return placement;
}

static void read_pass(struct parse *p, struct cw_reader *in, struct cw_config_pass *pass)
{
    uint32_t count = cw_read_count(in, 8, "placements");
    struct cw_placement *placements = cw_field_array(in, p->arena, count, sizeof *placements);
    struct cw_field_key *keys = cw_field_keys(in, count);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        keys[i].pos = in->pos;
        placements[i] = read_placement(p, in);
        keys[i].number = (uint64_t)placements[i].raw << 32 | placements[i].domain;
    }
    cw_field_check_unique(in, keys, count, "placement of the pass");
    free(keys);
    pass->placements = placements;
    pass->count = count;
}

static void read_passes(struct parse *p, struct cw_reader *in)
{
    uint32_t count = cw_read_count_up_to(in, 4, CW_PASSES_MAX, "passes");
    struct cw_config_pass *passes = cw_field_array(in, p->arena, count, sizeof *passes);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        read_pass(p, in, &passes[i]);
    p->image->passes = passes;
    p->image->pass_count = count;
}

/* Counts in how many places each raw counter stands, over all passes. */
static uint32_t *count_placements(struct parse *p, struct cw_reader *in)
{
    const struct cw_config_image *image = p->image;
    uint32_t *placed = cw_field_array(in, p->arena, image->raw_count, sizeof *placed);
    for (uint32_t i = 0; placed && i < image->pass_count; i++)
        for (uint32_t k = 0; k < image->passes[i].count; k++)
            placed[image->passes[i].placements[k].raw]++;
    return placed;
}

static void read_counter(struct parse *p, struct cw_reader *in, const uint32_t *placed,
                         struct cw_config_counter *counter, uint64_t *pairs)
{
    counter->name = cw_read_string(in, p->arena);
    counter->instances = cw_read_u32(in);
    counter->peak = cw_read_f64(in);
    uint32_t count = cw_read_count(in, 4, "raw counters");
    uint32_t *raws = cw_field_array(in, p->arena, count, sizeof *raws);
    for (uint32_t k = 0; k < count && in->status == CW_OK; k++) {
        raws[k] = cw_field_read_index(in, p->image->raw_count, "raw counter");
        if (in->status == CW_OK)
            *pairs += placed[raws[k]];
    }
    if (count == 0)
        *pairs += p->image->pass_count;
    counter->raws = raws;
    counter->raw_count = count;
}

static void read_counters(struct parse *p, struct cw_reader *in)
{
    uint32_t count = cw_read_count(in, 20, "counters");
    struct cw_config_counter *counters = cw_field_array(in, p->arena, count, sizeof *counters);
    struct cw_field_key *names = cw_field_keys(in, count);
    uint32_t *placed = count_placements(p, in);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        read_counter(p, in, placed, &counters[i], &pairs);
        names[i] = (struct cw_field_key){.name = counters[i].name, .pos = pos};
        if (pairs > CW_CONFIG_PAIRS_MAX)
            cw_reader_fail_at(in, pos, "found more than %d passes over all counters, expected no more",
                              CW_CONFIG_PAIRS_MAX);
    }
    cw_field_check_unique(in, names, count, "counter");
    free(names);
    p->image->counters = counters;
    p->image->counter_count = count;
}

static void read_metrics(struct parse *p, struct cw_reader *in)
{
    p->image->metric_count = cw_field_read_names(in, p->arena, &p->image->metrics, "metrics");
}

static void read_limit(struct parse *p, struct cw_reader *in, struct cw_config_limit *limit)
{
    size_t pos = in->pos;
    limit->max = cw_read_u32(in);
    if (limit->max == 0)
        cw_reader_fail_at(in, pos, "found a limit of 0 groups, expected at least 1");
    uint32_t count = cw_read_count(in, 12, "members of the limit");
    struct cw_placement *members = cw_field_array(in, p->arena, count, sizeof *members);
    uint32_t *groups = cw_field_array(in, p->arena, count, sizeof *groups);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        members[i] = read_placement(p, in);
        groups[i] = cw_read_u32(in);
    }
    limit->members = members;
    limit->groups = groups;
    limit->count = count;
}

static void read_limits(struct parse *p, struct cw_reader *in)
{
    uint32_t count = cw_read_count(in, 8, "limits");
    struct cw_config_limit *limits = cw_field_array(in, p->arena, count, sizeof *limits);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        read_limit(p, in, &limits[i]);
    p->image->limits = limits;
    p->image->limit_count = count;
}

/* Checks the prefix here: the agent copies it unread, so a wrong one would surface only in the evaluator. */
static void read_prefix(struct parse *p, struct cw_reader *in)
{
    struct cw_writer own;
    cw_writer_init(&own);
    cw_config_image_prefix(p->image, &own);
    const uint8_t *stored = cw_read_bytes(in, in->size);
    if (own.status != CW_OK) {
        in->status = cw_error_nomem(in->err);
    } else if (own.size != in->size || memcmp(own.data, stored, own.size) != 0) {
        size_t same = 0;
        while (same < own.size && same < in->size && own.data[same] == stored[same])
            same++;
        cw_reader_fail_at(in, same, "found another counter-data prefix, expected the one of this plan");
    }
    cw_writer_free(&own);
}

static void read_meanings(struct parse *p, struct cw_reader *in)
{
    p->image->meaning_count = cw_field_read_meanings(in, p->arena, &p->image->meanings);
}

static void read_rollups(struct parse *p, struct cw_reader *in)
{
    uint8_t *rollups = cw_field_array(in, p->arena, p->image->counter_count, sizeof *rollups);
    for (uint32_t i = 0; i < p->image->counter_count && in->status == CW_OK; i++) {
        rollups[i] = cw_read_u8(in);
        if (rollups[i] >= CW_ROLLUP_BIT(CW_ROLLUP_COUNT))
            cw_reader_fail_at(in, in->pos - 1, "found the rollups 0x%02x, expected bits of four", rollups[i]);
    }
    p->image->rollups = rollups;
}

static void read_native(struct parse *p, struct cw_reader *in)
{
    p->image->native_library = cw_read_string(in, p->arena);
    if (in->status != CW_OK)
        return;
    p->image->native_size = in->size - in->pos;
    p->image->native = cw_read_bytes(in, p->image->native_size);
}

/* ---- the chunks, in their order ---- */

static const struct part {
    uint32_t type, flags;
    void (*write)(const struct cw_config_image *image, struct cw_writer *out);
    void (*read)(struct parse *p, struct cw_reader *in);
} parts[] = {
    {CW_CHUNK_TYPE('P', 'L', 'A', 'N'), 0, write_plan, read_plan},
    {CW_CHUNK_TYPE('D', 'O', 'M', 'N'), 0, write_domains, read_domains},
    {CW_CHUNK_TYPE('R', 'A', 'W', 'C'), 0, write_raws, read_raws},
    {CW_CHUNK_TYPE('P', 'A', 'S', 'S'), 0, write_passes, read_passes},
    {CW_CHUNK_TYPE('C', 'N', 'T', 'R'), 0, write_counters, read_counters},
    {CW_CHUNK_TYPE('M', 'E', 'T', 'R'), 0, write_metrics, read_metrics},
    {CW_CHUNK_MEANINGS, CW_CHUNK_OPTIONAL, write_meanings, read_meanings},
    {CW_CHUNK_TYPE('R', 'L', 'U', 'P'), CW_CHUNK_OPTIONAL, write_rollups, read_rollups},
    {CW_CHUNK_TYPE('L', 'I', 'M', 'T'), 0, write_limits, read_limits},
    {CW_CHUNK_TYPE('P', 'R', 'F', 'X'), 0, cw_config_image_prefix, read_prefix},
    {CW_CHUNK_TYPE('N', 'A', 'T', 'V'), CW_CHUNK_OPTIONAL, write_native, read_native},
};
enum { PART_COUNT = sizeof parts / sizeof *parts };

void cw_config_image_write(const struct cw_config_image *image, struct cw_writer *out)
{
    struct cw_chunk_kind kind = cw_config_image_kind;
    kind.minor = image->rollups ? 2 : image->meaning_count != 0;
    cw_chunk_write_header(out, &kind);
    for (int i = 0; i < PART_COUNT; i++) {
        if ((parts[i].read == read_native && !image->native_library) ||
            (parts[i].read == read_meanings && !image->meaning_count) ||
            (parts[i].read == read_rollups && !image->rollups))
            continue;
        size_t start = cw_chunk_begin(out, parts[i].type, parts[i].flags);
        parts[i].write(image, out);
        cw_chunk_end(out, start);
    }
}

/* Index of the first part from `next` on that a chunk of this type may be: optional parts may be missing. */
static int skip_missing(int next, uint32_t type)
{
    int part = next;
    while (part < PART_COUNT && parts[part].type != type && parts[part].flags == CW_CHUNK_OPTIONAL)
        part++;
    return part < PART_COUNT && parts[part].type == type ? part : next;
}

static bool is_known(uint32_t type)
{
    for (int i = 0; i < PART_COUNT; i++)
        if (parts[i].type == type)
            return true;
    return false;
}

/* Explains the fault of a chunk that is not the expected next one. */
static enum cw_status refuse_chunk(struct cw_reader *file, const struct cw_chunk *chunk, int next)
{
    char found[5], expected[5];
    cw_chunk_type_text(chunk->type, found);
    file->pos = (size_t)chunk->offset;
    if (next > 0 && !is_known(chunk->type))
        return cw_reader_fail(file, "found an unknown chunk %s that is not optional, expected one of version 1.2",
                              found);
    if (next < PART_COUNT && parts[next].type == chunk->type)
        return cw_reader_fail(file, "found chunk %s with flags %u, expected flags %u", found, chunk->flags,
                              parts[next].flags);
    if (next == PART_COUNT)
        return cw_reader_fail(file, "found chunk %s, expected the end of the file", found);
    while (next + 1 < PART_COUNT && parts[next].flags == CW_CHUNK_OPTIONAL)
        next++;
    return cw_reader_fail(file, "found chunk %s, expected chunk %s", found,
                          cw_chunk_type_text(parts[next].type, expected));
}

static enum cw_status read_part(struct parse *p, const struct cw_reader *file, const struct cw_chunk *chunk, int index)
{
    struct cw_reader in;
    cw_chunk_open(file, chunk, &in);
    parts[index].read(p, &in);
    return cw_chunk_finish(&in, chunk);
}

static enum cw_status read_chunks(struct parse *p, struct cw_reader *file)
{
    int next = 0;
    for (;;) {
        struct cw_chunk chunk;
        bool found;
        enum cw_status status = cw_chunk_next(file, &chunk, &found, NULL);
        if (status != CW_OK)
            return status;
        if (!found)
            break;
        next = skip_missing(next, chunk.type);
        if (next < PART_COUNT && chunk.type == parts[next].type && chunk.flags == parts[next].flags) {
            status = read_part(p, file, &chunk, next++);
            if (status != CW_OK)
                return status;
        } else if (next == 0 || is_known(chunk.type) || !(chunk.flags & CW_CHUNK_OPTIONAL)) {
            return refuse_chunk(file, &chunk, next);
        }
    }
    char expected[5];
    while (next < PART_COUNT && parts[next].flags == CW_CHUNK_OPTIONAL)
        next++;
    if (next < PART_COUNT)
        return cw_reader_fail(file, "found the end of the file, expected chunk %s",
                              cw_chunk_type_text(parts[next].type, expected));
    return CW_OK;
}

enum cw_status cw_config_image_read(struct cw_config_image *image, const void *data, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err)
{
    *image = (struct cw_config_image){0};
    struct parse p = {.image = image, .arena = arena};
    struct cw_reader file;
    cw_reader_init(&file, data, size, source, 0, err);
    enum cw_status status = cw_chunk_check_header(&file, &cw_config_image_kind);
    if (status == CW_OK)
        status = read_chunks(&p, &file);
    if (status != CW_OK)
        *image = (struct cw_config_image){0};
    return status;
}

/* ---- questions about a plan ---- */

const char *cw_config_parameter(const struct cw_config_image *image, const char *key)
{
    return cw_pair_find(image->parameters, image->parameter_count, key);
}
