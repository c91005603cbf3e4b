/* Files of other profilers, which open as captures: `ncu --csv`, `nsys export --type sqlite`, and traces of Kineto. */
#ifndef CW_FOREIGN_FOREIGN_H
#define CW_FOREIGN_FOREIGN_H

#include "base/input.h"

enum cw_foreign { CW_FOREIGN_NONE, CW_FOREIGN_NCU, CW_FOREIGN_NSYS, CW_FOREIGN_KINETO };

/* Bytes of a file's beginning that tell its kind. */
enum { CW_FOREIGN_HEAD = 1 << 16 };
enum cw_foreign cw_foreign_kind(const void *head, size_t size);

/* Replaces the input by the capture made of it, if it is a file of another profiler. `notice` gets a line about metrics
 * of ncu that the chip lacks, or events of Kineto whose process is unknown; "" if there are none. */
enum { CW_FOREIGN_NOTICE_SIZE = 200 };
enum cw_status cw_foreign_convert(struct cw_input *input, char notice[CW_FOREIGN_NOTICE_SIZE], struct cw_error *err);

#endif
