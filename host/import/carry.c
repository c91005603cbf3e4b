#include "host/import/carry.h"

#include <stdio.h>
#include <string.h>

#include "host/base/file.h"

enum { LARGEST_FILE = 64 << 20 };

/* Limits are about placements: raw counters in no domain do not matter. */
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

/* A section is its line at the margin and all lines after it up to the next such line. */
static void copy_sections(const struct cw_bytes *file, struct cw_writer *text)
{
    const char *p = (const char *)file->data, *end = p + file->size;
    bool inside = false;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline + 1 : end) - p);
        if (*p != ' ' && *p != '\n' && *p != '#')
            inside = starts(p, length, "classes:") || starts(p, length, "limits:") || starts(p, length, "pm_limits:");
        if (inside)
            cw_write_bytes(text, p, length);
        p += length;
    }
}

enum cw_status cw_carry_limits(const struct cw_facts *facts, const char *path, struct cw_writer *text,
                               struct cw_limit_sources *sources, struct cw_error *err)
{
    const struct cw_chip *chip;
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    *sources = (struct cw_limit_sources){.range = "limits: none"};
    if (status != CW_OK)
        return status;
    status = cw_chip_parse(&chip, file.data, file.size, path, facts->arena, err);
    if (status == CW_OK && chip->limit_count && !same_placements(&facts->chip, chip))
        status = cw_error_set(err, CW_ERR_DIFFERS,
                              "found other raw counters or domains in %s than NVIDIA's host library has for %s: its "
                              "limits do not apply, learn them anew",
                              path, facts->chip.name);
    if (status == CW_OK && chip->limit_count) {
        cw_write_bytes(text, "\n", 1);
        copy_sections(&file, text);
        snprintf(sources->range, sizeof sources->range,
                 "limits: taken over from a file that did not say where they come from");
        for (uint32_t i = 0; i < chip->source_count; i++)
            if (starts(chip->source[i], strlen(chip->source[i]), "limits: "))
                snprintf(sources->range, sizeof sources->range, "%s", chip->source[i]);
            else if (starts(chip->source[i], strlen(chip->source[i]), "pm_limits: "))
                snprintf(sources->pm, sizeof sources->pm, "%s", chip->source[i]);
    }
    cw_bytes_free(&file);
    return status == CW_OK && text->status != CW_OK ? cw_error_nomem(err) : status;
}
