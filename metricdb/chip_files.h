/* Finds the file of the data folder that describes a chip. Chips with the same data share a file. */
#ifndef CW_METRICDB_CHIP_FILES_H
#define CW_METRICDB_CHIP_FILES_H

#include "metricdb/chip.h"

struct cw_chip_file {
    const char *path;
    uint32_t name_count;
    const char *const *names; /* chips that it describes, first the one that gives the file its name */
};

/* Lists all chip files of a data folder (metricdb/data.h), sorted by path. Reads only their heads, up to `units`.
 * Everything lives in `arena`. */
enum cw_status cw_chip_files(const struct cw_chip_file **files, size_t *count, const char *data, struct cw_arena *arena,
                             struct cw_error *err);
/* Finds the file of a chip by the name of the chip, of a product or of a compute capability (products.yaml), in upper
 * or lower case. *spelling is the chip's name as the file spells it. The error for an unknown name suggests others. */
enum cw_status cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                 struct cw_arena *arena, struct cw_error *err);

/* Lists the products of chips in products.yaml. Everything lives in `arena`. */
struct cw_chip_products {
    const char *chip;
    size_t count;
    const char *const *names;
};
enum cw_status cw_chip_products(const struct cw_chip_products **list, size_t *count, const char *data,
                                struct cw_arena *arena, struct cw_error *err);

#endif
