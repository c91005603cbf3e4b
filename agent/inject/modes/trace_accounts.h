/* The books of a trace, as rows of the kind `account` tell them. */
#ifndef CW_INJECT_TRACE_ACCOUNTS_H
#define CW_INJECT_TRACE_ACCOUNTS_H

#include "agent/inject/modes/trace_rows.h"

struct cw_trace_accounts {
    uint64_t told; /* all counts that the last accounts were of */
};
extern struct cw_trace_accounts *const cw_trace_accounts;

/* With the rows' lock. Where they have changed, for a program may do nothing for days. */
void cw_trace_accounts_put(void);
/* The same: why something is not there, or not as it was asked for; CW_TRACE_KIND__COUNT: of all kinds. */
void cw_trace_accounts_note(enum cw_trace_kind kind, const char *why);

#endif
