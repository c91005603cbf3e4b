/* How the metrics of one kernel are laid out for people: data/sections.yaml. */
#ifndef CW_EVAL_SECTIONS_H
#define CW_EVAL_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_section {
    const char *title;
    uint32_t pattern_count;
    const char *const *patterns; /* of full names; '*' stands for any text */
    bool shares;                 /* its metrics are parts of their sum, and there is one pattern with one '*' */
    uint32_t word_count;
    const struct cw_section_words { /* what the values 1, 2, ... of a metric mean */
        const char *metric;
        uint32_t count;
        const char *const *texts;
    } * words;
};

struct cw_sections {
    uint32_t count;
    const struct cw_section *items;
};

/* Reads such a file. Everything lives in `arena`. */
enum cw_status cw_sections_parse(struct cw_sections *sections, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err);
/* Loads a file of a data folder (metricdb/data.h), named without .yaml: "sections"; where it has none there are no
 * sections. */
enum cw_status cw_sections_load(struct cw_sections *sections, const char *data, const char *file,
                                struct cw_arena *arena, struct cw_error *err);

/* The first section that a name belongs to; `count` where there is none. */
uint32_t cw_sections_find(const struct cw_sections *sections, const char *name);
/* What a value of a metric of the section means; NULL where nothing says it. */
const char *cw_section_word(const struct cw_section *section, const char *name, double value);

#endif
