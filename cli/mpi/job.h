/* What the processes of metric-eval-mpi know of the captures and of each other. */
#ifndef CW_CLI_MPI_JOB_H
#define CW_CLI_MPI_JOB_H

#include <mpi.h>

#include "base/file_list.h"
#include "cli/common/chip.h"
#include "cli/common/metric_list.h"
#include "image/merge_devices.h"

struct cw_mpi_options {
    char *const *words;
    size_t word_count;
    const char *output;
    bool force, all, quiet;
    struct cw_metric_sources sources;
    struct cw_cli_chip chip;
};

/* What is known of a file before its values are read. */
struct cw_mpi_file {
    uint64_t bytes, first, ranges, devices; /* bytes: of its chunks, packed or not; first: number of its first range
                                               among those of all; devices: of its first among them */
    uint32_t device_count, complete;
    struct cw_likeness plan; /* its schema */
};

struct cw_mpi_job {
    const struct cw_mpi_options *o;
    MPI_Comm all;
    int rank, size;
    struct cw_file_list list; /* the same in all processes */
    struct cw_mpi_file *files;
    struct cw_merge_device *devices; /* of all files, one file's after another's */
    uint32_t *numbers;               /* [device]: what it is called where all files are joined */
    uint64_t range_count, device_count;
    uint64_t begin, end; /* the ranges that are this process's */
    bool complete;
    const char *temporary; /* the file that is being written, or NULL */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* The first failure of any process is that of all: the one with the lowest rank tells it, and *tells there. All have to
 * call it. Where a process failed and the others do not come, as they wait for it elsewhere, it tells its failure
 * itself, removes the file that is being written, and ends the job. */
enum cw_status cw_mpi_agree(const struct cw_mpi_job *job, enum cw_status status, bool *tells);

/* Finds the files, counts what is in them, each process a part, and shares the ranges evenly. All have to call it, and
 * agree afterwards. */
enum cw_status cw_mpi_survey(struct cw_mpi_job *job);

/* What the devices of files[first] and on are called where these `count` files are joined, and where all are:
 * *alone[i] and *whole[i] of *found devices, in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_mpi_map_devices(const struct cw_mpi_job *job, size_t first, size_t count, uint32_t **alone,
                                  uint32_t **whole, size_t *found, struct cw_arena *arena);

#endif
