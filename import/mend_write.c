/* Writes mended limits as the text of a chip file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/mend_limits.h"

struct writing {
    struct cw_mend *m;
    struct cw_limits_text text; /* of one section of the table */
    struct cw_limit_table *table;
    struct cw_limit_name *names; /* large ones first, new ones at the end */
    uint32_t count, room, number;
    bool *inside; /* by placement, for cover */
};

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void add_name(struct writing *w, const char *name, struct cw_list placements)
{
    struct cw_limit_name *names = cw_ask_grown(&w->m->ask, w->names, w->count, &w->room, sizeof *names);
    w->names = names ? names : w->names;
    if (placements.count && cw_ask_ok(&w->m->ask))
        w->names[w->count++] = (struct cw_limit_name){name, placements};
}

static int by_size(const void *a, const void *b)
{
    const struct cw_limit_name *x = a, *y = b;
    if (x->placements.count != y->placements.count)
        return x->placements.count > y->placements.count ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_name(const struct writing *w, const char *text)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (strcmp(w->names[i].name, text) == 0)
            return true;
    return false;
}

/* Makes a class of the marked placements in the domain of `first`. */
static const char *new_class(struct writing *w, uint32_t first)
{
    struct cw_mend *m = w->m;
    const struct cw_chip *chip = &m->chip;
    const char *domain = chip->domains[chip->placements[first].domain].name, *name = NULL;
    uint32_t *items = cw_ask_array(&m->ask, chip->placement_count, sizeof *items), n = 0;
    do {
        name = cw_arena_printf(m->ask.arena, "%s_m%" PRIu32, strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain,
                               ++w->number);
    } while (name && is_name(w, name));
    if (!name || !items) {
        m->ask.status = cw_error_nomem(m->ask.err);
        return "";
    }
    for (uint32_t p = first; p < chip->placement_count; p++)
        if (w->inside[p] && chip->placements[p].domain == chip->placements[first].domain) {
            w->inside[p] = false;
            items[n++] = p;
        }
    const struct cw_list placements = {n, items};
    cw_limits_put_class(&(struct cw_limits_text){&w->table->classes, w->text.column}, chip, name, &placements);
    add_name(w, name, placements);
    return name;
}

/* Writes names that together cover some placements; makes a new name for the uncovered rest. */
static void put_names(struct writing *w, const struct cw_list *list)
{
    struct cw_mend *m = w->m;
    bool *wanted = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *wanted);
    for (uint32_t i = 0; wanted && i < list->count; i++)
        wanted[list->items[i]] = w->inside[list->items[i]] = true;
    for (uint32_t i = 0; i < w->count && cw_ask_ok(&m->ask); i++) {
        const struct cw_list *named = &w->names[i].placements;
        bool all = named->count <= list->count, some = false;
        for (uint32_t k = 0; k < named->count && all; k++) {
            all = wanted[named->items[k]];
            some |= w->inside[named->items[k]];
        }
        if (!all || !some)
            continue;
        cw_limits_put_item(&w->text, w->names[i].name);
        for (uint32_t k = 0; k < named->count; k++)
            w->inside[named->items[k]] = false;
    }
    for (uint32_t i = 0; i < list->count && cw_ask_ok(&m->ask); i++)
        if (w->inside[list->items[i]]) {
            uint32_t p = 0;
            while (!w->inside[p])
                p++;
            cw_limits_put_item(&w->text, new_class(w, p));
        }
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void put_group(struct writing *w, const struct cw_list *list, bool first)
{
    cw_limits_put_group(&w->text, first);
    put_names(w, list);
    cw_limits_put(&w->text, "]");
}

/* Writes placements that are a group each; most of a domain is written as the domain with exceptions. */
static void put_each(struct writing *w, const struct cw_list *list)
{
    struct cw_mend *m = w->m;
    const struct cw_chip_placement *p = m->chip.placements;
    bool *listed = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *listed), one = true;
    uint32_t *rest = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *rest), n = 0;
    for (uint32_t i = 0; listed && i < list->count; i++) {
        listed[list->items[i]] = true;
        one &= p[list->items[i]].domain == p[list->items[0]].domain;
    }
    const struct cw_list *domain = cw_mend_domain(m, list->items[0]);
    for (uint32_t i = 0; rest && i < domain->count && one; i++)
        if (!listed[domain->items[i]])
            rest[n++] = domain->items[i];
    one = one && cw_ask_ok(&m->ask) && 2 * n < list->count;
    cw_limits_put(&w->text, ", each: [");
    if (one)
        cw_limits_put(&w->text, "%s", m->chip.domains[p[list->items[0]].domain].name);
    else
        put_names(w, list);
    cw_limits_put(&w->text, "]");
    if (one && n) {
        cw_limits_put(&w->text, ", except: [");
        put_names(w, &(struct cw_list){n, rest});
        cw_limits_put(&w->text, "]");
    }
}

/* Writes the groups of a limit: groups of one placement together, the others one by one. Returns the number of the
 * latter. */
static uint32_t put_groups(struct writing *w, const struct cw_limit *l)
{
    struct cw_mend *m = w->m;
    uint32_t groups = cw_mend_group_count(l), listed = 0;
    uint32_t *size = cw_ask_array(&m->ask, groups, sizeof *size),
             *items = cw_ask_array(&m->ask, l->count, sizeof *items), n = 0;
    for (uint32_t k = 0; size && items && k < l->count; k++)
        size[l->groups[k]]++;
    for (uint32_t k = 0; size && items && k < l->count; k++)
        if (size[l->groups[k]] == 1)
            items[n++] = l->members[k];
    if (n)
        put_each(w, &(struct cw_list){n, items});
    for (uint32_t g = 0; g < groups && cw_ask_ok(&m->ask); g++)
        if (size[g] > 1) {
            const struct cw_list members = cw_mend_members(m, l, g);
            put_group(w, &members, listed++ == 0);
        }
    return listed;
}

static void put_limit(struct writing *w, const struct cw_mend_limit *l)
{
    const struct cw_mend_ban *ban = &l->ban;
    const struct cw_limit *slots = ban->count && ban->slots != CW_NONE ? &w->m->limits[ban->slots].limit
                                   : ban->count                        ? NULL
                                                                       : &l->limit;
    uint32_t weight = ban->count && slots ? slots->max - ban->filled + 1 : 1;
    cw_limits_put(&w->text, "  - {max: %" PRIu32, l->limit.max);
    uint32_t listed = slots ? put_groups(w, slots) : 0;
    for (uint32_t k = 0; k < ban->count; k++)
        for (uint32_t i = 0; i < weight; i++)
            put_group(w, &ban->parts[k], listed++ == 0);
    cw_limits_put(&w->text, listed ? "]}\n" : "}\n");
}

/* ---- the original text ------------------------------------------------------------------------------------------ */

/* Flags of each line: 1, a limit begins there; 2, the limit is gone. */
static uint8_t *mark_lines(struct writing *w, const struct cw_writer *text)
{
    uint32_t lines = 2;
    for (size_t i = 0; i < text->size; i++)
        lines += text->data[i] == '\n';
    uint8_t *marks = cw_ask_array(&w->m->ask, lines, 1);
    for (uint32_t i = 0; marks && i < w->m->count; i++)
        if (w->m->limits[i].limit.line && w->m->limits[i].limit.line < lines)
            marks[w->m->limits[i].limit.line] = w->m->limits[i].gone ? 2 : 1;
    return marks;
}

/* Copies the limits that are not gone. Holds the heading of a list back until one of its limits stays. */
static void copy_limits(struct writing *w, const struct cw_writer *text)
{
    const uint8_t *marks = mark_lines(w, text);
    const char *p = (const char *)text->data, *end = p + text->size, *head = NULL;
    bool inside = false, gone = false;
    for (unsigned line = 1; marks && p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline + 1 : end) - p);
        if (inside && length > 4 && memcmp(p, "  - ", 4) == 0)
            head = marks[line] ? NULL : p;
        if (marks[line])
            gone = marks[line] == 2;
        if (head && marks[line] == 1) {
            cw_write_bytes(w->text.out, head, (size_t)(p - head));
            head = NULL;
        }
        if (inside && !head && !gone)
            cw_write_bytes(w->text.out, p, length);
        inside |= length > 7 && memcmp(p, "limits:", 7) == 0;
        p += length;
    }
}

void cw_mend_write(struct cw_mend *m, const struct cw_writer *text, struct cw_limit_table *table)
{
    struct writing w = {.m = m, .table = table};
    w.inside = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *w.inside);
    for (uint32_t i = 0; i < m->names.count; i++)
        add_name(&w, m->names.items[i].name, m->names.items[i].placements);
    if (w.count)
        qsort(w.names, w.count, sizeof *w.names, by_size);
    w.text = (struct cw_limits_text){&table->limits, 0};
    if (cw_ask_ok(&m->ask))
        copy_limits(&w, text);
    for (uint32_t i = 0; i < m->count && cw_ask_ok(&m->ask); i++)
        if (!m->limits[i].gone && !m->limits[i].limit.line)
            put_limit(&w, &m->limits[i]);
    if (cw_ask_ok(&m->ask) && (table->classes.status != CW_OK || table->limits.status != CW_OK))
        m->ask.status = cw_error_nomem(m->ask.err);
}
