/* Instructions of captures of PC samples and SASS metrics. */
#ifndef CW_VIEW_INSTRUCTIONS_H
#define CW_VIEW_INSTRUCTIONS_H

#include "eval/samples/instructions.h"
#include "image/pc_data.h"
#include "view/view.h"

/* Reads and adds up the instructions of a capture, in `arena`. `notices` gets names and modules that are left out
 * because they need more memory or time than the capture's size allows. */
enum cw_status cw_view_load_instructions(struct cw_instructions *instructions, struct cw_pc_data *raw,
                                         struct counterworks_capture *capture, struct cw_notices *notices,
                                         struct cw_arena *arena, struct cw_error *err);

#endif
