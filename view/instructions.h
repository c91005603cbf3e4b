/* Instructions of captures of PC samples and SASS metrics. */
#ifndef CW_VIEW_INSTRUCTIONS_H
#define CW_VIEW_INSTRUCTIONS_H

#include "eval/samples/instructions.h"
#include "image/pc_data.h"
#include "view/view.h"

/* Adds up the instructions of a capture. `notices` has names and modules that took more memory or time than a capture
 * of its size may. All lives in `arena`. */
enum cw_status cw_view_load_instructions(struct cw_instructions *instructions, struct cw_pc_data *raw,
                                         struct counterworks_capture *capture, struct cw_notices *notices,
                                         struct cw_arena *arena, struct cw_error *err);

#endif
