/* The counter data file of a capture: the plan's prefix first, then whole chunks only, so that what was complete stays
 * readable whatever happens. */
#ifndef CW_AGENT_COLLECTOR_H
#define CW_AGENT_COLLECTOR_H

#include <sys/types.h>

#include "agent/session/clock_log.h"
#include "image/counter_data.h"

enum { CW_MOST_COLLECTED_GPUS = 64 };

struct cw_collected_gpu {
    uint32_t number;
    char pci[CW_PCI_SIZE];
    uint64_t from_ns, until_ns; /* of what is in the file, on the wall clock; from > until: nothing yet */
};

struct cw_collector {
    const char *path;
    int fd; /* -1: it is closed, or rests */
    bool rests;
    dev_t device; /* the file that rests */
    ino_t inode;
    const struct cw_schema *schema;
    uint64_t ranges, dropped;
    uint64_t size; /* bytes of whole chunks; a failed write is cut back to this */
    bool ended;
    const struct cw_clock_log *clocks; /* what the end says of clocks is from here; NULL: nothing */
    uint32_t gpu_count;
    struct cw_collected_gpu gpus[CW_MOST_COLLECTED_GPUS];
};

/* Creates (or empties) `path`, or takes standard output for "-", and writes the prefix for `schema`, which must outlive
 * the collector. A file that another collector writes is CW_ERR_IO, one that is no counter data CW_ERR_USAGE, unless
 * `force`. */
enum cw_status cw_collector_open(struct cw_collector *collector, const char *path, bool force,
                                 const struct cw_schema *schema, struct cw_error *err);
enum cw_status cw_collector_device(struct cw_collector *collector, const struct cw_device *device,
                                   struct cw_error *err);
/* Writes it once more in the place where it was written when the file had `at` bytes, for more is known of it; what
 * stands there has to be as long. Standard output goes on as it is. */
enum cw_status cw_collector_device_again(struct cw_collector *collector, uint64_t at, const struct cw_device *device,
                                         struct cw_error *err);
enum cw_status cw_collector_range(struct cw_collector *collector, const struct cw_range *range,
                                  const struct cw_value *values, struct cw_error *err);
/* A sample of device 0 with all rollups of its counters. */
enum cw_status cw_collector_sample(struct cw_collector *collector, uint64_t start_ns, uint64_t end_ns,
                                   const struct cw_value *values, struct cw_error *err);
/* Appends whole chunks of any other kind and frees the writer. */
enum cw_status cw_collector_append(struct cw_collector *collector, struct cw_writer *chunks, struct cw_error *err);
/* Whole chunks that someone else wrote, and how much was lost before them. */
enum cw_status cw_collector_chunks(struct cw_collector *collector, const void *chunks, size_t size, uint64_t lost,
                                   struct cw_error *err);
/* The file has something of this device that took place then; `pci`: its address, NULL where it is known or has none.
 * Ranges are seen by themselves. */
void cw_collector_seen(struct cw_collector *collector, uint32_t device, const char *pci, uint64_t from_ns,
                       uint64_t until_ns);
/* The same of what has just taken place. */
void cw_collector_seen_now(struct cw_collector *collector, uint32_t device, const char *pci);
/* Closes the file until something is to be written again, when it has to be the same as now (else CW_ERR_IO): a capture
 * of many files keeps few of them open. False for what is no regular file, which stays open. */
bool cw_collector_rest(struct cw_collector *collector);
/* Marks the capture complete, has the system keep it, and closes the file. */
enum cw_status cw_collector_end(struct cw_collector *collector, enum cw_capture_end how, uint32_t code,
                                struct cw_error *err);
/* Closes the file. A capture without cw_collector_end stays incomplete. */
void cw_collector_close(struct cw_collector *collector);

#endif
