/* Legacy metric and event names of CUPTI, as formulas over a chip's metrics. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/suggest.h"
#include "view/metrics.h"
#include "metricdb/formula_load.h"
#include "metricdb/legacy.h"
#include "metricdb/metric.h"

/* A double-quoted YAML scalar. */
static void put_quoted(struct cw_writer *text, const char *value)
{
    cw_write_format(text, "\"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            cw_write_format(text, "\\");
        cw_write_bytes(text, value, 1);
    }
    cw_write_format(text, "\"");
}

static void put_formula(struct cw_writer *text, const struct cw_legacy_name *name)
{
    cw_write_format(text, "  %s: {formula: ", name->name);
    put_quoted(text, name->formula);
    cw_write_format(text, ", unit: ");
    put_quoted(text, name->unit);
    cw_write_format(text, ", description: ");
    put_quoted(text, name->description);
    cw_write_format(text, "}\n");
}

/* CUPTI gave utilizations as levels: 0 is idle, and 10 more than nine tenths. */
static const char level[] = ".level";

static void put_level(struct cw_writer *text, const struct cw_legacy_name *name)
{
    cw_write_format(text, "  %s%s: {formula: \"min(10, ceil((%s) / 10))\", unit: of 10, description: ", name->name,
                    level, name->formula);
    put_quoted(text, name->description);
    cw_write_format(text, "}\n");
}

/* Returns the length of a utilization's name before ".level"; 0 for another name. */
static size_t of_level(const char *name)
{
    static const char utilization[] = "_utilization";
    const size_t length = strlen(name), ending = sizeof level - 1, before = sizeof utilization - 1;
    const bool is = length > ending + before && strcmp(name + length - ending, level) == 0 &&
                    strncmp(name + length - ending - before, utilization, before) == 0;
    return is ? length - ending : 0;
}

/* Finds a legacy name; ".level" behind it asks for the level of a utilization. */
static enum cw_status find(const struct cw_legacy_name **found, bool *is_level, const struct cw_legacy *legacy,
                           const char *name, struct cw_arena *arena, struct cw_error *err)
{
    const size_t length = of_level(name);
    const char *base = length ? cw_arena_strndup(arena, name, length) : name;
    if (!base)
        return cw_error_nomem(err);
    *found = cw_legacy_find(legacy, base);
    *is_level = length && *found && (!(*found)->formula || strcmp((*found)->unit, "%") == 0);
    if (length && !*is_level)
        *found = NULL;
    return CW_OK;
}

static enum cw_status no_equivalent(const struct cw_legacy_name *name, const char *chip, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "%s has no equivalent on %s: %s%s%s", name->name, chip, name->none,
                        name->closest_count ? "; the closest is " : "", name->closest_count ? name->closest[0] : "");
}

/* Suggests legacy names for a misspelt one. Without a near name, the reader of metrics reports it. */
static enum cw_status misspelt(const struct cw_legacy *legacy, const char *name, const char *chip, struct cw_error *err)
{
    struct cw_suggest near;
    char text[400];
    cw_suggest_init(&near, name);
    for (uint32_t i = 0; i < legacy->count; i++)
        cw_suggest_offer(&near, legacy->names[i].name);
    if (!near.count)
        return CW_OK;
    return cw_error_set(err, CW_ERR_USAGE, "found the metric '%s', which %s does not have%s", name, chip,
                        cw_suggest_text(&near, text, sizeof text));
}

/* Names of metrics contain "__"; legacy names do not. */
static bool may_be_legacy(const struct cw_chip *chip, const char *name)
{
    struct cw_metric metric;
    return !strstr(name, "__") && cw_metric_parse(&metric, chip, name, NULL) != CW_OK;
}

static enum cw_status adopt(struct cw_writer *text, const struct cw_legacy_name *name, bool is_level, const char *chip,
                            struct cw_error *err)
{
    if (!name->formula)
        return no_equivalent(name, chip, err);
    (is_level ? put_level : put_formula)(text, name);
    return CW_OK;
}

enum cw_status cw_view_add_legacy(struct counterworks_chip *to, const char *const *names, size_t count,
                                  struct cw_error *err)
{
    const struct cw_chip **chip = &to->chip;
    struct cw_arena *arena = to->arena;
    const struct cw_legacy *legacy = NULL;
    bool(*adopted)[2] = NULL, is_level = false, unknown = false; /* unknown: one unknown name got its suggestions */
    struct cw_writer text;
    cw_writer_init(&text);
    cw_write_format(&text, "schema: 1\nmetrics:\n");
    size_t nothing = text.size;
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        if (!may_be_legacy(*chip, names[i]))
            continue;
        if (!legacy)
            status = cw_legacy_load(&legacy, to->folder, *chip, arena, err);
        if (status == CW_OK && !adopted && !(adopted = cw_arena_alloc(arena, legacy->count, sizeof *adopted)))
            status = cw_error_nomem(err);
        const struct cw_legacy_name *name = NULL;
        if (status == CW_OK)
            status = find(&name, &is_level, legacy, names[i], arena, err);
        if (status == CW_OK && !name && !unknown) {
            status = misspelt(legacy, names[i], (*chip)->name, err);
            unknown = true;
        }
        if (name && !adopted[name - legacy->names][is_level]) {
            status = adopt(&text, name, is_level, (*chip)->name, err);
            adopted[name - legacy->names][is_level] = true;
        }
    }
    if (status == CW_OK && text.status != CW_OK)
        status = cw_error_nomem(err);
    if (status == CW_OK && text.size > nothing)
        status = cw_formulas_parse(chip, text.data, text.size, legacy->path, arena, err);
    cw_writer_free(&text);
    return status;
}
