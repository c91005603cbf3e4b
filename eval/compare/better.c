#include "eval/compare/better.h"

#include <stddef.h>
#include <string.h>

#include "eval/sections.h"

const char *const cw_better_names[CW_BETTER__COUNT] = {"unknown", "less", "more"};

struct word {
    const char *base, *behind; /* parts of the base name, and of the text behind it; "" anything */
    enum cw_better better;
};

/* The first row that matches a name counts. */
static const struct word words[] = {
    {"", ".max_rate", CW_BETTER_UNKNOWN},
    {"", ".peak_", CW_BETTER_UNKNOWN},
    {"stalled", "", CW_BETTER_LESS},
    {"conflict", "", CW_BETTER_LESS},
    {"miss", "", CW_BETTER_LESS},
    {"hit_rate", "", CW_BETTER_MORE},
    {"occupancy_limit", "", CW_BETTER_UNKNOWN},
    {"occupancy", "", CW_BETTER_MORE},
    {"", ".pct_of_peak_", CW_BETTER_MORE},
    {"", ".per_second", CW_BETTER_MORE},
    {"inst_executed", ".per_cycle_", CW_BETTER_MORE},
    {"inst_issued", ".per_cycle_", CW_BETTER_MORE},
    {"", ".per_cycle_", CW_BETTER_UNKNOWN},
    {"", ".ratio", CW_BETTER_UNKNOWN},
    {"", ".pct", CW_BETTER_UNKNOWN},
    {"lookup_hit", "", CW_BETTER_UNKNOWN},
    {"time_duration", "", CW_BETTER_LESS},
    {"cycles_elapsed", "", CW_BETTER_LESS},
    {"inst_", "", CW_BETTER_LESS},
    {"sectors", "", CW_BETTER_LESS},
    {"requests", "", CW_BETTER_LESS},
    {"bytes", "", CW_BETTER_LESS},
    {"wavefronts", "", CW_BETTER_LESS},
    {"registers_per_thread", "", CW_BETTER_LESS},
};

static bool has(const char *name, size_t length, const char *word)
{
    const char *at = strstr(name, word);
    return at && (size_t)(at - name) + strlen(word) <= length;
}

/* The base name ends at the first point behind "unit__", as names of units have points, too
 * ("SM_A.TriageCompute.sm__..."). */
static size_t base_length(const char *name)
{
    const char *unit = strstr(name, "__"), *point = strchr(unit ? unit : name, '.');
    return point ? (size_t)(point - name) : strlen(name);
}

enum cw_better cw_metric_better(const char *name)
{
    const size_t length = base_length(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has(name, length, words[i].base) && strstr(name + length, words[i].behind))
            return words[i].better;
    return CW_BETTER_UNKNOWN;
}

static const char *const class_names[] = {"other", "exact", "measured"};

/* CW_CLASS_OTHER without a section for the name. */
static enum cw_metric_class class_of(const struct cw_sections *sections, const char *name)
{
    const uint32_t section = cw_sections_find(sections, name);
    enum cw_metric_class found = CW_CLASS_OTHER;
    for (int i = 0; section < sections->count && i < CW_CLASS__COUNT; i++)
        if (strcmp(sections->items[section].title, class_names[i]) == 0)
            found = i;
    return found;
}

enum cw_status cw_metric_classes(enum cw_metric_class **classes, const char *const *names, size_t count,
                                 const char *data, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_sections sections;
    enum cw_status status = cw_sections_load(&sections, data, "gate", arena, err);
    *classes = cw_arena_alloc(arena, count, sizeof **classes);
    if (status != CW_OK)
        return status;
    if (!*classes)
        return cw_error_nomem(err);
    for (size_t i = 0; i < count; i++)
        (*classes)[i] = class_of(&sections, names[i]);
    return CW_OK;
}
