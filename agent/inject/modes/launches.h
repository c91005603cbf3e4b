/* Runs beside PM sampling: a trace, and windows. */
#ifndef CW_INJECT_LAUNCHES_H
#define CW_INJECT_LAUNCHES_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"

extern const struct cw_inject_mode cw_inject_launches_mode;

#endif
