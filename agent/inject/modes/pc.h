/* PC sampling of each context. */
#ifndef CW_INJECT_PC_H
#define CW_INJECT_PC_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"
#include "image/pc_data.h"

extern const struct cw_inject_mode cw_inject_pc;

#endif
