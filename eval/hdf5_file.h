/* An HDF5 file being written: groups, datasets with dimension scales, attributes. No type of HDF5's own shows here.
 *
 * Sticky: after the first failure nothing more happens, and cw_hdf5_finish says what failed. The same calls give the
 * same bytes. */
#ifndef CW_EVAL_HDF5_FILE_H
#define CW_EVAL_HDF5_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "eval/records.h"

struct cw_hdf5;
/* A group or dataset; 0 is the file's root. */
typedef int64_t cw_hdf5_object;

enum cw_hdf5_type { CW_HDF5_F64, CW_HDF5_U64, CW_HDF5_U32, CW_HDF5_I8, CW_HDF5_TEXT /* const char * */ };

/* Starts a file beside `path`; cw_hdf5_finish renames it, so that `path` holds the old or the new file and never a
 * part. */
enum cw_status cw_hdf5_create(struct cw_hdf5 **file, const char *path, struct cw_error *err);
/* Ends the file; with `keep` false, or after a failure, nothing is left behind. `file` may be NULL. */
enum cw_status cw_hdf5_finish(struct cw_hdf5 *file, bool keep, struct cw_error *err);

cw_hdf5_object cw_hdf5_group(struct cw_hdf5 *file, const char *name);
void cw_hdf5_close(struct cw_hdf5 *file, cw_hdf5_object object);
void cw_hdf5_attribute(struct cw_hdf5 *file, cw_hdf5_object object, const char *name, const char *text);
void cw_hdf5_attribute_i8(struct cw_hdf5 *file, cw_hdf5_object object, const char *name, const int8_t *values,
                          size_t count);

/* A dataset of `rank` dimensions, written whole and left open; rank 0 is a scalar. */
cw_hdf5_object cw_hdf5_dataset(struct cw_hdf5 *file, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                               int rank, const uint64_t *dims, const void *values);
/* The scale of an axis: a dataset that gives the axis its name and its labels; left open. */
cw_hdf5_object cw_hdf5_scale(struct cw_hdf5 *file, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                             uint64_t size, const void *values);
void cw_hdf5_attach(struct cw_hdf5 *file, cw_hdf5_object dataset, cw_hdf5_object scale, unsigned axis);
/* A dataset along one axis, closed again. */
void cw_hdf5_along(struct cw_hdf5 *file, cw_hdf5_object group, cw_hdf5_object scale, const char *name,
                   enum cw_hdf5_type type, uint64_t size, const void *values);

/* A dataset of dims[0] x dims[1] from `values` that are stored column by column, [dims[1]][dims[0]]; left open. Needs
 * no second copy of the values. */
cw_hdf5_object cw_hdf5_transposed(struct cw_hdf5 *file, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                                  const uint64_t dims[2], const void *values);

/* A table of records: a dataset of one compound for each. */
void cw_hdf5_table(struct cw_hdf5 *file, cw_hdf5_object group, const struct cw_records *records);

#endif
