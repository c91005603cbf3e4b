/* Clocks of a GPU during a capture: readings of the driver's management library, one at the capture's beginning and one
 * at its end. See docs/formats.md for the bytes. */
#ifndef CW_IMAGE_GPU_CLOCKS_H
#define CW_IMAGE_GPU_CLOCKS_H

#include "image/chunk.h"

struct cw_gpu_clock {
    uint64_t wall_ns;
    uint32_t sm_mhz, memory_mhz; /* 0 unknown */
    uint64_t limits;             /* reasons for low clocks, as NVML's bits */
};

struct cw_gpu_clocks {
    uint32_t device;                     /* index into the devices once read, the device's own number when written */
    uint32_t count;                      /* at least 1 */
    const struct cw_gpu_clock *readings; /* in order of time */
};

void cw_gpu_clocks_write(const struct cw_gpu_clocks *clocks, struct cw_writer *out);
/* Reads the payload of a chunk, with the file's number as `device`; the caller finishes the reader. */
void cw_gpu_clocks_read(struct cw_gpu_clocks *clocks, struct cw_reader *in, struct cw_arena *arena);

/* Whether the first and the last reading of a clock differ by more than 2 %. */
bool cw_gpu_clocks_moved(const struct cw_gpu_clocks *clocks);
/* Whether two captures ran at different clocks, at their beginnings or at their ends. */
bool cw_gpu_clocks_differ(const struct cw_gpu_clocks *a, const struct cw_gpu_clocks *b);
/* Writes "SM 1980 MHz, memory 2619 MHz", without an unknown one, then how the clocks moved and what limited them: one
 * line without its end. */
enum { CW_GPU_CLOCKS_TEXT = 320 };
const char *cw_gpu_clocks_text(const struct cw_gpu_clocks *clocks, char text[CW_GPU_CLOCKS_TEXT]);

#endif
