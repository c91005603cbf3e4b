/* Attributes of a dataset in HDF5 that tell programs how to read its numbers. */
#ifndef CW_EVAL_OUTPUT_HDF5_MARKS_H
#define CW_EVAL_OUTPUT_HDF5_MARKS_H

#include "eval/output/hdf5_late.h"
#include "eval/output/table.h"

enum { CW_HDF5_WORDS = 32 }; /* different texts of a column that get a flag each, at most */

/* What is found out of a column's cells while they are written; begins as zeros and the column. */
struct cw_hdf5_marks {
    const struct cw_output_column *column; /* NULL: there is nothing to find out */
    bool lacks;                            /* a cell that is not known */
    uint32_t words[CW_HDF5_WORDS];         /* the texts that there are, by first use */
    uint32_t word_count;                   /* CW_HDF5_WORDS + 1: more */
};

/* Cells that lie one after another. */
void cw_hdf5_marks_see(struct cw_hdf5_marks *marks, const void *cells, size_t count);
/* Once all are written; `string`: the type of texts. False after a failure. */
bool cw_hdf5_marks_put(const struct cw_hdf5_marks *marks, hid_t dataset, hid_t string);

#endif
