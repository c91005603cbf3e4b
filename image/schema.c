#include "image/schema.h"

#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"
#include "image/fields.h"
#include "image/meanings.h"

/* ---- columns ---- */

uint32_t cw_schema_columns(const struct cw_schema *schema)
{
    return schema->counter_count + schema->repeat_count;
}

uint32_t cw_schema_column_counter(const struct cw_schema *schema, uint32_t column)
{
    return column < schema->counter_count ? column : schema->repeats[column - schema->counter_count].counter;
}

/* The first repeat that is not before this one. */
static uint32_t find_repeat(const struct cw_schema *schema, uint32_t counter, uint32_t pass)
{
    uint32_t low = 0, high = schema->repeat_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct cw_schema_repeat *r = &schema->repeats[middle];
        if (r->counter < counter || (r->counter == counter && r->pass < pass))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t cw_schema_repeats_of(const struct cw_schema *schema, uint32_t counter, uint32_t *first)
{
    uint32_t end = *first = find_repeat(schema, counter, 0);
    while (end < schema->repeat_count && schema->repeats[end].counter == counter)
        end++;
    return end - *first;
}

uint32_t cw_schema_column_in(const struct cw_schema *schema, uint32_t counter, uint32_t pass)
{
    const struct cw_schema_counter *c = &schema->counters[counter];
    for (uint32_t i = 0; c->whole && i < c->pass_count; i++)
        if (c->passes[i] == pass)
            return counter;
    uint32_t at = find_repeat(schema, counter, pass);
    bool found =
        at < schema->repeat_count && schema->repeats[at].counter == counter && schema->repeats[at].pass == pass;
    return found ? schema->counter_count + at : CW_NO_COLUMN;
}

/* ---- writing ---- */

static void write_repeats(const struct cw_schema *schema, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_REPEATS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, schema->repeat_count);
    for (uint32_t i = 0; i < schema->repeat_count; i++) {
        cw_write_u32(out, schema->repeats[i].counter);
        cw_write_u32(out, schema->repeats[i].pass);
    }
    cw_chunk_end(out, start);
}

void cw_counter_data_write_schema(const struct cw_schema *schema, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_SCHEMA, 0);
    cw_write_string(out, schema->chip);
    cw_write_u8(out, (uint8_t)schema->profiler);
    cw_write_bytes(out, schema->database, sizeof schema->database);
    cw_write_string(out, schema->producer);
    cw_write_u32(out, schema->pass_count);
    cw_write_u32(out, schema->counter_count);
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        const struct cw_schema_counter *counter = &schema->counters[i];
        cw_write_string(out, counter->name);
        cw_write_u8(out, counter->whole);
        cw_write_u32(out, counter->pass_count);
        for (uint32_t k = 0; k < counter->pass_count; k++)
            cw_write_u32(out, counter->passes[k]);
    }
    cw_field_write_strings(out, schema->metrics, schema->metric_count);
    cw_chunk_end(out, start);
    if (schema->repeat_count)
        write_repeats(schema, out);
    if (schema->meaning_count) {
        start = cw_chunk_begin(out, CW_CHUNK_MEANINGS, CW_CHUNK_OPTIONAL);
        cw_meanings_write(schema->meanings, schema->meaning_count, out);
        cw_chunk_end(out, start);
    }
}

/* ---- reading ---- */

static void read_counter(struct cw_reader *in, struct cw_arena *arena, uint32_t pass_count,
                         struct cw_schema_counter *counter)
{
    counter->name = cw_read_string(in, arena);
    counter->whole = cw_field_read_enum(in, 2, "a counter's whole flag", "0 or 1") != 0;
    uint32_t count = cw_read_count(in, 4, "passes of a counter");
    uint32_t *passes = cw_field_array(in, arena, count, sizeof *passes);
    for (uint32_t k = 0; k < count && in->status == CW_OK; k++) {
        size_t pos = in->pos;
        passes[k] = cw_field_read_index(in, pass_count, "pass");
        if (in->status == CW_OK && k > 0 && passes[k] <= passes[k - 1]) {
            in->pos = pos;
            cw_reader_fail(in, "found pass %u, expected one above %u", passes[k], passes[k - 1]);
        }
    }
    counter->passes = passes;
    counter->pass_count = count;
}

static void read_counters(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    uint32_t count = cw_read_count(in, 9, "counters");
    struct cw_schema_counter *counters = cw_field_array(in, arena, count, sizeof *counters);
    struct cw_field_key *names = calloc((size_t)count + 1, sizeof *names);
    if (!names && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        read_counter(in, arena, schema->pass_count, &counters[i]);
        names[i] = (struct cw_field_key){.name = counters[i].name, .pos = pos};
    }
    cw_field_check_unique(in, names, count, "counter");
    free(names);
    schema->counters = counters;
    schema->counter_count = count;
}

void cw_schema_read(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    *schema = (struct cw_schema){.chip = cw_read_string(in, arena)};
    schema->profiler = cw_field_read_profiler(in, CW_PROFILER__COUNT);
    const uint8_t *hash = cw_read_bytes(in, sizeof schema->database);
    if (hash)
        memcpy(schema->database, hash, sizeof schema->database);
    schema->producer = cw_read_string(in, arena);
    schema->pass_count = cw_read_count_up_to(in, 0, CW_PASSES_MAX, "passes");
    read_counters(schema, in, arena);
    /* what a plan names is evaluated on every range */
    schema->metric_count = (schema->profiler < CW_PROFILER__PLANNED ? cw_field_read_names : cw_field_read_strings)(
        in, arena, &schema->metrics, "metrics");
}

static void check_repeat(const struct cw_schema *schema, const struct cw_schema_repeat *r,
                         const struct cw_schema_repeat *last, struct cw_reader *in)
{
    const struct cw_schema_counter *c = &schema->counters[r->counter];
    bool own = false;
    for (uint32_t i = 0; i < c->pass_count && c->whole; i++)
        own = own || c->passes[i] == r->pass;
    if (!c->whole || own)
        cw_reader_fail(in, "found counter %u again in pass %u, expected one that is whole, in another pass", r->counter,
                       r->pass);
    else if (last && (r->counter < last->counter || (r->counter == last->counter && r->pass <= last->pass)))
        cw_reader_fail(in, "found counter %u of pass %u behind counter %u of pass %u, expected them in order",
                       r->counter, r->pass, last->counter, last->pass);
}

void cw_schema_read_repeats(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    uint32_t count = cw_read_count(in, 8, "repeats");
    struct cw_schema_repeat *repeats = cw_field_array(in, arena, count, sizeof *repeats);
    if (in->status == CW_OK && count > UINT32_MAX - schema->counter_count) {
        in->pos = 0;
        cw_reader_fail(in, "found %u repeats beside %u counters, expected fewer", count, schema->counter_count);
    }
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        repeats[i].counter = cw_field_read_index(in, schema->counter_count, "counter");
        repeats[i].pass = cw_field_read_index(in, schema->pass_count, "pass");
        if (in->status != CW_OK)
            break;
        size_t after = in->pos;
        in->pos = pos;
        check_repeat(schema, &repeats[i], i ? &repeats[i - 1] : NULL, in);
        in->pos = in->status == CW_OK ? after : pos;
    }
    schema->repeats = repeats;
    schema->repeat_count = in->status == CW_OK ? count : 0;
}

/* ---- from a plan ---- */

/* The passes of every raw counter, and room to tally passes. Without it, finding the passes of every counter would
 * search every pass for every raw counter again. */
struct pass_index {
    size_t *start; /* [raw_count + 1]: raw r is in passes[start[r]] up to passes[start[r + 1]], ascending */
    uint32_t *passes;
    uint32_t *last;  /* [raw_count]: 1 + the last pass seen, since a raw counter may have several placements in one */
    uint32_t *tally; /* [pass_count], zero between uses */
    uint32_t *found; /* [pass_count] */
};

static void index_free(struct pass_index *index)
{
    free(index->start);
    free(index->passes);
    free(index->last);
    free(index->tally);
    free(index->found);
}

/* Visits each raw counter of each pass once: counts it in at[raw], or, where `count` is false, stores the pass at
 * passes[at[raw]] and moves at[raw] on. */
static void index_walk(struct pass_index *index, const struct cw_config_image *image, size_t *at, bool count)
{
    memset(index->last, 0, (size_t)image->raw_count * sizeof *index->last);
    for (uint32_t i = 0; i < image->pass_count; i++) {
        const struct cw_config_pass *pass = &image->passes[i];
        for (uint32_t k = 0; k < pass->count; k++) {
            uint32_t raw = pass->placements[k].raw;
            if (index->last[raw] == i + 1)
                continue;
            index->last[raw] = i + 1;
            if (count)
                at[raw]++;
            else
                index->passes[at[raw]++] = i;
        }
    }
}

static enum cw_status index_build(struct pass_index *index, const struct cw_config_image *image)
{
    size_t raws = image->raw_count, total = 0;
    *index = (struct pass_index){
        .start = calloc(raws + 1, sizeof *index->start),
        .last = calloc(raws + 1, sizeof *index->last),
        .tally = calloc((size_t)image->pass_count + 1, sizeof *index->tally),
        .found = calloc((size_t)image->pass_count + 1, sizeof *index->found),
    };
    if (!index->start || !index->last || !index->tally || !index->found)
        return CW_ERR_NOMEM;
    index_walk(index, image, index->start, true);
    for (size_t r = 0; r <= raws; r++) {
        size_t own = index->start[r];
        index->start[r] = total;
        total += own;
    }
    index->passes = calloc(total + 1, sizeof *index->passes);
    if (!index->passes)
        return CW_ERR_NOMEM;
    index_walk(index, image, index->start, false);
    /* storing moved each start to its end, which is the next one's start */
    memmove(index->start + 1, index->start, raws * sizeof *index->start);
    index->start[0] = 0;
    return CW_OK;
}

static int compare_u32(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* As cw_config_counter_passes, into index->found. */
static uint32_t index_find(struct pass_index *index, const struct cw_config_image *image,
                           const struct cw_config_counter *counter, bool *whole)
{
    uint32_t some = 0, all = 0;
    if (counter->raw_count == 0) {
        for (uint32_t i = 0; i < image->pass_count; i++)
            index->found[i] = i;
        *whole = image->pass_count > 0;
        return image->pass_count;
    }
    for (uint32_t k = 0; k < counter->raw_count; k++)
        for (size_t i = index->start[counter->raws[k]]; i < index->start[counter->raws[k] + 1]; i++)
            if (index->tally[index->passes[i]]++ == 0)
                index->found[some++] = index->passes[i];
    for (uint32_t i = 0; i < some; i++)
        all += index->tally[index->found[i]] == counter->raw_count;
    *whole = some == 1 && all == 1;
    for (uint32_t i = 0; i < some; i++)
        index->tally[index->found[i]] = 0;
    if (counter->raw_count > 1 && some)
        qsort(index->found, some, sizeof *index->found, compare_u32);
    return some;
}

static enum cw_status schema_counters(struct cw_schema *schema, const struct cw_config_image *image,
                                      struct pass_index *index, struct cw_arena *arena)
{
    struct cw_schema_counter *counters = cw_arena_alloc(arena, image->counter_count, sizeof *counters);
    if (!counters)
        return CW_ERR_NOMEM;
    for (uint32_t i = 0; i < image->counter_count; i++) {
        uint32_t count = index_find(index, image, &image->counters[i], &counters[i].whole);
        uint32_t *passes = cw_arena_alloc(arena, count, sizeof *passes);
        if (!passes)
            return CW_ERR_NOMEM;
        memcpy(passes, index->found, count * sizeof *passes);
        counters[i].name = image->counters[i].name;
        counters[i].passes = passes;
        counters[i].pass_count = count;
    }
    schema->counters = counters;
    schema->counter_count = image->counter_count;
    return CW_OK;
}

enum cw_status cw_schema_of_plan(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena)
{
    *schema = (struct cw_schema){
        .chip = image->chip,
        .producer = image->producer,
        .profiler = image->profiler,
        .pass_count = image->pass_count,
        .metric_count = image->metric_count,
        .metrics = image->metrics,
        .meaning_count = image->meaning_count,
        .meanings = image->meanings,
    };
    memcpy(schema->database, image->database, sizeof schema->database);
    struct pass_index index;
    enum cw_status status = index_build(&index, image);
    if (status == CW_OK)
        status = schema_counters(schema, image, &index, arena);
    index_free(&index);
    return status;
}
