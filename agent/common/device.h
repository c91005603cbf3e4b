/* What a GPU is, as the attributes of a device in counter data. */
#ifndef CW_AGENT_DEVICE_H
#define CW_AGENT_DEVICE_H

#include "agent/common/cupti_api.h"
#include "base/bytes.h"

/* Writes *count pairs of key and value. What the driver does not tell is left out; an unknown chip is an error. */
CUptiResult cw_cupti_describe(const struct cw_cupti *api, CUdevice device, struct cw_writer *out, uint32_t *count);

#endif
