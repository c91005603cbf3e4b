/* Lines for whoever runs the program. */
#ifndef CW_INJECT_SAY_H
#define CW_INJECT_SAY_H

#include "agent/inject/driver/descriptor.h"

extern struct cw_descriptor *const cw_standard_error;

/* Remembers what the standard error is. */
void cw_say_begin(void);
/* Writes "counterworks: ..." as one line to the standard error, or nothing: where that is closed or another file by
 * now, nobody reads it any more, or there is no room. Needs no lock. */
void cw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
