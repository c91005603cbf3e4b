/* Compiled form of a chip file: the result of cw_chip_parse, which saves parsing the file again.
 *
 *     header   magic "CWCHIP\r\n", layout, hash of the YAML text (16 bytes), size and XXH3 of the payload
 *     payload  counts of all tables, text pool, then each table column by column (below)
 *
 * Numbers are little-endian. A table of fields (metricdb/compiled.c) controls both writing and reading; the
 * layout is a hash of that table, so that a changed table is a new version. The file has no pointers. The build makes
 * it (metric-query compile) from the same sources as the program that reads it. It is only a shortcut: if it is
 * missing, damaged or made of another YAML text, the YAML is parsed. Reading takes at most 48 MB and 48 times the
 * file's size of memory, though a few bytes may stand for any number of equal values. */
#ifndef CW_METRICDB_COMPILED_H
#define CW_METRICDB_COMPILED_H

#include "base/bytes.h"
#include "base/file.h"
#include "metricdb/chip.h"
#include "metricdb/data.h"

extern const struct cw_file_kind cw_compiled_kind;

/* Appends the compiled form of a loaded chip, without users' formulas. CW_ERR_UNSUPPORTED for a chip with more rows
 * than the reader accepts. */
enum cw_status cw_compiled_write(const struct cw_chip *chip, struct cw_writer *out, struct cw_error *err);
/* Reads a compiled form whose YAML text has the given hash. Checks everything before use (metricdb/chip_check.h):
 * CW_ERR_INPUT with the offset if the form is damaged, of another layout or of another text. Everything lives in
 * `arena`, nothing in `data`. `path` is the YAML file's. */
enum cw_status cw_compiled_read(const struct cw_chip **chip, const void *data, size_t size, const uint8_t hash[16],
                                const char *path, struct cw_arena *arena, struct cw_error *err);

/* Finds the folder of compiled forms: `compiled`, beside the program's data, with NAME.cwchip for each NAME.yaml. False
 * if the system does not tell the program's location. */
bool cw_compiled_folder(char path[CW_PATH_MAX]);
/* Writes "NAME.cwchip" for the path of NAME.yaml. Returns `name`. */
const char *cw_compiled_name(const char *path, char name[CW_PATH_MAX]);
/* Loads the compiled form of the chip file `path`, which stays mapped while it is read. False if there is no valid one;
 * that is no error. */
bool cw_compiled_load(const struct cw_chip **chip, const char *path, const uint8_t hash[16], struct cw_arena *arena);

/* Columns repeat a value or count up, mostly. A column is a sequence of runs. A run is a varint, 4 * length + kind, and
 * the content of the kind:
 *
 *     0 same      one difference: the value that is repeated
 *     1 rising    one difference: the first of values that rise by 1
 *     2 plain     a difference for each value
 *     3 words     each value as it is, in two bytes
 *
 * A difference is from the value before (0 at the start), modulo 2^32, as a varint with the sign in bit 0. */
void cw_column_put(struct cw_writer *out, const uint32_t *values, size_t count);

/* Reads from `at` to `end` and never beyond. Sticky: yields 0 after a failure. */
struct cw_column_reader {
    const uint8_t *at, *end;
    bool bad;
};

/* Reads `count` values; each must be below `below`. */
void cw_column_get(struct cw_column_reader *in, uint32_t *values, size_t count, uint64_t below);

#endif
