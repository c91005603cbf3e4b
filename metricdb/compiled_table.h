/* Lists the compiled parts of a chip: each table of struct cw_chip and each member of its rows. Internal to
 * metricdb. */
#ifndef CW_METRICDB_COMPILED_TABLE_H
#define CW_METRICDB_COMPILED_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum cw_table_id {
    CW_TABLE_CHIP,
    CW_TABLE_UNITS,
    CW_TABLE_DOMAINS,
    CW_TABLE_PASS_COSTS,
    CW_TABLE_RAWS,
    CW_TABLE_PLACEMENTS,
    CW_TABLE_LIMITS,
    CW_TABLE_PM_LIMITS,
    CW_TABLE_COUNTERS,
    CW_TABLE_RATIOS,
    CW_TABLE_THROUGHPUTS,
    CW_TABLE_ALSO,
    CW_TABLE_SOURCE,
    CW_TABLE_COUNT,
    CW_TABLE_ANY = CW_TABLE_COUNT /* for CW_KIND_ITEMS: plain numbers, not indices */
};

enum cw_kind {
    CW_KIND_TEXT,   /* a name */
    CW_KIND_PROSE,  /* text of any length */
    CW_KIND_NUMBER, /* uint32_t */
    CW_KIND_WIDE,   /* uint64_t or double */
    CW_KIND_INDEX,  /* index into the table `to` */
    CW_KIND_OPTION, /* INDEX or CW_NONE */
    CW_KIND_ITEMS,  /* array of indices into `to`; a NUMBER before it has the count */
    CW_KIND_REALS,  /* array of doubles, in the same way */
};

struct cw_compiled_field {
    const char *name;
    enum cw_kind kind;
    size_t offset;
    enum cw_table_id to;
    size_t count; /* for ITEMS and REALS: offset of their count */
};

struct cw_compiled_table {
    const char *name;
    size_t row, rows, count; /* size of a row, offsets of the pointer and the count in struct cw_chip */
    const struct cw_compiled_field *fields;
    size_t field_count;
};

extern const struct cw_compiled_table cw_compiled_tables[CW_TABLE_COUNT];

/* The version: a hash of the names and kinds of all fields, and of the packing of columns. */
uint64_t cw_compiled_layout(void);

#endif
