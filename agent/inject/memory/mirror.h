/* Saves and restores device memory by what changed. Keeps a hash of each chunk of the program's memory, and a copy of
 * each chunk that has other bytes than zeros, from one save to the next. A save copies chunks whose hash changed; a
 * restore puts back chunks whose hash differs from the saved one. Copies are on the device, and on the host where the
 * device has no room. Chunks without room for a copy have only the hash. */
#ifndef CW_INJECT_MIRROR_H
#define CW_INJECT_MIRROR_H

#include "agent/inject/driver/inject.h"

struct cw_mirror; /* of a context */

enum cw_mirror_result {
    CW_MIRROR_GOOD,
    CW_MIRROR_LACKS, /* the work changed a chunk that has no copy: nothing was put back, and nothing is lost */
    CW_MIRROR_FAILED,
};

/* Whether the driver has the functions that mirrors need. */
bool cw_mirrors_work(void);
/* The mirror of the current context; NULL if its memory cannot be saved so: not all of it is known, a call
 * failed before, or its mirror is in use. */
struct cw_mirror *cw_mirror_of(CUcontext context);
/* Whether there is one, be it in use. */
bool cw_mirror_suits(CUcontext context);
/* Saves the memory of the current context, after all of its work: leaves `reserve` bytes of the device free, and takes
 * at most `on_host` bytes of the host. False after a failure. */
bool cw_mirror_save(struct cw_mirror *mirror, size_t reserve, size_t on_host);
/* Whether all chunks have a copy, so that no restore lacks one. */
bool cw_mirror_is_whole(const struct cw_mirror *mirror);
/* Restores the saved memory, after all work of the context, in two steps: looks for chunks that differ, and puts them
 * back. Chunks that lacked a copy get one at later saves. Looking launches kernels, which CUPTI would count; putting
 * back makes only copies if a pass is `started`. */
enum cw_mirror_result cw_mirror_look(struct cw_mirror *mirror);
enum cw_mirror_result cw_mirror_put_back(struct cw_mirror *mirror, bool started);
/* The driver's error behind the last CW_MIRROR_FAILED. */
CUresult cw_mirror_failure(void);
/* Whether all chunks that may have changed since the last look are among the ones it found, if work is repeated that
 * changed these. A look has to follow before the program uses its memory: repeated work may change others. */
bool cw_mirror_has_looked(const struct cw_mirror *mirror);
/* Ends the use of the saved memory. Keeps it for the next save. */
void cw_mirror_rest(struct cw_mirror *mirror);
/* Whether a context's mirror holds device memory that can be released. */
bool cw_mirror_holds(CUcontext context);
/* Frees what the mirror of the current context holds, unless it is in use. */
void cw_mirror_release(CUcontext context);
/* Forgets the mirror of a context that ends, and its memory with it. */
void cw_mirror_forget(CUcontext context);

#endif
