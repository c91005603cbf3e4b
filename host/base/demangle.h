/* Readable names of C++ functions. */
#ifndef CW_BASE_DEMANGLE_H
#define CW_BASE_DEMANGLE_H

/* In malloc memory; NULL when the name is not mangled or no C++ runtime library is found (it is loaded at run time). */
char *cw_demangle(const char *name);

#endif
