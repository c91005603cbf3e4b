/* The clocks of a GPU while it was captured: readings of the driver's management library, one where the capture began
 * and one where it ended. See docs/formats.md for the bytes. */
#ifndef CW_IMAGE_GPU_CLOCKS_H
#define CW_IMAGE_GPU_CLOCKS_H

#include "image/chunk.h"

struct cw_gpu_clock {
    uint64_t wall_ns;
    uint32_t sm_mhz, memory_mhz; /* 0 unknown */
    uint64_t limits;             /* what kept the clocks down: bits of NVML's */
};

struct cw_gpu_clocks {
    uint32_t device;                     /* index into the devices once read, the device's own number when written */
    uint32_t count;                      /* at least 1 */
    const struct cw_gpu_clock *readings; /* in the order of time */
};

void cw_gpu_clocks_write(const struct cw_gpu_clocks *clocks, struct cw_writer *out);
/* Reads the payload of a chunk, `device` as the file has it; the caller finishes the reader. */
void cw_gpu_clocks_read(struct cw_gpu_clocks *clocks, struct cw_reader *in, struct cw_arena *arena);

/* Whether the first and the last reading of a clock are more than 2 % apart. */
bool cw_gpu_clocks_moved(const struct cw_gpu_clocks *clocks);
/* Whether two captures ran at other clocks: where each began, or where each ended. */
bool cw_gpu_clocks_differ(const struct cw_gpu_clocks *a, const struct cw_gpu_clocks *b);
/* "SM 1980 MHz, memory 2619 MHz", and where they moved how, and what kept them down: a line without its end. */
enum { CW_GPU_CLOCKS_TEXT = 320 };
const char *cw_gpu_clocks_text(const struct cw_gpu_clocks *clocks, char text[CW_GPU_CLOCKS_TEXT]);

#endif
