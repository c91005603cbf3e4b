/* The layout of one kernel's metrics for people: data/sections.yaml. */
#ifndef CW_EVAL_SECTIONS_H
#define CW_EVAL_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_sections {
    uint32_t count;
    const struct cw_section {
        const char *title;
        uint32_t pattern_count;
        const char *const *patterns; /* of full names; '*' stands for any text */
        bool shares;                 /* its metrics are parts of their sum, and there is one pattern with one '*' */
        uint32_t word_count;
        const struct cw_section_words { /* for the values 1, 2, ... of a metric */
            const char *metric;
            uint32_t count;
            const char *const *texts;
        } * words;
    } * items;
};

/* Reads such a file. Everything lives in `arena`. */
enum cw_status cw_sections_parse(struct cw_sections *sections, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err);
/* Loads a file of a data folder (metricdb/data.h), named without .yaml: "sections". A folder without it has no
 * sections.
 */
enum cw_status cw_sections_load(struct cw_sections *sections, const char *data, const char *file,
                                struct cw_arena *arena, struct cw_error *err);

/* The first section of a name; `count` without one. */
uint32_t cw_sections_find(const struct cw_sections *sections, const char *name);
/* The word for a value of a metric of the section, or NULL. */
const char *cw_section_word(const struct cw_section *section, const char *name, double value);

#endif
