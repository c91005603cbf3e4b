#include "eval/output/hdf5_rows.h"

#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

struct cw_hdf5_rows {
    hid_t file, transfer, string;
    bool lost; /* a dataset cannot be opened: no more writing together */
    const char *name;
};

enum cw_status cw_hdf5_rows_open(struct cw_hdf5_rows **rows, const char *path, const char *name,
                                 const void *communicator, struct cw_error *err)
{
    struct cw_hdf5_rows *r = *rows = calloc(1, sizeof *r);
    if (!r)
        return cw_error_nomem(err);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* our own message reports failures */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    r->name = name;
    r->transfer = H5Pcreate(H5P_DATASET_XFER);
    r->string = H5Tcopy(H5T_C_S1);
    bool good = H5Tset_size(r->string, H5T_VARIABLE) >= 0 && H5Tset_cset(r->string, H5T_CSET_UTF8) >= 0;
    if (communicator)
        good = good && H5Pset_fapl_mpio(access, *(const MPI_Comm *)communicator, MPI_INFO_NULL) >= 0 &&
               H5Pset_dxpl_mpio(r->transfer, H5FD_MPIO_COLLECTIVE) >= 0;
    r->file = good ? H5Fopen(path, H5F_ACC_RDWR, access) : H5I_INVALID_HID;
    const int reason = cw_hdf5_reason();
    H5Pclose(access);
    return r->file >= 0 ? CW_OK : cw_hdf5_cannot_write(name, "the file", reason, err);
}

enum cw_status cw_hdf5_rows_close(struct cw_hdf5_rows *r, struct cw_error *err)
{
    if (!r)
        return CW_OK;
    const bool good = r->file < 0 || H5Fclose(r->file) >= 0;
    const int reason = cw_hdf5_reason();
    H5Pclose(r->transfer);
    H5Tclose(r->string);
    const enum cw_status status = good ? CW_OK : cw_hdf5_cannot_write(r->name, "the end of the file", reason, err);
    free(r);
    return status;
}

static hid_t type_of(enum cw_cell_type type)
{
    return type == CW_CELL_F64      ? H5T_NATIVE_DOUBLE
           : type == CW_CELL_U32    ? H5T_NATIVE_UINT32
           : type == CW_CELL_STATUS ? H5T_NATIVE_INT8
                                    : H5T_NATIVE_UINT64;
}

/* Rows of a dataset, `width` cells each. */
static enum cw_status put(struct cw_hdf5_rows *r, const char *group, const char *name, hid_t type, const void *cells,
                          uint64_t at, uint64_t count, uint64_t width, struct cw_error *err)
{
    char path[256];
    if (r->lost)
        return cw_hdf5_cannot_write(r->name, name, 0, err);
    snprintf(path, sizeof path, "/%s/%s", group, name);
    hid_t dataset = H5Dopen2(r->file, path, H5P_DEFAULT), file = H5Dget_space(dataset);
    const hsize_t start[2] = {at, 0}, sizes[2] = {count ? count : 1, width};
    hid_t memory = H5Screate_simple(H5Sget_simple_extent_ndims(file), sizes, NULL);
    bool good = dataset >= 0 && file >= 0 && memory >= 0;
    r->lost = !good;
    if (good && count)
        good = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, sizes, NULL) >= 0;
    else if (good)
        good = H5Sselect_none(file) >= 0 && H5Sselect_none(memory) >= 0;
    good = good && H5Dwrite(dataset, type, memory, file, r->transfer, cells) >= 0;
    int reason = cw_hdf5_reason();
    H5Sclose(memory);
    H5Sclose(file);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && good) { /* HDF5 writes the last of it now */
        good = false;
        reason = cw_hdf5_reason();
    }
    return good ? CW_OK : cw_hdf5_cannot_write(r->name, name, reason, err);
}

/* Writes a column of some rows; `values`: one of the values of metrics. */
static enum cw_status put_column(struct cw_hdf5_rows *r, const char *group, const struct cw_output_table *t,
                                 const struct cw_output_column *c, bool values, uint64_t from, uint64_t count,
                                 uint64_t at, struct cw_error *err)
{
    const uint64_t width = values ? t->metrics->row_count : c->across ? c->across->row_count : 1;
    const size_t size = cw_cell_size(c->type);
    if (!width)
        return CW_OK;
    char *cells = count < SIZE_MAX / size / width - 1 ? malloc((count * width + 1) * size) : NULL;
    if (!cells) { /* the other processes would wait */
        put(r, group, c->name, type_of(c->type), NULL, at, 0, width, err);
        return cw_error_nomem(err);
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct cw_output_row row = t->row(t, from + i);
        char *to = cells + i * width * size;
        const char *of = values ? cw_output_cells(&row, c) : NULL;
        if (!values)
            memcpy(to, cw_cell_at(c, row.record, 0), width * size);
        for (uint64_t m = 0; values && m < width; m++)
            memcpy(to + m * size, of + m * row.stride * size, size);
    }
    const enum cw_status status = put(r, group, c->name, type_of(c->type), cells, at, count, width, err);
    free(cells);
    return status;
}

/* After a failure it goes on without cells, since all processes call HDF5 for each column. */
static enum cw_status put_table(struct cw_hdf5_rows *r, const char *group, const struct cw_output_table *t,
                                uint64_t from, uint64_t count, uint64_t at, struct cw_error *err)
{
    enum cw_status all = CW_OK;
    for (size_t k = 0; k < t->column_count; k++) {
        enum cw_status status = CW_OK;
        if (t->columns[k].formats & CW_TO_HDF5 && t->columns[k].type != CW_CELL_TEXT)
            status = put_column(r, group, t, &t->columns[k], false, from, all == CW_OK ? count : 0, at, err);
        all = all == CW_OK ? status : all;
    }
    for (size_t k = 0; t->metrics && k < cw_output_value_columns(t); k++) {
        const enum cw_status status =
            put_column(r, group, t, &cw_value_columns[k], true, from, all == CW_OK ? count : 0, at, err);
        all = all == CW_OK ? status : all;
    }
    return all;
}

enum cw_status cw_hdf5_rows_put(struct cw_hdf5_rows *r, const struct cw_output *o, uint64_t from, uint64_t count,
                                uint64_t at, struct cw_error *err)
{
    const enum cw_status rows = put_table(r, o->tables[0].group, &o->tables[0], from, count, at, err);
    const enum cw_status passes = put_table(r, "capture", &o->passes, from, rows == CW_OK ? count : 0, at, err);
    return rows == CW_OK ? passes : rows;
}

enum cw_status cw_hdf5_rows_put_texts(struct cw_hdf5_rows *r, const struct cw_output_table *t,
                                      const struct cw_output_column *c, const char *const *texts, uint64_t count,
                                      uint64_t at, struct cw_error *err)
{
    return put(r, t->group, c->name, r->string, texts, at, count, 1, err);
}
