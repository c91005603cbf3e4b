/* Reading the schema's chunks of counter data. The other functions of schema.c are declared in counter_data.h. */
#ifndef CW_IMAGE_SCHEMA_H
#define CW_IMAGE_SCHEMA_H

#include "image/counter_data.h"

/* Reads the payload of SCHM; the caller finishes the reader. */
void cw_schema_read(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena);
/* Reads the payload of RPTS, which belongs to the schema before it; the caller finishes the reader. */
void cw_schema_read_repeats(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena);

#endif
