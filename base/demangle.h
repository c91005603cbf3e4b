/* Readable names of C++ functions. */
#ifndef CW_BASE_DEMANGLE_H
#define CW_BASE_DEMANGLE_H

#include "base/error.h"

/* Returns the readable name in malloc memory. NULL if the name is not mangled or no C++ runtime library is found (it is
 * loaded at run time). A short mangled name may stand for a readable one of any length: use eval/samples/places.h for
 * names from files. */
char *cw_demangle(const char *name);
/* The same with a status: CW_ERR_INPUT if the name is not mangled, CW_ERR_UNSUPPORTED without a library,
 * CW_ERR_NOMEM. */
enum cw_status cw_demangle_into(char **readable, const char *name);

#endif
