/* Changes captures so that what lies behind their checksums is reached: chunks are changed, lost, doubled and put
 * elsewhere, and every checksum is right afterwards. */
#ifndef CW_TESTS_FUZZ_CHUNK_MUTATE_H
#define CW_TESTS_FUZZ_CHUNK_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Takes some bytes of `room` and leaves others there. Returns how many: `size` + 8 at most. */
typedef size_t cw_mutate_bytes(uint8_t *data, size_t size, size_t room);

/* Changes a capture of `size` bytes in `room` bytes by `seed`. Payloads are changed by `bytes` in some cases, or, for
 * NULL, by a few changes of its own. Returns the new size. */
size_t cw_chunk_mutate(uint8_t *file, size_t size, size_t room, unsigned seed, cw_mutate_bytes *bytes);

/* Puts a chunk of another capture into a capture of `size` bytes in `room` bytes, by `seed`. Returns the new size. */
size_t cw_chunk_cross(uint8_t *file, size_t size, size_t room, const uint8_t *other, size_t other_size, unsigned seed);

#endif
