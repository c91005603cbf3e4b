/* Application replay collects one pass in each run of the program. */
#ifndef CW_AGENT_ONE_PASS_H
#define CW_AGENT_ONE_PASS_H

#include "host/image/counter_data.h"

/* Adds passes to `plan` until some pass holds each counter whole, as far as `fits` allows it: a plan for replay inside
 * the program may have spread the raw counters of one over several. *added is how many; they come last and live in
 * `arena`. `fits` says in *answer whether hardware takes this pass. */
typedef enum cw_status cw_one_pass_fits(void *user, const struct cw_config_image *plan,
                                        const struct cw_config_pass *pass, bool *answer, struct cw_error *err);
enum cw_status cw_one_pass_complete(struct cw_config_image *plan, cw_one_pass_fits *fits, void *user, uint32_t *added,
                                    struct cw_arena *arena, struct cw_error *err);

/* The schema of such a capture: passes are collected apart, so each counter has one, the first that holds it whole. One
 * that no pass holds is not whole. Lists live in `arena`, the rest is shared. CW_ERR_NOMEM at worst. */
enum cw_status cw_one_pass_schema(struct cw_schema *schema, const struct cw_config_image *plan, struct cw_arena *arena);
/* Whether that pass gives counter `c` its value. */
bool cw_one_pass_owns(const struct cw_schema *schema, uint32_t pass, uint32_t c);
/* The part of `plan` that pass `pass` collects by itself: the counters that it gives their values, and their raw
 * counters alone. Without any, counter_count is 0. Lists live in `arena`, the rest is shared. */
enum cw_status cw_one_pass_plan(struct cw_config_image *part, const struct cw_config_image *plan,
                                const struct cw_schema *schema, uint32_t pass, struct cw_arena *arena,
                                struct cw_error *err);
/* The passes that give some counter its value, in order; returns how many. `passes` has room for all of the schema. */
uint32_t cw_one_pass_needed(const struct cw_schema *schema, uint32_t *passes);
/* Tells on stderr how many passes were added, and which counters cannot be collected so, for no pass holds them whole.
 */
void cw_one_pass_report(const struct cw_schema *schema, uint32_t added);

#endif
