#define _GNU_SOURCE
#include "eval/hdf5.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "eval/json.h"

/* A file being written. Sticky: after the first failure nothing more happens, and `what` says what failed. */
struct output {
    hid_t file, string, dataset_list, group_list;
    const char *what;
};

static bool check(struct output *o, bool good, const char *what)
{
    if (!good && !o->what)
        o->what = what;
    return !o->what;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static void put_attribute(struct output *o, hid_t object, const char *name, const char *text)
{
    if (o->what)
        return;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, o->string, space, H5P_DEFAULT, H5P_DEFAULT);
    check(o, attribute >= 0 && H5Awrite(attribute, o->string, &text) >= 0, name);
    H5Aclose(attribute);
    H5Sclose(space);
}

static hid_t open_group(struct output *o, const char *name)
{
    hid_t group = o->what ? H5I_INVALID_HID : H5Gcreate2(o->file, name, H5P_DEFAULT, o->group_list, H5P_DEFAULT);
    check(o, group >= 0, name);
    return group;
}

/* Creates and writes a dataset; returns it open. Rank 0 is a scalar. */
static hid_t put(struct output *o, hid_t group, const char *name, hid_t stored, hid_t given, int rank,
                 const hsize_t *dims, const void *values)
{
    if (o->what)
        return H5I_INVALID_HID;
    hid_t space = rank ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, o->dataset_list, H5P_DEFAULT);
    bool empty = false;
    for (int i = 0; i < rank; i++)
        empty = empty || dims[i] == 0;
    check(o, dataset >= 0 && (empty || H5Dwrite(dataset, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0), name);
    H5Sclose(space);
    return dataset;
}

/* The scale of an axis: a dataset that gives the axis its name and its labels. */
static hid_t put_scale(struct output *o, hid_t group, const char *name, hid_t stored, hid_t given, hsize_t size,
                       const void *values)
{
    hid_t scale = put(o, group, name, stored, given, 1, &size, values);
    if (!o->what)
        check(o, H5DSset_scale(scale, name) >= 0, name);
    return scale;
}

static void attach(struct output *o, hid_t dataset, hid_t scale, unsigned axis)
{
    if (!o->what)
        check(o, H5DSattach_scale(dataset, scale, axis) >= 0, "a dimension scale");
}

/* A dataset along one axis, closed again. */
static void put_along(struct output *o, hid_t group, hid_t scale, const char *name, hid_t stored, hid_t given,
                      hsize_t size, const void *values)
{
    hid_t dataset = put(o, group, name, stored, given, 1, &size, values);
    attach(o, dataset, scale, 0);
    H5Dclose(dataset);
}

/* ---- /range ----------------------------------------------------------------------------------------------------- */

/* A size in x, y and z for each range. */
static void put_sizes(struct output *o, const struct cw_result *r, hid_t group, hid_t axis, hid_t xyz, bool block,
                      uint32_t *room)
{
    const hsize_t dims[2] = {r->range_count, 3};
    for (uint32_t i = 0; i < r->range_count; i++)
        memcpy(&room[3 * (size_t)i], block ? cw_result_range(r, i)->block : cw_result_range(r, i)->grid,
               3 * sizeof *room);
    hid_t dataset = put(o, group, block ? "block" : "grid", H5T_STD_U32LE, H5T_NATIVE_UINT32, 2, dims, room);
    attach(o, dataset, axis, 0);
    attach(o, dataset, xyz, 1);
    H5Dclose(dataset);
}

static void put_range_attribute(struct output *o, const struct cw_result *r, hid_t group, hid_t axis, const char *name,
                                const char **room)
{
    for (uint32_t i = 0; i < r->range_count; i++) {
        room[i] = cw_range_attribute(cw_result_range(r, i), name);
        room[i] = room[i] ? room[i] : "";
    }
    put_along(o, group, axis, name, o->string, o->string, r->range_count, room);
}

static void put_range_facts(struct output *o, const struct cw_result *r, hid_t group, hid_t axis, void *room)
{
    hsize_t n = r->range_count;
    const char **texts = room;
    uint64_t *wide = room;
    uint32_t *narrow = room;
    for (uint32_t i = 0; i < n; i++)
        texts[i] = cw_result_range(r, i)->kernel;
    put_along(o, group, axis, "kernel", o->string, o->string, n, texts);
    for (uint32_t i = 0; i < n; i++)
        wide[i] = cw_result_range(r, i)->start_ns;
    put_along(o, group, axis, "start_ns", H5T_STD_U64LE, H5T_NATIVE_UINT64, n, wide);
    for (uint32_t i = 0; i < n; i++)
        wide[i] = cw_result_range(r, i)->end_ns;
    put_along(o, group, axis, "end_ns", H5T_STD_U64LE, H5T_NATIVE_UINT64, n, wide);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_device(r, cw_result_range(r, i))->index;
    put_along(o, group, axis, "device", H5T_STD_U32LE, H5T_NATIVE_UINT32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_range(r, i)->process;
    put_along(o, group, axis, "process", H5T_STD_U32LE, H5T_NATIVE_UINT32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_passes(r, cw_result_range(r, i));
    put_along(o, group, axis, "pass_count", H5T_STD_U32LE, H5T_NATIVE_UINT32, n, narrow);
    put_range_attribute(o, r, group, axis, "nvtx", texts);
    put_range_attribute(o, r, group, axis, "replay", texts);
    put_range_attribute(o, r, group, axis, "rank", texts);
    static const char *const letters[] = {"x", "y", "z"};
    hid_t xyz = put_scale(o, group, "xyz", o->string, o->string, 3, letters);
    put_sizes(o, r, group, axis, xyz, false, narrow);
    put_sizes(o, r, group, axis, xyz, true, narrow);
    H5Dclose(xyz);
}

static void put_metric_facts(struct output *o, const struct cw_result *r, const char *const *descriptions, hid_t group,
                             hid_t axis, const char **room)
{
    hsize_t n = r->metric_count;
    put_along(o, group, axis, "unit", o->string, o->string, n, r->units);
    for (uint32_t i = 0; i < n; i++)
        room[i] = cw_result_type(r, i);
    put_along(o, group, axis, "type", o->string, o->string, n, room);
    for (uint32_t i = 0; i < n; i++)
        room[i] = descriptions ? descriptions[i] : "";
    put_along(o, group, axis, "description", o->string, o->string, n, room);
}

static void put_flags(struct output *o, hid_t status)
{
    int8_t values[CW_VALUE_STATUS_COUNT];
    char meanings[256] = "";
    hsize_t count = CW_VALUE_STATUS_COUNT;
    for (int s = 0; s < CW_VALUE_STATUS_COUNT; s++) {
        values[s] = (int8_t)s;
        size_t used = strlen(meanings);
        snprintf(meanings + used, sizeof meanings - used, "%s%s", s ? " " : "",
                 cw_value_status_text((enum cw_value_status)s));
        for (char *c = meanings + used + (s != 0); *c; c++)
            *c = *c == ' ' ? '_' : *c;
    }
    if (o->what)
        return;
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(status, "flag_values", H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT);
    check(o, attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT8, values) >= 0, "flag_values");
    H5Aclose(attribute);
    H5Sclose(space);
    put_attribute(o, status, "flag_meanings", meanings);
}

/* The other facts as coordinates of the values, by the convention that xarray follows. */
static const char coordinates[] =
    "kernel start_ns end_ns device process pass_count nvtx replay rank unit type description";

static void put_values(struct output *o, const struct cw_result *r, hid_t group, hid_t ranges, hid_t metrics,
                       void *room)
{
    const hsize_t dims[2] = {r->range_count, r->metric_count};
    double *values = room;
    int8_t *statuses = room;
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t m = 0; m < dims[1]; m++)
            values[i * dims[1] + m] = r->values[m * dims[0] + i];
    hid_t value = put(o, group, "value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, dims, values);
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t m = 0; m < dims[1]; m++)
            statuses[i * dims[1] + m] = r->statuses[m * dims[0] + i];
    hid_t status = put(o, group, "status", H5T_STD_I8LE, H5T_NATIVE_INT8, 2, dims, statuses);
    put_flags(o, status);
    hid_t both[] = {value, status};
    for (int k = 0; k < 2; k++) {
        attach(o, both[k], ranges, 0);
        attach(o, both[k], metrics, 1);
        put_attribute(o, both[k], "coordinates", coordinates);
        H5Dclose(both[k]);
    }
}

static void put_range_group(struct output *o, const struct cw_result *r, const char *const *descriptions, void *room)
{
    hid_t group = open_group(o, "range");
    const char **texts = room;
    for (uint32_t i = 0; i < r->range_count; i++)
        texts[i] = cw_result_range(r, i)->name;
    hid_t ranges = put_scale(o, group, "name", o->string, o->string, r->range_count, texts);
    hid_t metrics = put_scale(o, group, "metric", o->string, o->string, r->metric_count, r->names);
    put_range_facts(o, r, group, ranges, room);
    put_metric_facts(o, r, descriptions, group, metrics, texts);
    put_values(o, r, group, ranges, metrics, room);
    H5Dclose(ranges);
    H5Dclose(metrics);
    H5Gclose(group);
}

/* ---- /capture and attributes ------------------------------------------------------------------------------------ */

static void put_capture_group(struct output *o, const struct cw_result *r, const char *manifest, void *room)
{
    uint32_t passes = r->data->schema.pass_count, *numbers = room;
    double *durations = room;
    const hsize_t dims[2] = {r->range_count, passes};
    hid_t group = open_group(o, "capture");
    H5Dclose(put(o, group, "manifest", o->string, o->string, 0, NULL, &manifest));
    hid_t range = put_scale(o, group, "range", H5T_STD_U32LE, H5T_NATIVE_UINT32, dims[0], r->ranges);
    for (uint32_t i = 0; i < passes; i++)
        numbers[i] = i;
    hid_t pass = put_scale(o, group, "pass", H5T_STD_U32LE, H5T_NATIVE_UINT32, dims[1], numbers);
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t p = 0; p < passes; p++)
            durations[i * passes + p] = cw_result_range(r, (uint32_t)i)->durations[p];
    hid_t duration = put(o, group, "duration_ns", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, dims, durations);
    attach(o, duration, range, 0);
    attach(o, duration, pass, 1);
    H5Dclose(duration);
    H5Dclose(pass);
    H5Dclose(range);
    H5Gclose(group);
}

static const char *device_attribute(const struct cw_counter_data *data, const char *key)
{
    const char *value = data->device_count ? cw_device_attribute(&data->devices[0], key) : NULL;
    return value ? value : "";
}

static void put_root(struct output *o, const struct cw_counter_data *data, const char *source, const char *created)
{
    put_attribute(o, o->file, "title", "GPU metrics");
    put_attribute(o, o->file, "conventions", "counterworks-1");
    put_attribute(o, o->file, "chip", data->schema.chip);
    put_attribute(o, o->file, "device", device_attribute(data, "name"));
    put_attribute(o, o->file, "simulated", device_attribute(data, "simulated"));
    put_attribute(o, o->file, "tool_version", CW_VERSION);
    put_attribute(o, o->file, "created", created);
    put_attribute(o, o->file, "source", source);
    put_attribute(o, o->file, "complete", data->complete ? "yes" : "no");
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Times of modification would make every file differ. */
static void open_file(struct output *o, const char *path)
{
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    o->string = H5Tcopy(H5T_C_S1);
    o->dataset_list = H5Pcreate(H5P_DATASET_CREATE);
    o->group_list = H5Pcreate(H5P_GROUP_CREATE);
    unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    bool good = H5Tset_size(o->string, H5T_VARIABLE) >= 0 && H5Tset_cset(o->string, H5T_CSET_UTF8) >= 0 &&
                H5Pset_obj_track_times(creation, false) >= 0 && H5Pset_obj_track_times(o->dataset_list, false) >= 0 &&
                H5Pset_obj_track_times(o->group_list, false) >= 0 && H5Pset_link_creation_order(creation, order) >= 0 &&
                H5Pset_link_creation_order(o->group_list, order) >= 0;
    o->file = good ? H5Fcreate(path, H5F_ACC_TRUNC, creation, H5P_DEFAULT) : H5I_INVALID_HID;
    check(o, o->file >= 0, "the file");
    H5Pclose(creation);
}

static void close_file(struct output *o)
{
    H5Pclose(o->dataset_list);
    H5Pclose(o->group_list);
    H5Tclose(o->string);
    if (o->file >= 0)
        check(o, H5Fclose(o->file) >= 0, "the end of the file");
}

/* Scratch for the largest table of any dataset. */
static void *make_room(const struct cw_result *r)
{
    size_t columns = r->metric_count > r->data->schema.pass_count ? r->metric_count : r->data->schema.pass_count;
    size_t cells;
    if (__builtin_mul_overflow(columns + 1, (size_t)r->range_count + 1, &cells))
        return NULL;
    return calloc(cells + 3 * (size_t)r->range_count, sizeof(double));
}

/* What is written, by `fill`, into a file beside `path` that then takes its place. */
static enum cw_status write_beside(const char *path,
                                   enum cw_status (*fill)(struct output *, const void *, struct cw_error *),
                                   const void *content, struct cw_error *err)
{
    H5E_auto2_t print;
    void *print_data;
    char *temporary;
    struct output o = {0};
    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return cw_error_nomem(err);
    /* failures are told by our own message, and closing what was never opened is no news */
    H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    open_file(&o, temporary);
    enum cw_status status = fill(&o, content, err);
    close_file(&o);
    if (status == CW_OK && o.what)
        status = cw_error_set(err, CW_ERR_IO, "%s: HDF5 cannot write %s", path, o.what);
    H5Eset_auto2(H5E_DEFAULT, print, print_data);
    if (status == CW_OK && rename(temporary, path) != 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot rename into place: %s", path, strerror(errno));
    if (status != CW_OK)
        unlink(temporary);
    free(temporary);
    return status;
}

/* ---- a result --------------------------------------------------------------------------------------------------- */

struct result_content {
    const struct cw_result *result;
    const char *const *descriptions;
};

static enum cw_status fill_result(struct output *o, const void *content, struct cw_error *err)
{
    const struct result_content *c = content;
    const struct cw_result *r = c->result;
    char *manifest = NULL, created[CW_TIME_SIZE];
    void *room = make_room(r);
    enum cw_status status = room ? cw_json_manifest(r, &manifest, err) : cw_error_nomem(err);
    if (status == CW_OK) {
        put_root(o, r->data, r->source, cw_result_created(r, created));
        put_range_group(o, r, c->descriptions, room);
        put_capture_group(o, r, manifest, room);
    }
    free(manifest);
    free(room);
    return status;
}

enum cw_status cw_hdf5_write(const struct cw_result *r, const char *const *descriptions, const char *path,
                             struct cw_error *err)
{
    const struct result_content content = {r, descriptions};
    return write_beside(path, fill_result, &content, err);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

struct records_content {
    const struct cw_result *capture;
    const char *group;
    const struct cw_records *tables;
    size_t count;
};

static hid_t field_type(const struct output *o, enum cw_field_kind kind, bool stored)
{
    switch (kind) {
    case CW_FIELD_U32:
        return stored ? H5T_STD_U32LE : H5T_NATIVE_UINT32;
    case CW_FIELD_U64:
        return stored ? H5T_STD_U64LE : H5T_NATIVE_UINT64;
    default:
        return o->string;
    }
}

/* The compound type of a table: as it lies in memory, or packed as it is stored. */
static hid_t record_type(struct output *o, const struct cw_records *r, bool stored)
{
    size_t at = 0;
    for (size_t f = 0; f < r->field_count; f++)
        at += H5Tget_size(field_type(o, r->fields[f].kind, stored));
    hid_t type = H5Tcreate(H5T_COMPOUND, stored ? at : r->size);
    at = 0;
    for (size_t f = 0; f < r->field_count; f++) {
        hid_t field = field_type(o, r->fields[f].kind, stored);
        check(o, H5Tinsert(type, r->fields[f].name, stored ? at : r->fields[f].offset, field) >= 0, r->fields[f].name);
        at += H5Tget_size(field);
    }
    return type;
}

static enum cw_status fill_records(struct output *o, const void *content, struct cw_error *err)
{
    const struct records_content *c = content;
    char *manifest = NULL, created[CW_TIME_SIZE];
    enum cw_status status = cw_json_manifest(c->capture, &manifest, err);
    if (status != CW_OK)
        return status;
    put_root(o, c->capture->data, c->capture->source, cw_result_created(c->capture, created));
    hid_t group = open_group(o, c->group);
    for (size_t i = 0; i < c->count && !o->what; i++) {
        hid_t stored = record_type(o, &c->tables[i], true), given = record_type(o, &c->tables[i], false);
        hsize_t rows = c->tables[i].count;
        H5Dclose(put(o, group, c->tables[i].name, stored, given, 1, &rows, c->tables[i].rows));
        H5Tclose(stored);
        H5Tclose(given);
    }
    H5Gclose(group);
    group = open_group(o, "capture");
    H5Dclose(put(o, group, "manifest", o->string, o->string, 0, NULL, &manifest));
    H5Gclose(group);
    free(manifest);
    return CW_OK;
}

enum cw_status cw_hdf5_write_records(const struct cw_result *capture, const char *group,
                                     const struct cw_records *tables, size_t count, const char *path,
                                     struct cw_error *err)
{
    const struct records_content content = {capture, group, tables, count};
    return write_beside(path, fill_records, &content, err);
}
