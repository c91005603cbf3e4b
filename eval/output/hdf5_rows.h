/* Writes the rows of deferred tables into an HDF5 file of cw_hdf5_make from several processes (MPI). Needs the parallel
 * HDF5, so metric-eval does not have it. */
#ifndef CW_EVAL_OUTPUT_HDF5_ROWS_H
#define CW_EVAL_OUTPUT_HDF5_ROWS_H

#include "eval/output/output.h"

struct cw_hdf5_rows;

/* `name` stands for `path` in messages, and is borrowed. `communicator` is an MPI_Comm whose processes all open the
 * file and put rows together; NULL: this process alone. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_hdf5_rows_open(struct cw_hdf5_rows **rows, const char *path, const char *name,
                                 const void *communicator, struct cw_error *err);
enum cw_status cw_hdf5_rows_close(struct cw_hdf5_rows *rows, struct cw_error *err);

/* Writes the numbers of `count` rows (may be 0) of the first table and of the passes: the output's rows from `from` on
 * become the file's rows from `at` on. All processes call it equally often, each with its own rows. */
enum cw_status cw_hdf5_rows_put(struct cw_hdf5_rows *rows, const struct cw_output *output, uint64_t from,
                                uint64_t count, uint64_t at, struct cw_error *err);

/* Writes texts. Only one process can, and it has opened the file alone. `column` is one of the first table's. */
enum cw_status cw_hdf5_rows_put_texts(struct cw_hdf5_rows *rows, const struct cw_output_table *table,
                                      const struct cw_output_column *column, const char *const *texts, uint64_t count,
                                      uint64_t at, struct cw_error *err);

#endif
