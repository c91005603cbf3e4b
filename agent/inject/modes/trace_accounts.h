/* Books of a trace, written as rows of the kind `account`. */
#ifndef CW_INJECT_TRACE_ACCOUNTS_H
#define CW_INJECT_TRACE_ACCOUNTS_H

#include "agent/inject/modes/trace_rows.h"

struct cw_trace_accounts {
    uint64_t told; /* sum of counts at the last accounts */
};
extern struct cw_trace_accounts *const cw_trace_accounts;

/* Puts accounts if they have changed, because a program may be idle for days. Call it with the rows' lock. */
void cw_trace_accounts_put(void);
/* Puts an account with the reason why a kind is missing or incomplete; CW_TRACE_KIND__COUNT: all kinds. Call it with
 * the rows' lock. */
void cw_trace_accounts_note(enum cw_trace_kind kind, const char *why);

#endif
