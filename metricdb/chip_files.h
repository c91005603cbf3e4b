/* Which file of the data folder describes which chip. Chips with the same facts share a file. */
#ifndef CW_METRICDB_CHIP_FILES_H
#define CW_METRICDB_CHIP_FILES_H

#include "metricdb/chip.h"

struct cw_chip_file {
    const char *path;
    uint32_t name_count;
    const char *const *names; /* of the chips that it describes, the one it is named after first */
};

/* All chip files of a data folder (metricdb/data.h), sorted by path; only their heads are read, what stands before
 * `units`. Everything lives in `arena`. */
enum cw_status cw_chip_files(const struct cw_chip_file **files, size_t *count, const char *data, struct cw_arena *arena,
                             struct cw_error *err);
/* The file that describes the chip of this name, or the chip of a product or compute capability of this name
 * (products.yaml), in any case, and the chip's name as the file spells it. Unknown names get suggestions. */
enum cw_status cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                 struct cw_arena *arena, struct cw_error *err);

#endif
