#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static char folder[64], file[128];

/* A data folder with one chip file of this text. */
static void setup(void)
{
    char chips[96];
    arena = cw_arena_create();
    snprintf(folder, sizeof folder, "/tmp/cw_chip_files.XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(chips, sizeof chips, "%s/chips", folder);
    snprintf(file, sizeof file, "%s/tiny.yaml", chips);
    cr_assert_eq(mkdir(chips, 0700), 0);
    setenv("CW_DATA_DIR", folder, 1);
}

static void teardown(void)
{
    char chips[96];
    snprintf(chips, sizeof chips, "%s/chips", folder);
    unlink(file);
    rmdir(chips);
    rmdir(folder);
    cw_arena_destroy(arena);
}

TestSuite(chip_files, .init = setup, .fini = teardown);

static void write_file(const char *from, const char *to)
{
    char *text = cw_text_with(cw_small_chip, from, to);
    FILE *out = fopen(file, "we");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
    free(text);
}

Test(chip_files, a_file_may_describe_several_chips)
{
    const struct cw_chip_file *files;
    size_t count;
    write_file("chip: TINY\n", "chip: TINY\nalso: [TEENY, WEE]\n");
    cr_assert_eq(cw_chip_files(&files, &count, NULL, arena, NULL), CW_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(files[0].name_count, 3);
    cr_expect_str_eq(files[0].names[0], "TINY");
    cr_expect_str_eq(files[0].names[2], "WEE");
    cr_expect_str_eq(files[0].path, file);
}

Test(chip_files, a_chip_bears_the_name_that_was_asked_for)
{
    const struct cw_chip *tiny, *wee;
    struct cw_error err = CW_ERROR_INIT;
    write_file("chip: TINY\n", "chip: TINY\nalso: [TEENY, WEE]\n");
    cr_assert_eq(cw_chip_load(&tiny, NULL, "tiny", arena, NULL), CW_OK);
    cr_assert_eq(cw_chip_load(&wee, NULL, "Wee", arena, NULL), CW_OK);
    cr_expect_str_eq(tiny->name, "TINY");
    cr_expect_str_eq(wee->name, "WEE");
    cr_expect_arr_eq(tiny->hash, wee->hash, sizeof wee->hash);
    cr_expect_eq(cw_chip_load(&wee, NULL, "wea", arena, &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found no chip named 'wea', counterworks chips lists them; did you mean WEE?");
}

Test(chip_files, heads_are_checked)
{
    static const struct {
        int test_line;
        const char *from, *to, *message;
        unsigned line;
    } cases[] = {
        {__LINE__, "units:", "unit:",
         "found no section 'units' in the first 16384 bytes, expected it after 'chip' and 'also'", 1},
        {__LINE__, "chip: TINY\n", "", "found no 'chip', which is required", 1},
        {__LINE__, "chip: TINY\n", "chip: TINY\nalso: WEE\n", "found a plain value for also, expected a list", 3},
        {__LINE__, "chip: TINY\n", "chip: TINY\nalso: [a b]\n",
         "found 'a b', expected a name of letters, digits, '_' and '.', at most 200", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip_file *files;
        struct cw_error err = CW_ERROR_INIT;
        size_t count;
        write_file(cases[i].from, cases[i].to);
        cr_expect_eq(cw_chip_files(&files, &count, NULL, arena, &err), CW_ERR_INPUT, "line %d", cases[i].test_line);
        cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", cases[i].test_line, err.message);
        cr_expect_eq(err.line, cases[i].line, "line %d: %u", cases[i].test_line, err.line);
        cr_expect_str_eq(err.source, file);
    }
}
