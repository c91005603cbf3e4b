/* Units of measurement as people write them. */
#ifndef CW_BASE_UNIT_H
#define CW_BASE_UNIT_H

/* "inst/cycle" of "instructions/gpc_cycles", "warps" of "gpc_cycles*warps/gpc_cycles", "B/s" of "bytes/s"; "" of "1".
 * Files have the exact unit. Returns `shown`. */
enum { CW_UNIT_SIZE = 64 };
const char *cw_unit_text(const char *unit, char shown[CW_UNIT_SIZE]);
/* The same where no unit has to be named, too: "1" of "1". Returns `shown` or `unit`. */
const char *cw_unit_or_one(const char *unit, char shown[CW_UNIT_SIZE]);

#endif
