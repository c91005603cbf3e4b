/* metric-eval-mpi: the captures of a large job, evaluated by the processes of an MPI job into one HDF5 file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "cli/mpi/piece.h"
#include "cli/mpi/texts.h"

static void check_options(void *options, struct argp_state *state)
{
    const struct cw_mpi_options *o = options;
    if (!o->word_count || !o->output)
        cw_usage_error(state, "found %s%s, expected captures and -o ALL.h5", o->word_count ? "" : "no capture",
                       o->output       ? ""
                       : o->word_count ? "no -o"
                                       : " and no -o");
    if (o->all && o->sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
    if (cw_file_is_standard(o->output))
        cw_usage_error(state, "found -o -, expected a file: several processes write it");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the captures hold", CW_OPTION_FLAG(struct cw_mpi_options, all)},
    {"output", 'o', "FILE", "write HDF5", CW_OPTION_TEXT(struct cw_mpi_options, output)},
    {"quiet", 'q', NULL, "no notices", CW_OPTION_FLAG(struct cw_mpi_options, quiet)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one",
     CW_OPTION_TEXT(struct cw_mpi_options, chip.file)},
    {CW_OPTION_WORDS(struct cw_mpi_options, words, word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_mpi_options, force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct cw_mpi_options, sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct cw_mpi_options, chip, cw_cli_metrics_db_options)},
    {0},
};

struct work {
    struct cw_mpi_job job;
    struct cw_mpi_maker maker;
    struct cw_mpi_piece piece;
    struct cw_mpi_texts texts;
    struct cw_new_file file; /* of process 0 */
    struct cw_hdf5_rows *rows;
    bool tells;      /* of a failure that this process has to tell */
};

/* Whether all processes came so far. */
static enum cw_status agree(struct work *w, enum cw_status status)
{
    return cw_mpi_agree(&w->job, status, &w->tells);
}

static enum cw_status check_output(const struct cw_mpi_job *j)
{
    for (size_t i = 0; i < j->list.count && !j->rank; i++)
        if (cw_file_is_same(j->list.paths[i], j->o->output))
            return cw_error_set(j->err, CW_ERR_USAGE, "found %s as capture and output, expected another file for each",
                                j->o->output);
    return j->rank ? CW_OK : cw_file_may_replace(j->o->output, &cw_file_hdf5, j->o->force, j->err);
}

/* All captures are of the plan of process 0's first. */
static void share_plan(struct work *w)
{
    struct cw_mpi_maker *m = &w->maker;
    MPI_Bcast(&m->plan, sizeof m->plan, MPI_BYTE, 0, w->job.all);
    m->has_plan = true;
    m->first = w->job.list.paths[0];
}

/* Process 0 makes the file: all but the rows. */
static enum cw_status make_file(struct work *w)
{
    struct cw_output whole = w->piece.output;
    struct cw_counter_data data = w->piece.data;
    if (w->job.rank)
        return CW_OK;
    data.device_count = data.device_count > 0; /* the others are in other processes */
    data.clocks_count = 0;
    data.range_count = data.range_count > 0;
    data.complete = w->job.complete;
    whole.data = &data;
    whole.source = w->job.o->words[0];
    whole.tables[0].row_count = whole.passes.row_count = w->job.range_count;
    whole.tables[0].deferred = whole.passes.deferred = true;
    enum cw_status status = cw_new_file_open(&w->file, w->job.o->output, w->job.err);
    return status == CW_OK ? cw_hdf5_make(&whole, &w->file, w->job.err) : status;
}

static enum cw_status share_path(struct work *w)
{
    uint64_t size = w->job.rank ? 0 : strlen(w->file.temporary) + 1;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, w->job.all);
    char *path = cw_arena_alloc(w->job.arena, size, 1);
    if (agree(w, path ? CW_OK : cw_error_nomem(w->job.err)) != CW_OK)
        return path ? CW_OK : CW_ERR_NOMEM;
    if (!w->job.rank)
        memcpy(path, w->file.temporary, size);
    MPI_Bcast(path, (int)size, MPI_BYTE, 0, w->job.all);
    w->job.temporary = path;
    return CW_OK;
}

/* Each process puts its pieces, and none where others have more. */
static enum cw_status put_pieces(struct work *w)
{
    enum cw_status status = CW_OK, all = CW_OK;
    for (bool more = true; more && all == CW_OK;) {
        struct cw_mpi_piece *p = &w->piece;
        const uint64_t next = p->at + p->count;
        status = cw_hdf5_rows_put(w->rows, &p->output, p->from, p->count, p->at, w->job.err);
        if (status == CW_OK)
            status = cw_mpi_texts_add(&w->texts, &p->output.tables[0], p->from, p->count, w->job.err);
        p->count = 0; /* the last piece stays: it says which columns there are */
        p->at = next;
        if (status == CW_OK && next < w->job.end) {
            cw_mpi_piece_free(p, &w->maker);
            status = cw_mpi_piece_make(p, &w->maker, next);
        }
        all = agree(w, status);
        int own = p->count > 0, any = 0;
        MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, w->job.all);
        more = any;
    }
    return status;
}

static enum cw_status put_texts(struct work *w)
{
    enum cw_status status = CW_OK;
    if (!w->job.rank)
        status = cw_hdf5_rows_open(&w->rows, w->job.temporary, w->job.o->output, NULL, w->job.err);
    const bool open = !w->job.rank && status == CW_OK;
    const enum cw_status writing =
        cw_mpi_texts_write(&w->texts, &w->job, open ? w->rows : NULL, &w->piece.output.tables[0]);
    status = status == CW_OK ? writing : status;
    const enum cw_status closing = cw_hdf5_rows_close(w->rows, w->job.err);
    w->rows = NULL;
    return status == CW_OK ? closing : status;
}

/* The steps. All processes go through them together: a failure of one is that of all, after the step. */
static enum cw_status evaluate(struct work *w)
{
    struct cw_mpi_job *j = &w->job;
    enum cw_status all = agree(w, cw_mpi_survey(j));
    if (all == CW_OK)
        all = agree(w, check_output(j));
    if (all == CW_OK)
        all = agree(w, j->rank ? CW_OK : cw_mpi_piece_make(&w->piece, &w->maker, j->begin));
    if (all == CW_OK) {
        share_plan(w);
        all = agree(w, j->rank ? cw_mpi_piece_make(&w->piece, &w->maker, j->begin) : CW_OK);
    }
    if (all == CW_OK)
        all = agree(w, make_file(w));
    if (all == CW_OK)
        all = agree(w, share_path(w));
    if (all == CW_OK)
        all = agree(w, cw_hdf5_rows_open(&w->rows, j->temporary, j->o->output, &j->all, j->err));
    if (all == CW_OK)
        all = agree(w, put_pieces(w));
    if (all != CW_OK) /* what is open stays so: closing it together would wait for who failed */
        return all;
    const enum cw_status closing = cw_hdf5_rows_close(w->rows, j->err);
    w->rows = NULL;
    all = agree(w, closing);
    return all == CW_OK ? agree(w, put_texts(w)) : all;
}

static enum cw_status run(struct work *w)
{
    enum cw_status all = evaluate(w);
    enum cw_status closing = CW_OK;
    if (!w->job.rank && w->file.path)
        closing = cw_new_file_close(&w->file, all == CW_OK, w->job.err);
    if (all == CW_OK)
        all = agree(w, closing);
    cw_mpi_texts_free(&w->texts);
    cw_mpi_piece_free(&w->piece, &w->maker);
    cw_mpi_maker_free(&w->maker);
    counterworks_chip_close(w->maker.chip);
    return all;
}

/* A mistake on the command line is one, however many processes read it. The rank is known before MPI begins to those
 * that started the process. */
static bool is_silent(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && *rank)
            return strcmp(rank, "0") != 0;
    }
    return false;
}

static void read_options(int argc, char **argv, struct cw_mpi_options *options)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd|FOLDER|@LIST... -o ALL.h5",
        "Evaluates the captures of a parallel job into one HDF5 file, as metric-eval does, by several processes, each a "
        "part of the ranges. Without -m, --set or --all the metrics are those of the plan.\v"
        "Example:\n  mpirun -n 8 metric-eval-mpi job/ -o all.h5\n  srun metric-eval-mpi @captures --set demo -o all.h5"};
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const bool silent = is_silent() && out >= 0 && err >= 0 && freopen("/dev/null", "w", stdout) &&
                        freopen("/dev/null", "w", stderr);
    cw_usage_read(&usage, argc, argv, options);
    if (silent) {
        fflush(NULL);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        setvbuf(stderr, NULL, _IONBF, 0); /* as it was */
    }
    close(out);
    close(err);
}

int main(int argc, char **argv)
{
    struct cw_mpi_options options = {0};
    struct cw_error err = CW_ERROR_INIT;
    struct work w = {.job = {.o = &options, .err = &err, .arena = cw_arena_create()}, .file.fd = -1};
    cw_cli_init();
    read_options(argc, argv, &options);
    cw_hdf5_begin();
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &w.job.all);
    MPI_Comm_rank(w.job.all, &w.job.rank);
    MPI_Comm_size(w.job.all, &w.job.size);
    w.maker.job = &w.job;
    enum cw_status status = agree(&w, w.job.arena ? CW_OK : cw_error_nomem(&err));
    if (status == CW_OK)
        status = run(&w);
    cw_arena_destroy(w.job.arena);
    const int code = w.tells ? cw_cli_finish(status, &err) : cw_cli_finish(CW_OK, NULL);
    MPI_Comm_free(&w.job.all);
    MPI_Finalize();
    return code;
}
