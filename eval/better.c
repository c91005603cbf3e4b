#include "eval/better.h"

#include <stddef.h>
#include <string.h>

const char *const cw_better_names[CW_BETTER__COUNT] = {"unknown", "less", "more"};

struct word {
    const char *base, *behind; /* what the base name has, and what stands behind it; "" anything */
    enum cw_better better;
};

/* The first that a name has counts. */
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

/* Up to the first point behind "unit__": names of units have points as well ("SM_A.TriageCompute.sm__..."). */
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

bool cw_metric_is_count(const char *name)
{
    static const char *const asked[] = {
        "inst_executed",    "__sass_",           "launch__",       "_launched",
        "l1tex__t_sectors", "l1tex__t_requests", "l1tex__t_bytes", "l1tex__lsuin_requests"};
    static const char *const held[] = {"lookup", "cycles", "realtime"}; /* what hardware made of it */
    const size_t length = base_length(name);
    const char *behind = name + length;
    bool count = false;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        count = count || has(name, length, asked[i]);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        count = count && !has(name, length, held[i]);
    return count && (!*behind || strcmp(behind, ".sum") == 0 || strcmp(behind, ".avg") == 0);
}
