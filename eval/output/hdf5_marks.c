#include "eval/output/hdf5_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 64 };

/* ---- seeing ----------------------------------------------------------------------------------------------------- */

static void see_texts(struct cw_hdf5_marks *m, const uint32_t *cells, size_t count)
{
    uint32_t last = 0; /* of no text */
    for (size_t i = 0; i < count && m->word_count <= CW_HDF5_WORDS; i++) {
        uint32_t w = 0;
        if (cells[i] == last)
            continue;
        last = cells[i];
        while (last && w < m->word_count && m->words[w] != last)
            w++;
        if (last && w == m->word_count && m->word_count++ < CW_HDF5_WORDS)
            m->words[w] = last;
    }
}

void cw_hdf5_marks_see(struct cw_hdf5_marks *m, const void *cells, size_t count)
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

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static bool put(hid_t dataset, const char *name, hid_t type, const void *values, hsize_t count)
{
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

static const char *text_of(const struct cw_output_table *texts, uint32_t i)
{
    return *(const char *const *)cw_cell_at(texts->columns, texts->row(texts, i).record, 0);
}

/* What CF takes for the meaning of a flag. */
static bool is_word(const char *text)
{
    const size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+@");
    return size && size <= LONGEST_WORD && !text[size];
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Where the texts of a column are few words, they are flags: who reads these needs no table. */
static bool put_words(const struct cw_hdf5_marks *m, hid_t dataset, hid_t string)
{
    char meanings[CW_HDF5_WORDS * (LONGEST_WORD + 1) + 1] = "";
    uint32_t words[CW_HDF5_WORDS];
    if (!m->word_count || m->word_count > CW_HDF5_WORDS)
        return true;
    memcpy(words, m->words, m->word_count * sizeof *words);
    qsort(words, m->word_count, sizeof *words, by_number);
    for (uint32_t w = 0; w < m->word_count; w++) {
        const char *text = text_of(m->column->texts, words[w]);
        const size_t used = strlen(meanings);
        if (!is_word(text))
            return true;
        snprintf(meanings + used, sizeof meanings - used, "%s%s", w ? " " : "", text);
    }
    const char *all = meanings;
    return put(dataset, "flag_values", H5T_NATIVE_UINT32, words, m->word_count) &&
           put(dataset, "flag_meanings", string, &all, 1);
}

static bool put_texts(const struct cw_hdf5_marks *m, hid_t dataset, hid_t string)
{
    const struct cw_output_table *texts = m->column->texts;
    char path[128];
    snprintf(path, sizeof path, "/%s/%s", texts->group, texts->name);
    const char *value = path;
    return put(dataset, "index_into", string, &value, 1) && put_words(m, dataset, string);
}

static bool put_flags(const struct cw_output_flags *flags, hid_t dataset, hid_t string)
{
    return put(dataset, flags->bits ? "flag_masks" : "flag_values", H5T_NATIVE_UINT64, flags->values, flags->count) &&
           put(dataset, "flag_meanings", string, &flags->meanings, 1);
}

/* xarray makes doubles of numbers with a _FillValue, so that only those have one of which some are not known; and of
 * times, too, which would then lose their nanoseconds. What is not known of these it takes for no time by itself, and
 * netCDF4 knows it by valid_min. */
static bool put_unknown(const struct cw_output_column *c, hid_t dataset)
{
    static const int64_t none = INT64_MIN, least = 0;
    static const uint64_t unsigned_none = UINT64_MAX;
    if (cw_output_is_date(c))
        return put(dataset, "valid_min", H5T_NATIVE_INT64, &least, 1);
    return c->type == CW_CELL_SIGNED ? put(dataset, "_FillValue", H5T_NATIVE_INT64, &none, 1)
                                     : put(dataset, "_FillValue", H5T_NATIVE_UINT64, &unsigned_none, 1);
}

bool cw_hdf5_marks_put(const struct cw_hdf5_marks *m, hid_t dataset, hid_t string)
{
    const struct cw_output_column *c = m->column;
    return !c || ((!m->lacks || put_unknown(c, dataset)) && (!c->texts || put_texts(m, dataset, string)) &&
                  (!c->flags || put_flags(c->flags, dataset, string)));
}
