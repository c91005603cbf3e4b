/* Writes the counter data file of a capture: the plan's prefix first, then whole chunks only, so that complete data
 * stays readable whatever happens. */
#ifndef CW_AGENT_COLLECTOR_H
#define CW_AGENT_COLLECTOR_H

#include <sys/types.h>

#include "agent/session/clock_log.h"
#include "image/counter_data.h"

enum { CW_MOST_COLLECTED_GPUS = 64 };

struct cw_collector {
    const char *path;
    int fd; /* -1: closed or resting */
    bool rests;
    dev_t device; /* the resting file */
    ino_t inode;
    const struct cw_schema *schema;
    uint64_t ranges, dropped;
    uint64_t size; /* bytes of whole chunks; a failed write is cut back to this */
    bool ended;
    const struct cw_clock_log *clocks; /* source of the clocks written at the end; NULL: none */
    uint32_t gpu_count;
    struct cw_collected_gpu {
        uint32_t number;
        char pci[CW_PCI_SIZE];
        uint64_t from_ns, until_ns; /* wall clock times of its data in the file; from > until: none yet */
    } gpus[CW_MOST_COLLECTED_GPUS];
};

/* Creates or empties `path`, or takes standard output for "-", and writes the prefix for `schema`, which must outlive
 * the collector. CW_ERR_IO if another collector writes the file, CW_ERR_USAGE if it is no counter data, unless
 * `force`. */
enum cw_status cw_collector_open(struct cw_collector *collector, const char *path, bool force,
                                 const struct cw_schema *schema, struct cw_error *err);
enum cw_status cw_collector_device(struct cw_collector *collector, const struct cw_device *device,
                                   struct cw_error *err);
/* Overwrites a device that was written when the file had `at` bytes, when more is known about it; the new chunk must
 * have the same length. Does nothing on standard output. */
enum cw_status cw_collector_device_again(struct cw_collector *collector, uint64_t at, const struct cw_device *device,
                                         struct cw_error *err);
enum cw_status cw_collector_range(struct cw_collector *collector, const struct cw_range *range,
                                  const struct cw_value *values, struct cw_error *err);
/* A sample of device 0 with all rollups of its counters. */
enum cw_status cw_collector_sample(struct cw_collector *collector, uint64_t start_ns, uint64_t end_ns,
                                   const struct cw_value *values, struct cw_error *err);
/* Appends whole chunks of any other kind and frees the writer. */
enum cw_status cw_collector_append(struct cw_collector *collector, struct cw_writer *chunks, struct cw_error *err);
/* Appends whole chunks of another writer; `lost`: losses before them. */
enum cw_status cw_collector_chunks(struct cw_collector *collector, const void *chunks, size_t size, uint64_t lost,
                                   struct cw_error *err);
/* Notes that the file has data of this device from that time; `pci`: its address, NULL if it is known or has none. Not
 * needed for ranges. */
void cw_collector_seen(struct cw_collector *collector, uint32_t device, const char *pci, uint64_t from_ns,
                       uint64_t until_ns);
/* Notes that the file has data of this device from now. */
void cw_collector_seen_now(struct cw_collector *collector, uint32_t device, const char *pci);
/* Closes the file until the next write, which checks that it is still the same file (else CW_ERR_IO): a capture of many
 * files keeps few of them open. False for anything but a regular file, which stays open. */
bool cw_collector_rest(struct cw_collector *collector);
/* Marks the capture complete, has the system store it, and closes the file. */
enum cw_status cw_collector_end(struct cw_collector *collector, enum cw_capture_end how, uint32_t code,
                                struct cw_error *err);
/* Closes the file. Without cw_collector_end the capture stays incomplete. */
void cw_collector_close(struct cw_collector *collector);

#endif
