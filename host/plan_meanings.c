#include "host/plan_meanings.h"

#include "metricdb/formula.h"
#include "metricdb/meaning.h"

static const char *base_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    return type == CW_FORMULA ? chip->formulas->items[base].name : cw_chip_base_name(chip, type, base);
}

static uint32_t list_marked(struct cw_meaning *list, const struct cw_chip *chip, uint8_t *const marks[CW_FORMULA + 1])
{
    uint32_t n = 0;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t i = 0; i < cw_metric_base_count(chip, type); i++) {
            if (!marks[type][i])
                continue;
            if (list) {
                struct cw_base_meaning m = cw_base_meaning(chip, type, i);
                list[n] = (struct cw_meaning){base_name(chip, type, i), m.raws, m.formula};
            }
            n++;
        }
    return n;
}

enum cw_status cw_plan_meanings(struct cw_config_image *image, const struct cw_chip *chip,
                                const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                struct cw_error *err)
{
    uint8_t *marks[CW_FORMULA + 1];
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++) {
        marks[type] = cw_arena_alloc(arena, cw_metric_base_count(chip, type), 1);
        if (!marks[type])
            return cw_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++)
        cw_base_mark(chip, metrics[i].type, metrics[i].base, marks);
    uint32_t n = list_marked(NULL, chip, marks);
    struct cw_meaning *list = cw_arena_alloc(arena, n, sizeof *list);
    if (!list)
        return cw_error_nomem(err);
    image->meaning_count = list_marked(list, chip, marks);
    image->meanings = list;
    return CW_OK;
}
