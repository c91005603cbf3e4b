/* Hashes memory by a kernel on the device, at most of its bandwidth (2.7 TB/s on an H100). */
#ifndef CW_INJECT_MEMORY_HASH_H
#define CW_INJECT_MEMORY_HASH_H

#include "agent/inject/memory/regions.h"

/* Hashes pieces of memory that the device of the current context can read, while the context is idle. Each begins at a
 * multiple of 8; bytes beyond a multiple of 8 are left out. False after a failure. The first call in a context takes
 * 0.1 s to compile the kernel, and 8 bytes of the device. */
bool cw_memory_hash(CUcontext context, const struct cw_region *pieces, size_t count, uint64_t *hash);
/* Call it when a context is destroyed. */
void cw_memory_hash_forget(CUcontext context);

#endif
