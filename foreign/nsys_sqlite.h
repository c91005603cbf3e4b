/* Reads what `nsys export --type sqlite` writes. */
#ifndef CW_FOREIGN_NSYS_SQLITE_H
#define CW_FOREIGN_NSYS_SQLITE_H

#include "base/input.h"

/* Makes a trace of the kernels, copies, sets, graphs, calls, waits and ranges in the file. The file is read row by row;
 * a small one may be in memory. CW_ERR_UNSUPPORTED where libsqlite3 is not installed, CW_ERR_INPUT for a damaged file,
 * and for one that takes longer to read than its size explains. */
enum cw_status cw_nsys_read(struct cw_input *made, const struct cw_input *input, struct cw_error *err);

#endif
