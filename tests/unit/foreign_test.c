#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "foreign/foreign.h"
#include "tests/support/alloc_fail.h"

/* The seeds of the fuzz target: small files of each kind, also cut and damaged ones. */
#define SEEDS CW_SOURCE_DIR "/tests/fuzz/corpus/foreign/"

static char path[sizeof SEEDS + 256];
static struct cw_bytes file;

static enum cw_status convert(struct cw_error *err)
{
    char notice[CW_FOREIGN_NOTICE_SIZE];
    struct cw_input input = cw_input_of(file.data, file.size, path);
    const enum cw_status status = cw_foreign_convert(&input, notice, err);
    cw_input_close(&input);
    return status;
}

static void fail_each(void)
{
    struct cw_error err = CW_ERROR_INIT;
    const enum cw_status whole = convert(&err);
    bool failed = true;
    for (long count = 0; failed; count++) {
        err = (struct cw_error)CW_ERROR_INIT;
        cw_alloc_fail_after(count);
        const enum cw_status status = convert(&err);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(status == (failed ? CW_ERR_NOMEM : whole) && err.code == status, "%s, allocation %ld: %d, %s", path,
                  count, status, err.message);
    }
}

Test(foreign, each_failing_allocation_is_told)
{
    struct dirent **names;
    setenv("CW_DATA_DIR", CW_SOURCE_DIR "/data", 1);
    const int count = scandir(SEEDS, &names, NULL, alphasort);
    cr_assert(count > 10);
    for (int i = 0; i < count; i++) {
        struct cw_error err = CW_ERROR_INIT;
        snprintf(path, sizeof path, "%s%s", SEEDS, names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            cr_assert(cw_file_read(&file, path, 1 << 20, &err) == CW_OK, "%s", err.message);
            fail_each();
            cw_bytes_free(&file);
        }
        free(names[i]);
    }
    free(names);
}
