#include "import/limit_tables.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip_load.h"

enum { LIMITS_WIDTH = 118 };

enum { LARGEST_FILE = 64 << 20 };

void cw_limit_table_init(struct cw_limit_table *table)
{
    *table = (struct cw_limit_table){0};
    cw_writer_init(&table->classes);
    cw_writer_init(&table->limits);
}

void cw_limit_table_free(struct cw_limit_table *table)
{
    cw_writer_free(&table->classes);
    cw_writer_free(&table->limits);
}

enum cw_status cw_limit_table_load(const struct cw_limit_table *table, const char *what, struct cw_chip *chip,
                                   struct cw_limit_names *names, struct cw_writer *text, struct cw_arena *arena,
                                   struct cw_error *err)
{
    cw_write_format(text, "classes:\n");
    cw_write_bytes(text, table->classes.data, table->classes.size);
    cw_write_format(text, "limits:\n");
    cw_write_bytes(text, table->limits.data, table->limits.size);
    bool whole = text->status == CW_OK && table->classes.status == CW_OK && table->limits.status == CW_OK;
    struct cw_yaml *root = NULL;
    struct cw_yaml_reader in = {what, arena, err, .size = text->size};
    in.status = whole ? cw_yaml_parse(&root, text->data, text->size, what, arena, err) : cw_error_nomem(err);
    if (in.status == CW_OK)
        cw_limits_load(chip, names, &in, cw_yaml_get(&in, root, "classes", true),
                       cw_yaml_get(&in, root, "limits", true), NULL);
    return in.status;
}

/* ---- taking limits from a file ---------------------------------------------------------------------------------- */

/* Whether two chips have the same placements. Raw counters without a domain do not matter for limits. */
static bool same_placements(const struct cw_chip *a, const struct cw_chip *b)
{
    bool same = a->placement_count == b->placement_count;
    for (uint32_t i = 0; i < a->placement_count && same; i++) {
        const struct cw_chip_placement *x = &a->placements[i], *y = &b->placements[i];
        same = a->raws[x->raw].id == b->raws[y->raw].id &&
               strcmp(a->domains[x->domain].name, b->domains[y->domain].name) == 0;
    }
    return same;
}

static bool starts(const char *line, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* Copies sections. A section goes from the line behind its unindented heading to the next unindented line; an entry is
 * a line with two spaces of indentation and the further indented lines behind it. */
static void copy_sections(const struct cw_bytes *file, struct cw_limit_table *range, struct cw_limit_table *pm)
{
    const char *p = (const char *)file->data, *end = p + file->size;
    enum { OTHER, CLASSES, LIMITS } section = OTHER;
    struct cw_limit_table *to = range;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline + 1 : end) - p);
        bool entry = length > 2 && p[0] == ' ' && p[1] == ' ' && p[2] != ' ';
        if (*p != ' ' && *p != '\n' && *p != '#') {
            bool range_limits = starts(p, length, "limits:"), pm_limits = starts(p, length, "pm_limits:");
            section = starts(p, length, "classes:") ? CLASSES : range_limits || pm_limits ? LIMITS : OTHER;
            to = pm_limits ? pm : range;
        } else if (section != OTHER && *p == ' ') {
            if (section == CLASSES && entry)
                to = starts(p + 2, length - 2, "pm_") ? pm : range;
            cw_write_bytes(section == CLASSES ? &to->classes : &to->limits, p, length);
        }
        p += length;
    }
}

/* Writes the line of `source:` for limits, if there are any. */
static void quote_source(const struct cw_chip *chip, bool known, const char *with, struct cw_limit_table *table)
{
    if (!known)
        return;
    snprintf(table->source, sizeof table->source, "%s taken over from a file without their origin", with);
    for (uint32_t i = 0; i < chip->source_count; i++)
        if (starts(chip->source[i], strlen(chip->source[i]), with))
            snprintf(table->source, sizeof table->source, "%s", chip->source[i]);
}

enum cw_status cw_limit_tables_read(const struct cw_facts *facts, const char *path, struct cw_limit_table *range,
                                    struct cw_limit_table *pm, struct cw_error *err)
{
    const struct cw_chip *chip;
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status != CW_OK)
        return status;
    status = cw_chip_parse(&chip, file.data, file.size, path, facts->arena, err);
    if (status == CW_OK && chip->limit_count && !same_placements(&facts->chip, chip))
        status = cw_error_set(err, CW_ERR_DIFFERS,
                              "found other raw counters or domains in %s than NVIDIA's host library has for %s: its "
                              "limits do not apply, learn them anew",
                              path, facts->chip.name);
    if (status == CW_OK) {
        copy_sections(&file, range, pm);
        quote_source(chip, range->limits.size != 0, "limits:", range);
        quote_source(chip, cw_chip_knows_pm(chip), "pm_limits:", pm);
    }
    cw_bytes_free(&file);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

void cw_limit_tables_write(const struct cw_limit_table *range, const struct cw_limit_table *pm, struct cw_writer *text)
{
    if (range->classes.size || pm->classes.size) {
        cw_write_format(text, "\nclasses:\n");
        cw_write_bytes(text, range->classes.data, range->classes.size);
        cw_write_bytes(text, pm->classes.data, pm->classes.size);
    }
    if (range->limits.size) {
        cw_write_format(text, "\nlimits:\n");
        cw_write_bytes(text, range->limits.data, range->limits.size);
    }
    if (pm->limits.size) {
        cw_write_format(text, "\npm_limits:\n");
        cw_write_bytes(text, pm->limits.data, pm->limits.size);
    }
}

void cw_limits_put(struct cw_limits_text *t, const char *format, ...)
{
    size_t start = t->out->size;
    va_list args;
    va_start(args, format);
    cw_write_vformat(t->out, format, args);
    va_end(args);
    for (; start < t->out->size; start++)
        t->column = t->out->data[start] == '\n' ? 0 : t->column + 1;
}

void cw_limits_put_item(struct cw_limits_text *t, const char *text)
{
    if (t->out->size && t->out->data[t->out->size - 1] != '[')
        cw_limits_put(t, t->column + strlen(text) + 2 > LIMITS_WIDTH ? ",\n      " : ", ");
    cw_limits_put(t, "%s", text);
}

void cw_limits_put_group(struct cw_limits_text *t, bool first)
{
    cw_limits_put(t, first ? ", groups: [[" : t->column > LIMITS_WIDTH - 30 ? ",\n      [" : ", [");
}

void cw_limits_put_class(struct cw_limits_text *t, const struct cw_chip *chip, const char *name,
                         const struct cw_list *placements)
{
    const struct cw_chip_placement *p = chip->placements;
    cw_limits_put(t, "  %s: {domain: %s, raw: [", name, chip->domains[p[placements->items[0]].domain].name);
    for (uint32_t i = 0; i < placements->count; i++) {
        char id[24];
        snprintf(id, sizeof id, "0x%016" PRIx64, chip->raws[p[placements->items[i]].raw].id);
        cw_limits_put_item(t, id);
    }
    cw_limits_put(t, "]}\n");
}
