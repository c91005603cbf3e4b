/* Tables of results, with descriptions of their metrics. */
#ifndef CW_VIEW_TABLES_H
#define CW_VIEW_TABLES_H

#include "eval/output/output.h"
#include "view/handles.h"

/* Makes the tables of a result, which is borrowed. Metrics have the descriptions of the chip's data folder; `chip`
 * NULL: none. All else lives in `arena`; `output` must stay where it is. */
enum cw_status cw_tables_make(struct cw_output *output, const struct cw_result *result,
                              const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Makes the table of groups of ranges. */
enum cw_status cw_tables_make_groups(struct cw_output *output, const struct cw_output_rows *rows,
                                     const struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err);

#endif
