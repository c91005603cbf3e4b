/* hdf5_kind FILE KIND: the rows of a kind of trace in an HDF5 file as CSV, as the attributes of its datasets say. What
 * metric-eval --csv writes of the trace is the same. Flags and the table of texts have to say the same of a text. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "base/decimal.h"
#include "base/text.h"

enum { COLUMNS = 64 };

struct column {
    char name[64];
    hid_t dataset;
    H5T_class_t class;
    bool is_signed, lacks; /* lacks: `none` stands for what is not known */
    hsize_t count;
    union {
        int64_t *integers;
        double *reals;
        char **texts;
    } as;
    int64_t none;
    char **table; /* of texts, for indexes */
};

static struct column columns[COLUMNS];
static size_t column_count;

static void fail(const char *what, const char *name)
{
    cw_text_print(stderr, "hdf5_kind: %s: %s\n", name, what);
    exit(1);
}

static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* How many there are of an attribute, which are put into `to`; 0 without it. */
static hsize_t read_attribute(const struct column *c, const char *name, hid_t type, void *to)
{
    if (H5Aexists(c->dataset, name) <= 0)
        return 0;
    hid_t attribute = H5Aopen(c->dataset, name, H5P_DEFAULT), space = H5Aget_space(attribute);
    const hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    if (count > COLUMNS || H5Aread(attribute, type, to) < 0)
        fail(name, c->name);
    H5Sclose(space);
    H5Aclose(attribute);
    return count;
}

static void *read_all(hid_t dataset, hid_t type, size_t size, hsize_t *count)
{
    hid_t space = H5Dget_space(dataset);
    *count = (hsize_t)H5Sget_simple_extent_npoints(space);
    void *cells = calloc(*count + 1, size);
    if (!cells || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells) < 0)
        fail("cannot be read", "dataset");
    H5Sclose(space);
    return cells;
}

static void read_marks(struct column *c, hid_t file)
{
    char *path = NULL, *units = NULL;
    int64_t least;
    if (read_attribute(c, "index_into", text_type(), &path)) {
        hsize_t count;
        c->table = read_all(H5Dopen2(file, path, H5P_DEFAULT), text_type(), sizeof(char *), &count);
    }
    c->lacks = read_attribute(c, "_FillValue", c->is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, &c->none);
    if (read_attribute(c, "units", text_type(), &units) && strncmp(units, "nanoseconds since 1970", 22) == 0 &&
        read_attribute(c, "valid_min", H5T_NATIVE_INT64, &least)) {
        c->lacks = true;
        c->none = INT64_MIN;
    }
    H5free_memory(path);
    H5free_memory(units);
}

static herr_t add_column(hid_t group, const char *name, const H5L_info_t *info, void *file)
{
    (void)info;
    struct column *c = &columns[column_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->dataset = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t type = H5Dget_type(c->dataset);
    c->class = H5Tget_class(type);
    c->is_signed = c->class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
    hid_t read = c->class == H5T_STRING  ? text_type()
                 : c->class == H5T_FLOAT ? H5T_NATIVE_DOUBLE
                 : c->is_signed          ? H5T_NATIVE_INT64
                                         : H5T_NATIVE_UINT64;
    c->as.integers = read_all(c->dataset, read, sizeof(int64_t), &c->count);
    H5Tclose(type);
    read_marks(c, *(hid_t *)file);
    return column_count == COLUMNS;
}

static const char *text_of(const struct column *c, uint64_t index)
{
    uint64_t values[COLUMNS];
    char *meanings = NULL;
    const hsize_t count = read_attribute(c, "flag_values", H5T_NATIVE_UINT64, values);
    read_attribute(c, "flag_meanings", text_type(), &meanings);
    char *word = meanings ? strtok(meanings, " ") : NULL;
    for (hsize_t i = 0; i < count && word; i++, word = strtok(NULL, " "))
        if (values[i] == index && strcmp(word, c->table[index]) != 0)
            fail("the flag's meaning is another", c->name);
    H5free_memory(meanings);
    return c->table[index];
}

static void put_cell(const struct column *c, hsize_t i)
{
    char text[CW_DECIMAL_SIZE];
    if (c->class == H5T_STRING)
        cw_text_put(stdout, CW_TEXT_CELL, c->as.texts[i]);
    else if (c->table)
        cw_text_put(stdout, CW_TEXT_CELL, text_of(c, (uint64_t)c->as.integers[i]));
    else if (c->class == H5T_FLOAT && c->as.reals[i] == c->as.reals[i])
        fwrite(text, 1, cw_decimal_text(c->as.reals[i], text), stdout);
    else if (c->class == H5T_INTEGER && !(c->lacks && c->as.integers[i] == c->none))
        printf(c->is_signed ? "%" PRId64 : "%" PRIu64, c->as.integers[i]);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    char path[128];
    snprintf(path, sizeof path, "/timeline/%s", arguments[2]);
    hid_t file = H5Fopen(arguments[1], H5F_ACC_RDONLY, H5P_DEFAULT), group = H5Gopen2(file, path, H5P_DEFAULT);
    if (group < 0 || H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, add_column, &file) != 0)
        fail("no such group", path);
    for (size_t c = 0; c < column_count; c++)
        printf("%s%s", c ? "," : "", columns[c].name);
    fputs("\n", stdout);
    for (hsize_t i = 0; i < columns[0].count; i++) {
        for (size_t c = 0; c < column_count; c++) {
            if (c)
                putchar(',');
            put_cell(&columns[c], i);
        }
        fputs("\n", stdout);
    }
    return 0;
}
