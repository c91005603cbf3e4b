/* Several captures of one plan, or of the same samples, as one. */
#ifndef CW_IMAGE_MERGE_H
#define CW_IMAGE_MERGE_H

#include "image/counter_data.h"

struct cw_merge_input {
    const char *name; /* for messages */
    const void *data;
    size_t size;
};

/* Appends a whole file to `out`: what the inputs recorded in their order, each as it was written. The inputs must be of
 * one profiler with one schema, else it is CW_ERR_USAGE. Of ranges, a device that two of them describe alike stays one
 * (a PCI address names one device, whatever its number; without one the numbers must be alike, too); samples keep a
 * device for each input. Facts of launches go by their names; one that an input does not name is unknown of its ranges.
 * A device whose number is taken gets the lowest that is free. Code that several have stands once. The end is the first
 * input's that did not end well, drops add up; where one of them is incomplete, so is the result. */
enum cw_status cw_counter_data_merge(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                     struct cw_error *err);

#endif
