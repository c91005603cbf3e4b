/* SASS metrics of each context. */
#ifndef CW_INJECT_SASS_H
#define CW_INJECT_SASS_H

#include "agent/inject/ranges/mode.h"

extern const struct cw_inject_mode cw_inject_sass;

#endif
