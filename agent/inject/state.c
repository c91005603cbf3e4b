#include "agent/inject/state.h"

struct cw_inject_state cw_inject_state;
_Thread_local struct cw_own_calls cw_own_calls;

#define X(type, name) type *const cw_##name = &cw_inject_state.name;
CW_INJECT_PARTS(X)
