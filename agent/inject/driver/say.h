/* Prints lines for the user of the program. */
#ifndef CW_INJECT_SAY_H
#define CW_INJECT_SAY_H

#include "agent/inject/driver/descriptor.h"

extern struct cw_descriptor *const cw_standard_error;

/* Remembers the file behind standard error. */
void cw_say_begin(void);
/* Writes "counterworks: ..." as one line to standard error. Writes nothing if standard error is closed or another file
 * by now, if nobody reads it any more, or if there is no room. Needs no lock. */
void cw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
