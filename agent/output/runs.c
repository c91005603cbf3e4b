#define _GNU_SOURCE
#include "agent/output/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/common/message.h"

struct record {
    struct cw_run_range data;
    struct cw_value *values;
    double *durations;
    struct cw_pair *attributes;
    uint64_t key;
    uint32_t next; /* index + 1 of the next record with this hash, by occurrence; 0 ends */
    uint32_t group, seen, last_run;
};

struct cw_runs {
    struct cw_arena *arena;
    uint32_t columns, passes, facts, run, group, count, capacity, added;
    uint32_t groups; /* groups that have begun; they begin in order, from 0 */
    bool first;      /* first run of its group */
    struct record *records;
    bool indexed;
    uint32_t *slots, *heads; /* by key hash, index + 1: the first record, and the first that this run may lack */
    uint32_t slot_count;
    const char *added_name;
};

struct cw_runs *cw_runs_create(uint32_t columns, uint32_t passes, uint32_t facts)
{
    struct cw_runs *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct cw_runs){
        .arena = cw_arena_create(), .columns = columns, .passes = passes, .facts = facts, .slot_count = 1024};
    if (r->arena)
        return r;
    free(r);
    return NULL;
}

void cw_runs_destroy(struct cw_runs *r)
{
    if (!r)
        return;
    cw_arena_destroy(r->arena);
    free(r->records);
    free(r->slots);
    free(r->heads);
    free(r);
}

void cw_runs_begin(struct cw_runs *r, uint32_t group)
{
    r->run++;
    r->group = group;
    r->first = group >= r->groups;
    r->groups += r->first;
    r->indexed = r->indexed && !r->first;
    r->added = 0;
    r->added_name = "";
    if (r->indexed)
        memcpy(r->heads, r->slots, r->slot_count * sizeof *r->slots);
}

static uint64_t hash(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t key_of(const struct cw_run_range *range)
{
    return hash(hash(hash(UINT64_C(0xcbf29ce484222325), range->place), range->range.kernel), range->range.name);
}

static bool same(const struct record *record, uint64_t key, const struct cw_run_range *range)
{
    return record->key == key && strcmp(record->data.place, range->place) == 0 &&
           strcmp(record->data.range.kernel, range->range.kernel) == 0 &&
           strcmp(record->data.range.name, range->range.name) == 0;
}

/* Finds the next occurrence in this run of a range of the first run. */
static struct record *find(struct cw_runs *r, uint64_t key, const struct cw_run_range *range)
{
    uint32_t *head = &r->heads[key & (r->slot_count - 1)];
    while (*head && r->records[*head - 1].last_run == r->run)
        *head = r->records[*head - 1].next;
    for (uint32_t i = *head; i; i = r->records[i - 1].next) {
        struct record *record = &r->records[i - 1];
        if (record->group == r->group && record->last_run != r->run && same(record, key, range))
            return record;
    }
    return NULL;
}

/* Builds the chains after the first run, from the back, so that they are in its order. */
static bool index_records(struct cw_runs *r)
{
    while (r->slot_count < r->count * 2)
        r->slot_count *= 2;
    free(r->slots);
    free(r->heads);
    r->slots = calloc(r->slot_count, sizeof *r->slots);
    r->heads = calloc(r->slot_count, sizeof *r->heads);
    for (uint32_t i = r->count; r->slots && r->heads && i-- > 0;) {
        uint32_t *slot = &r->slots[r->records[i].key & (r->slot_count - 1)];
        r->records[i].next = *slot;
        *slot = i + 1;
    }
    if (r->slots && r->heads)
        memcpy(r->heads, r->slots, r->slot_count * sizeof *r->slots);
    return r->slots && r->heads;
}

static bool copy_range(struct cw_runs *r, struct record *to, const struct cw_run_range *from)
{
    struct cw_range *range = &to->data.range;
    double *facts = from->range.facts ? cw_arena_alloc(r->arena, r->facts, sizeof *facts) : NULL;
    to->data = *from;
    to->data.place = cw_arena_strdup(r->arena, from->place);
    range->name = cw_arena_strdup(r->arena, from->range.name);
    range->kernel = cw_arena_strdup(r->arena, from->range.kernel);
    range->attributes = to->attributes = cw_pairs_copy(from->range.attributes, from->range.attribute_count, r->arena);
    to->values = cw_arena_alloc(r->arena, r->columns, sizeof *to->values);
    to->durations = cw_arena_alloc(r->arena, r->passes, sizeof *to->durations);
    for (uint32_t i = 0; to->durations && i < r->passes; i++)
        to->durations[i] = NAN;
    if (facts)
        memcpy(facts, from->range.facts, r->facts * sizeof *facts);
    range->facts = facts;
    to->data.values = to->values;
    range->durations = to->durations;
    return to->data.place && range->name && range->kernel && to->attributes && to->values && to->durations &&
           (facts || !from->range.facts);
}

static struct record *append(struct cw_runs *r, const struct cw_run_range *range)
{
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 256;
        struct record *grown = capacity > r->capacity ? realloc(r->records, capacity * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        r->records = grown;
        r->capacity = capacity;
    }
    struct record *record = &r->records[r->count];
    *record = (struct record){.key = key_of(range), .group = r->group};
    return copy_range(r, record, range) ? &r->records[r->count++] : NULL;
}

/* Takes over the scope: if values of one run include another's work, the range is marked so. */
static void take_scope(struct record *record, const struct cw_range *range)
{
    const char *shared = cw_scope_names[CW_SCOPE_SHARED], *scope = cw_range_attribute(range, "scope");
    bool is = scope && strcmp(scope, shared) == 0;
    for (uint32_t i = 0; is && i < record->data.range.attribute_count; i++)
        if (strcmp(record->attributes[i].key, "scope") == 0)
            record->attributes[i].value = shared;
}

static bool take_values(struct cw_runs *r, struct record *record, const struct cw_run_range *range)
{
    for (uint32_t i = 0; i < r->passes; i++)
        if (range->range.durations && !isnan(range->range.durations[i]))
            record->durations[i] = range->range.durations[i];
    for (uint32_t i = 0; i < r->columns; i++) {
        struct cw_value value = range->values[i];
        if (value.form == CW_FORM_NOT_COLLECTED)
            continue;
        if (value.form == CW_FORM_INSTANCES) {
            double *copy = cw_arena_alloc(r->arena, value.instance_count, sizeof *copy);
            if (!copy)
                return false;
            memcpy(copy, value.instances, value.instance_count * sizeof *copy);
            value.instances = copy;
        }
        record->values[i] = value;
    }
    return true;
}

enum cw_status cw_runs_add(struct cw_runs *r, const struct cw_run_range *range, struct cw_error *err)
{
    struct record *record = r->first ? append(r, range) : NULL;
    if (r->first && !record)
        return cw_error_nomem(err);
    if (!r->first) {
        if (!r->indexed && !(r->indexed = index_records(r)))
            return cw_error_nomem(err);
        record = find(r, key_of(range), range);
    }
    if (!record && !range->values)
        return CW_OK;
    if (!record) {
        if (!r->added++)
            r->added_name = cw_arena_strdup(r->arena, range->range.name);
        return r->added_name ? CW_OK : cw_error_nomem(err);
    }
    record->last_run = r->run;
    if (!range->values)
        return CW_OK;
    record->seen++;
    take_scope(record, &range->range);
    return take_values(r, record, range) ? CW_OK : cw_error_nomem(err);
}

struct cw_runs_difference cw_runs_compare(const struct cw_runs *r)
{
    struct cw_runs_difference d = {.added = r->added, .added_name = r->added_name, .missing_name = ""};
    for (uint32_t i = 0; i < r->count; i++)
        if (r->records[i].group == r->group && r->records[i].last_run != r->run && !d.missing++)
            d.missing_name = r->records[i].data.range.name;
    return d;
}

uint32_t cw_runs_count(const struct cw_runs *r)
{
    return r->count;
}

const struct cw_run_range *cw_runs_get(const struct cw_runs *r, uint32_t index)
{
    return &r->records[index].data;
}

uint32_t cw_runs_seen(const struct cw_runs *r, uint32_t index)
{
    return r->records[index].seen;
}
