#include "image/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "image/data_chunks.h"

/* ---- columns ---- */

uint32_t cw_schema_columns(const struct cw_schema *schema)
{
    return schema->counter_count + schema->repeat_count;
}

uint32_t cw_schema_column_counter(const struct cw_schema *schema, uint32_t column)
{
    return column < schema->counter_count ? column : schema->repeats[column - schema->counter_count].counter;
}

/* Index of the first repeat at or behind this one. */
static uint32_t find_repeat(const struct cw_schema *schema, uint32_t counter, uint32_t pass)
{
    struct cw_search s = {0, schema->repeat_count};
    while (s.low < s.high) {
        const struct cw_schema_repeat *r = &schema->repeats[cw_search_middle(&s)];
        cw_search_narrow(&s, r->counter < counter || (r->counter == counter && r->pass < pass));
    }
    return (uint32_t)s.low;
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

/* ---- devices ---- */

static int compare_number(const void *key, const void *element)
{
    const uint32_t *number = key;
    const struct cw_device *device = element;
    return (*number > device->index) - (*number < device->index);
}

bool cw_device_find(const struct cw_device *devices, uint32_t count, uint32_t number, uint32_t *index)
{
    const struct cw_device *found = count ? bsearch(&number, devices, count, sizeof *found, compare_number) : NULL;
    if (found)
        *index = (uint32_t)(found - devices);
    return found;
}

/* ---- writing ---- */

/* Writes the lowest minor version that has all the file's chunks, so that plans and captures of ranges stay as they
 * were. */
void cw_schema_write_header(const struct cw_schema *schema, struct cw_writer *out)
{
    struct cw_chunk_kind kind = cw_counter_data_kind;
    kind.minor = schema->profiler == CW_PROFILER_TRACE || schema->traces ? 5
                 : schema->fact_count                                    ? 4
                 : schema->meaning_count                                 ? 3
                 : schema->repeat_count                                  ? 2
                 : schema->profiler == CW_PROFILER_PM                    ? 1
                                                                         : 0;
    cw_chunk_write_header(out, &kind);
}

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

void cw_schema_write_fact_names(const char *const *names, uint32_t count, struct cw_writer *out)
{
    if (!count)
        return;
    size_t start = cw_chunk_begin(out, CW_CHUNK_FACT_NAMES, CW_CHUNK_OPTIONAL);
    cw_field_write_strings(out, names, count);
    cw_chunk_end(out, start);
}

void cw_schema_write(const struct cw_schema *schema, struct cw_writer *out)
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
    cw_schema_write_fact_names(schema->fact_names, schema->fact_count, out);
    if (schema->repeat_count)
        write_repeats(schema, out);
    if (schema->meaning_count) {
        start = cw_chunk_begin(out, CW_CHUNK_MEANINGS, CW_CHUNK_OPTIONAL);
        cw_field_write_meanings(out, schema->meanings, schema->meaning_count);
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
        if (k > 0 && passes[k] <= passes[k - 1])
            cw_reader_fail_at(in, pos, "found pass %u, expected one above %u", passes[k], passes[k - 1]);
    }
    counter->passes = passes;
    counter->pass_count = count;
}

static void read_counters(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    uint32_t count = cw_read_count(in, 9, "counters");
    struct cw_schema_counter *counters = cw_field_array(in, arena, count, sizeof *counters);
    struct cw_field_key *names = cw_field_keys(in, count);
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
    /* the metrics of a plan are evaluated on every range */
    schema->metric_count = (schema->profiler < CW_PROFILER__PLANNED ? cw_field_read_names : cw_field_read_strings)(
        in, arena, &schema->metrics, "metrics");
}

static void check_repeat(const struct cw_schema *schema, const struct cw_schema_repeat *r,
                         const struct cw_schema_repeat *last, struct cw_reader *in, size_t pos)
{
    const struct cw_schema_counter *c = &schema->counters[r->counter];
    bool own = false;
    for (uint32_t i = 0; i < c->pass_count && c->whole; i++)
        own = own || c->passes[i] == r->pass;
    if (!c->whole || own)
        cw_reader_fail_at(in, pos, "found counter %u again in pass %u, expected a whole counter in another pass",
                          r->counter, r->pass);
    else if (last && (r->counter < last->counter || (r->counter == last->counter && r->pass <= last->pass)))
        cw_reader_fail_at(in, pos, "found counter %u of pass %u behind counter %u of pass %u, expected them in order",
                          r->counter, r->pass, last->counter, last->pass);
}

void cw_schema_read_repeats(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    uint32_t count = cw_read_count(in, 8, "repeats");
    struct cw_schema_repeat *repeats = cw_field_array(in, arena, count, sizeof *repeats);
    if (count > UINT32_MAX - schema->counter_count)
        cw_reader_fail_at(in, 0, "found %u repeats beside %u counters, expected fewer", count, schema->counter_count);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        repeats[i].counter = cw_field_read_index(in, schema->counter_count, "counter");
        repeats[i].pass = cw_field_read_index(in, schema->pass_count, "pass");
        if (in->status == CW_OK)
            check_repeat(schema, &repeats[i], i ? &repeats[i - 1] : NULL, in, pos);
    }
    schema->repeats = repeats;
    schema->repeat_count = in->status == CW_OK ? count : 0;
}

void cw_schema_read_fact_names(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena)
{
    schema->fact_count = cw_field_read_names(in, arena, &schema->fact_names, "facts");
    if (schema->fact_count > CW_FACTS_MAX)
        cw_reader_fail_at(in, 0, "found %u facts, expected at most %d", schema->fact_count, CW_FACTS_MAX);
}
