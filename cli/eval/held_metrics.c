#include "cli/eval/held_metrics.h"

#include "eval/eval_plan.h"
#include "metricdb/formula.h"
#include "metricdb/term.h"

struct holding {
    const bool *held; /* which counters of the chip the capture has */
    bool lacks;
};

static void look_up(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    struct holding *h = context;
    h->lacks = h->lacks || !h->held[counter];
}

enum cw_status cw_held_metrics(struct cw_metric **metrics, size_t *count, const struct cw_chip *chip,
                               const struct cw_schema *schema, struct cw_arena *arena, struct cw_error *err)
{
    bool *held = cw_arena_alloc(arena, chip->counter_count, sizeof *held);
    size_t room = 0;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        room += (size_t)cw_metric_base_count(chip, type) * cw_metric_variants(type);
    *metrics = cw_arena_alloc(arena, room, sizeof **metrics);
    *count = 0;
    if (!held || !*metrics)
        return cw_error_nomem(err);
    cw_eval_mark_held(held, chip, schema);
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t base = 0; base < cw_metric_base_count(chip, type); base++)
            for (uint32_t v = 0; v < cw_metric_variants(type); v++) {
                struct cw_metric m = cw_metric_variant(type, base, v);
                struct holding h = {held, false};
                const struct cw_needs needs = {.chip = chip, .held = held, .add = look_up, .context = &h};
                enum cw_status status = cw_metric_needs(&needs, &m, NULL);
                if (status == CW_ERR_NOMEM)
                    return cw_error_nomem(err);
                if (status == CW_OK && !h.lacks)
                    (*metrics)[(*count)++] = m;
            }
    return CW_OK;
}
