/* What one pass can hold, learned by asking NVIDIA's host library. No GPU needed.
 *
 * Nothing here knows a chip: which placements exclude each other, how many slots a domain has and which counters share
 * a source is found by questions of the form "do these placements fit one pass?". What is learned is checked against
 * sets that it was not learned from, and repaired until they show no mistake. */
#ifndef CW_IMPORT_LEARN_H
#define CW_IMPORT_LEARN_H

#include "host/base/bytes.h"
#include "host/import/facts.h"

struct cw_learn_report {
    uint64_t questions;
    uint32_t classes, limits;          /* limits as the database counts them */
    uint32_t sets, passes, refused;    /* the last round of check sets: our passes, and those that do not fit */
    uint32_t unusable;                 /* placements that no single pass holds */
    double seconds;
};

/* Appends the sections 'classes' and 'limits' for the placements of `facts` to `text`, and sets the limits of its chip.
 * The same library gives the same text. `progress` may be NULL; it is told what is being done. */
enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_writer *text,
                        struct cw_learn_report *report, void (*progress)(const char *what), struct cw_error *err);

#endif
