/* Counts of a context's instructions, added up over all times that CUPTI delivered some. */
#ifndef CW_INJECT_SASS_COUNTS_H
#define CW_INJECT_SASS_COUNTS_H

#include "base/hash_table.h"
#include "image/pc_data.h"

struct cw_sass_counts { /* initialise with zeros */
    struct cw_arena *arena;
    struct cw_sass_record *records;
    size_t count, capacity;
    struct cw_hash_table table;
};

/* Adds a record's values of so many metrics to those of the same instruction. Copies all. False when out of memory. */
bool cw_sass_counts_add(struct cw_sass_counts *counts, const struct cw_sass_record *record, uint32_t metrics);
void cw_sass_counts_free(struct cw_sass_counts *counts);

#endif
