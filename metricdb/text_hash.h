/* The identity of a chip file: XXH3 (128 bits, big-endian) of its text. Internal to metricdb. */
#ifndef CW_METRICDB_TEXT_HASH_H
#define CW_METRICDB_TEXT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void cw_text_hash(uint8_t hash[16], const void *data, size_t size);
/* Of a regular file, which is not held in memory; false where it cannot be read that way. */
bool cw_text_hash_file(uint8_t hash[16], const char *path);

#endif
