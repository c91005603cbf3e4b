/* Finds which devices of several captures are the same, and numbers the devices of the merged capture. */
#ifndef CW_IMAGE_MERGE_DEVICES_H
#define CW_IMAGE_MERGE_DEVICES_H

#include "image/chunk.h"

/* A hash of 128 bits stands for the content: many captures have more devices and code than memory holds. */
struct cw_likeness {
    uint64_t low, high, size;
};
struct cw_likeness cw_likeness_of(const void *data, size_t size);
int cw_likeness_compare(const struct cw_likeness *a, const struct cw_likeness *b);

struct cw_merge_device {
    uint32_t own, placed;           /* its number in its capture; 1 if its description has a PCI address */
    struct cw_likeness description; /* its chunk without the number; size 0 if it is not described */
};
/* Reads a DEVC chunk. CW_ERR_INPUT if it is damaged, CW_ERR_NOMEM. */
enum cw_status cw_merge_device_read(struct cw_merge_device *device, const struct cw_reader *file,
                                    const struct cw_chunk *chunk);

/* Initialise with zeros. */
struct cw_merge_devices {
    struct cw_arena *arena;
    void *by_number, *by_likeness; /* trees of the devices so far */
    uint32_t next;                 /* no number below it is free */
};
/* Chooses the number for a device of the next capture. Unless `apart`, a device that an earlier capture describes alike
 * shares its number (a PCI address identifies a device whatever its number; without one the numbers must agree, too).
 * Otherwise the device is new: it keeps its own number if that is free, else gets the lowest free one, and *is_new is
 * set. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_merge_devices_map(struct cw_merge_devices *devices, const struct cw_merge_device *device, bool apart,
                                    uint32_t *number, bool *is_new);
void cw_merge_devices_free(struct cw_merge_devices *devices);

#endif
