/* NVTX's ranges, and the names that a program registers for them: domains, and their strings. A handle is a number that
 * is never reused; the name of an invalid or destroyed handle is "". Each text is stored once. All texts together take
 * at most CW_NVTX_MOST_BYTES; names registered beyond that are "". */
#ifndef CW_INJECT_NVTX_H
#define CW_INJECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CW_NVTX_MOST_BYTES = 8 << 20 };

#endif
