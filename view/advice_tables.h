/* Tables of advice: the kernels, longest first, and their findings. */
#ifndef CW_VIEW_ADVICE_TABLES_H
#define CW_VIEW_ADVICE_TABLES_H

#include "eval/advice/advice.h"
#include "eval/output/output.h"

/* Adds both; all lives in `arena` and in the advice. CW_ERR_NOMEM alone. */
enum cw_status cw_advice_tables(struct cw_output *output, const struct cw_advice *advice, struct cw_arena *arena,
                                struct cw_error *err);

#endif
