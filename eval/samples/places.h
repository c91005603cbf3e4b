/* Places in device code for people: the function's readable name, the file and the line.
 *
 * Names and modules come from files. The libraries that read them can take any time and memory for a small input, so a
 * child process does it (eval/samples/confined.h), with memory and time in proportion to the input. */
#ifndef CW_EVAL_SAMPLES_PLACES_H
#define CW_EVAL_SAMPLES_PLACES_H

#include "image/pc_data.h"

struct cw_place {                /* of an instruction */
    const char *function, *name; /* as the driver has it; for people, elided (base/elide.h) */
    uint64_t module, offset;     /* the module's CRC; bytes from the start of the function */
    const char *file;            /* "" if the code has no line information */
    uint32_t line;
    const char *instruction; /* its text by nvdisasm, as "FFMA R4, R2, R3, R4"; "" if not known */
    const char *ptx;         /* the line of PTX that it was made from; "" if not known, or its code does not keep PTX */
    uint32_t ptx_line;       /* of its module, from 1 on; 0 if not known */
};

/* Names and modules that took too much, and were left as they are. */
struct cw_places_left {
    uint32_t names, modules, texts; /* texts: modules without the text of their instructions */
};

/* Fills in `name`, `file` and `line`, and `instruction` and PTX if there is a path of nvdisasm (else NULL). Equal
 * functions are one text (eval/samples/texts.h). A module is found by the low half of its number, since SASS records
 * have no more. Reorders `places`; texts live in `arena`. */
enum cw_status cw_places_resolve(struct cw_place **places, size_t count, const struct cw_module *modules,
                                 uint32_t module_count, const char *disassembler, struct cw_places_left *left,
                                 struct cw_arena *arena, struct cw_error *err);

/* By function, module and offset. Equal functions are one text, and texts lie in the order of strcmp
 * (eval/samples/texts.h). */
int cw_place_compare(const struct cw_place *a, const struct cw_place *b);

#endif
