/* Adds passes to a plan so that each counter has a pass that holds it whole. */
#ifndef CW_PASSES_PARTS_COMPLETE_H
#define CW_PASSES_PARTS_COMPLETE_H

#include "image/config_image.h"

/* Sets *answer to whether the hardware can collect a pass. */
typedef enum cw_status cw_parts_fits(void *user, const struct cw_config_image *plan, const struct cw_config_pass *pass,
                                     bool *answer, struct cw_error *err);
/* A cw_parts_fits by the plan's own limits, which cover only the placements of the plan; `limits` is a struct
 * cw_limit_index (image/limit_index.h). */
enum cw_status cw_parts_fit_limits(void *limits, const struct cw_config_image *plan, const struct cw_config_pass *pass,
                                   bool *answer, struct cw_error *err);

/* Adds passes to `plan` until some pass holds each counter whole, as far as `fits` allows. For passes that are
 * collected separately, where a counter spread over several passes would be lost. *added is the number of new passes;
 * they come last and live in `arena`. CW_ERR_UNSUPPORTED for more than CW_PASSES_MAX. */
enum cw_status cw_parts_complete(struct cw_config_image *plan, cw_parts_fits *fits, void *user, uint32_t *added,
                                 struct cw_arena *arena, struct cw_error *err);

/* CW_ERR_UNSUPPORTED for more than CW_PASSES_MAX passes. */
enum cw_status cw_parts_check_count(uint32_t count, struct cw_error *err);

#endif
