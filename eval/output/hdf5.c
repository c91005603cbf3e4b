#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "base/file.h"
#include "eval/output/capture.h"
#include "eval/output/output.h"

/* A file being written. Sticky: after the first failure nothing more happens, and `finish` says what failed. */
struct file {
    struct cw_new_file out;
    const char *what; /* failed */
    bool nomem;
    hid_t file, string, dataset_list, group_list;
    /* HDF5 prints failures by itself unless told not to */
    H5E_auto2_t print;
    void *print_data;
};

static bool check(struct file *f, bool good, const char *what)
{
    if (!good && !f->what)
        f->what = what;
    return !f->what;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Times of modification would make every file differ. */
static void open_file(struct file *f)
{
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    f->string = H5Tcopy(H5T_C_S1);
    f->dataset_list = H5Pcreate(H5P_DATASET_CREATE);
    f->group_list = H5Pcreate(H5P_GROUP_CREATE);
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    bool good = H5Tset_size(f->string, H5T_VARIABLE) >= 0 && H5Tset_cset(f->string, H5T_CSET_UTF8) >= 0 &&
                H5Pset_obj_track_times(creation, false) >= 0 && H5Pset_obj_track_times(f->dataset_list, false) >= 0 &&
                H5Pset_obj_track_times(f->group_list, false) >= 0 && H5Pset_link_creation_order(creation, order) >= 0 &&
                H5Pset_link_creation_order(f->group_list, order) >= 0;
    f->file = good ? H5Fcreate(f->out.temporary, H5F_ACC_TRUNC, creation, H5P_DEFAULT) : H5I_INVALID_HID;
    check(f, f->file >= 0, "the file");
    H5Pclose(creation);
}

static enum cw_status begin(struct file *f, const char *path, struct cw_error *err)
{
    *f = (struct file){0};
    enum cw_status status = cw_new_file_open(&f->out, path, err);
    if (status != CW_OK) {
        cw_new_file_close(&f->out, false, NULL);
        return status;
    }
    /* failures are told by our own message, and closing what was never opened is no news */
    H5Eget_auto2(H5E_DEFAULT, &f->print, &f->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    open_file(f);
    return CW_OK;
}

static enum cw_status finish(struct file *f, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    H5Pclose(f->dataset_list);
    H5Pclose(f->group_list);
    H5Tclose(f->string);
    if (f->file >= 0)
        check(f, H5Fclose(f->file) >= 0, "the end of the file");
    H5Eset_auto2(H5E_DEFAULT, f->print, f->print_data);
    if (f->nomem)
        status = cw_error_nomem(err);
    else if (f->what)
        status = cw_error_set(err, CW_ERR_IO, "%s: HDF5 cannot write %s", f->out.path, f->what);
    enum cw_status closing = cw_new_file_close(&f->out, status == CW_OK, err);
    return status == CW_OK ? closing : status;
}

/* ---- groups, types and attributes ------------------------------------------------------------------------------- */

static hid_t create_group(struct file *f, const char *name)
{
    hid_t group = f->what ? H5I_INVALID_HID : H5Gcreate2(f->file, name, H5P_DEFAULT, f->group_list, H5P_DEFAULT);
    check(f, group >= 0, name);
    return group;
}

static void close_object(hid_t object)
{
    if (object > 0)
        H5Oclose(object);
}

struct type {
    hid_t stored, given;
};

static struct type type_of(const struct file *f, enum cw_cell_type type)
{
    switch (type) {
    case CW_CELL_F64:
        return (struct type){H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
    case CW_CELL_U64:
    case CW_CELL_I64:
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
    if (f->what)
        return;
    hid_t attribute = H5Acreate2(object, name, type.stored, space, H5P_DEFAULT, H5P_DEFAULT);
    check(f, attribute >= 0 && H5Awrite(attribute, type.given, values) >= 0, name);
    H5Aclose(attribute);
}

static void put_text(struct file *f, hid_t object, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR);
    put_attribute(f, object, name, (struct type){f->string, f->string}, space, &text);
    H5Sclose(space);
}

static void put_flags(struct file *f, hid_t status)
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
    const hsize_t size = CW_VALUE_STATUS_COUNT;
    hid_t space = H5Screate_simple(1, &size, NULL);
    put_attribute(f, status, "flag_values", (struct type){H5T_STD_I8LE, H5T_NATIVE_INT8}, space, values);
    H5Sclose(space);
    put_text(f, status, "flag_meanings", meanings);
}

/* ---- datasets --------------------------------------------------------------------------------------------------- */

enum { PIECE = 1 << 20 }; /* bytes of cells that are put together at a time */

/* Writes `count` rows of the dataset from `first` on. */
static bool write_rows(hid_t dataset, hid_t given, uint64_t first, uint64_t count, uint64_t width, const void *values)
{
    const hsize_t start[2] = {first, 0}, sizes[2] = {count, width};
    hid_t file = H5Dget_space(dataset), memory = H5Screate_simple(H5Sget_simple_extent_ndims(file), sizes, NULL);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, sizes, NULL) >= 0 &&
                H5Dwrite(dataset, given, memory, file, H5P_DEFAULT, values) >= 0;
    H5Sclose(file);
    H5Sclose(memory);
    return good;
}

/* The cells that a row has of a column, or its record. Values lie metric by metric, so that this transposes them. */
static void gather(char *to, const struct cw_output_row *row, const struct cw_output_column *c, bool values,
                   uint64_t width, size_t size)
{
    if (!values) {
        memcpy(to, c ? cw_cell_at(c, row->record, 0) : row->record, width * size);
        return;
    }
    const char *from = cw_output_cells(row, c);
    for (uint64_t m = 0; m < width; m++)
        memcpy(to + m * size, from + m * row->stride * size, size);
}

/* Writes a column of all rows, across a table or NULL, or without a column the records. */
static void write_cells(struct file *f, hid_t dataset, hid_t given, const struct cw_output_table *t,
                        const struct cw_output_column *c, const struct cw_output_table *across)
{
    const char *name = c ? c->name : t->name;
    const size_t size = c ? cw_cell_size(c->type) : t->record_size;
    uint64_t width = across ? across->row_count : 1;
    if (f->what || !t->row_count || !width)
        return;
    uint64_t most = PIECE / (width * size);
    most = most < 1 ? 1 : most < t->row_count ? most : t->row_count;
    char *piece = calloc(most * width, size);
    f->nomem = f->nomem || !piece;
    check(f, piece, name);
    for (uint64_t first = 0, n; first < t->row_count && !f->what; first += n) {
        n = t->row_count - first < most ? t->row_count - first : most;
        for (uint64_t i = 0; i < n; i++) {
            const struct cw_output_row row = t->row(t, first + i);
            gather(piece + i * width * size, &row, c, across && across == t->metrics, width, size);
        }
        check(f, write_rows(dataset, given, first, n, width, piece), name);
    }
    free(piece);
}

/* A dataset, written whole and left open. */
static hid_t put_cells(struct file *f, hid_t group, const struct cw_output_table *t, const struct cw_output_column *c,
                       const struct cw_output_table *across)
{
    const hsize_t sizes[2] = {t->row_count, across ? across->row_count : 1};
    const struct type type = type_of(f, c->type);
    if (f->what)
        return H5I_INVALID_HID;
    hid_t space = H5Screate_simple(across ? 2 : 1, sizes, NULL);
    hid_t dataset = H5Dcreate2(group, c->name, type.stored, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0, c->name);
    H5Sclose(space);
    write_cells(f, dataset, type.given, t, c, across);
    return dataset;
}

static const struct cw_output_column *next_column(const struct cw_output_table *t, const struct cw_output_column *c)
{
    for (c = c ? c + 1 : t->columns; c < t->columns + t->column_count; c++)
        if (c->formats & CW_TO_HDF5)
            return c;
    return NULL;
}

/* The scale of an axis, from the first column of its table: it gives the axis its name and its labels. Left open. */
static hid_t put_scale(struct file *f, hid_t group, const struct cw_output_table *t)
{
    const struct cw_output_column *c = next_column(t, NULL);
    hid_t scale = put_cells(f, group, t, c, NULL);
    if (!f->what)
        check(f, H5DSset_scale(scale, c->name) >= 0, c->name);
    return scale;
}

static void attach(struct file *f, hid_t dataset, hid_t scale, unsigned axis)
{
    if (!f->what)
        check(f, H5DSattach_scale(dataset, scale, axis) >= 0, "a dimension scale");
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* The columns behind the first, along its axis. */
static void put_columns(struct file *f, hid_t group, const struct cw_output_table *t, hid_t axis)
{
    const struct cw_output_table *across = NULL;
    hid_t second = H5I_INVALID_HID;
    for (const struct cw_output_column *c = next_column(t, NULL); (c = next_column(t, c));) {
        if (c->across && c->across != across) {
            close_object(second);
            second = put_scale(f, group, across = c->across);
        }
        hid_t dataset = put_cells(f, group, t, c, c->across);
        attach(f, dataset, axis, 0);
        if (c->across)
            attach(f, dataset, second, 1);
        close_object(dataset);
    }
    close_object(second);
}

static void put_values(struct file *f, hid_t group, const struct cw_output_table *t, const hid_t axes[2])
{
    hid_t all[CW_VALUE_COLUMNS];
    const size_t count = cw_output_value_columns(t);
    for (size_t k = 0; k < count; k++)
        all[k] = put_cells(f, group, t, &cw_value_columns[k], t->metrics);
    put_flags(f, all[1]);
    for (size_t k = 0; k < count; k++) {
        attach(f, all[k], axes[0], 0);
        attach(f, all[k], axes[1], 1);
        put_text(f, all[k], "coordinates", t->coordinates);
        close_object(all[k]);
    }
}

static void put_table(struct file *f, hid_t group, const struct cw_output_table *t)
{
    hid_t axes[2] = {put_scale(f, group, t), H5I_INVALID_HID};
    if (t->clock)
        put_text(f, axes[0], "clock", t->clock);
    if (t->metrics)
        axes[1] = put_scale(f, group, t->metrics);
    put_columns(f, group, t, axes[0]);
    if (t->metrics) {
        put_columns(f, group, t->metrics, axes[1]);
        put_values(f, group, t, axes);
    }
    close_object(axes[0]);
    close_object(axes[1]);
}

/* The compound type of a table of records: as it lies in memory, or packed as it is stored. */
static hid_t record_type(struct file *f, const struct cw_output_table *t, bool stored)
{
    size_t at = 0;
    for (const struct cw_output_column *c = NULL; (c = next_column(t, c));)
        at += stored ? H5Tget_size(type_of(f, c->type).stored) : 0;
    hid_t type = H5Tcreate(H5T_COMPOUND, stored ? at : t->record_size);
    at = 0;
    for (const struct cw_output_column *c = NULL; (c = next_column(t, c));) {
        struct type of = type_of(f, c->type);
        check(f, H5Tinsert(type, c->name, stored ? at : c->offset, stored ? of.stored : of.given) >= 0, c->name);
        at += H5Tget_size(of.stored);
    }
    return type;
}

static void put_records(struct file *f, hid_t group, const struct cw_output_table *t)
{
    if (f->what)
        return;
    const hsize_t total = t->row_count;
    hid_t stored = record_type(f, t, true), given = record_type(f, t, false), space = H5Screate_simple(1, &total, NULL);
    hid_t dataset = H5Dcreate2(group, t->name, stored, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0, t->name);
    write_cells(f, dataset, given, t, NULL, NULL);
    close_object(dataset);
    H5Sclose(space);
    H5Tclose(stored);
    H5Tclose(given);
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
    put_text(f, f->file, "conventions", "counterworks-1");
    put_text(f, f->file, "chip", o->data->schema.chip);
    put_text(f, f->file, "device", device_attribute(o->data, "name"));
    put_text(f, f->file, "simulated", device_attribute(o->data, "simulated"));
    put_text(f, f->file, "tool_version", CW_VERSION);
    put_text(f, f->file, "created", cw_capture_created(o->data, created));
    put_text(f, f->file, "source", o->source);
    put_text(f, f->file, "complete", o->data->complete ? "yes" : "no");
}

/* Tables of one group follow one another. */
static void put_tables(struct file *f, const struct cw_output *o)
{
    hid_t group = H5I_INVALID_HID;
    for (size_t i = 0; i < o->table_count; i++) {
        const struct cw_output_table *t = &o->tables[i];
        if (!i || strcmp(t->group, t[-1].group) != 0) {
            close_object(group);
            group = create_group(f, t->group);
        }
        (t->records ? put_records : put_table)(f, group, t);
    }
    close_object(group);
}

static void put_capture(struct file *f, const struct cw_output *o, const char *manifest)
{
    hid_t group = create_group(f, "capture"), space = H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(group, "manifest", f->string, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0 && H5Dwrite(dataset, f->string, H5S_ALL, H5S_ALL, H5P_DEFAULT, &manifest) >= 0, "manifest");
    close_object(dataset);
    H5Sclose(space);
    if (o->passes.columns)
        put_table(f, group, &o->passes);
    close_object(group);
}

void cw_hdf5_begin(void)
{
    H5dont_atexit();
}

enum cw_status cw_hdf5_write(const struct cw_output *o, const char *path, struct cw_error *err)
{
    struct file f;
    char *manifest;
    enum cw_status status = cw_json_text(cw_capture_manifest(o->data, o->source), JSON_COMPACT, &manifest, err);
    if (status == CW_OK)
        status = begin(&f, path, err);
    if (status == CW_OK) {
        put_root(&f, o);
        put_tables(&f, o);
        put_capture(&f, o, manifest);
        status = finish(&f, err);
    }
    free(manifest);
    return status;
}
