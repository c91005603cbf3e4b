/* What a place in device code is for people: the function's readable name, the file and the line.
 *
 * Names and modules come from files, and to read them takes libraries that a small input makes busy or large without
 * end. So a child process does it (eval/samples/confined.h), with memory and time in proportion to the input. */
#ifndef CW_EVAL_SAMPLES_PLACES_H
#define CW_EVAL_SAMPLES_PLACES_H

#include "image/pc_data.h"

struct cw_place {                /* of an instruction */
    const char *function, *name; /* as the driver has it; as a person reads it, elided (base/elide.h) */
    uint64_t module, offset;     /* the module's CRC; bytes from the start of the function */
    const char *file;            /* "" where the code has no line information */
    uint32_t line;
};

/* What took more than it may, and was left as it is. */
struct cw_places_left {
    uint32_t names, modules;
};

/* Fills in `name`, `file` and `line`. Functions that are equal are one text (eval/samples/texts.h). A module is found by the
 * low half of its number: SASS records have no more. Reorders `places`; texts live in `arena`. */
enum cw_status cw_places_resolve(struct cw_place **places, size_t count, const struct cw_module *modules,
                                 uint32_t module_count, struct cw_places_left *left, struct cw_arena *arena,
                                 struct cw_error *err);

#endif
