/* The counter data file of a capture: the plan's prefix first, then whole chunks only, so that what was complete stays
 * readable whatever happens. */
#ifndef CW_AGENT_COLLECTOR_H
#define CW_AGENT_COLLECTOR_H

#include "image/counter_data.h"

struct cw_collector {
    const char *path;
    int fd;
    const struct cw_schema *schema;
    uint64_t ranges, dropped;
    uint64_t size; /* bytes of whole chunks; a failed write is cut back to this */
    bool ended;
};

/* Creates (or empties) `path`, or takes standard output for "-", and writes the prefix for `schema`, which must outlive
 * the collector. A file that another collector writes is CW_ERR_IO, one that is no counter data CW_ERR_USAGE, unless
 * `force`. */
enum cw_status cw_collector_open(struct cw_collector *collector, const char *path, bool force,
                                 const struct cw_schema *schema, struct cw_error *err);
enum cw_status cw_collector_device(struct cw_collector *collector, const struct cw_device *device,
                                   struct cw_error *err);
enum cw_status cw_collector_range(struct cw_collector *collector, const struct cw_range *range,
                                  const struct cw_value *values, struct cw_error *err);
/* Appends whole chunks of any other kind and frees the writer. */
enum cw_status cw_collector_append(struct cw_collector *collector, struct cw_writer *chunks, struct cw_error *err);
/* Whole chunks that someone else wrote, and how much was lost before them. */
enum cw_status cw_collector_chunks(struct cw_collector *collector, const void *chunks, size_t size, uint64_t lost,
                                   struct cw_error *err);
/* Marks the capture complete, has the system keep it, and closes the file. */
enum cw_status cw_collector_end(struct cw_collector *collector, enum cw_capture_end how, uint32_t code,
                                struct cw_error *err);
/* Closes the file. A capture without cw_collector_end stays incomplete. */
void cw_collector_close(struct cw_collector *collector);

#endif
