/* The passes that the values of a metric come from: which of a counter's columns a term reads, and whether one pass has
 * all that it needs. */
#ifndef CW_EVAL_EVAL_PASSES_H
#define CW_EVAL_EVAL_PASSES_H

#include "eval/eval_plan.h"

struct cw_meeting { /* of operands that are to come from one pass */
    const struct cw_schema *schema;
    uint32_t *common; /* scratch for the schema's passes: how many of the operands each has */
    uint32_t met;     /* operands that were measured in passes */
    bool zero;        /* one is zero, for lack of a user's duration */
    bool lacking;     /* one was not collected */
};

/* `common` has room for all passes. */
void cw_meeting_begin(struct cw_meeting *m, const struct cw_schema *schema, uint32_t *common);
void cw_meeting_add(struct cw_meeting *m, const struct cw_term *term);
/* The first pass that has everything that met, or CW_NONE. */
uint32_t cw_meeting_pass(const struct cw_meeting *m);
/* Lets a term read its counters as they were in one pass that has them all. */
void cw_term_bind(struct cw_term *term, const struct cw_schema *schema, uint32_t pass);

#endif
