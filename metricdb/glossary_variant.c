/* Describes whole metrics: the base name, then a sentence about rollup and sub-metric. */
#include "metricdb/glossary.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "metricdb/formula.h"

static const char *const rollup_texts[] = {"the sum over the unit's instances", "the average of the unit's instances",
                                           "the smallest of the unit's instances",
                                           "the largest of the unit's instances"};

/* Text behind the rollup, or around it (with %). */
static const char *const sub_texts[CW_SUB__COUNT] = {
    [CW_SUB_NONE] = "%.",
    [CW_SUB_PEAK] = "The rate for each cycle that the hardware can sustain; %.",
    [CW_SUB_PEAK_ACTIVE] = "What the hardware can sustain in the unit's active cycles; %.",
    [CW_SUB_PEAK_ACTIVE_PER_SECOND] = ("What the hardware can sustain in the unit's active cycles, for each second of "
                                       "the range; %."),
    [CW_SUB_PEAK_ELAPSED] = "What the hardware can sustain in all cycles of the range; %.",
    [CW_SUB_PEAK_ELAPSED_PER_SECOND] = "What the hardware can sustain in all cycles of the range, for each second; %.",
    [CW_SUB_PEAK_FRAME] = "What the hardware can sustain in the user's frame; %.",
    [CW_SUB_PEAK_FRAME_PER_SECOND] = "What the hardware can sustain in the user's frame, for each second; %.",
    [CW_SUB_PEAK_REGION] = "What the hardware can sustain in the user's region; %.",
    [CW_SUB_PEAK_REGION_PER_SECOND] = "What the hardware can sustain in the user's region, for each second; %.",
    [CW_SUB_PER_CYCLE_ACTIVE] = "For each active cycle of the unit; %.",
    [CW_SUB_PER_CYCLE_ELAPSED] = "For each cycle of the range, active or not; %.",
    [CW_SUB_PER_CYCLE_IN_FRAME] = "For each cycle of the user's frame; %.",
    [CW_SUB_PER_CYCLE_IN_REGION] = "For each cycle of the user's region; %.",
    [CW_SUB_PER_SECOND] = "For each second of the range; %.",
    [CW_SUB_PCT_ACTIVE] = "In percent of what the hardware can sustain in the unit's active cycles; %.",
    [CW_SUB_PCT_ELAPSED] = "In percent of what the hardware can sustain in all cycles of the range; %.",
    [CW_SUB_PCT_FRAME] = "In percent of what the hardware can sustain in the user's frame; %.",
    [CW_SUB_PCT_REGION] = "In percent of what the hardware can sustain in the user's region; %.",
    [CW_SUB_RATIO] = "As a plain ratio of sums over all instances.",
    [CW_SUB_RATIO_PCT] = "In percent, from sums over all instances.",
    [CW_SUB_RATIO_MAX_RATE] = "The largest value that the hardware allows.",
};

const char *cw_describe_variant(const struct cw_metric *metric, char *buffer, size_t size)
{
    const char *text = sub_texts[metric->sub], *hole = strchr(text, '%');
    snprintf(buffer, size, "%.*s%s%s", hole ? (int)(hole - text) : (int)strlen(text), text,
             hole ? rollup_texts[metric->rollup] : "", hole ? hole + 1 : "");
    if (size)
        buffer[0] = (char)toupper((unsigned char)buffer[0]);
    return buffer;
}

const char *cw_describe_metric(const struct cw_glossary *g, const struct cw_chip *chip, const struct cw_metric *metric,
                               char *buffer, size_t size)
{
    char variant[256];
    if (metric->type == CW_FORMULA) {
        const struct cw_formula *f = &chip->formulas->items[metric->base];
        snprintf(buffer, size, "%s%s%s", f->description, *f->description ? " = " : "= ", f->text);
        return buffer;
    }
    if (metric->type == CW_FACT) {
        snprintf(buffer, size, "%s", cw_metric_remark(chip, CW_FACT, metric->base));
        return buffer;
    }
    cw_describe(g, chip, metric->type, metric->base, buffer, size);
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, " %s", cw_describe_variant(metric, variant, sizeof variant));
    return buffer;
}

enum cw_status cw_describe_metrics(const char *const **texts, const char *data, const struct cw_chip *chip,
                                   const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                   struct cw_error *err)
{
    const struct cw_glossary *glossary;
    *texts = NULL;
    enum cw_status status = cw_glossary_load_about(&glossary, data, NULL, arena, NULL);
    if (status != CW_OK)
        return status == CW_ERR_NOMEM ? cw_error_nomem(err) : CW_OK;
    const char **list = cw_arena_alloc(arena, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        char text[CW_DESCRIPTION_MAX];
        list[i] = cw_arena_strdup(arena, cw_describe_metric(glossary, chip, &metrics[i], text, sizeof text));
        if (!list[i])
            list = NULL;
    }
    *texts = list;
    return list ? CW_OK : cw_error_nomem(err);
}
