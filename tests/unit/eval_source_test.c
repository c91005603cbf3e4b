#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eval/samples/source.h"

static char folder[64], below[80];
static const char *const folders[] = {below};
static struct cw_source source;

static void put_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    cr_assert(out);
    fputs(text, out);
    fclose(out);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/source.XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(below, sizeof below, "%s/src", folder);
    cr_assert(mkdir(below, 0700) == 0);
    put_file("src/k.cu", "first\n\t second = 2; \r\n\nlast");
    put_file("outside.cu", "outside\n");
    source = (struct cw_source){.folders = folders, .folder_count = 1};
}

static void tear_down(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cw_source_finish(&source);
    cr_expect(system(command) == 0);
}

TestSuite(source, .init = set_up, .fini = tear_down);

static void expect(const char *name, uint32_t line, const char *wanted)
{
    size_t length = 0;
    const char *text = cw_source_line(&source, name, line, &length);
    cr_expect(wanted ? text && strlen(wanted) == length && strncmp(text, wanted, length) == 0 : !text, "%s:%u: '%.*s'",
              name, line, text ? (int)length : 4, text ? text : "none");
}

Test(source, lines_by_the_end_of_their_path)
{
    expect("/build/project/src/k.cu", 1, "first");
    expect("k.cu", 2, "second = 2;");
    expect("/elsewhere/k.cu", 4, "last");
    expect("k.cu", 3, NULL);
    expect("k.cu", 5, NULL);
    expect("k.cu", UINT32_MAX, NULL);
    expect("k.cu", 0, NULL);
    expect("", 1, NULL);
    expect("other.cu", 1, NULL);
    char whole[100];
    snprintf(whole, sizeof whole, "%s/outside.cu", folder);
    expect(whole, 1, "outside");
}

Test(source, lines_behind_a_nul_are_there)
{
    char path[200];
    snprintf(path, sizeof path, "%s/src/nul.cu", folder);
    FILE *out = fopen(path, "w");
    cr_assert(out);
    fwrite("a\0b\nc\0\nlast", 1, 11, out);
    fclose(out);
    expect("nul.cu", 1, "a b");
    expect("nul.cu", 2, "c");
    expect("nul.cu", 3, "last");
}

Test(source, nothing_outside_of_the_folders)
{
    expect("../outside.cu", 1, NULL);
    expect("/a/../../outside.cu", 1, NULL);
}

Test(source, only_regular_files, .timeout = 100)
{
    char path[200];
    snprintf(path, sizeof path, "%s/src/pipe.cu", folder);
    cr_assert(mkfifo(path, 0600) == 0);
    expect("pipe.cu", 1, NULL);
    expect("/dev/zero", 1, NULL);
    expect("/", 1, NULL);
    snprintf(path, sizeof path, "%s/src/large.cu", folder);
    put_file("src/large.cu", "x\n");
    cr_assert(truncate(path, (4 << 20) + 1) == 0);
    expect("large.cu", 1, NULL);
}

Test(source, so_many_files)
{
    static char names[CW_SOURCE_FILES_MAX + 1][24];
    for (int i = 0; i <= CW_SOURCE_FILES_MAX; i++) {
        char path[64];
        snprintf(names[i], sizeof names[i], "n%d.cu", i);
        snprintf(path, sizeof path, "src/%s", names[i]);
        put_file(path, "text\n");
        expect(names[i], 1, i < CW_SOURCE_FILES_MAX ? "text" : NULL);
    }
}

Test(source, whole_lines_have_their_blanks)
{
    size_t length = 9;
    const char *text = cw_source_whole_line(&source, "k.cu", 2, &length);
    cr_expect(text && length == 15 && memcmp(text, "\t second = 2; \r", 15) == 0);
    cr_expect(cw_source_whole_line(&source, "k.cu", 3, &length) && length == 0);
    cr_expect(!cw_source_whole_line(&source, "k.cu", 5, &length));
}

Test(source, text_for_others_is_of_the_folders_alone)
{
    char path[200];
    snprintf(path, sizeof path, "%s/outside.cu", folder);
    expect(path, 1, "outside");
    cw_source_finish(&source);
    source.inside = true;
    expect(path, 1, NULL);
    expect("k.cu", 1, "first");
}
