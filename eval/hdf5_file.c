#define _GNU_SOURCE
#include "eval/hdf5_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "base/file.h"

struct cw_hdf5 {
    struct cw_new_file out;
    const char *what; /* failed */
    bool nomem;
    hid_t file, string, dataset_list, group_list;
    /* HDF5 prints failures by itself unless told not to */
    H5E_auto2_t print;
    void *print_data;
};

static bool check(struct cw_hdf5 *f, bool good, const char *what)
{
    if (!good && !f->what)
        f->what = what;
    return !f->what;
}

static hid_t place(const struct cw_hdf5 *f, cw_hdf5_object object)
{
    return object ? (hid_t)object : f->file;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Times of modification would make every file differ. */
static void open_file(struct cw_hdf5 *f)
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

enum cw_status cw_hdf5_create(struct cw_hdf5 **file, const char *path, struct cw_error *err)
{
    struct cw_hdf5 *f = calloc(1, sizeof *f);
    *file = NULL;
    if (!f)
        return cw_error_nomem(err);
    enum cw_status status = cw_new_file_open(&f->out, path, err);
    if (status != CW_OK) {
        cw_new_file_close(&f->out, false, NULL);
        free(f);
        return status;
    }
    H5dont_atexit(); /* where a file could not be written, it crashes at the end of the process */
    /* failures are told by our own message, and closing what was never opened is no news */
    H5Eget_auto2(H5E_DEFAULT, &f->print, &f->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    open_file(f);
    *file = f;
    return CW_OK;
}

enum cw_status cw_hdf5_finish(struct cw_hdf5 *f, bool keep, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    if (!f)
        return CW_OK;
    H5Pclose(f->dataset_list);
    H5Pclose(f->group_list);
    H5Tclose(f->string);
    if (f->file >= 0)
        check(f, H5Fclose(f->file) >= 0, "the end of the file");
    H5Eset_auto2(H5E_DEFAULT, f->print, f->print_data);
    if (keep && f->nomem)
        status = cw_error_nomem(err);
    else if (keep && f->what)
        status = cw_error_set(err, CW_ERR_IO, "%s: HDF5 cannot write %s", f->out.path, f->what);
    enum cw_status closing = cw_new_file_close(&f->out, keep && status == CW_OK, err);
    free(f);
    return status == CW_OK ? closing : status;
}

/* ---- groups and attributes -------------------------------------------------------------------------------------- */

cw_hdf5_object cw_hdf5_group(struct cw_hdf5 *f, const char *name)
{
    hid_t group = f->what ? H5I_INVALID_HID : H5Gcreate2(f->file, name, H5P_DEFAULT, f->group_list, H5P_DEFAULT);
    check(f, group >= 0, name);
    return group;
}

void cw_hdf5_close(struct cw_hdf5 *f, cw_hdf5_object object)
{
    (void)f;
    if (object > 0)
        H5Oclose((hid_t)object);
}

void cw_hdf5_attribute(struct cw_hdf5 *f, cw_hdf5_object object, const char *name, const char *text)
{
    if (f->what)
        return;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(place(f, object), name, f->string, space, H5P_DEFAULT, H5P_DEFAULT);
    check(f, attribute >= 0 && H5Awrite(attribute, f->string, &text) >= 0, name);
    H5Aclose(attribute);
    H5Sclose(space);
}

void cw_hdf5_attribute_i8(struct cw_hdf5 *f, cw_hdf5_object object, const char *name, const int8_t *values,
                          size_t count)
{
    if (f->what)
        return;
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t attribute = H5Acreate2(place(f, object), name, H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT);
    check(f, attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT8, values) >= 0, name);
    H5Aclose(attribute);
    H5Sclose(space);
}

/* ---- datasets --------------------------------------------------------------------------------------------------- */

struct type {
    hid_t stored, given;
    size_t size;
};

static struct type type_of(const struct cw_hdf5 *f, enum cw_hdf5_type type)
{
    switch (type) {
    case CW_HDF5_F64:
        return (struct type){H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 8};
    case CW_HDF5_U64:
        return (struct type){H5T_STD_U64LE, H5T_NATIVE_UINT64, 8};
    case CW_HDF5_U32:
        return (struct type){H5T_STD_U32LE, H5T_NATIVE_UINT32, 4};
    case CW_HDF5_I8:
        return (struct type){H5T_STD_I8LE, H5T_NATIVE_INT8, 1};
    default:
        return (struct type){f->string, f->string, sizeof(char *)};
    }
}

static hid_t create(struct cw_hdf5 *f, cw_hdf5_object group, const char *name, enum cw_hdf5_type type, int rank,
                    const uint64_t *dims, bool *empty)
{
    hsize_t sizes[2] = {0};
    *empty = false;
    for (int i = 0; i < rank; i++) {
        sizes[i] = dims[i];
        *empty = *empty || dims[i] == 0;
    }
    hid_t space = rank ? H5Screate_simple(rank, sizes, NULL) : H5Screate(H5S_SCALAR);
    hid_t dataset =
        H5Dcreate2(place(f, group), name, type_of(f, type).stored, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0, name);
    H5Sclose(space);
    return dataset;
}

cw_hdf5_object cw_hdf5_dataset(struct cw_hdf5 *f, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                               int rank, const uint64_t *dims, const void *values)
{
    if (f->what)
        return H5I_INVALID_HID;
    bool empty;
    hid_t dataset = create(f, group, name, type, rank, dims, &empty);
    if (!f->what && !empty)
        check(f, H5Dwrite(dataset, type_of(f, type).given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
    return dataset;
}

cw_hdf5_object cw_hdf5_scale(struct cw_hdf5 *f, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                             uint64_t size, const void *values)
{
    cw_hdf5_object scale = cw_hdf5_dataset(f, group, name, type, 1, &size, values);
    if (!f->what)
        check(f, H5DSset_scale((hid_t)scale, name) >= 0, name);
    return scale;
}

void cw_hdf5_attach(struct cw_hdf5 *f, cw_hdf5_object dataset, cw_hdf5_object scale, unsigned axis)
{
    if (!f->what)
        check(f, H5DSattach_scale((hid_t)dataset, (hid_t)scale, axis) >= 0, "a dimension scale");
}

void cw_hdf5_along(struct cw_hdf5 *f, cw_hdf5_object group, cw_hdf5_object scale, const char *name,
                   enum cw_hdf5_type type, uint64_t size, const void *values)
{
    cw_hdf5_object dataset = cw_hdf5_dataset(f, group, name, type, 1, &size, values);
    cw_hdf5_attach(f, dataset, scale, 0);
    cw_hdf5_close(f, dataset);
}

/* ---- transposition ---------------------------------------------------------------------------------------------- */

enum { PIECE = 1 << 20 }; /* bytes that are transposed at a time */

static void transpose(char *to, const char *from, const uint64_t dims[2], uint64_t first, uint64_t rows, size_t size)
{
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t c = 0; c < dims[1]; c++)
            memcpy(to + (i * dims[1] + c) * size, from + (c * dims[0] + first + i) * size, size);
}

static bool write_rows(hid_t dataset, hid_t given, uint64_t first, uint64_t rows, uint64_t columns, const void *values)
{
    const hsize_t start[2] = {first, 0}, count[2] = {rows, columns};
    hid_t file = H5Dget_space(dataset), memory = H5Screate_simple(2, count, NULL);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(dataset, given, memory, file, H5P_DEFAULT, values) >= 0;
    H5Sclose(file);
    H5Sclose(memory);
    return good;
}

cw_hdf5_object cw_hdf5_transposed(struct cw_hdf5 *f, cw_hdf5_object group, const char *name, enum cw_hdf5_type type,
                                  const uint64_t dims[2], const void *values)
{
    if (f->what)
        return H5I_INVALID_HID;
    bool empty;
    struct type t = type_of(f, type);
    hid_t dataset = create(f, group, name, type, 2, dims, &empty);
    if (f->what || empty)
        return dataset;
    uint64_t rows = PIECE / (dims[1] * t.size);
    rows = rows < 1 ? 1 : rows < dims[0] ? rows : dims[0];
    char *piece = calloc(rows * dims[1], t.size);
    f->nomem = f->nomem || !piece;
    check(f, piece, name);
    for (uint64_t first = 0; first < dims[0] && !f->what; first += rows) {
        uint64_t count = dims[0] - first < rows ? dims[0] - first : rows;
        transpose(piece, values, dims, first, count, t.size);
        check(f, write_rows(dataset, t.given, first, count, dims[1], piece), name);
    }
    free(piece);
    return dataset;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static hid_t field_type(const struct cw_hdf5 *f, enum cw_field_kind kind, bool stored)
{
    struct type type = type_of(f, kind == CW_FIELD_U32   ? CW_HDF5_U32
                                  : kind == CW_FIELD_U64 ? CW_HDF5_U64
                                                         : CW_HDF5_TEXT);
    return stored ? type.stored : type.given;
}

/* The compound type of a table: as it lies in memory, or packed as it is stored. */
static hid_t record_type(struct cw_hdf5 *f, const struct cw_records *r, bool stored)
{
    size_t at = 0;
    for (size_t i = 0; i < r->field_count; i++)
        at += H5Tget_size(field_type(f, r->fields[i].kind, stored));
    hid_t type = H5Tcreate(H5T_COMPOUND, stored ? at : r->size);
    at = 0;
    for (size_t i = 0; i < r->field_count; i++) {
        hid_t field = field_type(f, r->fields[i].kind, stored);
        check(f, H5Tinsert(type, r->fields[i].name, stored ? at : r->fields[i].offset, field) >= 0, r->fields[i].name);
        at += H5Tget_size(field);
    }
    return type;
}

void cw_hdf5_table(struct cw_hdf5 *f, cw_hdf5_object group, const struct cw_records *r)
{
    if (f->what)
        return;
    hsize_t rows = r->count;
    hid_t stored = record_type(f, r, true), given = record_type(f, r, false), space = H5Screate_simple(1, &rows, NULL);
    hid_t dataset = H5Dcreate2(place(f, group), r->name, stored, space, H5P_DEFAULT, f->dataset_list, H5P_DEFAULT);
    check(f, dataset >= 0 && (!rows || H5Dwrite(dataset, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->rows) >= 0), r->name);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(stored);
    H5Tclose(given);
}
