/* The compiled form of a chip file: what cw_chip_parse makes of it, so that it need not be parsed again.
 *
 *     header    magic "CWCHIP\r\n", layout, hash of the YAML text (16 bytes), size and XXH3 of the payload
 *     payload   counts of all tables, text pool, then each table column by column (metricdb/columns.h)
 *
 * Numbers are little-endian. One table of fields (metricdb/compiled_table.c) drives writing and reading; the layout is
 * a hash of it, so that another layout is another version. The file holds no pointers. It is made by the build, from
 * the same sources as the program that reads it (metric-query compile), and is only ever a shortcut: where it is
 * absent, damaged or of another YAML text, the YAML is parsed. What is read takes at most 48 times the size of the file
 * and 48 MB, though a few bytes may stand for any number of equal values. */
#ifndef CW_METRICDB_COMPILED_H
#define CW_METRICDB_COMPILED_H

#include "base/bytes.h"
#include "base/file.h"
#include "metricdb/chip.h"
#include "metricdb/data.h"

/* Files of compiled forms. */
extern const struct cw_file_kind cw_compiled_kind;

/* Appends the compiled form of a chip that was loaded; users' formulas are left out. CW_ERR_UNSUPPORTED for a chip with
 * more rows than the reader takes. */
enum cw_status cw_compiled_write(const struct cw_chip *chip, struct cw_writer *out, struct cw_error *err);
/* The chip of a compiled form whose YAML text has the hash. Nothing in it is believed before it is checked
 * (metricdb/chip_check.h): CW_ERR_INPUT with the offset for a form that is damaged, of another layout or of another
 * text. All lives in `arena`, nothing in `data`. `path` is the YAML file's. */
enum cw_status cw_compiled_read(const struct cw_chip **chip, const void *data, size_t size, const uint8_t hash[16],
                                const char *path, struct cw_arena *arena, struct cw_error *err);

/* Where compiled forms of chip files are looked for: one for each, NAME.cwchip for NAME.yaml, in the folder `compiled`
 * beside the program's data. False where the system does not say where the program is. */
bool cw_compiled_folder(char path[CW_PATH_MAX]);
/* "NAME.cwchip" for the path of NAME.yaml. Returns `name`. */
const char *cw_compiled_name(const char *path, char name[CW_PATH_MAX]);
/* Maps the compiled form of the chip file `path` for as long as it takes to read. False where there is none that holds;
 * that is no error. */
bool cw_compiled_load(const struct cw_chip **chip, const char *path, const uint8_t hash[16], struct cw_arena *arena);

#endif
