/* Where the data folder is: chips/, sets/, glossary. */
#ifndef CW_METRICDB_DATA_H
#define CW_METRICDB_DATA_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { CW_PATH_MAX = 1024, CW_DATA_PATH_MAX = CW_PATH_MAX + 300 };

/* The folder share/counterworks of the installation or build tree that the program stands in, which need not exist.
 * False where the system does not say where the program is. */
bool cw_data_beside(char path[CW_PATH_MAX]);
/* The data folder that the caller names; without one (NULL) CW_DATA_DIR, then the folder installed beside the program
 * (../share/counterworks), then where this was installed, then the source tree's. */
enum cw_status cw_data_dir(char path[CW_PATH_MAX], const char *data, struct cw_error *err);
/* The path of a YAML file of it, named without .yaml: "sets/memory". */
enum cw_status cw_data_path(char path[CW_DATA_PATH_MAX], const char *data, const char *name, struct cw_error *err);
/* The names, without .yaml and sorted, of the YAML files in a folder of it ("chips"); `names` lives in `arena`. */
enum cw_status cw_data_list(const char *data, const char *folder, const char *const **names, size_t *count,
                            struct cw_arena *arena, struct cw_error *err);
/* The same of any folder. */
enum cw_status cw_data_files(const char *path, const char *const **names, size_t *count, struct cw_arena *arena,
                             struct cw_error *err);

#endif
