/* Which devices of several captures are one, and the numbers that they have where the captures are joined. */
#ifndef CW_IMAGE_MERGE_DEVICES_H
#define CW_IMAGE_MERGE_DEVICES_H

#include "image/chunk.h"

/* Of many captures there are more devices and code than memory holds: what is alike is told by a hash of 128 bits. */
struct cw_likeness {
    uint64_t low, high, size;
};
struct cw_likeness cw_likeness_of(const void *data, size_t size);
int cw_likeness_compare(const struct cw_likeness *a, const struct cw_likeness *b);

struct cw_merge_device {
    uint32_t own, placed;           /* its number in its capture; 1 where it tells its PCI address */
    struct cw_likeness description; /* its chunk behind the number; of size 0 where it is not described */
};
/* Of a chunk DEVC. CW_ERR_INPUT where that is damaged, CW_ERR_NOMEM. */
enum cw_status cw_merge_device_read(struct cw_merge_device *device, const struct cw_reader *file,
                                    const struct cw_chunk *chunk);

/* Begins as zeros. */
struct cw_merge_devices {
    struct cw_arena *arena;
    void *by_number, *by_likeness; /* trees of those that are there */
    uint32_t next;                 /* none below it is free */
};
/* The number for a device of the next capture: that of one that an earlier capture describes alike (a PCI address names
 * one device, whatever its number; without one the numbers must be alike, too), unless `apart`; else its own where that
 * is free, else the lowest that is, and *is_new. CW_ERR_NOMEM alone. */
enum cw_status cw_merge_devices_map(struct cw_merge_devices *devices, const struct cw_merge_device *device, bool apart,
                                    uint32_t *number, bool *is_new);
void cw_merge_devices_free(struct cw_merge_devices *devices);

#endif
