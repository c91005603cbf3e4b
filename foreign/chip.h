/* Chips of devices in files of other profilers. */
#ifndef CW_FOREIGN_CHIP_H
#define CW_FOREIGN_CHIP_H

#include "base/arena.h"
#include "base/error.h"

/* Finds the chip by the name of its product, else by the compute capability, as in "sm_90"; "" for one that is not
 * known. *file and *chip: as cw_chip_file_find has them. CW_ERR_USAGE, without an error, if the database has no such
 * chip. */
enum cw_status cw_foreign_chip(const char **file, const char **chip, const char *product, const char *capability,
                               struct cw_arena *arena, struct cw_error *err);

#endif
