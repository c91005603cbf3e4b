#include "agent/backend/lacking.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { LONGEST_LIST = 400 }; /* length of a list in a message */

bool cw_lacking_any(const uint8_t *lacks, uint32_t count)
{
    for (uint32_t c = 0; lacks && c < count; c++)
        if (lacks[c])
            return true;
    return false;
}

bool cw_lacking_all(const uint8_t *lacks, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        if (!lacks || !lacks[c])
            return false;
    return count > 0;
}

/* Finds the unit: the text before "__", without a domain in front. */
static const char *find_unit(const char *counter, size_t *length)
{
    const char *end = strstr(counter, "__");
    end = end ? end : counter + strlen(counter);
    const char *start = end;
    while (start > counter && start[-1] != '.')
        start--;
    *length = (size_t)(end - start);
    return start;
}

bool cw_lacking_is_of(const char *counter, const char *unit)
{
    size_t length;
    const char *start = find_unit(counter, &length);
    return strlen(unit) == length && memcmp(start, unit, length) == 0;
}

/* Adds a name to a list; `more` counts names without room. */
static void add(char *text, size_t size, const char *name, size_t length, uint32_t *more)
{
    size_t used = strlen(text);
    if (*more || used + length + sizeof ", " > size || used + length > LONGEST_LIST)
        ++*more;
    else
        snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)length, name);
}

static void add_more(char *text, size_t size, uint32_t more)
{
    size_t used = strlen(text);
    if (more)
        snprintf(text + used, size - used, " and %u more", more);
}

/* Lists the units of missing counters, as "nvlrx, nvltx". Returns `text`. */
static const char *units_of(const struct cw_schema *schema, const uint8_t *lacks, char *text, size_t size)
{
    uint32_t more = 0;
    *text = 0;
    for (uint32_t c = 0; c < schema->counter_count; c++) {
        size_t length, other;
        const char *unit = find_unit(schema->counters[c].name, &length);
        bool told = !lacks[c];
        for (uint32_t i = 0; i < c && !told; i++) {
            const char *earlier = find_unit(schema->counters[i].name, &other);
            told = lacks[i] && other == length && memcmp(earlier, unit, length) == 0;
        }
        if (!told)
            add(text, size, unit, length, &more);
    }
    add_more(text, size, more);
    return text;
}

void cw_lacking_tell(uint32_t gpu, const struct cw_schema *schema, const uint8_t *lacks)
{
    char units[LONGEST_LIST + 32], counters[LONGEST_LIST + 32] = "";
    uint32_t more = 0;
    if (!cw_lacking_any(lacks, schema->counter_count))
        return;
    for (uint32_t c = 0; c < schema->counter_count; c++)
        if (lacks[c])
            add(counters, sizeof counters, schema->counters[c].name, strlen(schema->counters[c].name), &more);
    add_more(counters, sizeof counters, more);
    cw_text_print(stderr, "capture-agent: GPU %u lacks %s, or it is not up; unavailable and left out: %s\n", gpu,
                  units_of(schema, lacks, units, sizeof units), counters);
}

enum cw_status cw_lacking_everything(const struct cw_schema *schema, const uint8_t *lacks, struct cw_error *err)
{
    char units[LONGEST_LIST + 32];
    return cw_error_set(err, CW_ERR_DEVICE, "it lacks every unit that the plan counts, or none of them is up: %s",
                        units_of(schema, lacks, units, sizeof units));
}

/* Keeps the placements of needed raw counters. */
static bool keep_placements(struct cw_config_pass *pass, const bool *needed, struct cw_arena *arena)
{
    struct cw_placement *kept = cw_arena_alloc(arena, pass->count, sizeof *kept);
    uint32_t count = 0;
    for (uint32_t i = 0; kept && i < pass->count; i++)
        if (needed[pass->placements[i].raw])
            kept[count++] = pass->placements[i];
    *pass = (struct cw_config_pass){count, kept};
    return kept != NULL;
}

enum cw_status cw_lacking_rest(struct cw_config_image *rest, const struct cw_config_image *plan, const uint8_t *lacks,
                               struct cw_arena *arena, struct cw_error *err)
{
    bool *needed = cw_arena_alloc(arena, plan->raw_count, sizeof *needed);
    struct cw_config_counter *counters = cw_arena_alloc(arena, plan->counter_count, sizeof *counters);
    struct cw_config_pass *passes = cw_arena_alloc(arena, plan->pass_count, sizeof *passes);
    uint32_t count = 0;
    bool good = needed && counters && passes;
    for (uint32_t c = 0; good && c < plan->counter_count; c++) {
        if (lacks[c])
            continue;
        counters[count++] = plan->counters[c];
        for (uint32_t r = 0; r < plan->counters[c].raw_count; r++)
            needed[plan->counters[c].raws[r]] = true;
    }
    for (uint32_t p = 0; good && p < plan->pass_count; p++) {
        passes[p] = plan->passes[p];
        good = keep_placements(&passes[p], needed, arena);
    }
    *rest = *plan;
    rest->counters = counters;
    rest->counter_count = count;
    rest->passes = passes;
    rest->rollups = NULL;
    rest->native = NULL;
    rest->native_size = 0;
    return good ? CW_OK : cw_error_nomem(err);
}
