/* SASS metrics of each context. */
#ifndef CW_INJECT_SASS_H
#define CW_INJECT_SASS_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"
#include "image/pc_data.h"

enum { CW_SASS_MOST_METRICS = 256 };

extern const struct cw_inject_mode cw_inject_sass;

#endif
