/* Several captures of one plan, or of the same samples, as one. */
#ifndef CW_IMAGE_MERGE_H
#define CW_IMAGE_MERGE_H

#include "image/counter_data.h"
#include "image/job_ranks.h"

/* Where inputs come from and the result goes to. Each input is opened twice, and closed before the next is opened; the
 * first may be open once more beside another, to say how that differs. Ranges and samples are read in pieces, instructions
 * and traces in whole. What is kept of an input afterwards is what makes a device or code one of its own: some 100 bytes
 * each. */
struct cw_merge_files {
    size_t count;
    enum cw_status (*open)(void *user, size_t i, struct cw_input *input, struct cw_error *err);
    void (*close)(void *user, struct cw_input *input);
    enum cw_status (*put)(void *user, const void *data, size_t size, struct cw_error *err); /* the next bytes */
    void *user;
    bool sparse;      /* ranges are packed (image/pack.h) */
    bool *incomplete; /* NULL, or set where an input lacks its end, and so the result */
    struct cw_job_ranks *job; /* NULL, or gets the ranks of all inputs */
};

/* Puts a whole file: what the inputs recorded in their order, each as it was written. The inputs must be of one
 * profiler with one schema, else it is CW_ERR_USAGE. Of ranges and traces, a device that two of them describe alike
 * stays one (a PCI address names one device, whatever its number; without one the numbers must be alike, too); samples
 * keep a device for each input. Processes of traces stay apart, each with its own times. Facts of launches go by their
 * names; one that an input does not name is unknown of its ranges. A device whose number is taken gets the lowest that
 * is free. Code that several have stands once. The end is the first input's that did not end well, drops add up; where
 * one of them is incomplete or damaged, so is the result. After a failure a part may have been put. */
enum cw_status cw_counter_data_merge_files(const struct cw_merge_files *files, struct cw_error *err);

/* The same of inputs in memory; appends to `out`. */
struct cw_merge_input {
    const char *name; /* for messages */
    const void *data;
    size_t size;
};
enum cw_status cw_counter_data_merge(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                     struct cw_error *err);
/* The same with ranges packed. */
enum cw_status cw_counter_data_merge_sparse(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                            struct cw_error *err);

#endif
