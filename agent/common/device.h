/* Describes a GPU by the attributes of a device in counter data. */
#ifndef CW_AGENT_DEVICE_H
#define CW_AGENT_DEVICE_H

#include "agent/common/cupti_api.h"
#include "base/bytes.h"

/* Writes *count pairs of key and value. Leaves out attributes that the driver does not give; an unknown chip is an
 * error. */
CUptiResult cw_cupti_describe(const struct cw_cupti *api, CUdevice device, struct cw_writer *out, uint32_t *count);

#endif
