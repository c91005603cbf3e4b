/* Loads the database of a chip, from YAML or from its compiled form. */
#ifndef CW_METRICDB_CHIP_LOAD_H
#define CW_METRICDB_CHIP_LOAD_H

#include "metricdb/chip.h"

/* Parses a chip file of `size` bytes. `path` is for messages; everything lives in `arena`. */
enum cw_status cw_chip_parse(const struct cw_chip **chip, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err);
/* Loads a file by path, from its compiled form if there is one (metricdb/compiled.h). */
enum cw_status cw_chip_load_file(const struct cw_chip **chip, const char *path, struct cw_arena *arena,
                                 struct cw_error *err);
/* Loads a chip by name, in upper or lower case, from a data folder (metricdb/data.h). The chip has the requested name,
 * not the file's. The error for an unknown name suggests others. */
enum cw_status cw_chip_load(const struct cw_chip **chip, const char *data, const char *name, struct cw_arena *arena,
                            struct cw_error *err);
/* Replaces *chip by a copy with another of its names; CW_ERR_INPUT if the file does not describe `name`. */
enum cw_status cw_chip_rename(const struct cw_chip **chip, const char *name, struct cw_arena *arena,
                              struct cw_error *err);

#endif
