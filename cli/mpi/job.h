/* Facts about captures and processes that all processes of metric-eval-mpi share. */
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

struct cw_mpi_job {
    const struct cw_mpi_options *o;
    MPI_Comm all;
    int rank, size;
    struct cw_file_list list; /* the same in all processes */
    /* Facts about a file, before its values are read. */
    struct cw_mpi_file {
        uint64_t bytes, first, ranges, devices; /* bytes: of its chunks, packed or not; first: its first range among all
                                                   files' ranges; devices: its first device among all files' devices */
        uint32_t device_count, complete;
        struct cw_likeness plan; /* its schema */
    } * files;
    struct cw_merge_device *devices; /* of all files, one after another */
    uint32_t *numbers;               /* [device]: its number in the joined capture */
    uint64_t range_count, device_count;
    uint64_t begin, end; /* this process's ranges */
    bool complete;
    const char *temporary; /* path of the output until it is complete, or NULL */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* Agrees on a common status. All processes call it, and get the failure of the lowest failed rank; *tells is true
 * there. If others wait elsewhere and do not come, a failed process prints its error, removes the temporary file, and
 * ends the job. */
enum cw_status cw_mpi_agree(const struct cw_mpi_job *job, enum cw_status status, bool *tells);

/* Finds the files, counts their content, each process a part, and divides the ranges evenly. All processes call it, and
 * agree afterwards. */
enum cw_status cw_mpi_survey(struct cw_mpi_job *job);

/* Maps device numbers of `count` files from files[first] on: (*alone)[i] if only they are joined, (*whole)[i] if all
 * files are; *found devices, in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_mpi_map_devices(const struct cw_mpi_job *job, size_t first, size_t count, uint32_t **alone,
                                  uint32_t **whole, size_t *found, struct cw_arena *arena);

#endif
