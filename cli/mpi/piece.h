/* Some ranges of the captures of a job, evaluated: what a process works on at a time. */
#ifndef CW_CLI_MPI_PIECE_H
#define CW_CLI_MPI_PIECE_H

#include "cli/mpi/job.h"
#include "eval/output/output.h"
#include "image/range_view.h"
#include "lib/handles.h"

struct cw_mpi_piece {
    struct cw_arena *arena;
    struct counterworks_capture *capture; /* of small files, joined; or of one large file, which stays open */
    struct cw_counter_data data;          /* its ranges, or some of them, with the devices' numbers of the whole */
    struct cw_result result;
    struct cw_output output;
    uint64_t from, count, at; /* rows of the output from `from` on are those from `at` on of the whole */
};

/* What a process's pieces are made with. */
struct cw_mpi_maker {
    struct cw_mpi_job *job;
    struct counterworks_chip *chip;
    const char *const *names; /* of metrics; NULL: all */
    size_t name_count;
    bool has_names, has_plan;
    struct cw_likeness plan; /* of the first process's first piece: all have to be of it */
    const char *first;       /* name of that */
    struct {                 /* a file that is larger than a piece */
        size_t index;        /* of the file, and 1; 0: none is open */
        struct counterworks_capture *capture;
        struct cw_arena *arena;
        struct cw_range_view view;
    } large;
};

/* Makes the next piece, from range `at` of the job on; without rows where that is not the process's. To be freed, also
 * after a failure, before the next. */
enum cw_status cw_mpi_piece_make(struct cw_mpi_piece *piece, struct cw_mpi_maker *maker, uint64_t at);
void cw_mpi_piece_free(struct cw_mpi_piece *piece, struct cw_mpi_maker *maker);
void cw_mpi_maker_free(struct cw_mpi_maker *maker);

#endif
