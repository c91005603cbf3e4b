/* Multiplexing repeats nothing. It counts each launch or user range in one pass, and passes take turns
 * (pass_turns.h). */
#ifndef CW_INJECT_MULTIPLEX_H
#define CW_INJECT_MULTIPLEX_H

#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

extern const struct cw_inject_mode cw_inject_multiplex;

#endif
