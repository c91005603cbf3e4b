/* Merges several captures of one plan, or of the same samples, into one. */
#ifndef CW_IMAGE_MERGE_H
#define CW_IMAGE_MERGE_H

#include "image/counter_data.h"
#include "image/job_ranks.h"
#include "image/rank_origins.h"

/* Inputs without an end, so that the result has none either. */
struct cw_merge_incomplete {
    size_t first, count; /* first: the number of the first one */
};

/* Source of the inputs and target of the result. Each input is opened twice, or three times if private content is left
 * out, and closed before the next is opened; only the first may be open once more beside another, to say how the two
 * differ. Ranges and samples are read in pieces, instructions and traces as a whole. After an input is closed, some 100
 * bytes remain for each of its own devices and modules. */
struct cw_merge_files {
    size_t count;
    enum cw_status (*open)(void *user, size_t i, struct cw_input *input, struct cw_error *err);
    void (*close)(void *user, struct cw_input *input);
    enum cw_status (*put)(void *user, const void *data, size_t size, struct cw_error *err); /* takes the next bytes */
    void *user;
    bool sparse;                            /* pack ranges (image/pack.h) */
    bool redact;                            /* leave private content out (image/redact.h) */
    struct cw_merge_incomplete *incomplete; /* NULL, or set */
    struct cw_job_ranks *job;               /* NULL, or gets the ranks of all inputs */
    struct cw_rank_origins *origins;        /* the same, with their files */
    uint32_t *ends;                         /* NULL, or gets the number of ranges, or of a trace's processes, that the
                                               result has up to the end of each input */
};

/* Puts a whole file: the records of all inputs in the order of the inputs, each record unchanged. CW_ERR_USAGE unless
 * all inputs have one profiler and one schema.
 * - Devices of ranges and traces: a device that two inputs describe alike stays one. A PCI address identifies a device
 *   whatever its number; without one the numbers must agree, too. Samples keep a device for each input. A device whose
 *   number is taken gets the lowest free one.
 * - Processes of traces stay apart, each with its own times.
 * - Facts of launches are matched by name; a fact that an input lacks is unknown for its ranges.
 * - Code of several inputs is written once.
 * - The end is that of the first input that did not end well; drops add up. If one input is incomplete or damaged, so
 *   is the result.
 * After a failure a part of the file may have been put. */
enum cw_status cw_counter_data_merge_files(const struct cw_merge_files *files, struct cw_error *err);

#endif
