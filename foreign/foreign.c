#include "foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "foreign/chrome_trace.h"
#include "foreign/ncu_csv.h"
#include "foreign/nsys_sqlite.h"

enum { FIRST = sizeof CW_FILE_HEAD_CAPTURE - 1 };

enum cw_foreign cw_foreign_kind(const void *head, size_t size)
{
    static const char sqlite[] = "SQLite format 3", blanks[] = " \t\r\n";
    const char *at = head;
    size_t i = cw_utf8_mark(head, size);
    if (size >= FIRST && memcmp(head, CW_FILE_HEAD_CAPTURE, FIRST) == 0)
        return CW_FOREIGN_NONE;
    if (size >= sizeof sqlite && memcmp(at, sqlite, sizeof sqlite) == 0)
        return CW_FOREIGN_NSYS;
    while (i < size && at[i] && strchr(blanks, at[i]))
        i++;
    if (i < size && (at[i] == '{' || at[i] == '['))
        return CW_FOREIGN_KINETO;
    return cw_ncu_begins(head, size) ? CW_FOREIGN_NCU : CW_FOREIGN_NONE;
}

/* Files that need another program first: by their first bytes, else by the name. */
static enum cw_status refuse_known(const struct cw_input *input, const char *head, struct cw_error *err)
{
    static const struct {
        const char *head, *end, *found, *behind;
    } known[] = {{"\x1f\x8b", NULL, "compressed data, expected its content: zcat ", " | counterworks -"},
                 {NULL, ".ncu-rep", "a report of ncu, expected its values: ncu --import ",
                  " --csv --page raw --print-units base"},
                 {NULL, ".nsys-rep", "a report of nsys, expected its database: nsys export --type sqlite ", ""},
                 {NULL, ".qdrep", "a report of nsys, expected its database: nsys export --type sqlite ", ""}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].head ? memcmp(head, known[i].head, strlen(known[i].head)) == 0
                          : cw_text_ends_in(input->name, known[i].end))
            return cw_error_set(err, CW_ERR_INPUT, "%s: found %s%s%s", input->name, known[i].found, input->name,
                                known[i].behind);
    return CW_OK;
}

/* Most files are captures, of which the first bytes say so. */
static enum cw_status find_kind(enum cw_foreign *kind, const struct cw_input *input, struct cw_error *err)
{
    const size_t size = input->size < CW_FOREIGN_HEAD ? (size_t)input->size : CW_FOREIGN_HEAD;
    char first[FIRST] = "";
    *kind = CW_FOREIGN_NONE;
    if (size < FIRST)
        return CW_OK;
    CW_TRY(cw_input_read(input, 0, FIRST, first, err));
    if (memcmp(first, CW_FILE_HEAD_CAPTURE, FIRST) == 0)
        return CW_OK;
    char *head = malloc(size);
    if (!head)
        return cw_error_nomem(err);
    enum cw_status status = cw_input_read(input, 0, size, head, err);
    if (status == CW_OK)
        *kind = cw_foreign_kind(head, size);
    if (status == CW_OK && *kind == CW_FOREIGN_NONE)
        status = refuse_known(input, head, err);
    free(head);
    return status;
}

enum cw_status cw_foreign_convert(struct cw_input *input, char notice[CW_FOREIGN_NOTICE_SIZE], struct cw_error *err)
{
    enum cw_foreign kind;
    struct cw_input made = {0};
    *notice = 0;
    CW_TRY(find_kind(&kind, input, err));
    if (kind == CW_FOREIGN_NONE)
        return CW_OK;
    const enum cw_status status =
        kind == CW_FOREIGN_NCU    ? cw_ncu_read(&made, notice, CW_FOREIGN_NOTICE_SIZE, input, err)
        : kind == CW_FOREIGN_NSYS ? cw_nsys_read(&made, input, err)
                                  : cw_chrome_trace_read(&made, notice, CW_FOREIGN_NOTICE_SIZE, input, err);
    if (status != CW_OK)
        return status;
    const char *name = input->name;
    cw_input_close(input);
    *input = made;
    input->name = name;
    return CW_OK;
}
