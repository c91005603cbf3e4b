#define _GNU_SOURCE
#include "cli/mpi/texts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 1 << 16, BYTES_AT_ONCE = 1 << 28, TAG = 7 };

struct text {
    const char *text;
    uint32_t number;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

/* The number of a text, which is new perhaps. */
static bool number_of(struct cw_mpi_texts *t, struct cw_mpi_text_column *c, const char *text, uint32_t *number)
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

static bool begin(struct cw_mpi_texts *t, const struct cw_output_table *table)
{
    t->arena = cw_arena_create();
    for (size_t k = 0; k < table->column_count && t->column_count < CW_MPI_TEXT_COLUMNS; k++) {
        const struct cw_output_column *c = &table->columns[k];
        if (!(c->formats & CW_TO_HDF5) || c->type != CW_CELL_TEXT)
            continue;
        struct cw_mpi_text_column *own = &t->columns[t->column_count++];
        own->column = c;
        cw_writer_init(&own->bytes);
        cw_writer_init(&own->numbers);
    }
    return t->arena != NULL;
}

enum cw_status cw_mpi_texts_add(struct cw_mpi_texts *t, const struct cw_output_table *table, uint64_t from,
                                uint64_t count, struct cw_error *err)
{
    bool good = t->arena || begin(t, table);
    for (uint64_t i = from; i < from + count && good; i++) {
        const struct cw_output_row row = table->row(table, i);
        for (size_t k = 0; k < t->column_count && good; k++) {
            struct cw_mpi_text_column *c = &t->columns[k];
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

void cw_mpi_texts_free(struct cw_mpi_texts *t)
{
    for (size_t k = 0; k < t->column_count; k++) {
        tdestroy(t->columns[k].tree, leave);
        cw_writer_free(&t->columns[k].bytes);
        cw_writer_free(&t->columns[k].numbers);
    }
    cw_arena_destroy(t->arena);
    *t = (struct cw_mpi_texts){0};
}

/* ---- on its way to process 0 ------------------------------------------------------------------------------------ */

static void send(const struct cw_mpi_job *j, const void *data, uint64_t size)
{
    MPI_Send(&size, 1, MPI_UINT64_T, 0, TAG, j->all);
    for (uint64_t done = 0; done < size; done += BYTES_AT_ONCE)
        MPI_Send((const char *)data + done, (int)(size - done < BYTES_AT_ONCE ? size - done : BYTES_AT_ONCE), MPI_BYTE,
                 0, TAG, j->all);
}

/* To be freed; NULL when out of memory, and then what was sent is lost. */
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

/* Writes a column of one process: `bytes` has its texts, `numbers` which of them each row has. */
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

/* The rows of a process begin where those of the one before end. */
static enum cw_status write_all(struct cw_mpi_texts *own, const struct cw_mpi_job *j, struct cw_hdf5_rows *rows,
                                const struct cw_output_table *table)
{
    enum cw_status status = rows ? CW_OK : j->err->code; /* it could not be opened */
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

enum cw_status cw_mpi_texts_write(struct cw_mpi_texts *own, const struct cw_mpi_job *j, struct cw_hdf5_rows *rows,
                                  const struct cw_output_table *table)
{
    uint64_t columns = own->column_count;
    MPI_Bcast(&columns, 1, MPI_UINT64_T, 0, j->all);
    if (!j->rank)
        return write_all(own, j, rows, table);
    for (size_t k = 0; k < columns; k++) { /* a process without rows sends nothing as often */
        send(j, own->columns[k].bytes.data, own->columns[k].bytes.size);
        send(j, own->columns[k].numbers.data, own->columns[k].numbers.size);
    }
    return CW_OK;
}
