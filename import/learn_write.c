/* Writes the model as sections 'classes' and 'limits' of a chip file (data/schema.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/learn_model.h"

struct writing {
    struct cw_model *m;
    struct cw_limits_text text;
    const char *prefix;     /* prefix of class names */
    char (*names)[64];      /* by class */
    char (*kind_names)[64]; /* by kind */
    uint32_t *kind_first;   /* by kind: a placement of it */
};

/* ---- classes ---------------------------------------------------------------------------------------------------- */

static const char *short_name(const char *domain)
{
    return strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain;
}

/* Names a class by its domain and a number; a class with all placements of its domain gets the domain's name. */
static void name_classes(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *sizes = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *sizes);
    w->names = cw_ask_array(&m->ask, m->class_count, sizeof *w->names);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        sizes[m->chip.placements[p].domain]++;
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t d = m->chip.placements[m->classes[c].items[0]].domain;
        const char *domain = m->chip.domains[d].name;
        if (m->classes[c].count == sizes[d])
            snprintf(w->names[c], sizeof *w->names, "%.60s", domain);
        else
            snprintf(w->names[c], sizeof *w->names, "%.8s%.40s_%" PRIu32, w->prefix, short_name(domain), ++numbers[d]);
    }
}

/* Names kinds; the classes of a kind have the same conflicts. A kind with a single class gets the name of the class. */
static void name_kinds(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *classes = cw_ask_array(&m->ask, m->kind_count, sizeof *classes);
    uint32_t *last = cw_ask_array(&m->ask, m->kind_count, sizeof *last);
    w->kind_names = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_names);
    w->kind_first = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_first);
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0], kind = m->kind[p];
        if (kind == CW_NONE)
            continue;
        classes[kind]++;
        last[kind] = c;
        w->kind_first[kind] = p;
    }
    for (uint32_t k = 0; cw_ask_ok(&m->ask) && k < m->kind_count; k++) {
        uint32_t d = m->chip.placements[w->kind_first[k]].domain;
        if (classes[k] == 1)
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%s", w->names[last[k]]);
        else
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%.8s%.40s_k%" PRIu32, w->prefix,
                     short_name(m->chip.domains[d].name), ++numbers[d]);
    }
}

static void put_kinds(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t k = 0; k < m->kind_count; k++) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < m->class_count; c++) {
            if (m->kind[m->classes[c].items[0]] != k || strcmp(w->names[c], w->kind_names[k]) == 0)
                continue;
            if (!n++)
                cw_limits_put(&w->text, "  %s: {of: [", w->kind_names[k]);
            cw_limits_put_item(&w->text, w->names[c]);
        }
        if (n)
            cw_limits_put(&w->text, "]}\n");
    }
}

static void put_classes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t c = 0; c < w->m->class_count; c++) {
        const struct cw_pool *items = &w->m->classes[c];
        const char *domain = chip->domains[chip->placements[items->items[0]].domain].name;
        if (strcmp(domain, w->names[c]) != 0)
            cw_limits_put_class(&w->text, chip, w->names[c], &(struct cw_list){items->count, items->items});
    }
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static void put_own_passes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t d = 0; d < chip->domain_count; d++) {
        if (!w->m->own_pass[d])
            continue;
        cw_limits_put(&w->text, "  - {max: 1, groups: [[%s], [", chip->domains[d].name);
        for (uint32_t e = 0; e < chip->domain_count; e++)
            if (e != d)
                cw_limits_put_item(&w->text, chip->domains[e].name);
        cw_limits_put(&w->text, "]]}\n");
    }
}

static void put_unusable(struct writing *w)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < w->m->class_count; c++)
        if (!w->m->usable[w->m->classes[c].items[0]]) {
            if (!n++)
                cw_limits_put(&w->text, "  - {max: 0, each: [");
            cw_limits_put_item(&w->text, w->names[c]);
        }
    if (n)
        cw_limits_put(&w->text, "]}\n");
}

static void put_rule(struct writing *w, const struct cw_rule *rule)
{
    struct cw_model *m = w->m;
    uint32_t *size = cw_ask_array(&m->ask, rule->group_count, sizeof *size), n = 0;
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++) {
        if (rule->group[p] != CW_NONE)
            size[rule->group[p]]++;
        if (rule->second && rule->second[p] != CW_NONE)
            size[rule->second[p]]++;
    }
    if (!cw_ask_ok(&m->ask))
        return;
    cw_limits_put(&w->text, "  - {max: %" PRIu32, rule->max);
    for (uint32_t c = 0; c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0];
        if (rule->group[p] == CW_NONE || size[rule->group[p]] > 1)
            continue;
        if (!n++)
            cw_limits_put(&w->text, ", each: [");
        cw_limits_put_item(&w->text, w->names[c]);
    }
    cw_limits_put(&w->text, n ? "]" : "");
    n = 0;
    for (uint32_t g = 0; g < rule->group_count; g++) {
        if (size[g] < 2 && !(rule->second && rule->helper == g))
            continue;
        cw_limits_put_group(&w->text, n++ == 0);
        for (uint32_t c = 0; c < m->class_count; c++) {
            uint32_t p = m->classes[c].items[0];
            if (rule->group[p] == g || (rule->second && rule->second[p] == g))
                cw_limits_put_item(&w->text, w->names[c]);
        }
        cw_limits_put(&w->text, "]");
    }
    cw_limits_put(&w->text, n ? "]}\n" : "}\n");
}

/* Writes the conflicts of a kind within one domain: the kinds after it, or the domain except for compatible kinds,
 * whichever is shorter. */
static void put_pairs_with(struct writing *w, uint32_t kind, uint32_t domain)
{
    const struct cw_model *m = w->m;
    uint32_t listed = 0, left_out = 1;
    for (uint32_t b = 0; b < m->kind_count; b++)
        if (m->chip.placements[w->kind_first[b]].domain == domain) {
            bool conflict = cw_model_excludes(m, kind, b);
            listed += conflict && b >= kind;
            left_out += !conflict;
        }
    bool whole = left_out < listed;
    char text[80];
    if (whole)
        cw_limits_put_item(&w->text, m->chip.domains[domain].name);
    for (uint32_t b = 0; b < m->kind_count; b++) {
        bool conflict = cw_model_excludes(m, kind, b);
        if (m->chip.placements[w->kind_first[b]].domain != domain || conflict == whole || (!whole && b < kind))
            continue;
        snprintf(text, sizeof text, "%s%s", whole ? "-" : "", w->kind_names[b]);
        cw_limits_put_item(&w->text, text);
    }
}

static void put_pairs(struct writing *w)
{
    const struct cw_model *m = w->m;
    bool any = false;
    for (uint32_t a = 0; a < m->kind_count; a++) {
        bool some = false;
        for (uint32_t b = a; b < m->kind_count && !some; b++)
            some = cw_model_excludes(m, a, b);
        if (!some)
            continue;
        cw_limits_put(&w->text, any ? "      %s: [" : "  - max: 1\n    pairs:\n      %s: [", w->kind_names[a]);
        any = true;
        for (uint32_t d = 0; d < m->chip.domain_count; d++)
            put_pairs_with(w, a, d);
        cw_limits_put(&w->text, "]\n");
    }
}

/* ---- bans ------------------------------------------------------------------------------------------------------- */

static void put_bans(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t i = 0; i < m->ban_count; i++) {
        uint32_t count = (uint32_t)__builtin_popcount(m->ban_parts[i]);
        cw_limits_put(&w->text, "  - {max: %" PRIu32 ", groups: [", count - 1);
        for (uint32_t k = 0; k < count; k++) {
            cw_limits_put(&w->text, k ? ", [" : "[");
            for (uint32_t c = 0; c < m->class_count; c++)
                if (m->bans[(size_t)c * m->ban_room + i] == 1u << k)
                    cw_limits_put_item(&w->text, w->names[c]);
            cw_limits_put(&w->text, "]");
        }
        cw_limits_put(&w->text, "]}\n");
    }
}

void cw_learn_write(struct cw_model *m, const char *prefix, struct cw_limit_table *table)
{
    struct writing w = {.m = m, .text = {&table->classes, 0}, .prefix = prefix};
    name_classes(&w);
    if (cw_ask_ok(&m->ask))
        name_kinds(&w);
    if (!cw_ask_ok(&m->ask))
        return;
    put_classes(&w);
    put_kinds(&w);
    w.text = (struct cw_limits_text){&table->limits, 0};
    put_own_passes(&w);
    put_unusable(&w);
    for (uint32_t r = 0; r < m->rule_count; r++)
        put_rule(&w, &m->rules[r]);
    put_pairs(&w);
    put_bans(&w);
}
