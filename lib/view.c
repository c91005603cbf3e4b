/* Views: how they are opened, read, written and printed. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "lib/views.h"
#include "view/kind.h"

/* ---- requests --------------------------------------------------------------------------------------------------- */

static bool copy_text(const char **text, struct cw_arena *arena)
{
    return !*text || (*text = cw_arena_strdup(arena, *text));
}

bool cw_lib_copy_names(struct counterworks_names *names, struct cw_arena *arena)
{
    const char **copied = cw_arena_alloc(arena, names->count, sizeof *copied);
    bool good = copied;
    for (size_t i = 0; good && i < names->count; i++) {
        copied[i] = names->names ? names->names[i] : NULL;
        good = copy_text(&copied[i], arena);
    }
    names->names = copied;
    return good;
}

/* Copies the request's texts, which views keep. */
static bool copy_request(struct counterworks_request *r, const struct counterworks_request *from,
                         struct cw_arena *arena)
{
    if (from)
        memcpy(r, from, from->size < sizeof *r ? from->size : sizeof *r);
    r->size = sizeof *r;
    return copy_text(&r->ranks, arena) && copy_text(&r->ranges, arena) && copy_text(&r->by, arena) &&
           copy_text(&r->sort, arena) && copy_text(&r->kinds, arena) && copy_text(&r->rules, arena) &&
           cw_lib_copy_names(&r->kernels, arena) && cw_lib_copy_names(&r->excluded, arena) &&
           cw_lib_copy_names(&r->filters, arena) && cw_lib_copy_names(&r->metrics, arena);
}

/* ---- tables and columns ----------------------------------------------------------------------------------------- */

/* A table for programs. Each column has one name. */
struct cw_lib_table {
    const struct cw_output_table *of;
    size_t column_count;
    struct cw_lib_column {
        const struct cw_output_column *cell, *about; /* about: the column with unit and meaning */
    } * columns;
};

enum { TEXTS = CW_TO_CSV | CW_TO_JSON }; /* formats with texts where HDF5 has numbers of texts */

static bool is_for_programs(const struct cw_output_column *c)
{
    return c->formats & CW_TO_FILES && c->type != CW_CELL_ATTRIBUTES && c->type != CW_CELL_CHARS;
}

/* Some columns have one name, but another type in each format; times also have two names. */
static struct cw_lib_column *find_same(const struct cw_lib_table *t, const struct cw_output_column *c)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const struct cw_output_column *other = t->columns[i].cell;
        if (strcmp(other->name, c->name) == 0 ||
            (other->offset == c->offset && other->type == c->type && other->across == c->across))
            return &t->columns[i];
    }
    return NULL;
}

static void add_column(struct cw_lib_table *t, const struct cw_output_column *c)
{
    struct cw_lib_column *same = find_same(t, c);
    if (!same) {
        t->columns[t->column_count++] = (struct cw_lib_column){c, c};
        return;
    }
    if (c->formats & TEXTS && !(same->cell->formats & TEXTS))
        same->cell = c;
    if (!same->about->units && !same->about->long_name)
        same->about = c;
}

static bool list_columns(struct cw_lib_table *t, struct cw_arena *arena)
{
    t->columns = cw_arena_alloc(arena, t->of->column_count, sizeof *t->columns);
    for (size_t k = 0; t->columns && k < t->of->column_count; k++)
        if (is_for_programs(&t->of->columns[k]))
            add_column(t, &t->of->columns[k]);
    return t->columns;
}

/* Only HDF5 has tables of texts; other formats have the texts in cells. */
static bool is_shown(const struct cw_output_table *t)
{
    bool shown = false;
    for (size_t k = 0; k < t->column_count; k++)
        shown = shown || (is_for_programs(&t->columns[k]) && t->columns[k].formats & TEXTS);
    return t->name && (shown || t->metrics);
}

static enum cw_status list_tables(struct cw_lib_view *made)
{
    const struct cw_output *o = &made->view.output;
    made->tables = cw_arena_alloc(made->view.arena, o->table_count, sizeof *made->tables);
    bool good = made->tables;
    for (size_t i = 0; good && i < o->table_count; i++)
        if (is_shown(&o->tables[i])) {
            made->tables[made->table_count].of = &o->tables[i];
            good = list_columns(&made->tables[made->table_count++], made->view.arena);
        }
    return good ? CW_OK : cw_error_nomem(&made->err);
}

static const struct cw_lib_table *table_of(const struct counterworks_view *view, size_t table)
{
    return &((const struct cw_lib_view *)view)->tables[table];
}

size_t counterworks_view_table_count(const struct counterworks_view *view)
{
    return ((const struct cw_lib_view *)view)->table_count;
}

static size_t count_metrics(const struct cw_output_table *t)
{
    return t->metrics ? (size_t)t->metrics->row_count : 0;
}

void counterworks_view_table(const struct counterworks_view *view, size_t table, struct counterworks_table *info)
{
    const struct cw_lib_table *t = table_of(view, table);
    const struct counterworks_table all = {.name = t->of->name,
                                           .row_count = t->of->row_count,
                                           .column_count = t->column_count,
                                           .metric_count = count_metrics(t->of),
                                           .spread = t->of->spread};
    cw_lib_give(info, info->size, &all, sizeof all);
}

static enum counterworks_cell cell_type(enum cw_cell_type type)
{
    return type == CW_CELL_TEXT                          ? COUNTERWORKS_TEXT
           : type == CW_CELL_F64 || type == CW_CELL_REAL ? COUNTERWORKS_REAL
                                                         : COUNTERWORKS_INTEGER;
}

static const char *unit_of(const struct cw_lib_table *t, const struct cw_lib_column *c)
{
    const char *name = c->cell->name, *units = cw_output_units(t->of, c->about);
    return units ? units : cw_text_ends_in(name, "_ns") ? "ns" : "";
}

void counterworks_view_column(const struct counterworks_view *view, size_t table, size_t column,
                              struct counterworks_column *info)
{
    const struct cw_lib_table *t = table_of(view, table);
    const struct cw_lib_column *c = &t->columns[column];
    const struct counterworks_column all = {.name = c->cell->name,
                                            .unit = unit_of(t, c),
                                            .meaning = c->about->long_name ? c->about->long_name : "",
                                            .type = cell_type(c->cell->type),
                                            .width = c->cell->across ? (uint32_t)c->cell->across->row_count : 1};
    cw_lib_give(info, info->size, &all, sizeof all);
}

size_t counterworks_view_find_column(const struct counterworks_view *view, size_t table, const char *name)
{
    const struct cw_lib_table *t = table_of(view, table);
    size_t i = 0;
    while (i < t->column_count && strcmp(t->columns[i].cell->name, name) != 0)
        i++;
    return i;
}

/* Returns a metric's text from the column of that name; "" without such a column. */
static const char *text_of(const struct cw_output_table *metrics, const void *record, const char *name)
{
    for (size_t k = 0; k < metrics->column_count; k++)
        if (strcmp(metrics->columns[k].name, name) == 0)
            return *(const char *const *)cw_cell_at(&metrics->columns[k], record, 0);
    return "";
}

void counterworks_view_metric(const struct counterworks_view *view, size_t table, size_t metric,
                              struct counterworks_view_metric_info *info)
{
    const struct cw_output_table *t = table_of(view, table)->of->metrics;
    const void *record = t->row(t, metric).record;
    const struct counterworks_view_metric_info all = {.name = text_of(t, record, "metric"),
                                                      .unit = text_of(t, record, "unit"),
                                                      .type = text_of(t, record, "type"),
                                                      .description = text_of(t, record, "description")};
    cw_lib_give(info, info->size, &all, sizeof all);
}

/* ---- from beginning to end -------------------------------------------------------------------------------------- */

struct counterworks_capture *cw_lib_capture(const struct counterworks_capture *capture)
{
    return (struct counterworks_capture *)(uintptr_t)capture;
}

enum cw_status cw_lib_need_chip(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                struct cw_error *err)
{
    return chip || !cw_kind_of(capture)->has_metrics
               ? CW_OK
               : cw_error_set(err, CW_ERR_USAGE, "%s: found no chip, expected %s, the chip of the capture",
                              capture->asked, capture->data.schema.chip);
}

struct cw_lib_making cw_lib_view_begin(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                       const struct counterworks_request *request)
{
    struct cw_lib_making making = {.call = cw_lib_enter(), .status = CW_ERR_NOMEM};
    struct cw_lib_view *made = making.made = cw_lib_handle(sizeof *made);
    if (!made)
        return making;
    made->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    made->notices.arena = made->view.arena;
    made->in = (struct cw_view_input){cw_lib_capture(capture), chip,      &made->request, &made->notices,
                                      made->view.arena,        &made->err};
    making.status = copy_request(&made->request, request, made->view.arena) ? CW_OK : cw_error_nomem(&made->err);
    if (making.status == CW_OK)
        making.status = cw_view_check_request(&made->request, &made->err);
    if (making.status == CW_OK && capture)
        making.status = cw_lib_need_chip(capture, chip, &made->err);
    return making;
}

enum counterworks_status cw_lib_view_finish(struct counterworks_view **view, struct cw_lib_making *making,
                                            struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_view *made = making->made;
    if (making->status == CW_OK)
        making->status = list_tables(made);
    if (made) {
        making->call.err = made->err;
        cw_lib_notices_give(notices, &made->notices, &made->told);
    }
    if (making->status != CW_OK && made)
        counterworks_view_close(&made->view);
    *view = making->status == CW_OK ? &made->view : NULL;
    return cw_lib_finish(&making->call, making->status, error);
}

enum counterworks_status counterworks_view_open(struct counterworks_view **view,
                                                const struct counterworks_capture *capture,
                                                const struct counterworks_chip *chip,
                                                const struct counterworks_request *request,
                                                struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    if (making.status == CW_OK)
        making.status = cw_view_make(&making.made->view, &making.made->in);
    return cw_lib_view_finish(view, &making, notices, error);
}

/* The view's own capture goes last: its parts may refer to it. */
void counterworks_view_close(struct counterworks_view *view)
{
    struct cw_lib_view *made = (struct cw_lib_view *)view;
    if (!view)
        return;
    struct counterworks_capture *own = made->own;
    cw_view_free(view);
    cw_view_job_free(made->job);
    pthread_mutex_destroy(&made->lock);
    cw_lib_drop(made);
    cw_source_close(own);
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

const char *counterworks_format_suffix(enum counterworks_format format)
{
    const char *suffix = (unsigned)format < COUNTERWORKS_FORMAT_COUNT ? *cw_view_suffixes[format] : NULL;
    return suffix ? suffix : "";
}

enum counterworks_format counterworks_format_of(const char *path)
{
    enum counterworks_format found = COUNTERWORKS_FORMAT_COUNT;
    size_t longest = 0;
    for (int f = 0; f < COUNTERWORKS_FORMAT_COUNT; f++) {
        const size_t length = cw_view_suffix_length((enum cw_view_format)f, path);
        if (length > longest)
            found = (enum counterworks_format)f;
        longest = length > longest ? length : longest;
    }
    return found;
}

static const char *name_format(enum counterworks_format format)
{
    static const char *const names[COUNTERWORKS_FORMAT_COUNT] = {
        "CSV",        "JSON",     "HDF5",   "CSV by value", "lines of JSON", "folded stacks", "speedscope",
        "Prometheus", "Perfetto", "Chrome", "HTML",         "YAML",          "CSV of 0.1"};
    return (unsigned)format < COUNTERWORKS_FORMAT_COUNT ? names[format] : "no format";
}

bool counterworks_view_has(const struct counterworks_view *view, enum counterworks_format format)
{
    return (unsigned)format < COUNTERWORKS_FORMAT_COUNT && cw_view_has(view, (enum cw_view_format)format);
}

static enum cw_status need_format(const struct counterworks_view *view, enum counterworks_format format,
                                  struct cw_error *err)
{
    char list[200] = "none";
    size_t used = 0;
    if (counterworks_view_has(view, format))
        return CW_OK;
    for (int f = 0; f < COUNTERWORKS_FORMAT_COUNT; f++)
        if (counterworks_view_has(view, (enum counterworks_format)f))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     name_format((enum counterworks_format)f));
    return cw_error_set(err, CW_ERR_USAGE, "found %s, expected a format that the view has: %s", name_format(format),
                        list);
}

/* HDF5 takes one thread at a time. */
static enum cw_status write_format(const struct counterworks_view *view, enum counterworks_format format,
                                   const char *path, struct cw_error *err)
{
    struct cw_new_files files = {0};
    if (format == COUNTERWORKS_HDF5)
        pthread_mutex_lock(&cw_lib_hdf5);
    const enum cw_status status = cw_view_write(view, (enum cw_view_format)format, path, &files, err);
    if (format == COUNTERWORKS_HDF5)
        pthread_mutex_unlock(&cw_lib_hdf5);
    const enum cw_status closing = cw_new_files_close(&files, status == CW_OK, err);
    return status == CW_OK ? closing : status;
}

/* Takes the error of rows that could not be read. */
static void take_error(struct cw_lib_call *call, const struct cw_lib_view *made, enum cw_status status)
{
    if (status != CW_OK && call->err.code == CW_OK)
        call->err = made->err;
}

enum counterworks_status counterworks_view_write(const struct counterworks_view *view, enum counterworks_format format,
                                                 const char *path, struct counterworks_notices *notices,
                                                 struct counterworks_error *error)
{
    struct cw_lib_view *made = (struct cw_lib_view *)(uintptr_t)view;
    struct cw_lib_call call = cw_lib_enter();
    pthread_mutex_lock(&made->lock);
    enum cw_status status = need_format(view, format, &call.err);
    if (status == CW_OK)
        status = write_format(view, format, path, &call.err);
    take_error(&call, made, status);
    cw_lib_notices_give(notices, &made->notices, &made->told);
    pthread_mutex_unlock(&made->lock);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_view_save(const struct counterworks_view *view, const char *path,
                                                struct counterworks_notices *notices, struct counterworks_error *error)
{
    const enum counterworks_format format = counterworks_format_of(path);
    if (format != COUNTERWORKS_FORMAT_COUNT)
        return counterworks_view_write(view, format, path, notices, error);
    struct cw_lib_call call = cw_lib_enter();
    const enum cw_status status = cw_error_set(
        &call.err, CW_ERR_USAGE, "%s: found an unknown suffix, expected .csv, .json, .h5 or another", path);
    return cw_lib_finish(&call, status, error);
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static enum cw_status print(const struct cw_lib_view *made, FILE *out, const struct counterworks_print_options *o,
                            struct cw_error *err)
{
    enum { INSTRUCTIONS = 10 };
    const struct counterworks_view *view = &made->view;
    const uint32_t top = o->top ? o->top : made->request.top;
    struct cw_source source = {.folders = o->folders.names, .folder_count = o->folders.count};
    const struct cw_terminal_style style = {.width = o->width,
                                            .bold = o->bold,
                                            .top = top ? top : INSTRUCTIONS,
                                            .bars = (enum cw_terminal_bars)o->bars,
                                            .quiet = o->quiet || made->request.quiet,
                                            .source = &source};
    if (!view->output.print)
        return cw_error_set(err, CW_ERR_USAGE, "found a view for programs, expected one with a text for people");
    enum cw_status status = cw_view_print(view, &style, out, err);
    cw_source_finish(&source);
    if (status == CW_OK && (fflush(out) != 0 || ferror(out)))
        status = cw_error_set(err, CW_ERR_IO, "cannot write: %s", strerror(errno));
    return status;
}

enum counterworks_status counterworks_view_print(const struct counterworks_view *view, FILE *out,
                                                 const struct counterworks_print_options *options,
                                                 struct counterworks_error *error)
{
    struct cw_lib_view *made = (struct cw_lib_view *)(uintptr_t)view;
    struct counterworks_print_options o = COUNTERWORKS_PRINT_OPTIONS;
    struct cw_lib_call call = cw_lib_enter();
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    pthread_mutex_lock(&made->lock);
    const enum cw_status status = print(made, out, &o, &call.err);
    take_error(&call, made, status);
    pthread_mutex_unlock(&made->lock);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_verdict counterworks_view_verdict(const struct counterworks_view *view)
{
    return view->judged;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static double real_of(enum cw_cell_type type, const void *cell)
{
    const double value = *(const double *)cell;
    return type == CW_CELL_REAL && isnan(value) ? NAN : value;
}

static int64_t integer_of(enum cw_cell_type type, const void *cell)
{
    if (type == CW_CELL_STATUS)
        return *(const int8_t *)cell;
    const uint64_t number = cw_cell_integer(type, cell);
    return type == CW_CELL_KNOWN && number == UINT64_MAX ? INT64_MIN : (int64_t)number;
}

/* Copies a row's cells of a column to row `to` of the caller's array. */
static void copy_cells(const struct counterworks_cells *cells, const struct cw_output_column *c, const void *record,
                       uint64_t to)
{
    const uint64_t width = c->across ? c->across->row_count : 1;
    for (uint64_t i = 0; i < width; i++) {
        const void *cell = cw_cell_at(c, record, i);
        if (cells->texts)
            cells->texts[to * width + i] = *(const char *const *)cell;
        else if (cells->reals)
            cells->reals[to * width + i] = real_of(c->type, cell);
        else
            cells->integers[to * width + i] = integer_of(c->type, cell);
    }
}

static void copy_values(const struct counterworks_block *b, const struct cw_output_row *row, size_t count, uint64_t to)
{
    for (size_t m = 0; m < count; m++) {
        const struct cw_value_record value = cw_output_value(row, m);
        const size_t at = (size_t)to * count + m;
        if (b->values)
            b->values[at] = value.value;
        if (b->statuses)
            b->statuses[at] = value.status;
        if (b->occurrences)
            b->occurrences[at] = value.occurrences;
        if (b->spreads)
            b->spreads[at] = value.spread;
    }
}

static enum cw_status check_cells(const struct cw_lib_table *t, const struct counterworks_cells *cells,
                                  struct cw_error *err)
{
    if (cells->column >= t->column_count)
        return cw_error_set(err, CW_ERR_USAGE, "found column %zu, expected less than %zu", cells->column,
                            t->column_count);
    const struct cw_output_column *c = t->columns[cells->column].cell;
    const enum counterworks_cell type = cell_type(c->type);
    const bool reals = cells->reals, integers = cells->integers, texts = cells->texts;
    return reals == (type == COUNTERWORKS_REAL) && integers == (type == COUNTERWORKS_INTEGER) &&
                   texts == (type == COUNTERWORKS_TEXT)
               ? CW_OK
               : cw_error_set(err, CW_ERR_USAGE, "column %s: found other arrays, expected one of %s", c->name,
                              reals + integers + texts == 0 ? "its type"
                              : type == COUNTERWORKS_REAL   ? "double"
                              : type == COUNTERWORKS_TEXT   ? "const char *"
                                                            : "int64_t");
}

static enum cw_status check_block(const struct cw_lib_view *made, size_t table, uint64_t first, uint64_t count,
                                  const struct counterworks_block *b, struct cw_error *err)
{
    if (table >= made->table_count)
        return cw_error_set(err, CW_ERR_USAGE, "found table %zu, expected less than %zu", table, made->table_count);
    const struct cw_lib_table *t = &made->tables[table];
    if (first > t->of->row_count || count > t->of->row_count - first)
        return cw_error_set(err, CW_ERR_USAGE, "found %" PRIu64 " rows from %" PRIu64 " on, expected rows of %" PRIu64,
                            count, first, t->of->row_count);
    if ((b->occurrences || b->spreads) && !t->of->spread)
        return cw_error_set(err, CW_ERR_USAGE, "found an array for spreads, expected none: the table has no spread");
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < b->cell_count; i++)
        status = check_cells(t, &b->cells[i], err);
    return status;
}

static enum cw_status read_rows(const struct cw_lib_view *made, const struct cw_lib_table *t, uint64_t first,
                                uint64_t count, const struct counterworks_block *b, struct cw_error *err)
{
    const size_t metrics = b->values || b->statuses || b->occurrences || b->spreads ? count_metrics(t->of) : 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct cw_output_row row = t->of->row(t->of, first + i);
        if (!row.record) {
            *err = made->err;
            return *t->of->failed;
        }
        for (size_t k = 0; k < b->cell_count; k++)
            copy_cells(&b->cells[k], t->columns[b->cells[k].column].cell, row.record, i);
        copy_values(b, &row, metrics, i);
    }
    return CW_OK;
}

enum counterworks_status counterworks_view_read(const struct counterworks_view *view, size_t table, uint64_t first,
                                                uint64_t count, const struct counterworks_block *block,
                                                struct counterworks_error *error)
{
    struct cw_lib_view *made = (struct cw_lib_view *)(uintptr_t)view;
    struct counterworks_block b = {0};
    struct cw_lib_call call = cw_lib_enter();
    memcpy(&b, block, block->size < sizeof b ? block->size : sizeof b);
    enum cw_status status = check_block(made, table, first, count, &b, &call.err);
    pthread_mutex_lock(&made->lock);
    if (status == CW_OK)
        status = read_rows(made, &made->tables[table], first, count, &b, &call.err);
    pthread_mutex_unlock(&made->lock);
    return cw_lib_finish(&call, status, error);
}
