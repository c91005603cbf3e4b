/* Proves by a hash, before and after launches, that they did not change memory that other processes or network cards
 * reach. Nobody could put such memory back, so the proof comes before anything is repeated. From the first collective
 * on there is no proof: other processes write the memory at any time then. */
#ifndef CW_INJECT_PROOF_H
#define CW_INJECT_PROOF_H

#include "agent/inject/memory/memory_hash.h"

/* Bytes that a proof reads, in 0.8 ms on an H100. Of more memory, each proof reads the next part. */
#define CW_PROOF_MOST ((size_t)2 << 30)

struct cw_proof {
    bool needed; /* there is such memory that the context's device can read, and no collective was launched */
    uint64_t from, hash;
};

/* Call begin before the launches and holds after them, while their context is current and idle. Begin is false after a
 * failure. */
bool cw_proof_begin(struct cw_proof *proof, CUcontext context);
/* Whether the memory is unchanged. */
bool cw_proof_holds(const struct cw_proof *proof, CUcontext context);

#endif
