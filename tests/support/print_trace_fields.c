/* print_trace_fields FILE...: of each kind how many rows the files have together, which of its fields a row fills and
 * which none does. Kinds without a row come in the end.
 * print_trace_fields --rows KIND FILE: a line for each row, of the fields that it fills. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/trace_fields.h"

static struct trace_fields found;

static void print_fields(enum cw_trace_kind kind, bool filled)
{
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
        const uint8_t field = cw_trace_kinds[kind].fields[f];
        if ((found.filled[kind][field] > 0) == filled)
            printf(" %s", cw_trace_fields[field].name);
    }
}

int main(int argc, char **argv)
{
    struct cw_error err = CW_ERROR_INIT;
    if (argc == 4 && strcmp(argv[1], "--rows") == 0) {
        if (trace_fields_print_rows(argv[3], argv[2], stdout, &err) == CW_OK)
            return 0;
        fprintf(stderr, "print_trace_fields: %s\n", err.message);
        return 1;
    }
    for (int i = 1; i < argc; i++)
        if (trace_fields_add(&found, argv[i], &err) != CW_OK) {
            fprintf(stderr, "print_trace_fields: %s\n", err.message);
            return 1;
        }
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (found.rows[k]) {
            printf("%-22s %8" PRIu64 " rows:", cw_trace_kinds[k].name, found.rows[k]);
            print_fields((enum cw_trace_kind)k, true);
            printf("; never:");
            print_fields((enum cw_trace_kind)k, false);
            putchar('\n');
        }
    printf("no row:");
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (!found.rows[k])
            printf(" %s", cw_trace_kinds[k].name);
    putchar('\n');
    return 0;
}
