#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"
#include "eval/output/capture.h"
#include "eval/output/hdf5_late.h"
#include "eval/output/output.h"

/* A file being written. After the first failure nothing more is written, and `finish` reports it. */
struct file {
    const struct cw_new_file *out;
    const char *what; /* the object that could not be written, or NULL */
    int reason;       /* errno of the failure, 0 if unknown */
    bool nomem;
    enum cw_status unread; /* the status of a row that could not be read; its error is set */
    hid_t file, string, dataset_list, group_list, link_list, transfer_list;
    /* HDF5's own handler of failures, which prints them */
    H5E_auto2_t print;
    void *print_data;
};

/* Notes a failure, and gives HDF5 memory in place of the file: an object that cannot be written while it is closed
 * stays half freed, and HDF5 crashes when the program exits. */
static void fail(struct file *f, const char *what, int reason)
{
    void *descriptor = NULL;
    const int memory = memfd_create("hdf5", MFD_CLOEXEC);
    f->what = what;
    f->reason = reason;
    if (memory >= 0 && f->file > 0 && H5Fget_vfd_handle(f->file, H5P_DEFAULT, &descriptor) >= 0)
        dup3(memory, *(const int *)descriptor, O_CLOEXEC);
    if (memory >= 0)
        close(memory);
}

static bool check(struct file *f, bool good, const char *what)
{
    if (!good && !f->what)
        fail(f, what, cw_hdf5_reason());
    return !f->what;
}

/* Takes the file's room before HDF5 writes there, where the file system can: after a failure within its cache HDF5
 * cannot close the file. The cache may need some more than the file has. */
static void take_room(struct file *f)
{
    enum { MORE = 1 << 16 };
    hsize_t size = 0;
    if (!f->what && H5Fget_filesize(f->file, &size) >= 0 &&
        fallocate(f->out->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size + MORE) != 0 && (errno == ENOSPC || errno == EDQUOT))
        fail(f, "the end of an object", errno);
}

/* Frees the room behind the end of the file. */
static void trim(struct file *f)
{
    struct stat now;
    check(f, f->what || (fstat(f->out->fd, &now) == 0 && ftruncate(f->out->fd, now.st_size) == 0),
          "the end of the file");
}

static herr_t find_reason(unsigned at, const H5E_error2_t *failure, void *reason)
{
    (void)at;
    const char *told = failure->desc ? strstr(failure->desc, "errno = ") : NULL;
    if (told)
        *(int *)reason = atoi(told + strlen("errno = "));
    return 0;
}

int cw_hdf5_reason(void)
{
    int reason = 0;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, find_reason, &reason);
    return reason;
}

enum cw_status cw_hdf5_cannot_write(const char *path, const char *what, int reason, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_IO, reason ? "%s: cannot write: %s" : "%s: HDF5 cannot write %s", path,
                        reason ? strerror(reason) : what);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Bytes that HDF5 converts at a time. It would allocate 1 MiB for each column of texts, twice, and fill it with zeros.
 */
enum { CONVERTED = 1 << 14 };

/* Without times of modification, since they would make every file differ. */
static void open_file(struct file *f)
{
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    f->string = H5Tcopy(H5T_C_S1);
    f->dataset_list = H5Pcreate(H5P_DATASET_CREATE);
    f->group_list = H5Pcreate(H5P_GROUP_CREATE);
    f->link_list = H5Pcreate(H5P_LINK_CREATE); /* "timeline/kernel" makes both groups */
    f->transfer_list = H5Pcreate(H5P_DATASET_XFER);
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    bool good = H5Tset_size(f->string, H5T_VARIABLE) >= 0 && H5Tset_cset(f->string, H5T_CSET_UTF8) >= 0 &&
                H5Pset_create_intermediate_group(f->link_list, 1) >= 0 &&
                H5Pset_buffer(f->transfer_list, CONVERTED, NULL, NULL) >= 0 &&
                H5Pset_obj_track_times(creation, false) >= 0 && H5Pset_obj_track_times(f->dataset_list, false) >= 0 &&
                H5Pset_obj_track_times(f->group_list, false) >= 0 && H5Pset_link_creation_order(creation, order) >= 0 &&
                H5Pset_link_creation_order(f->group_list, order) >= 0;
    f->file = good ? H5Fcreate(f->out->temporary, H5F_ACC_TRUNC, creation, H5P_DEFAULT) : H5I_INVALID_HID;
    check(f, f->file >= 0, "the file");
    H5Pclose(creation);
}

static void begin(struct file *f, const struct cw_new_file *out)
{
    *f = (struct file){.out = out};
    /* our own message reports failures, and `finish` may close objects that were never opened */
    H5Eget_auto2(H5E_DEFAULT, &f->print, &f->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    open_file(f);
}

static enum cw_status finish(struct file *f, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    H5Pclose(f->dataset_list);
    H5Pclose(f->group_list);
    H5Pclose(f->link_list);
    H5Pclose(f->transfer_list);
    H5Tclose(f->string);
    if (f->file >= 0) {
        take_room(f);
        check(f, f->what || H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0, "the end of the file");
        const bool closed = H5Fclose(f->file) >= 0;
        f->file = H5I_INVALID_HID; /* HDF5 crashes if asked for the descriptor of a file whose end failed */
        check(f, closed, "the end of the file");
        trim(f);
    }
    H5Eset_auto2(H5E_DEFAULT, f->print, f->print_data);
    if (f->unread != CW_OK)
        status = f->unread;
    else if (f->nomem)
        status = cw_error_nomem(err);
    else if (f->what)
        status = cw_hdf5_cannot_write(f->out->target ? f->out->path : f->out->temporary, f->what, f->reason, err);
    return status;
}

/* ---- groups, types and attributes ------------------------------------------------------------------------------- */

static hid_t create_group(struct file *f, const char *name)
{
    hid_t group = f->what ? H5I_INVALID_HID : H5Gcreate2(f->file, name, f->link_list, f->group_list, H5P_DEFAULT);
    check(f, group >= 0, name);
    return group;
}

/* Writes the last of an object before it is closed, while a failure leaves it whole. */
static void close_object(struct file *f, hid_t object)
{
    if (object <= 0)
        return;
    take_room(f);
    check(f, f->what || H5Oflush(object) >= 0, "the end of an object");
    H5Oclose(object);
}

struct type {
    hid_t stored, given;
};

static struct type type_of(const struct file *f, enum cw_cell_type type)
{
    switch (type) {
    case CW_CELL_F64:
    case CW_CELL_REAL:
        return (struct type){H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
    case CW_CELL_SIGNED:
        return (struct type){H5T_STD_I64LE, H5T_NATIVE_INT64};
    case CW_CELL_U64:
    case CW_CELL_I64:
    case CW_CELL_KNOWN:
        return (struct type){H5T_STD_U64LE, H5T_NATIVE_UINT64};
    case CW_CELL_U32:
        return (struct type){H5T_STD_U32LE, H5T_NATIVE_UINT32};
    case CW_CELL_STATUS:
        return (struct type){H5T_STD_I8LE, H5T_NATIVE_INT8};
    default:
        return (struct type){f->string, f->string};
    }
}

static void put_attribute(struct file *f, hid_t object, const char *name, struct type type, hid_t space,
                          const void *values)
{
    if (!f->what) {
        hid_t attribute = H5Acreate2(object, name, type.stored, space, H5P_DEFAULT, H5P_DEFAULT);
        check(f, attribute >= 0 && H5Awrite(attribute, type.given, values) >= 0, name);
        if (attribute >= 0)
            check(f, H5Aclose(attribute) >= 0, name);
    }
    H5Sclose(space);
}

static void put_text(struct file *f, hid_t object, const char *name, const char *text)
{
    put_attribute(f, object, name, (struct type){f->string, f->string}, H5Screate(H5S_SCALAR), &text);
}

static void put_numbers(struct file *f, hid_t object, const char *name, hid_t type, const void *values, hsize_t count)
{
    put_attribute(f, object, name, (struct type){type, type},
                  count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL), values);
}

static void put_statuses(struct file *f, hid_t status)
{
    int8_t values[CW_VALUE_STATUS_COUNT];
    char meanings[256] = "";
    for (int s = 0; s < CW_VALUE_STATUS_COUNT; s++) {
        values[s] = (int8_t)s;
        size_t used = strlen(meanings);
        snprintf(meanings + used, sizeof meanings - used, "%s%s", s ? " " : "",
                 cw_value_status_text((enum cw_value_status)s));
        for (char *c = meanings + used + (s != 0); *c; c++)
            *c = *c == ' ' ? '_' : *c;
    }
    put_numbers(f, status, "flag_values", H5T_NATIVE_INT8, values, CW_VALUE_STATUS_COUNT);
    put_text(f, status, "flag_meanings", meanings);
}

/* ---- marks ------------------------------------------------------------------------------------------------------ */

enum {
    WORDS = 32, /* different texts of a column that get a flag each, at most */
    LONGEST_WORD = 64
};

/* Found in a column's cells while they are written; attributes tell programs how to read its numbers. */
struct marks {
    const struct cw_output_column *column; /* NULL: there is nothing to find */
    bool lacks;                            /* a cell is not known */
    uint32_t words[WORDS];                 /* the texts, by first use */
    uint32_t word_count;                   /* WORDS + 1: more */
};

static void see_texts(struct marks *m, const uint32_t *cells, size_t count)
{
    uint32_t last = 0; /* of no text */
    for (size_t i = 0; i < count && m->word_count <= WORDS; i++) {
        uint32_t w = 0;
        if (cells[i] == last)
            continue;
        last = cells[i];
        while (last && w < m->word_count && m->words[w] != last)
            w++;
        if (last && w == m->word_count && m->word_count++ < WORDS)
            m->words[w] = last;
    }
}

static void see_cells(struct marks *m, const void *cells, size_t count)
{
    const struct cw_output_column *c = m->column;
    if (c && c->texts)
        see_texts(m, cells, count);
    if (!c || m->lacks || (c->type != CW_CELL_KNOWN && c->type != CW_CELL_SIGNED))
        return;
    const uint64_t *numbers = cells, unknown = c->type == CW_CELL_SIGNED ? (uint64_t)INT64_MIN : UINT64_MAX;
    size_t i = 0;
    while (i < count && numbers[i] != unknown)
        i++;
    m->lacks = i < count;
}

static const char *text_of(const struct cw_output_table *texts, uint32_t i)
{
    return *(const char *const *)cw_cell_at(texts->columns, texts->row(texts, i).record, 0);
}

/* CF allows only such characters in the meaning of a flag. */
static bool is_word(const char *text)
{
    const size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+@");
    return size && size <= LONGEST_WORD && !text[size];
}

/* A column with few different texts gets flags, so that its readers need no table of texts. */
static void put_words(struct file *f, const struct marks *m, hid_t dataset)
{
    char meanings[WORDS * (LONGEST_WORD + 1) + 1] = "";
    uint32_t words[WORDS];
    if (!m->word_count || m->word_count > WORDS)
        return;
    memcpy(words, m->words, m->word_count * sizeof *words);
    qsort(words, m->word_count, sizeof *words, cw_compare_u32);
    for (uint32_t w = 0; w < m->word_count; w++) {
        const char *text = text_of(m->column->texts, words[w]);
        const size_t used = strlen(meanings);
        if (!is_word(text))
            return;
        snprintf(meanings + used, sizeof meanings - used, "%s%s", w ? " " : "", text);
    }
    put_numbers(f, dataset, "flag_values", H5T_NATIVE_UINT32, words, m->word_count);
    put_text(f, dataset, "flag_meanings", meanings);
}

static void put_index(struct file *f, const struct marks *m, hid_t dataset)
{
    char path[128];
    snprintf(path, sizeof path, "/%s/%s", m->column->texts->group, m->column->texts->name);
    put_text(f, dataset, "index_into", path);
    put_words(f, m, dataset);
}

/* xarray turns integers with a _FillValue into doubles, and times would lose their nanoseconds. So only columns that
 * lack a number have the attribute, and times never: xarray reads -2^63 as no time by itself, and netCDF4 by valid_min.
 */
static void put_unknown(struct file *f, const struct cw_output_column *c, hid_t dataset)
{
    static const int64_t none = INT64_MIN, least = 0;
    static const uint64_t unsigned_none = UINT64_MAX;
    if (cw_output_is_date(c))
        put_numbers(f, dataset, "valid_min", H5T_NATIVE_INT64, &least, 1);
    else if (c->type == CW_CELL_SIGNED)
        put_numbers(f, dataset, "_FillValue", H5T_NATIVE_INT64, &none, 1);
    else
        put_numbers(f, dataset, "_FillValue", H5T_NATIVE_UINT64, &unsigned_none, 1);
}

static void put_meanings(struct file *f, const struct cw_output_column *c, hid_t dataset)
{
    uint64_t values[WORDS], count = 0;
    for (const char *word = c->meanings; word && count < WORDS; count++) {
        values[count] = c->bits ? UINT64_C(1) << count : count;
        word = strchr(word, ' ');
        word = word ? word + 1 : NULL;
    }
    put_numbers(f, dataset, c->bits ? "flag_masks" : "flag_values", H5T_NATIVE_UINT64, values, count);
    put_text(f, dataset, "flag_meanings", c->meanings);
}

/* Once all cells are written. */
static void put_marks(struct file *f, const struct marks *m, hid_t dataset)
{
    const struct cw_output_column *c = m->column;
    if (c && m->lacks)
        put_unknown(f, c, dataset);
    if (c && c->texts)
        put_index(f, m, dataset);
    if (c && c->meanings)
        put_meanings(f, c, dataset);
}

/* ---- datasets --------------------------------------------------------------------------------------------------- */

/* Bytes of a dataset that are gathered and written at a time, as a chunk of the file. */
enum { PIECE = 1 << 20, SINKS_MAX = 64 };

/* A dataset that is being filled, row by row. */
struct sink {
    hid_t dataset, given;
    const struct cw_output_column *column;
    const struct cw_output_table *across;
    bool values;  /* the cells are values of metrics, not of the record */
    bool numbers; /* the cells are the rows' numbers */
    size_t size;  /* of a cell */
    uint64_t width, room, held,
        done; /* width: cells of a row; the others: rows that fit the piece, are in it, are written */
    char *piece;
    struct marks marks;
};

struct filling {
    struct file *f;
    hid_t group;
    const struct cw_output_table *table;
    struct sink sinks[SINKS_MAX];
    size_t count;
};

/* Integers that change little shrink much under compression. Doubles of measurements hardly do, and would cost more
 * time than all else (docs/measurements.md). Texts lie elsewhere in the file. */
static hid_t creation_list(const struct file *f, const struct sink *s, const hsize_t sizes[2], int rank, bool deferred)
{
    hid_t list = H5Pcopy(f->dataset_list);
    if (deferred) { /* several processes write into one piece, allocated at once */
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(list, s->given == f->string ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
        return list;
    }
    const bool wide = s->values && s->column->type == CW_CELL_F64;
    const hsize_t chunk[2] = {s->room < sizes[0] ? s->room : sizes[0], sizes[1]};
    if (!sizes[0] || !sizes[1] || sizes[0] * sizes[1] * s->size < PIECE / 256)
        return list;
    H5Pset_chunk(list, rank, chunk);
    if (!wide && s->given != f->string) {
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 1);
    }
    return list;
}

static void put_units(struct file *f, hid_t dataset, const struct cw_output_table *t, const struct cw_output_column *c)
{
    const char *units = cw_output_units(t, c);
    if (c->long_name)
        put_text(f, dataset, "long_name", c->long_name);
    if (!units)
        return;
    put_text(f, dataset, "units", units);
    if (cw_output_is_date(c))
        put_text(f, dataset, "calendar", "proleptic_gregorian");
}

/* Adds a dataset of column `c` with a row for each of the table; `across`: the table of the second dimension, or NULL.
 */
static hid_t add_sink(struct filling *to, const struct cw_output_column *c, const struct cw_output_table *across)
{
    struct file *f = to->f;
    const struct cw_output_table *t = to->table;
    const struct type type = type_of(f, c->type);
    const hsize_t sizes[2] = {t->row_count, across ? across->row_count : 1};
    struct sink s = {.given = type.given,
                     .column = c,
                     .across = across,
                     .values = across && across == t->metrics,
                     .numbers = c == t->numbers,
                     .size = cw_cell_size(c->type),
                     .width = sizes[1],
                     .marks.column = across ? NULL : c};
    if (f->what || !check(f, to->count < SINKS_MAX, c->name))
        return H5I_INVALID_HID;
    s.room = s.width ? PIECE / (s.width * s.size) : 0;
    s.room = s.room < 1 ? 1 : s.room > t->row_count ? t->row_count : s.room;
    s.piece = calloc(s.room * s.width + 1, s.size);
    f->nomem = f->nomem || !s.piece;
    hid_t list = creation_list(f, &s, sizes, across ? 2 : 1, t->deferred),
          space = H5Screate_simple(across ? 2 : 1, sizes, NULL);
    s.dataset = H5Dcreate2(to->group, c->name, type.stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    check(f, s.dataset >= 0 && s.piece, c->name);
    put_units(f, s.dataset, t, c);
    to->sinks[to->count++] = s;
    return s.dataset;
}

/* Writes the rows of the piece. */
static void flush_sink(struct file *f, struct sink *s)
{
    const hsize_t start[2] = {s->done, 0}, sizes[2] = {s->held, s->width};
    if (f->what || !s->held || !s->width)
        return;
    see_cells(&s->marks, s->piece, s->held);
    hid_t file = H5Dget_space(s->dataset), memory = H5Screate_simple(H5Sget_simple_extent_ndims(file), sizes, NULL);
    check(f,
          H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, sizes, NULL) >= 0 &&
              H5Dwrite(s->dataset, s->given, memory, file, f->transfer_list, s->piece) >= 0,
          s->column->name);
    H5Sclose(file);
    H5Sclose(memory);
    s->done += s->held;
    s->held = 0;
}

/* Copies the cells of a row into the piece. Values lie metric by metric, so this transposes them. */
static void gather(struct sink *s, const struct cw_output_row *row)
{
    char *to = s->piece + s->held * s->width * s->size;
    if (s->numbers) {
        const uint64_t number = s->done + s->held;
        memcpy(to, &number, s->size);
    } else if (!s->values) {
        memcpy(to, cw_cell_at(s->column, row->record, 0), s->width * s->size);
    } else if (s->size == sizeof(double)) {
        const double *from = cw_output_cells(row, s->column);
        for (uint64_t m = 0; m < s->width; m++)
            ((double *)(void *)to)[m] = from[m * row->stride];
    } else {
        const char *from = cw_output_cells(row, s->column);
        for (uint64_t m = 0; m < s->width; m++)
            memcpy(to + m * s->size, from + m * row->stride * s->size, s->size);
    }
    s->held++;
}

static void give_row(struct filling *to, const struct cw_output_row *row)
{
    for (size_t k = 0; k < to->count; k++) {
        gather(&to->sinks[k], row);
        if (to->sinks[k].held == to->sinks[k].room)
            flush_sink(to->f, &to->sinks[k]);
    }
}

static void flush_sinks(struct filling *to)
{
    for (size_t k = 0; k < to->count; k++)
        flush_sink(to->f, &to->sinks[k]);
}

/* Asks the table for its rows, once, and gives each to all datasets, and to the datasets of `other` (or NULL), a
 * filling with the same records. */
static void fill(struct filling *to, struct filling *other)
{
    struct file *f = to->f;
    if (to->table->deferred)
        return;
    for (uint64_t i = 0; i < to->table->row_count && !f->what; i++) {
        const struct cw_output_row row = cw_output_next(to->table, i);
        if (!row.record) {
            f->unread = *to->table->failed;
            check(f, false, to->table->name);
            break;
        }
        give_row(to, &row);
        if (other)
            give_row(other, &row);
    }
    flush_sinks(to);
    if (other)
        flush_sinks(other);
}

static void close_sinks(struct filling *to)
{
    for (size_t k = 0; k < to->count; k++) {
        put_marks(to->f, &to->sinks[k].marks, to->sinks[k].dataset);
        close_object(to->f, to->sinks[k].dataset);
        free(to->sinks[k].piece);
    }
}

static const struct cw_output_column *next_column(const struct cw_output_table *t, const struct cw_output_column *c)
{
    for (c = c ? c + 1 : t->columns; c < t->columns + t->column_count; c++)
        if (c->formats & CW_TO_HDF5)
            return c;
    return NULL;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* Adds the scale of an axis: its name and its labels. */
static hid_t add_scale(struct filling *to)
{
    const struct cw_output_column *c = to->table->numbers ? to->table->numbers : next_column(to->table, NULL);
    hid_t scale = add_sink(to, c, NULL);
    if (!to->f->what)
        check(to->f, H5DSset_scale(scale, c->name) >= 0, c->name);
    return scale;
}

/* Writes a whole table as a scale, and leaves the scale open. */
static hid_t put_scale(struct file *f, hid_t group, const struct cw_output_table *t)
{
    struct filling alone = {.f = f, .group = group, .table = t};
    hid_t scale = add_scale(&alone);
    fill(&alone, NULL);
    if (!f->what)
        H5Iinc_ref(scale);
    close_sinks(&alone);
    return scale;
}

static void attach(struct file *f, hid_t dataset, hid_t scale, unsigned axis)
{
    if (!f->what)
        check(f, H5DSattach_scale(dataset, scale, axis) >= 0, "a dimension scale");
}

/* The columns beside the scale, along its axis. */
static void add_columns(struct filling *to, hid_t axis)
{
    const struct cw_output_table *across = NULL;
    hid_t second = H5I_INVALID_HID;
    const struct cw_output_column *c = to->table->numbers ? NULL : next_column(to->table, NULL);
    while ((c = next_column(to->table, c))) {
        if (c->across && c->across != across) {
            close_object(to->f, second);
            second = put_scale(to->f, to->group, across = c->across);
        }
        hid_t dataset = add_sink(to, c, c->across);
        attach(to->f, dataset, axis, 0);
        if (c->across)
            attach(to->f, dataset, second, 1);
    }
    close_object(to->f, second);
}

static void add_values(struct filling *to, const hid_t axes[2])
{
    const struct cw_output_table *t = to->table;
    for (size_t k = 0; k < cw_output_value_columns(t); k++) {
        const struct cw_output_column *c = &cw_value_columns[k];
        hid_t dataset = add_sink(to, c, t->metrics);
        if (c->type == CW_CELL_STATUS)
            put_statuses(to->f, dataset);
        attach(to->f, dataset, axes[0], 0);
        attach(to->f, dataset, axes[1], 1);
        put_text(to->f, dataset, "coordinates", t->coordinates);
    }
}

/* `other`: see fill. */
static void put_table(struct file *f, hid_t group, const struct cw_output_table *t, struct filling *other)
{
    struct filling rows = {.f = f, .group = group, .table = t}, metrics = {.f = f, .group = group, .table = t->metrics};
    if (!next_column(t, NULL)) /* a table for other formats: its group is empty */
        return;
    hid_t axes[2] = {add_scale(&rows), H5I_INVALID_HID};
    if (t->clock)
        put_text(f, axes[0], "clock", t->clock);
    if (t->metrics)
        axes[1] = add_scale(&metrics);
    add_columns(&rows, axes[0]);
    if (t->metrics) {
        add_columns(&metrics, axes[1]);
        add_values(&rows, axes);
        fill(&metrics, NULL);
    }
    fill(&rows, other);
    close_sinks(&rows);
    close_sinks(&metrics);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static const char *device_attribute(const struct cw_counter_data *d, const char *key)
{
    const char *value = d->device_count ? cw_device_attribute(&d->devices[0], key) : NULL;
    return value ? value : "";
}

static void put_root(struct file *f, const struct cw_output *o)
{
    char created[CW_TIME_SIZE];
    put_text(f, f->file, "title", "GPU metrics");
    put_text(f, f->file, "conventions", "counterworks-3");
    put_text(f, f->file, "chip", o->data->schema.chip);
    put_text(f, f->file, "device", device_attribute(o->data, "name"));
    put_text(f, f->file, "simulated", device_attribute(o->data, "simulated"));
    put_text(f, f->file, "tool_version", CW_VERSION);
    put_text(f, f->file, "created", cw_capture_created(o->data, created));
    put_text(f, f->file, "source", o->source);
    put_text(f, f->file, "complete", o->data->complete ? "yes" : "no");
}

static hid_t put_manifest(struct file *f, const char *manifest)
{
    hid_t group = create_group(f, "capture"), space = H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(group, "manifest", f->string, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0 && H5Dwrite(dataset, f->string, H5S_ALL, H5S_ALL, f->transfer_list, &manifest) >= 0,
          "manifest");
    close_object(f, dataset);
    H5Sclose(space);
    return group;
}

/* Tables of one group follow one another. The capture's group comes last; the durations of its passes, if it has them,
 * are written together with the first table, as they lie in the same records. */
static void put_tables(struct file *f, const struct cw_output *o, const char *manifest)
{
    hid_t groups[CW_OUTPUT_TABLES] = {0}, capture;
    struct filling passes = {.f = f, .table = &o->passes};
    for (size_t i = 0; i < o->table_count; i++) {
        const bool same = i && strcmp(o->tables[i].group, o->tables[i - 1].group) == 0;
        groups[i] = same ? groups[i - 1] : create_group(f, o->tables[i].group);
    }
    passes.group = capture = put_manifest(f, manifest);
    if (o->passes.columns)
        add_columns(&passes, add_scale(&passes));
    for (size_t i = 0; i < o->table_count; i++)
        put_table(f, groups[i], &o->tables[i], i ? NULL : &passes);
    close_sinks(&passes);
    for (size_t i = 0; i < o->table_count; i++)
        if (!i || groups[i] != groups[i - 1])
            close_object(f, groups[i]);
    close_object(f, capture);
}

/* If several processes write the file, the capture in memory is only a part of it. */
static json_t *manifest_of(const struct cw_output *o)
{
    json_t *tree = cw_capture_manifest(o->data, o->source);
    if (o->tables[0].deferred) {
        cw_json_set(&tree, "ranges", json_integer((json_int_t)o->tables[0].row_count));
        cw_json_set(&tree, "ranks", json_object());
    }
    return tree;
}

enum cw_status cw_hdf5_make(const struct cw_output *o, const struct cw_new_file *file, struct cw_error *err)
{
    struct file f;
    char *manifest = NULL;
    enum cw_status status = cw_hdf5_load(err);
    if (status == CW_OK)
        status = cw_json_text(manifest_of(o), JSON_COMPACT, &manifest, err);
    if (status == CW_OK) {
        begin(&f, file);
        put_root(&f, o);
        put_tables(&f, o, manifest);
        status = finish(&f, err);
    }
    free(manifest);
    return status;
}

enum cw_status cw_hdf5_write(const struct cw_output *o, const char *path, struct cw_error *err)
{
    struct cw_new_file file;
    enum cw_status status = cw_new_file_open(&file, path, err);
    if (status == CW_OK)
        status = cw_hdf5_make(o, &file, err);
    enum cw_status closing = cw_new_file_close(&file, status == CW_OK, err);
    return status == CW_OK ? closing : status;
}
