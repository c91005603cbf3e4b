/* Facts: data about a launch and its device that needs no counting. A capture has them beside its counters; a fact is a
 * metric of type CW_FACT, exists on every chip, and needs no pass. */
#ifndef CW_METRICDB_FACT_H
#define CW_METRICDB_FACT_H

#include <stdbool.h>
#include <stdint.h>

enum cw_fact_source {
    CW_FACT_OF_RANGE,  /* a field of the range, enum cw_range_fact */
    CW_FACT_OF_LAUNCH, /* recorded by the fact's name */
    CW_FACT_OF_DEVICE  /* an attribute of the device by its key */
};

enum cw_range_fact {
    CW_RANGE_GRID_SIZE,
    CW_RANGE_GRID_X,
    CW_RANGE_GRID_Y,
    CW_RANGE_GRID_Z,
    CW_RANGE_BLOCK_SIZE,
    CW_RANGE_BLOCK_X,
    CW_RANGE_BLOCK_Y,
    CW_RANGE_BLOCK_Z,
    CW_RANGE_THREADS,
    /* identifiers: */
    CW_RANGE_STREAM,
    CW_RANGE_CONTEXT,
    CW_RANGE_DEVICE
};

struct cw_fact {
    const char *name, *unit, *description;
    enum cw_fact_source source;
    enum cw_range_fact field; /* for CW_FACT_OF_RANGE */
    const char *key;          /* for CW_FACT_OF_DEVICE */
};

uint32_t cw_fact_count(void);
const struct cw_fact *cw_fact(uint32_t index);
/* Whether a fact is an identifier, such as a stream's number: no quantity, and another one in each run. */
bool cw_fact_is_identifier(uint32_t index);
/* The index of a fact, or CW_NONE. */
uint32_t cw_fact_find(const char *name);

#endif
