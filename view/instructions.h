/* Instructions of captures of PC samples and SASS metrics. */
#ifndef CW_VIEW_INSTRUCTIONS_H
#define CW_VIEW_INSTRUCTIONS_H

#include "eval/samples/instructions.h"
#include "image/pc_data.h"
#include "view/view.h"

/* Reads and adds up the instructions of a capture, in `arena`. `notices` gets names and modules that are left out
 * because they need more memory or time than the capture's size allows. `disassembler`: as the request's; NULL: none.
 */
enum cw_status cw_view_load_instructions(struct cw_instructions *instructions, struct cw_pc_data *raw,
                                         const char *disassembler, struct counterworks_capture *capture,
                                         struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err);

/* Writes the code of a capture's modules into a folder, which is made if it is not there: a file MODULE.cubin for each.
 * CW_ERR_USAGE for a capture without code, or a file that is no such code, unless `force`. */
enum cw_status cw_view_save_modules(struct counterworks_capture *capture, const char *folder, bool force,
                                    uint32_t *count, struct cw_arena *arena, struct cw_error *err);

#endif
