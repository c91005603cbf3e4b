/* NVIDIA's native counter data as our counter data, on any machine with their host library. */
#ifndef CW_AGENT_DECODE_H
#define CW_AGENT_DECODE_H

#include "base/error.h"

struct cw_decode_options {
    const char *native, *output, *chip;
    const char *metrics; /* counters wanted, comma-separated; a metric's name counts for its counter. NULL: all */
};

enum cw_status cw_decode(const struct cw_decode_options *options, struct cw_error *err);

#endif
