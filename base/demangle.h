/* Readable names of C++ functions. */
#ifndef CW_BASE_DEMANGLE_H
#define CW_BASE_DEMANGLE_H

#include "base/error.h"

/* In malloc memory; NULL when the name is not mangled or no C++ runtime library is found (it is loaded at run time). A
 * short name may stand for one of any length: names that come from a file are for eval/samples/places.h. */
char *cw_demangle(const char *name);
/* The same; CW_ERR_INPUT for what is not mangled, CW_ERR_UNSUPPORTED without a library, CW_ERR_NOMEM. */
enum cw_status cw_demangle_into(char **readable, const char *name);

#endif
