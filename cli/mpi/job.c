#define _GNU_SOURCE
#include "cli/mpi/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/chunk_walk.h"
#include "image/data_chunks.h"

static const uint64_t largest_capture = (uint64_t)1 << 40;

/* How long a failed process waits for the others. */
enum { PATIENCE_MS = 10000 };

static void end_job(const struct cw_mpi_job *j)
{
    cw_usage_fail(j->err);
    if (j->temporary)
        unlink(j->temporary);
    MPI_Abort(MPI_COMM_WORLD, (int)j->err->code);
}

enum cw_status cw_mpi_agree(const struct cw_mpi_job *j, enum cw_status status, bool *tells)
{
    int own = status == CW_OK ? j->size : j->rank, first, code = status, done = 0;
    MPI_Request request;
    MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, j->all, &request);
    for (int ms = 0; status != CW_OK && !done; ms++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (ms == PATIENCE_MS)
            end_job(j);
        usleep(1000);
    }
    if (!done)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (first == j->size)
        return CW_OK;
    MPI_Bcast(&code, 1, MPI_INT, first, j->all);
    *tells = first == j->rank;
    return (enum cw_status)code;
}

/* Ends the job for lack of memory that a common step needs: the others cannot be told. */
static void *must(void *memory)
{
    if (!memory) {
        fputs("metric-eval-mpi: out of memory\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, CW_ERR_NOMEM);
    }
    return memory;
}

/* ---- which files ------------------------------------------------------------------------------------------------ */

/* The names, each with a NUL. */
static enum cw_status pack(struct cw_writer *out, const struct cw_mpi_job *j)
{
    cw_writer_init(out);
    for (size_t i = 0; i < j->list.count; i++)
        cw_write_bytes(out, j->list.paths[i], strlen(j->list.paths[i]) + 1);
    return out->status == CW_OK && out->size <= INT32_MAX ? CW_OK : cw_error_nomem(j->err);
}

/* One process reads folders, lists and sizes of files, to spare the file server. */
static enum cw_status share_names(struct cw_mpi_job *j)
{
    struct cw_writer names = {0};
    enum cw_status status = CW_OK;
    if (!j->rank)
        status = cw_file_list_expand(&j->list, j->o->words, j->o->word_count, ".cwd", j->arena, j->err);
    if (!j->rank)
        cw_file_list_tell(&j->list);
    if (!j->rank && status == CW_OK)
        status = pack(&names, j);
    uint64_t sizes[2] = {status == CW_OK ? names.size : 0, j->list.count};
    MPI_Bcast(sizes, 2, MPI_UINT64_T, 0, j->all);
    char *text = must(cw_arena_alloc(j->arena, sizes[0], 1));
    if (!j->rank && status == CW_OK)
        memcpy(text, names.data, names.size);
    cw_writer_free(&names);
    if (!sizes[0])
        return status;
    MPI_Bcast(text, (int)sizes[0], MPI_BYTE, 0, j->all);
    char **paths = must(cw_arena_alloc(j->arena, sizes[1], sizeof *paths));
    for (size_t i = 0; i < sizes[1]; i++, text += strlen(text) + 1)
        paths[i] = text;
    j->list = (struct cw_file_list){paths, sizes[1]};
    return CW_OK;
}

static void share_sizes(struct cw_mpi_job *j)
{
    const size_t count = j->list.count;
    uint64_t *bytes = must(cw_arena_alloc(j->arena, count, sizeof *bytes));
    j->files = must(cw_arena_alloc(j->arena, count, sizeof *j->files));
    for (size_t i = 0; i < count && !j->rank; i++) {
        struct stat st;
        bytes[i] = stat(j->list.paths[i], &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    }
    MPI_Bcast(bytes, (int)count, MPI_UINT64_T, 0, j->all);
    for (size_t i = 0; i < count; i++)
        j->files[i].bytes = bytes[i];
}

/* ---- content of the files --------------------------------------------------------------------------------------- */

struct devices {
    struct cw_merge_device *list; /* to be freed */
    size_t count, room;
};

static enum cw_status add_device(struct devices *d, const struct cw_chunk_walk *walk, const struct cw_chunk *chunk)
{
    const struct cw_reader file = cw_chunk_walk_reader(walk);
    if (d->count == d->room) {
        d->room = d->room ? 2 * d->room : 64;
        struct cw_merge_device *more = realloc(d->list, d->room * sizeof *more);
        if (!more)
            return cw_error_nomem(walk->err);
        d->list = more;
    }
    return cw_merge_device_read(&d->list[d->count++], &file, chunk);
}

static enum cw_status count_file(const char *path, struct cw_mpi_file *of, struct devices *d, struct cw_error *err)
{
    struct cw_input input;
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    bool found = true, truncated = false;
    uint64_t held = 0;
    enum cw_status status = cw_input_open(&input, path, largest_capture, err);
    if (status == CW_OK) {
        status = cw_chunk_walk_begin(&walk, &input, &cw_counter_data_kind, 0, err);
        while (status == CW_OK && (status = cw_chunk_walk_next(&walk, &chunk, &found, &truncated)) == CW_OK && found) {
            if (chunk.type == CW_CHUNK_SCHEMA)
                of->plan = cw_likeness_of(chunk.payload, chunk.size);
            held += CW_CHUNK_HEADER_SIZE + chunk.size;
            of->ranges += chunk.type == CW_CHUNK_RANGE;
            of->complete = of->complete || chunk.type == CW_CHUNK_END;
            if (chunk.type == CW_CHUNK_DEVICE && (status = add_device(d, &walk, &chunk)) == CW_OK)
                of->device_count++;
        }
        cw_chunk_walk_end(&walk);
    }
    of->bytes = held > of->bytes ? held : of->bytes;
    cw_input_close(&input);
    return status;
}

/* Returns the first file of a process's part, by bytes. */
static size_t part_of(const struct cw_mpi_job *j, int rank)
{
    uint64_t all = 0, before = 0;
    size_t i = 0;
    for (size_t k = 0; k < j->list.count; k++)
        all += j->files[k].bytes;
    const uint64_t from = (uint64_t)((double)all * rank / j->size);
    while (rank && i < j->list.count && before < from)
        before += j->files[i++].bytes;
    return rank == j->size ? j->list.count : i;
}

/* Gives every process the lists of all processes, one after another. */
static void gather(const struct cw_mpi_job *j, const void *own, size_t count, size_t size, void *all)
{
    int *counts = must(calloc((size_t)j->size, sizeof *counts)),
        *places = must(calloc((size_t)j->size, sizeof *places));
    const int mine = (int)(count * size);
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, j->all);
    for (int i = 1; i < j->size; i++)
        places[i] = places[i - 1] + counts[i - 1];
    MPI_Allgatherv(own, mine, MPI_BYTE, all, counts, places, MPI_BYTE, j->all);
    free(counts);
    free(places);
}

static void number_devices(struct cw_mpi_job *j)
{
    struct cw_merge_devices joined = {0};
    bool is_new;
    for (uint64_t i = 0; i < j->device_count; i++)
        if (cw_merge_devices_map(&joined, &j->devices[i], false, &j->numbers[i], &is_new) != CW_OK)
            must(NULL);
    cw_merge_devices_free(&joined);
}

static void share_counts(struct cw_mpi_job *j, size_t from, size_t to, const struct devices *own)
{
    struct cw_mpi_file *files = must(cw_arena_alloc(j->arena, j->list.count, sizeof *files));
    gather(j, j->files + from, to - from, sizeof *files, files);
    j->files = files;
    j->complete = true;
    for (size_t i = 0; i < j->list.count; i++) {
        files[i].first = j->range_count;
        files[i].devices = j->device_count;
        j->range_count += files[i].ranges;
        j->device_count += files[i].device_count;
        j->complete = j->complete && files[i].complete;
    }
    j->devices = must(cw_arena_alloc(j->arena, j->device_count, sizeof *j->devices));
    j->numbers = must(cw_arena_alloc(j->arena, j->device_count, sizeof *j->numbers));
    gather(j, own->list, own->count, sizeof *own->list, j->devices);
    number_devices(j);
}

static enum cw_status count_all(struct cw_mpi_job *j)
{
    const size_t from = part_of(j, j->rank), to = part_of(j, j->rank + 1);
    struct devices own = {0};
    enum cw_status status = CW_OK;
    bool tells;
    for (size_t i = from; i < to && status == CW_OK; i++)
        status = count_file(j->list.paths[i], &j->files[i], &own, j->err);
    if (cw_mpi_agree(j, status, &tells) == CW_OK)
        share_counts(j, from, to, &own);
    free(own.list);
    return status;
}

enum cw_status cw_mpi_survey(struct cw_mpi_job *j)
{
    bool tells;
    enum cw_status status = share_names(j);
    if (cw_mpi_agree(j, status, &tells) != CW_OK)
        return status;
    share_sizes(j);
    status = count_all(j);
    if (cw_mpi_agree(j, status, &tells) != CW_OK)
        return status;
    for (size_t i = 1; i < j->list.count; i++) /* also files without ranges, which are not read again */
        if (cw_likeness_compare(&j->files[i].plan, &j->files[0].plan) != 0)
            return cw_error_set(j->err, CW_ERR_USAGE, "%s: found a capture of another plan than %s, expected the same",
                                j->list.paths[i], j->list.paths[0]);
    if (!j->range_count)
        return cw_error_set(j->err, CW_ERR_INPUT, "found no range in the captures, expected one at least");
    const uint64_t part = j->range_count / (uint64_t)j->size, more = j->range_count % (uint64_t)j->size;
    const uint64_t rank = (uint64_t)j->rank;
    j->begin = rank * part + (rank < more ? rank : more);
    j->end = j->begin + part + (rank < more);
    return CW_OK;
}

enum cw_status cw_mpi_map_devices(const struct cw_mpi_job *j, size_t first, size_t count, uint32_t **alone,
                                  uint32_t **whole, size_t *found, struct cw_arena *arena)
{
    struct cw_merge_devices joined = {0};
    const uint64_t from = j->files[first].devices;
    enum cw_status status = CW_OK;
    bool is_new;
    *found = (size_t)(j->files[first + count - 1].devices + j->files[first + count - 1].device_count - from);
    *alone = cw_arena_alloc(arena, *found, sizeof **alone);
    *whole = cw_arena_alloc(arena, *found, sizeof **whole);
    if (!*alone || !*whole)
        return cw_error_nomem(j->err);
    for (size_t i = 0; i < *found && status == CW_OK; i++) {
        status = cw_merge_devices_map(&joined, &j->devices[from + i], false, &(*alone)[i], &is_new);
        (*whole)[i] = j->numbers[from + i];
    }
    cw_merge_devices_free(&joined);
    return status == CW_OK ? CW_OK : cw_error_nomem(j->err);
}
