/* Chunks of counter data that reading, writing and merging share. See docs/formats.md. */
#ifndef CW_IMAGE_DATA_CHUNKS_H
#define CW_IMAGE_DATA_CHUNKS_H

#include "image/chunk.h"

#define CW_CHUNK_SCHEMA CW_CHUNK_TYPE('S', 'C', 'H', 'M')
#define CW_CHUNK_FACT_NAMES CW_CHUNK_TYPE('F', 'N', 'A', 'M')
#define CW_CHUNK_REPEATS CW_CHUNK_TYPE('R', 'P', 'T', 'S')
#define CW_CHUNK_DEVICE CW_CHUNK_TYPE('D', 'E', 'V', 'C')
#define CW_CHUNK_ABOUT CW_CHUNK_TYPE('R', 'A', 'T', 'T')
#define CW_CHUNK_REPEATED CW_CHUNK_TYPE('R', 'V', 'A', 'L')
#define CW_CHUNK_FACTS CW_CHUNK_TYPE('R', 'F', 'C', 'T')
#define CW_CHUNK_RANGE CW_CHUNK_TYPE('R', 'N', 'G', 'E')
#define CW_CHUNK_SAMPLES CW_CHUNK_TYPE('S', 'M', 'P', 'L')
#define CW_CHUNK_CLOCK CW_CHUNK_TYPE('C', 'L', 'C', 'K')
#define CW_CHUNK_WINDOW CW_CHUNK_TYPE('W', 'N', 'D', 'W')
#define CW_CHUNK_LAUNCHES CW_CHUNK_TYPE('L', 'N', 'C', 'H')
#define CW_CHUNK_MODULE CW_CHUNK_TYPE('M', 'O', 'D', 'L')
#define CW_CHUNK_PC CW_CHUNK_TYPE('P', 'C', 'S', 'M')
#define CW_CHUNK_SASS CW_CHUNK_TYPE('S', 'A', 'S', 'S')
#define CW_CHUNK_UNCOUNTED CW_CHUNK_TYPE('N', 'C', 'N', 'T')
#define CW_CHUNK_TRACE_KINDS CW_CHUNK_TYPE('T', 'K', 'N', 'D')
#define CW_CHUNK_TRACE_PROCESS CW_CHUNK_TYPE('T', 'P', 'R', 'C')
#define CW_CHUNK_TRACE_TEXTS CW_CHUNK_TYPE('T', 'S', 'T', 'R')
#define CW_CHUNK_TRACE_ROWS CW_CHUNK_TYPE('T', 'R', 'E', 'C')
#define CW_CHUNK_GPU_CLOCKS CW_CHUNK_TYPE('G', 'C', 'L', 'K')
#define CW_CHUNK_END CW_CHUNK_TYPE('E', 'N', 'D', 'C')

enum { CW_LAUNCH_SIZE = 4 + 4 + 4 * 8 }; /* bytes of a launch in LNCH: name, device, four numbers */

/* Appends RFCT with the facts of the next range, unless all facts are NaN (unknown). */
void cw_facts_write(const double *facts, uint32_t count, struct cw_writer *out);
/* Reads the payload of RFCT; all facts are NaN if it is empty. */
enum cw_status cw_facts_read(const struct cw_reader *file, const struct cw_chunk *chunk, double *facts, uint32_t count);

#endif
