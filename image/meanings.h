/* The chunk MEAN, which both formats may have: what names stood for when they were planned. See FORMAT.md. */
#ifndef CW_IMAGE_MEANINGS_H
#define CW_IMAGE_MEANINGS_H

#include "image/chunk.h"
#include "image/config_image.h"

#define CW_CHUNK_MEANINGS CW_CHUNK_TYPE('M', 'E', 'A', 'N')

/* The payload; reading returns the count. */
void cw_meanings_write(const struct cw_meaning *meanings, uint32_t count, struct cw_writer *out);
uint32_t cw_meanings_read(const struct cw_meaning **meanings, struct cw_reader *in, struct cw_arena *arena);

#endif
