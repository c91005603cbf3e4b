#define _GNU_SOURCE
#include "cli/query/query.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"

struct cw_query_base cw_query_base(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    if (type == CW_COUNTER) {
        const struct cw_counter *c = &chip->counters[base];
        return (struct cw_query_base){c->dimension, c->unit, c->confirmed, &c->raws};
    }
    if (type == CW_RATIO) {
        const struct cw_ratio *r = &chip->ratios[base];
        return (struct cw_query_base){r->dimension, r->unit, r->confirmed, &r->raws};
    }
    const struct cw_throughput *t = &chip->throughputs[base];
    return (struct cw_query_base){t->dimension, t->unit, t->confirmed, &t->raws};
}

const char *cw_query_unit_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, size_t *length)
{
    const char *name = cw_chip_base_name(chip, type, base), *dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    const char *end = strstr(name, "__");
    if (!end)
        name = chip->units[cw_query_base(chip, type, base).unit].name;
    *length = end ? (size_t)(end - name) : strlen(name);
    return name;
}

bool cw_query_has_unit(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, const char *unit)
{
    size_t length;
    const char *name = cw_query_unit_name(chip, type, base, &length);
    return strcmp(chip->units[cw_query_base(chip, type, base).unit].name, unit) == 0 ||
           (strlen(unit) == length && strncmp(name, unit, length) == 0);
}

enum cw_status cw_query_check_unit(const struct cw_chip *chip, const char *unit, struct cw_error *err)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++)
            if (cw_query_has_unit(chip, (enum cw_metric_type)t, i, unit))
                return CW_OK;
    struct cw_suggest near;
    char text[256], all[512] = "";
    cw_suggest_init(&near, unit);
    size_t used = 0;
    for (uint32_t i = 0; i < chip->unit_count; i++) {
        cw_suggest_offer(&near, chip->units[i].name);
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", chip->units[i].name);
    }
    return cw_error_set(err, CW_ERR_USAGE, "found the unit '%.60s', expected one of %s%s", unit, all,
                        cw_suggest_text(&near, text, sizeof text));
}

void cw_query_put(enum cw_text_kind kind, const char *text, const char *end)
{
    cw_text_put(stdout, kind, text);
    fputs_unlocked(end, stdout);
}

bool cw_query_has_room(unsigned column)
{
    enum { LEAST = 60 };
    const unsigned window = cw_text_width(STDOUT_FILENO);
    return !window || column + LEAST <= window;
}
