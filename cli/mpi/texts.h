/* The texts of rows, which one process alone can write: each once, and a number for each row. */
#ifndef CW_CLI_MPI_TEXTS_H
#define CW_CLI_MPI_TEXTS_H

#include "cli/mpi/job.h"
#include "eval/output/hdf5_rows.h"

enum { CW_MPI_TEXT_COLUMNS = 16 };

struct cw_mpi_texts {
    struct cw_arena *arena;
    size_t column_count;
    struct cw_mpi_text_column {
        const struct cw_output_column *column;
        void *tree;             /* of the texts that were met */
        struct cw_writer bytes; /* these, each with its end */
        uint32_t count;
        struct cw_writer numbers; /* u32 for each row */
    } columns[CW_MPI_TEXT_COLUMNS];
};

/* Adds rows `from` and on of the output's first table; begins as zeros. CW_ERR_NOMEM alone. */
enum cw_status cw_mpi_texts_add(struct cw_mpi_texts *texts, const struct cw_output_table *table, uint64_t from,
                                uint64_t count, struct cw_error *err);
/* Process 0 writes the texts of all, into the file that it has opened alone; the others send theirs, each when it is its
 * turn. `rows`: NULL in the others, and where it could not be opened, which the job's error says. */
enum cw_status cw_mpi_texts_write(struct cw_mpi_texts *own, const struct cw_mpi_job *job, struct cw_hdf5_rows *rows,
                                  const struct cw_output_table *table);
void cw_mpi_texts_free(struct cw_mpi_texts *texts);

#endif
