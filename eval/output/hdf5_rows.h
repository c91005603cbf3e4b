/* The rows of deferred tables of an HDF5 file that cw_hdf5_make has made, written by several processes (MPI). Needs the
 * parallel HDF5, so it is no part of metric-eval. */
#ifndef CW_EVAL_OUTPUT_HDF5_ROWS_H
#define CW_EVAL_OUTPUT_HDF5_ROWS_H

#include "eval/output/output.h"

struct cw_hdf5_rows;

/* `name` stands for `path` in messages, and is borrowed. `communicator` is an MPI_Comm: all its processes open the file
 * and put rows together; NULL: this process alone. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_hdf5_rows_open(struct cw_hdf5_rows **rows, const char *path, const char *name,
                                 const void *communicator, struct cw_error *err);
enum cw_status cw_hdf5_rows_close(struct cw_hdf5_rows *rows, struct cw_error *err);

/* The numbers of `count` rows, maybe 0, of the first table and of that of passes: rows `from` and on of the output's go
 * to row `at` and on of the file. All processes call it as often, each of its own rows. */
enum cw_status cw_hdf5_rows_put(struct cw_hdf5_rows *rows, const struct cw_output *output, uint64_t from,
                                uint64_t count, uint64_t at, struct cw_error *err);

/* Texts can be written by one process alone, which has opened the file without others. `column` is one of the first
 * table's. */
enum cw_status cw_hdf5_rows_put_texts(struct cw_hdf5_rows *rows, const struct cw_output_table *table,
                                      const struct cw_output_column *column, const char *const *texts, uint64_t count,
                                      uint64_t at, struct cw_error *err);

#endif
