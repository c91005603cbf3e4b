/* metric-eval-mpi: processes of an MPI job evaluate the captures of a large job into one HDF5 file. */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"
#include "cli/common/cli.h"
#include "cli/mpi/job.h"
#include "eval/output/hdf5_rows.h"
#include "eval/output/output.h"
#include "eval/ranges/fold.h"
#include "image/range_view.h"
#include "lib/handles.h"
#include "view/metrics.h"
#include "view/source.h"
#include "view/view.h"

/* ---- command line ----------------------------------------------------------------------------------------------- */

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

/* ---- pieces: some ranges of the captures, which a process evaluates at a time ----------------------------------- */

struct piece {
    struct cw_arena *arena;
    struct counterworks_capture *capture; /* small files, joined; or one large file, which stays open */
    struct cw_counter_data data;          /* its ranges, or some of them, with device numbers of the joined capture */
    struct cw_result result;
    struct cw_output output;
    uint64_t from, count, at; /* rows `from` and on of the output are rows `at` and on of the file */
};

/* State for making a process's pieces. */
struct maker {
    struct cw_mpi_job *job;
    struct counterworks_chip *chip;
    const char *const *names; /* names of metrics; NULL: all */
    size_t name_count;
    bool has_names, has_plan;
    struct cw_likeness plan; /* of process 0's first piece; all pieces must have it */
    const char *first;       /* the name of that piece's file */
    struct {                 /* a file that is larger than a piece */
        size_t index;        /* index of the file, plus 1; 0: none is open */
        struct counterworks_capture *capture;
        struct cw_arena *arena;
        struct cw_range_view view;
    } large;
};

enum { BATCH = 32 << 20 }; /* bytes of files to join, and of the largest file to read as a whole */
static const uint64_t largest_capture = (uint64_t)1 << 40;

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* Returns the index of the file with a range. */
static size_t file_of(const struct cw_mpi_job *j, uint64_t range)
{
    struct cw_search s = {0, j->list.count};
    while (s.low < s.high) /* the first file behind it */
        cw_search_narrow(&s, j->files[cw_search_middle(&s)].first <= range);
    return s.low ? s.low - 1 : 0;
}

/* Devices get the numbers of the joined capture. */
static enum cw_status number_devices(struct piece *p, const struct cw_mpi_job *j, size_t first, size_t count,
                                     bool alone)
{
    struct cw_counter_data *d = &p->data;
    struct cw_device *devices = cw_arena_alloc(p->arena, d->device_count, sizeof *devices);
    uint32_t *here, *whole, index;
    size_t found;
    CW_TRY(devices ? cw_mpi_map_devices(j, first, count, &here, &whole, &found, p->arena) : cw_error_nomem(j->err));
    memcpy(devices, d->devices, d->device_count * sizeof *devices);
    for (size_t i = 0; i < found; i++)
        if (cw_device_find(d->devices, d->device_count, alone ? j->devices[j->files[first].devices + i].own : here[i],
                           &index))
            devices[index].index = whole[i];
    d->devices = devices;
    return CW_OK;
}

static enum cw_status open_small(struct piece *p, const struct cw_mpi_job *j, size_t first, uint64_t at)
{
    uint64_t bytes = 0;
    size_t end = first;
    while (end < j->list.count && (end == first || (bytes < BATCH && j->files[end].first < j->end)))
        bytes += j->files[end++].bytes;
    CW_TRY(cw_source_join(&p->capture, (const char *const *)j->list.paths + first, end - first, j->list.paths[first],
                          j->err));
    CW_TRY(cw_source_load(p->capture, j->err));
    const uint64_t start = j->files[first].first, stop = start + p->capture->data.range_count;
    p->data = p->capture->data;
    p->at = at;
    p->from = at - start;
    p->count = at >= j->end ? 0 : (stop < j->end ? stop : j->end) - at;
    return number_devices(p, j, first, end - first, false);
}

static void free_maker(struct maker *m)
{
    if (m->large.index)
        cw_range_view_free(&m->large.view);
    counterworks_capture_close(m->large.capture);
    memset(&m->large, 0, sizeof m->large);
}

static enum cw_status open_large(struct maker *m, size_t index)
{
    struct counterworks_capture *made = cw_source_create();
    const struct cw_mpi_job *j = m->job;
    free_maker(m);
    m->large.index = index + 1;
    m->large.capture = made;
    if (!made)
        return cw_error_nomem(j->err);
    made->name = made->source = j->list.paths[index];
    CW_TRY(cw_input_open(&made->file, made->name, largest_capture, j->err));
    CW_TRY(cw_counter_data_open(&made->data, &made->file, made->arena, j->err));
    return cw_range_view_init(&m->large.view, &made->data, made->arena, j->err);
}

static enum cw_status read_large(struct piece *p, struct maker *m, size_t index, uint64_t at)
{
    const struct cw_mpi_job *j = m->job;
    enum cw_status status = m->large.index == index + 1 ? CW_OK : open_large(m, index);
    if (status != CW_OK)
        return status;
    const uint64_t start = j->files[index].first, stop = start + m->large.capture->data.range_count;
    const uint64_t left = at >= j->end ? 0 : (stop < j->end ? stop : j->end) - at;
    p->capture = m->large.capture;
    p->at = at;
    p->count = left < m->large.view.room ? left : m->large.view.room;
    status = cw_range_view_load(&m->large.view, (uint32_t)(at - start), NULL, (uint32_t)p->count);
    p->data = m->large.view.data;
    return status == CW_OK ? number_devices(p, j, index, 1, true) : status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Checks that all files are of one plan. Names of facts may differ. */
static enum cw_status check_plan(const struct piece *p, struct maker *m)
{
    struct cw_schema plan = p->data.schema;
    struct cw_writer bytes;
    struct cw_error *err = m->job->err;
    plan.fact_count = 0;
    if (plan.profiler != CW_PROFILER_RANGE)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a capture of samples, expected one of ranges",
                            p->capture->name);
    if (cw_fold_has(&p->data))
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "%s: found a multiplexed capture, whose launches must be evaluated together: "
                            "metric-eval does that, in one process",
                            p->capture->name);
    cw_writer_init(&bytes);
    cw_schema_write(&plan, &bytes);
    const struct cw_likeness own = cw_likeness_of(bytes.data, bytes.size);
    const bool good = bytes.status == CW_OK;
    cw_writer_free(&bytes);
    if (!good)
        return cw_error_nomem(err);
    if (m->has_plan && cw_likeness_compare(&own, &m->plan) != 0)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a capture of another plan than %s, expected the same",
                            p->capture->name, m->first);
    m->plan = own;
    return CW_OK;
}

static enum cw_status open_chip(struct maker *m, const struct piece *p)
{
    struct cw_cli_chip from = m->job->o->chip;
    struct cw_error *err = m->job->err;
    from.name = p->data.schema.chip;
    enum cw_status status = cw_cli_chip_open(&m->chip, &from, err);
    if (status == CW_OK)
        status = cw_cli_chip_add(m->chip, &from, err);
    if (status == CW_OK && (m->job->rank || m->job->o->quiet)) /* only one process prints notices */
        counterworks_chip_tell(m->chip, NULL, NULL);
    return status;
}

/* Names live as long as the job. */
static enum cw_status find_names(struct maker *m, const struct piece *p)
{
    const struct cw_mpi_options *o = m->job->o;
    const struct cw_schema *schema = &p->data.schema;
    struct counterworks_names list = {0};
    struct counterworks_error error;
    enum cw_status status = CW_OK;
    if (o->sources.count)
        status = cw_metric_list_gather(&list, &o->sources, m->chip, m->job->arena, m->job->err);
    else
        list = (struct counterworks_names){schema->metric_count, schema->metrics};
    m->name_count = list.count;
    const char **names = cw_arena_alloc(m->job->arena, list.count, sizeof *names);
    for (size_t i = 0; i < list.count && status == CW_OK; i++)
        if (!names || !(names[i] = cw_arena_strdup(m->job->arena, list.names[i])))
            status = cw_error_nomem(m->job->err);
    m->names = o->all ? NULL : names;
    m->has_names = true;
    if (status == CW_OK && !o->all && !m->name_count)
        status = cw_error_set(m->job->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                              p->capture->name);
    if (status == CW_OK && m->names) {
        counterworks_chip_add_legacy(m->chip, m->names, m->name_count, &error);
        status = cw_cli_take(&error, m->job->err);
    }
    return status;
}

static enum cw_status evaluate_piece(struct piece *p, struct maker *m)
{
    const struct cw_mpi_job *j = m->job;
    const struct cw_eval_options usual = {0};
    const struct counterworks_request request = {.full = !m->has_names}; /* process 0's first piece makes the file */
    struct cw_notices notices = {.arena = p->arena};
    const struct cw_view_input in = {p->capture, m->chip, &request, &notices, p->arena, j->err};
    uint32_t *numbers = cw_arena_alloc(p->arena, p->data.range_count, sizeof *numbers);
    enum cw_status status = numbers ? CW_OK : cw_error_nomem(j->err);
    for (uint32_t i = 0; status == CW_OK && i < p->data.range_count; i++)
        numbers[i] = (uint32_t)(p->at - p->from + i);
    if (status == CW_OK && !m->has_names)
        status = find_names(m, p);
    if (status == CW_OK)
        status = cw_view_select(&p->result, &in, m->names, m->name_count);
    cw_lib_tell_notices(m->chip, &notices);
    p->result.data = &p->data;
    p->result.numbers = numbers;
    if (status == CW_OK)
        status = cw_result_make(&p->result, &usual, p->arena, j->err);
    if (status == CW_OK)
        status = cw_view_output(&p->output, &in, &p->result);
    counterworks_chip_tell(m->chip, NULL, NULL);
    return status;
}

/* Makes the next piece, from the job's range `at` on; without rows beyond the process's part. Free it, also after a
 * failure, before the next. */
static enum cw_status make_piece(struct piece *p, struct maker *m, uint64_t at)
{
    const struct cw_mpi_job *j = m->job;
    const uint64_t within = at < j->range_count ? at : j->range_count - 1;
    const size_t file = file_of(j, within);
    *p = (struct piece){.arena = cw_arena_create()};
    if (!p->arena)
        return cw_error_nomem(j->err);
    enum cw_status status =
        j->files[file].bytes > BATCH ? read_large(p, m, file, within) : open_small(p, j, file, within);
    if (status == CW_OK && at >= j->end)
        p->count = 0;
    if (status == CW_OK)
        status = check_plan(p, m);
    if (status == CW_OK && !m->chip)
        status = open_chip(m, p);
    return status == CW_OK ? evaluate_piece(p, m) : status;
}

static void free_piece(struct piece *p, struct maker *m)
{
    if (p->capture != m->large.capture)
        counterworks_capture_close(p->capture);
    cw_arena_destroy(p->arena);
    *p = (struct piece){0};
}

/* ---- texts of rows, which one process alone can write: each once, and a number for each row --------------------- */

enum { TEXT_COLUMNS = 16 };

struct texts {
    struct cw_arena *arena;
    size_t column_count;
    struct text_column {
        const struct cw_output_column *column;
        void *tree;             /* of known texts */
        struct cw_writer bytes; /* the texts, each with a NUL */
        uint32_t count;
        struct cw_writer numbers; /* u32 for each row */
    } columns[TEXT_COLUMNS];
};

enum { ROWS_AT_ONCE = 1 << 16, BYTES_AT_ONCE = 1 << 28, TAG = 7 };

struct text {
    const char *text;
    uint32_t number;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

/* Finds or adds a text, and returns its number. */
static bool number_of(struct texts *t, struct text_column *c, const char *text, uint32_t *number)
{
    const struct text key = {text, c->count};
    void *const *node = tfind(&key, &c->tree, by_text);
    if (node) {
        *number = ((const struct text *)*node)->number;
        return true;
    }
    struct text *kept = cw_arena_alloc(t->arena, 1, sizeof *kept);
    if (!kept || !(kept->text = cw_arena_strdup(t->arena, text)))
        return false;
    *number = kept->number = c->count++;
    cw_write_bytes(&c->bytes, text, strlen(text) + 1);
    return tsearch(kept, &c->tree, by_text) && c->bytes.status == CW_OK;
}

static bool begin(struct texts *t, const struct cw_output_table *table)
{
    t->arena = cw_arena_create();
    for (size_t k = 0; k < table->column_count && t->column_count < TEXT_COLUMNS; k++) {
        const struct cw_output_column *c = &table->columns[k];
        if (!(c->formats & CW_TO_HDF5) || c->type != CW_CELL_TEXT)
            continue;
        struct text_column *own = &t->columns[t->column_count++];
        own->column = c;
        cw_writer_init(&own->bytes);
        cw_writer_init(&own->numbers);
    }
    return t->arena != NULL;
}

/* Adds rows `from` and on of the output's first table. Initialize `texts` with zeros. CW_ERR_NOMEM alone. */
static enum cw_status add_texts(struct texts *t, const struct cw_output_table *table, uint64_t from, uint64_t count,
                                struct cw_error *err)
{
    bool good = t->arena || begin(t, table);
    for (uint64_t i = from; i < from + count && good; i++) {
        const struct cw_output_row row = table->row(table, i);
        for (size_t k = 0; k < t->column_count && good; k++) {
            struct text_column *c = &t->columns[k];
            uint32_t number = 0;
            good = number_of(t, c, *(const char *const *)cw_cell_at(c->column, row.record, 0), &number);
            cw_write_bytes(&c->numbers, &number, sizeof number);
            good = good && c->numbers.status == CW_OK;
        }
    }
    return good ? CW_OK : cw_error_nomem(err);
}

static void leave(void *node)
{
    (void)node;
}

static void free_texts(struct texts *t)
{
    for (size_t k = 0; k < t->column_count; k++) {
        tdestroy(t->columns[k].tree, leave);
        cw_writer_free(&t->columns[k].bytes);
        cw_writer_free(&t->columns[k].numbers);
    }
    cw_arena_destroy(t->arena);
    *t = (struct texts){0};
}

/* ---- on its way to process 0 ------------------------------------------------------------------------------------ */

static void send(const struct cw_mpi_job *j, const void *data, uint64_t size)
{
    MPI_Send(&size, 1, MPI_UINT64_T, 0, TAG, j->all);
    for (uint64_t done = 0; done < size; done += BYTES_AT_ONCE)
        MPI_Send((const char *)data + done, (int)(size - done < BYTES_AT_ONCE ? size - done : BYTES_AT_ONCE), MPI_BYTE,
                 0, TAG, j->all);
}

/* Receives bytes, for the caller to free. NULL when out of memory; the bytes are lost. */
static char *receive(const struct cw_mpi_job *j, int from, uint64_t *size)
{
    MPI_Recv(size, 1, MPI_UINT64_T, from, TAG, j->all, MPI_STATUS_IGNORE);
    char *data = malloc(*size + 1);
    if (!data) {
        fputs("metric-eval-mpi: out of memory\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, CW_ERR_NOMEM);
    }
    for (uint64_t done = 0; done < *size; done += BYTES_AT_ONCE)
        MPI_Recv(data + done, (int)(*size - done < BYTES_AT_ONCE ? *size - done : BYTES_AT_ONCE), MPI_BYTE, from, TAG,
                 j->all, MPI_STATUS_IGNORE);
    return data;
}

/* Writes a column of one process: `bytes` has its texts, `numbers` a text's number for each row. */
static enum cw_status write_column(struct cw_hdf5_rows *rows, const struct cw_output_table *table,
                                   const struct cw_output_column *column, const char *bytes, uint64_t size,
                                   const uint32_t *numbers, uint64_t count, uint64_t at, struct cw_error *err)
{
    uint64_t texts = 0;
    for (uint64_t i = 0; i < size; i++)
        texts += !bytes[i];
    const char **list = malloc((texts + 1) * sizeof *list), **some = malloc(ROWS_AT_ONCE * sizeof *some);
    enum cw_status status = list && some ? CW_OK : cw_error_nomem(err);
    for (uint64_t i = 0, k = 0; i < size && status == CW_OK; i += strlen(bytes + i) + 1)
        list[k++] = bytes + i;
    for (uint64_t i = 0, n; i < count && status == CW_OK; i += n) {
        n = count - i < ROWS_AT_ONCE ? count - i : ROWS_AT_ONCE;
        for (uint64_t k = 0; k < n; k++)
            some[k] = list[numbers[i + k]];
        status = cw_hdf5_rows_put_texts(rows, table, column, some, n, at + i, err);
    }
    free(list);
    free(some);
    return status;
}

/* A process's rows begin behind the rows of the process before. */
static enum cw_status write_all(struct texts *own, const struct cw_mpi_job *j, struct cw_hdf5_rows *rows,
                                const struct cw_output_table *table)
{
    enum cw_status status = rows ? CW_OK : j->err->code; /* the file could not be opened */
    for (size_t k = 0; k < own->column_count; k++) {
        uint64_t at = 0;
        for (int from = 0; from < j->size; from++) {
            uint64_t size = own->columns[k].bytes.size, numbered = own->columns[k].numbers.size;
            char *bytes = from ? receive(j, from, &size) : (char *)own->columns[k].bytes.data;
            char *numbers = from ? receive(j, from, &numbered) : (char *)own->columns[k].numbers.data;
            const uint64_t count = numbered / sizeof(uint32_t);
            if (status == CW_OK) /* after a failure the others still send */
                status = write_column(rows, table, own->columns[k].column, bytes, size,
                                      (const uint32_t *)(const void *)numbers, count, at, j->err);
            at += count;
            if (from) {
                free(bytes);
                free(numbers);
            }
        }
    }
    return status;
}

/* Process 0 writes the texts of all processes into the file, which only it has open; the others send theirs in turn.
 * `rows` is NULL in the others, and after a failure to open, which the job's error has. */
static enum cw_status write_texts(struct texts *own, const struct cw_mpi_job *j, struct cw_hdf5_rows *rows,
                                  const struct cw_output_table *table)
{
    uint64_t columns = own->column_count;
    MPI_Bcast(&columns, 1, MPI_UINT64_T, 0, j->all);
    if (!j->rank)
        return write_all(own, j, rows, table);
    for (size_t k = 0; k < columns; k++) { /* a process without rows sends as many empty messages */
        send(j, own->columns[k].bytes.data, own->columns[k].bytes.size);
        send(j, own->columns[k].numbers.data, own->columns[k].numbers.size);
    }
    return CW_OK;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

struct work {
    struct cw_mpi_job job;
    struct maker maker;
    struct piece piece;
    struct texts texts;
    struct cw_new_file file; /* of process 0 */
    struct cw_hdf5_rows *rows;
    bool tells; /* prints the common failure */
};

/* Agrees on a common status. */
static enum cw_status agree(struct work *w, enum cw_status status)
{
    return cw_mpi_agree(&w->job, status, &w->tells);
}

static enum cw_status check_output(const struct cw_mpi_job *j)
{
    for (size_t i = 0; i < j->list.count && !j->rank; i++)
        CW_TRY(cw_file_keep(j->o->output, j->list.paths[i], "capture", j->err));
    return j->rank ? CW_OK : cw_file_may_replace(j->o->output, &cw_file_hdf5, j->o->force, j->err);
}

/* Shares the plan of process 0's first capture. */
static void share_plan(struct work *w)
{
    struct maker *m = &w->maker;
    MPI_Bcast(&m->plan, sizeof m->plan, MPI_BYTE, 0, w->job.all);
    m->has_plan = true;
    m->first = w->job.list.paths[0];
}

/* Process 0 makes the file, without the rows. */
static enum cw_status make_file(struct work *w)
{
    struct cw_output whole = w->piece.output;
    struct cw_counter_data data = w->piece.data;
    if (w->job.rank)
        return CW_OK;
    data.device_count = data.device_count > 0; /* other processes count their own */
    data.clocks_count = 0;
    data.range_count = data.range_count > 0;
    data.complete = w->job.complete;
    whole.data = &data;
    whole.source = w->job.o->words[0];
    whole.tables[0].row_count = whole.passes.row_count = w->job.range_count;
    whole.tables[0].deferred = whole.passes.deferred = true;
    CW_TRY(cw_new_file_open(&w->file, w->job.o->output, w->job.err));
    return cw_hdf5_make(&whole, &w->file, w->job.err);
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

/* Each process writes its pieces; without further pieces it still takes part in each common step. */
static enum cw_status put_pieces(struct work *w)
{
    enum cw_status status = CW_OK, all = CW_OK;
    for (bool more = true; more && all == CW_OK;) {
        struct piece *p = &w->piece;
        const uint64_t next = p->at + p->count;
        status = cw_hdf5_rows_put(w->rows, &p->output, p->from, p->count, p->at, w->job.err);
        if (status == CW_OK)
            status = add_texts(&w->texts, &p->output.tables[0], p->from, p->count, w->job.err);
        p->count = 0; /* keeps the last piece, which has the columns */
        p->at = next;
        if (status == CW_OK && next < w->job.end) {
            free_piece(p, &w->maker);
            status = make_piece(p, &w->maker, next);
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
    const enum cw_status writing = write_texts(&w->texts, &w->job, open ? w->rows : NULL, &w->piece.output.tables[0]);
    status = status == CW_OK ? writing : status;
    const enum cw_status closing = cw_hdf5_rows_close(w->rows, w->job.err);
    w->rows = NULL;
    return status == CW_OK ? closing : status;
}

/* The steps of all processes. After each, all share a failure of one. */
static enum cw_status evaluate(struct work *w)
{
    struct cw_mpi_job *j = &w->job;
    enum cw_status all = agree(w, cw_mpi_survey(j));
    if (all == CW_OK)
        all = agree(w, check_output(j));
    if (all == CW_OK)
        all = agree(w, j->rank ? CW_OK : make_piece(&w->piece, &w->maker, j->begin));
    if (all == CW_OK) {
        share_plan(w);
        all = agree(w, j->rank ? make_piece(&w->piece, &w->maker, j->begin) : CW_OK);
    }
    if (all == CW_OK)
        all = agree(w, make_file(w));
    if (all == CW_OK)
        all = agree(w, share_path(w));
    if (all == CW_OK)
        all = agree(w, cw_hdf5_rows_open(&w->rows, j->temporary, j->o->output, &j->all, j->err));
    if (all == CW_OK)
        all = agree(w, put_pieces(w));
    if (all != CW_OK) /* leaves the file open: closing is a common step, and a failed process would not join */
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
    free_texts(&w->texts);
    free_piece(&w->piece, &w->maker);
    free_maker(&w->maker);
    counterworks_chip_close(w->maker.chip);
    return all;
}

/* Only one process reports a mistake on the command line. Starters of MPI jobs set its rank before MPI begins. */
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
        "Evaluates the captures of a parallel job into one HDF5 file, as metric-eval does, by several processes, each "
        "a "
        "part of the ranges. Without -m, --set or --all it takes the metrics of the plan.\v"
        "Example:\n  mpirun -n 8 metric-eval-mpi job/ -o all.h5\n  srun metric-eval-mpi @captures --set demo -o "
        "all.h5"};
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const bool silent =
        is_silent() && out >= 0 && err >= 0 && freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr);
    cw_usage_read(&usage, argc, argv, options);
    if (silent) {
        fflush(NULL);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        setvbuf(stderr, NULL, _IONBF, 0); /* restores the output */
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
