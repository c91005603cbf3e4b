/* Lists what a capture holds about its machine and its program, and which of it image/redact.h leaves out. */
#ifndef CW_IMAGE_PROVENANCE_H
#define CW_IMAGE_PROVENANCE_H

#include "image/capture_texts.h"
#include "image/counter_data.h"

struct cw_provenance_fact {
    uint32_t chunk; /* type */
    const char *name;
    enum cw_text_care care;
    uint32_t value_count;
    const char *const *values; /* different ones, in the order of the file */
    size_t room;
};

/* Reads all of an opened capture: `count` facts, in the order of the file. Everything lives in `arena`. */
enum cw_status cw_provenance_read(const struct cw_provenance_fact **facts, uint32_t *count,
                                  const struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);

#endif
