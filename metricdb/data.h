/* Finds the data folder: chips/, sets/, glossary. */
#ifndef CW_METRICDB_DATA_H
#define CW_METRICDB_DATA_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { CW_PATH_MAX = 1024, CW_DATA_PATH_MAX = CW_PATH_MAX + 300 };

/* Returns the folder share/counterworks of the installation or build tree of the program, or of the library that the
 * program loaded; it need not exist. False if the system does not tell the location. */
bool cw_data_beside(char path[CW_PATH_MAX]);
/* Returns the data folder that the caller names. If `data` is NULL, the first of: CW_DATA_DIR, the folder installed
 * beside the program or library (../share/counterworks), the place of the original installation. */
enum cw_status cw_data_dir(char path[CW_PATH_MAX], const char *data, struct cw_error *err);
/* Returns the path of a YAML file in the data folder, named without .yaml: "sets/memory". */
enum cw_status cw_data_path(char path[CW_DATA_PATH_MAX], const char *data, const char *name, struct cw_error *err);
/* Whether there is no file of this path: other than one that is there and cannot be opened. */
bool cw_data_lacks(const char *path);
/* Lists the YAML files in a folder of the data folder ("chips"): names without .yaml, sorted, in `arena`. */
enum cw_status cw_data_list(const char *data, const char *folder, const char *const **names, size_t *count,
                            struct cw_arena *arena, struct cw_error *err);
/* Lists the YAML files of any folder in the same way. */
enum cw_status cw_data_files(const char *path, const char *const **names, size_t *count, struct cw_arena *arena,
                             struct cw_error *err);

#endif
