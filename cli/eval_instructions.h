/* What metric-eval does with a capture of PC samples or SASS metrics. */
#ifndef CW_EVAL_INSTRUCTIONS_COMMAND_H
#define CW_EVAL_INSTRUCTIONS_COMMAND_H

#include "base/file.h"
#include "image/counter_data.h"

struct cw_instruction_outputs {
    const char *capture, *source;  /* the file's name, and as outputs have it */
    const char *hdf5, *csv, *json; /* where to, or NULL; - is standard output */
    size_t top;                    /* rows of the table on standard output */
};

enum cw_status cw_eval_instructions(const struct cw_instruction_outputs *outputs, const struct cw_counter_data *data,
                                    const struct cw_bytes *file, struct cw_arena *arena, struct cw_error *err);
/* What the capture holds, beside what `metric-eval show` says of every capture. */
enum cw_status cw_show_instructions(const struct cw_instruction_outputs *outputs, const struct cw_counter_data *data,
                                    const struct cw_bytes *file, struct cw_arena *arena, struct cw_error *err);

#endif
