#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buckets.h"
#include "base/bytes.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash_table.h"
#include "base/search.h"
#include "base/suggest.h"
#include "tests/support/child.h"
#include "tests/support/io_fail.h"

/* ---- error ---- */

Test(error, the_first_wins)
{
    struct cw_error err = CW_ERROR_INIT;
    char text[1200];
    cr_expect(cw_error_at(&err, CW_ERR_INPUT, "a.yaml", 3, 14, "found %s, expected %d", "x", 2) == CW_ERR_INPUT);
    cr_expect(cw_error_set(&err, CW_ERR_IO, "later") == CW_ERR_IO);
    cr_expect(cw_error_offset(&err, CW_ERR_IO, "b", 99, "later") == CW_ERR_IO);
    cr_expect(err.code == CW_ERR_INPUT && !err.has_offset);
    cr_expect_str_eq(cw_error_format(&err, text, sizeof text), "a.yaml:3:14: found x, expected 2");
}

Test(error, formats_by_what_is_known)
{
    char text[1200];
    struct cw_error plain = CW_ERROR_INIT, offset = CW_ERROR_INIT, nomem = CW_ERROR_INIT;
    cw_error_set(&plain, CW_ERR_USAGE, "no metric named %s", "x");
    cr_expect_str_eq(cw_error_format(&plain, text, sizeof text), "no metric named x");
    cw_error_offset(&offset, CW_ERR_INPUT, "a.cwd", 0, "bad");
    cr_expect_str_eq(cw_error_format(&offset, text, sizeof text), "a.cwd: offset 0: bad");
    cr_expect(cw_error_nomem(&nomem) == CW_ERR_NOMEM && nomem.code == CW_ERR_NOMEM);
    cr_expect_str_eq(cw_error_format(&nomem, text, sizeof text), "out of memory");
}

Test(error, is_one_line_and_fits)
{
    struct cw_error err = CW_ERROR_INIT, large = CW_ERROR_INIT;
    char text[8], *noise = malloc(5000);
    cr_assert(noise);
    cw_error_set(&err, CW_ERR_INPUT, "a\nb\x1b[31m\tc");
    cr_expect_str_eq(err.message, "a\\nb\\x1b[31m\\tc");
    memset(noise, 'x', 4999);
    noise[4999] = 0;
    cw_error_at(&large, CW_ERR_INPUT, noise, 1, 1, "%s", noise);
    cr_expect(strlen(large.message) == sizeof large.message - 1 && strlen(large.source) == sizeof large.source - 1);
    cr_expect_str_eq(cw_error_format(&large, text, sizeof text), "xxxxxxx");
    free(noise);
}

Test(error, shows_no_text_of_a_file_as_it_is)
{
    struct cw_error err = CW_ERROR_INIT;
    char text[1200];
    cw_error_at(&err, CW_ERR_INPUT, "a\x1b]0;x\a.yaml", 3, 14, "found '%s', expected %.4s", "\xc2\x9b\n",
                "abc\xc3\xa9");
    cr_expect_str_eq(cw_error_format(&err, text, sizeof text),
                     "a\\x1b]0;x\\a.yaml:3:14: found '\\u009b\\n', expected abc");
}

Test(error, may_be_absent)
{
    cr_expect(cw_error_set(NULL, CW_ERR_IO, "x") == CW_ERR_IO);
    cr_expect(cw_error_at(NULL, CW_ERR_INPUT, "x", 1, 1, "x") == CW_ERR_INPUT);
    cr_expect(cw_error_offset(NULL, CW_ERR_INPUT, NULL, 1, "x") == CW_ERR_INPUT);
}

/* ---- arena ---- */

Test(arena, blocks_are_zeroed_aligned_and_apart)
{
    struct cw_arena *arena = cw_arena_create();
    unsigned char *last = NULL;
    for (size_t i = 0; i < 3000; i++) {
        size_t size = i % 97 == 0 ? 100000 + i : i % 61;
        unsigned char *p = cw_arena_alloc(arena, size, 1);
        cr_assert(p);
        cr_assert((size_t)p % 16 == 0);
        for (size_t k = 0; k < size; k++)
            cr_assert(p[k] == 0);
        memset(p, 0xff, size);
        cr_assert(!last || last[0] == 0xff);
        last = size ? p : last;
    }
    cw_arena_destroy(arena);
    cw_arena_destroy(NULL);
}

Test(arena, sizes_that_overflow_are_refused)
{
    struct cw_arena *arena = cw_arena_create();
    cr_expect_null(cw_arena_alloc(arena, SIZE_MAX / 2, 4));
    cr_expect_null(cw_arena_alloc(arena, SIZE_MAX, SIZE_MAX));
    cr_expect_not_null(cw_arena_alloc(arena, 0, 8));
    cr_expect_not_null(cw_arena_alloc(arena, 8, 0));
    cw_arena_destroy(arena);
}

Test(arena, copies_text)
{
    struct cw_arena *arena = cw_arena_create();
    cr_expect_str_eq(cw_arena_strdup(arena, "metric"), "metric");
    cr_expect_str_eq(cw_arena_strndup(arena, "metric", 3), "met");
    cr_expect_str_eq(cw_arena_strndup(arena, "", 0), "");
    cr_expect_str_eq(cw_arena_printf(arena, "%s.%d", "a", 12), "a.12");
    cr_expect_str_eq(cw_arena_printf(arena, "%s", ""), "");
    cw_arena_destroy(arena);
}

/* ---- bytes ---- */

Test(bytes, what_is_written_reads_back)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_writer out;
    struct cw_reader in;
    cw_writer_init(&out);
    cw_write_u8(&out, 0xfe);
    cw_write_u16(&out, 0xfedc);
    cw_write_u32(&out, 0xfedcba98);
    cw_write_u64(&out, 0xfedcba9876543210);
    cw_write_f64(&out, -0.0);
    cw_write_string(&out, "µ");
    cw_write_bytes(&out, "xyz", 3);
    cr_assert(out.status == CW_OK && out.size == 1 + 2 + 4 + 8 + 8 + 6 + 3);
    cr_expect(memcmp(out.data, "\xfe\xdc\xfe\x98\xba\xdc\xfe", 7) == 0, "little-endian");
    cw_reader_init(&in, out.data, out.size, "x", 0, NULL);
    cr_expect(cw_read_u8(&in) == 0xfe);
    cr_expect(cw_read_u16(&in) == 0xfedc);
    cr_expect(cw_read_u32(&in) == 0xfedcba98);
    cr_expect(cw_read_u64(&in) == 0xfedcba9876543210);
    double zero = cw_read_f64(&in);
    cr_expect(zero == 0 && signbit(zero));
    cr_expect_str_eq(cw_read_string(&in, arena), "µ");
    cr_expect(memcmp(cw_read_bytes(&in, 3), "xyz", 3) == 0);
    cr_expect(cw_reader_finish(&in, "it") == CW_OK);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

Test(bytes, a_reader_stops_at_the_first_failure)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_reader in;
    char text[1200];
    cw_reader_init(&in, "\1\2\3\4\5", 5, "x.bin", 100, &err);
    cr_expect(cw_read_u16(&in) == 0x201);
    cr_expect(cw_read_u32(&in) == 0);
    cr_expect(in.status == CW_ERR_INPUT);
    cr_expect(cw_read_u8(&in) == 0 && cw_read_bytes(&in, 0) == NULL && cw_read_count(&in, 1, "x") == 0);
    cr_expect(cw_reader_fail(&in, "later") == CW_ERR_INPUT && cw_reader_finish(&in, "x") == CW_ERR_INPUT);
    cr_expect_str_eq(cw_error_format(&err, text, sizeof text), "x.bin: offset 102: found 3 bytes, expected 4 more");
}

Test(bytes, doubles_in_bulk)
{
    struct cw_writer out;
    struct cw_reader in;
    double values[3] = {0};
    cw_writer_init(&out);
    for (int i = 1; i <= 3; i++)
        cw_write_f64(&out, i / 10.0);
    cw_reader_init(&in, out.data, out.size, "x", 0, NULL);
    cw_read_f64s(&in, values, 2);
    cr_expect(values[0] == 0.1 && values[1] == 0.2 && values[2] == 0 && in.pos == 16);
    cw_read_f64s(&in, values, 2);
    cr_expect(values[0] == 0 && values[1] == 0 && in.status == CW_ERR_INPUT);
    cw_writer_free(&out);
}

Test(bytes, nothing_may_be_left)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_reader in;
    char text[1200];
    cw_reader_init(&in, "\1\2\3", 3, "x", 0, &err);
    cw_read_u8(&in);
    cr_expect(cw_reader_finish(&in, "the list") == CW_ERR_INPUT);
    cr_expect_str_eq(cw_error_format(&err, text, sizeof text),
                     "x: offset 1: found 2 bytes after the end of the list, expected none");
}

Test(bytes, counts_are_bounded_by_the_data)
{
    struct cw_reader in;
    cw_reader_init(&in, "\2\0\0\0abcdefgh", 12, "x", 0, NULL);
    cr_expect(cw_read_count(&in, 4, "items") == 2 && in.status == CW_OK);
    struct cw_error err = CW_ERROR_INIT;
    cw_reader_init(&in, "\3\0\0\0abcdefgh", 12, "x", 0, &err);
    cr_expect(cw_read_count(&in, 4, "items") == 0 && in.status == CW_ERR_INPUT && err.offset == 0);
    cr_expect_str_eq(err.message, "found a count of 3 items, expected at most the 2 that fit the data");
    cw_reader_init(&in, "\xff\xff\xff\xff", 4, "x", 0, NULL);
    cr_expect(cw_read_count(&in, 1, "items") == 0 && in.status == CW_ERR_INPUT);
}

Test(bytes, counts_have_limits)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_reader in;
    cw_reader_init(&in, "\7\0\0\0", 4, "x", 0, &err);
    cr_expect(cw_read_count_up_to(&in, 0, 7, "items") == 7 && in.status == CW_OK);
    cw_reader_init(&in, "\7\0\0\0", 4, "x", 0, &err);
    cr_expect(cw_read_count_up_to(&in, 0, 6, "items") == 0 && in.status == CW_ERR_INPUT && err.offset == 0);
    cr_expect_str_eq(err.message, "found a count of 7 items, expected at most 6");
}

Test(bytes, strings_are_utf8_without_nul)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
    } cases[] = {
        {"", 0, true},
        {"plain", 5, true},
        {"\xc2\x80", 2, true},
        {"\xdf\xbf", 2, true},
        {"\xe0\xa0\x80", 3, true},
        {"\xed\x9f\xbf", 3, true},
        {"\xf0\x90\x80\x80", 4, true},
        {"\xf4\x8f\xbf\xbf", 4, true},
        {"a\0b", 3, false},
        {"\x80", 1, false},             /* a continuation alone */
        {"\xc0\xaf", 2, false},         /* overlong */
        {"\xe0\x9f\xbf", 3, false},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong */
        {"\xed\xa0\x80", 3, false},     /* a surrogate */
        {"\xf4\x90\x80\x80", 4, false}, /* past the last code point */
        {"\xf5\x80\x80\x80", 4, false},
        {"\xc2", 1, false}, /* cut */
        {"\xe2\x82", 2, false},
        {"\xe2\x82x", 3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_arena *arena = cw_arena_create();
        struct cw_reader in;
        uint8_t *exact = malloc(4 + cases[i].size);
        cr_assert(exact);
        cw_store_u32(exact, (uint32_t)cases[i].size);
        memcpy(exact + 4, cases[i].bytes, cases[i].size);
        cw_reader_init(&in, exact, 4 + cases[i].size, "x", 0, NULL);
        const char *read = cw_read_string(&in, arena);
        cr_expect((in.status == CW_OK) == cases[i].good, "case %zu", i);
        cr_expect(strcmp(read, cases[i].good ? cases[i].bytes : "") == 0, "case %zu", i);
        free(exact);
        cw_arena_destroy(arena);
    }
}

Test(bytes, strings_are_cut_to_what_is_read)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    struct cw_writer out;
    struct cw_reader in;
    char *text = cw_arena_alloc(arena, CW_TEXT_MAX + 8, 1);
    cr_assert(text);
    memset(text, 'a', CW_TEXT_MAX + 1);
    cw_writer_init(&out);
    cw_write_string(&out, text);
    cw_reader_init(&in, out.data, out.size, "x", 0, &err);
    cr_expect(strlen(cw_read_string(&in, arena)) == CW_TEXT_MAX && in.status == CW_OK);
    memcpy(text + CW_TEXT_MAX - 1, "\xc2\xb5", 3);
    out.size = 0;
    cw_write_string(&out, text);
    cw_reader_init(&in, out.data, out.size, "x", 0, &err);
    cr_expect(strlen(cw_read_string(&in, arena)) == CW_TEXT_MAX - 1, "before the character that is cut");
    cw_write_bytes(&out, "aa", 2);
    cw_store_u32(out.data, CW_TEXT_MAX + 1);
    cw_reader_init(&in, out.data, out.size, "x", 0, &err);
    cr_expect(!*cw_read_string(&in, arena) && in.status == CW_ERR_INPUT && err.offset == 0);
    cr_expect_str_eq(err.message, "found a string of 65537 bytes, expected at most 65536");
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

Test(bytes, a_writer_grows)
{
    struct cw_writer out;
    cw_writer_init(&out);
    for (uint32_t i = 0; i < 100000; i++)
        cw_write_u32(&out, i);
    cr_assert(out.status == CW_OK && out.size == 400000);
    cr_expect(memcmp(out.data + 4 * 0x10203, "\3\2\1\0", 4) == 0);
    cw_write_bytes(&out, NULL, 0);
    cr_expect(out.status == CW_OK && out.size == 400000);
    cw_writer_free(&out);
    cr_expect(out.data == NULL && out.size == 0);
}

Test(bytes, stores_in_place)
{
    uint8_t bytes[9] = {0};
    cw_store_u32(bytes + 1, 0x04030201);
    cr_expect(memcmp(bytes, "\0\1\2\3\4\0", 6) == 0);
    cw_store_u64(bytes + 1, 0x0807060504030201);
    cr_expect(memcmp(bytes, "\0\1\2\3\4\5\6\7\10", 9) == 0);
}

/* ---- suggest ---- */

Test(suggest, edit_distance)
{
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    cr_expect(cw_edit_distance("", "", 3) == 0);
    cr_expect(cw_edit_distance("abc", "abc", 3) == 0);
    cr_expect(cw_edit_distance("", "abc", 3) == 3);
    cr_expect(cw_edit_distance("abc", "abd", 3) == 1);
    cr_expect(cw_edit_distance("abc", "ab", 3) == 1);
    cr_expect(cw_edit_distance("abcd", "abdc", 3) == 1, "a swap of neighbours is one edit");
    cr_expect(cw_edit_distance("kitten", "sitting", 3) == 3);
    cr_expect(cw_edit_distance("kitten", "sitting", 2) == 3, "more than the limit is the limit and one");
    cr_expect(cw_edit_distance("ab", "ba", 1) == 1);
    cr_expect(cw_edit_distance("x", longer, 2) == 3);
    cr_expect(cw_edit_distance(longer, longer, 2) == 3, "too long to compare");
}

Test(suggest, keeps_the_nearest)
{
    struct cw_suggest suggest;
    char text[200];
    cw_suggest_init(&suggest, "sm__inst_executd");
    cr_expect_str_eq(cw_suggest_text(&suggest, text, sizeof text), "");
    cw_suggest_offer(&suggest, "dram__bytes");
    cr_expect(suggest.count == 0);
    cw_suggest_offer(&suggest, "sm__inst_executes2");
    cw_suggest_offer(&suggest, "sm__inst_executed");
    cr_expect_str_eq(cw_suggest_text(&suggest, text, sizeof text),
                     "; did you mean sm__inst_executed or sm__inst_executes2?");
    cw_suggest_offer(&suggest, "sm__inst_execut");
    cw_suggest_offer(&suggest, "sm__inst_execute");
    cr_expect_str_eq(cw_suggest_text(&suggest, text, sizeof text),
                     "; did you mean sm__inst_executed, sm__inst_execut or sm__inst_execute?");
    char small[12];
    cr_expect(strlen(cw_suggest_text(&suggest, small, sizeof small)) < sizeof small);
}

Test(suggest, one_name)
{
    struct cw_suggest suggest;
    char text[200];
    cw_suggest_init(&suggest, "GH10");
    cw_suggest_offer(&suggest, "GH100");
    cw_suggest_offer(&suggest, "GA102");
    cr_expect_str_eq(cw_suggest_text(&suggest, text, sizeof text), "; did you mean GH100?");
}

/* ---- file ---- */

static char folder[] = "/tmp/cw-base-XXXXXX";
static char path[64];

static void make_folder(void)
{
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static void remove_folder(void)
{
    unlink(path);
    cr_expect(rmdir(folder) == 0, "something else was left in the folder");
}

TestSuite(file, .init = make_folder, .fini = remove_folder);

Test(file, round_trip)
{
    struct cw_bytes bytes;
    struct stat st;
    mode_t mask = umask(022);
    cr_expect(cw_file_write(path, "a\0b", 3, NULL) == CW_OK);
    umask(mask);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
    cr_assert(cw_file_read(&bytes, path, 3, NULL) == CW_OK);
    cr_expect(bytes.size == 3 && memcmp(bytes.data, "a\0b", 4) == 0, "a NUL follows");
    cw_bytes_free(&bytes);
    cr_expect(bytes.data == NULL);
    cr_expect(cw_file_write(path, NULL, 0, NULL) == CW_OK, "replaced");
    cr_assert(cw_file_read(&bytes, path, SIZE_MAX, NULL) == CW_OK);
    cr_expect(bytes.size == 0 && bytes.data[0] == 0);
    cw_bytes_free(&bytes);
}

/* What is said of `content` where a file of a kind is to be. */
/* The process that writes a file is killed, or waits: a file of its own beside `path`. */
static pid_t write_beside(bool killed)
{
    int ready[2];
    char byte;
    cr_assert(pipe(ready) == 0);
    const pid_t child = cw_test_fork();
    if (child == 0) {
        struct cw_new_file file;
        if (cw_new_file_open(&file, path, NULL) != CW_OK || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    cr_assert(child > 0 && read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    if (killed) {
        kill(child, SIGKILL);
        cr_assert(waitpid(child, NULL, 0) == child);
    }
    return child;
}

/* How many files there are whose name begins with that of `path`. */
static size_t count_beside(void)
{
    char pattern[sizeof path + 2];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s*", path);
    const int status = glob(pattern, 0, NULL, &found);
    const size_t count = status == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

Test(file, of_a_process_that_was_killed_is_removed)
{
    static const char *const others[] = {".backup", ".cw-000000000000-1-abcdef", ".cw-"};
    char other[sizeof path + 32];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(other, sizeof other, "%s%s", path, others[i]);
        cr_assert(cw_file_write(other, "x", 1, NULL) == CW_OK);
    }
    cr_assert_eq(count_beside(), 3);
    const pid_t waits = write_beside(false);
    write_beside(true);
    write_beside(true);
    cr_expect_eq(count_beside(), 5, "the second has removed the file of the first: %zu", count_beside());
    cr_expect(cw_file_write(path, "new", 3, NULL) == CW_OK);
    cr_expect_eq(count_beside(), 5, "others, the new one, and that of the process that waits: %zu", count_beside());
    kill(waits, SIGKILL);
    cr_assert(waitpid(waits, NULL, 0) == waits);
    cr_expect(cw_file_write(path, "newer", 5, NULL) == CW_OK);
    cr_expect_eq(count_beside(), 4);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(other, sizeof other, "%s%s", path, others[i]);
        cr_expect(unlink(other) == 0);
    }
}

static enum cw_status print_or_fail(FILE *out, const void *fails, struct cw_error *error)
{
    fputs("part", out);
    return *(const bool *)fails ? cw_error_set(error, CW_ERR_INPUT, "no") : CW_OK;
}

Test(file, several_take_their_places_together)
{
    static const bool good = false, bad = true;
    struct cw_new_files files = {0};
    struct cw_bytes bytes;
    char second[sizeof path + 8], third[sizeof path + 8];
    snprintf(second, sizeof second, "%s.2", path);
    snprintf(third, sizeof third, "%s.3", path);
    cr_assert(cw_file_write(path, "old", 3, NULL) == CW_OK);
    cr_expect(cw_new_files_print(&files, path, print_or_fail, &good, NULL) == CW_OK);
    cr_expect(cw_new_files_print(&files, second, print_or_fail, &bad, NULL) == CW_ERR_INPUT);
    cr_expect(cw_new_files_close(&files, false, NULL) == CW_OK);
    cr_assert(cw_file_read(&bytes, path, 8, NULL) == CW_OK);
    cr_expect_eq(bytes.size, 3, "the old one");
    cw_bytes_free(&bytes);
    cr_expect_eq(count_beside(), 1);
    cr_expect(cw_new_files_print(&files, path, print_or_fail, &good, NULL) == CW_OK);
    cr_expect(cw_new_files_print(&files, third, print_or_fail, &good, NULL) == CW_OK);
    cr_expect(cw_new_files_close(&files, true, NULL) == CW_OK);
    cr_assert(cw_file_read(&bytes, third, 8, NULL) == CW_OK);
    cr_expect_eq(bytes.size, 4);
    cw_bytes_free(&bytes);
    cr_expect_eq(count_beside(), 2);
    unlink(third);
}

/* As by the shell's redirection. */
Test(file, links_to_a_file_that_is_to_come_stay_links)
{
    static const char *const leads[] = {"inner/target", "link1", "inner/../link2"};
    char names[3][sizeof folder + 8], inner[sizeof folder + 8], target[sizeof folder + 16];
    struct stat st;
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(target, sizeof target, "%s/target", inner);
    cr_assert(mkdir(inner, 0700) == 0);
    for (int i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "%s/link%d", folder, i + 1);
        cr_assert(symlink(leads[i], names[i]) == 0);
    }
    cr_expect(cw_file_write(names[2], "x", 1, NULL) == CW_OK);
    cr_expect(stat(target, &st) == 0 && st.st_size == 1);
    for (int i = 0; i < 3; i++) {
        cr_expect(lstat(names[i], &st) == 0 && S_ISLNK(st.st_mode));
        unlink(names[i]);
    }
    cr_expect(unlink(target) == 0 && rmdir(inner) == 0, "and nothing else is there");
}

Test(file, names_may_be_as_long_as_the_system_has_them)
{
    char name[sizeof folder + 257];
    struct cw_bytes bytes;
    const int begin = snprintf(name, sizeof name, "%s/", folder);
    memset(name + begin, 'n', 255);
    for (int size = 255; size > 225; size--) {
        name[begin + size] = '\0';
        cr_expect(cw_file_write(name, "x", 1, NULL) == CW_OK, "%d", size);
        cr_expect(cw_file_read(&bytes, name, 8, NULL) == CW_OK && bytes.size == 1);
        cw_bytes_free(&bytes);
        unlink(name);
    }
    cr_expect_eq(count_beside(), 0);
}

static enum cw_status may_replace(const char *content, const struct cw_file_kind *kind, bool force)
{
    cr_assert(cw_file_write(path, content, strlen(content), NULL) == CW_OK);
    return cw_file_may_replace(path, kind, force, NULL);
}

Test(file, takes_the_place_of_its_kind_alone)
{
    static const struct cw_file_kind unknown = {"known", false, {NULL}}, either = {"either", false, {"one,", "two,"}};
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_file_may_replace(path, &cw_file_capture, false, NULL), CW_OK, "nothing is there");
    cr_expect_eq(may_replace("", &cw_file_capture, false), CW_OK);
    cr_expect_eq(may_replace(CW_FILE_HEAD_CAPTURE "and more", &cw_file_capture, false), CW_OK);
    cr_expect_eq(may_replace(CW_FILE_HEAD_PLAN, &cw_file_capture, false), CW_ERR_USAGE);
    cr_expect_eq(may_replace(CW_FILE_HEAD_PLAN, &cw_file_capture, true), CW_OK, "--force");
    cr_expect_eq(may_replace("\x89"
                             "CWD",
                             &cw_file_capture, false),
                 CW_ERR_USAGE, "half a head");
    cr_expect_eq(may_replace("two,x", &either, false), CW_OK, "the last of its heads");
    cr_expect_eq(may_replace("x", &unknown, false), CW_ERR_USAGE, "nothing begins as such files do");
    cr_expect_eq(may_replace("int main", &cw_file_plan, false), CW_ERR_USAGE);
    cw_file_may_replace(path, &cw_file_plan, false, &err);
    cr_expect(strstr(err.message, "file: found a file that is not a config image, expected one to replace, or none; "
                                  "--force replaces it"),
              "%s", err.message);
    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    cr_expect_eq(cw_file_may_replace(path, &cw_file_capture, false, NULL), CW_OK, "a pipe has nothing to lose");
}

Test(file, looks_where_a_link_leads)
{
    char link[80];
    snprintf(link, sizeof link, "%s/link", folder);
    cr_assert(cw_file_write(path, "int main", 8, NULL) == CW_OK && symlink(path, link) == 0);
    cr_expect_eq(cw_file_may_replace(link, &cw_file_plan, false, NULL), CW_ERR_USAGE);
    cr_assert(unlink(path) == 0);
    cr_expect_eq(cw_file_may_replace(link, &cw_file_plan, false, NULL), CW_OK, "it leads nowhere");
    cr_expect_eq(cw_file_may_replace("", &cw_file_plan, false, NULL), CW_ERR_USAGE);
    unlink(link);
}

Test(file, no_terminal_is_given_binary_data)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const char *name = ptsname(terminal);
    int open_too = open(name, O_RDWR | O_NOCTTY); /* else it is gone with the first that closes it */
    cr_expect_eq(cw_file_may_replace(name, &cw_file_plan, true, NULL), CW_ERR_USAGE, "not even with --force");
    cr_expect_eq(cw_file_may_replace(name, &cw_file_csv, false, NULL), CW_OK, "text may go there");
    close(open_too);
    close(terminal);
    cr_expect_eq(cw_file_may_replace("/dev/null", &cw_file_plan, false, NULL), CW_OK);
}

Test(file, no_limit_is_no_trap)
{
    struct cw_bytes bytes;
    cr_expect(cw_file_write(path, "abc", 3, NULL) == CW_OK);
    cr_assert(cw_file_read(&bytes, path, SIZE_MAX, NULL) == CW_OK);
    cr_expect(bytes.size == 3);
    cw_bytes_free(&bytes);
}

Test(file, a_limit_is_kept)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes bytes;
    char expected[200];
    cr_expect(cw_file_write(path, "abcd", 4, NULL) == CW_OK);
    cr_expect(cw_file_read(&bytes, path, 3, &err) == CW_ERR_INPUT && bytes.data == NULL);
    snprintf(expected, sizeof expected, "%s: found more than 3 bytes, expected no more", path);
    cr_expect_str_eq(err.message, expected);
}

Test(file, errors_name_the_file)
{
    struct cw_error absent = CW_ERROR_INIT, is_folder = CW_ERROR_INIT, nowhere = CW_ERROR_INIT;
    struct cw_bytes bytes;
    char expected[200], below[80];
    cr_expect(cw_file_read(&bytes, path, 10, &absent) == CW_ERR_IO);
    snprintf(expected, sizeof expected, "%s: cannot open: No such file or directory", path);
    cr_expect_str_eq(absent.message, expected);
    cr_expect(cw_file_read(&bytes, folder, 10, &is_folder) == CW_ERR_IO);
    snprintf(expected, sizeof expected, "%s: cannot read: Is a directory", folder);
    cr_expect_str_eq(is_folder.message, expected);
    snprintf(below, sizeof below, "%s/none", path);
    cr_expect(cw_file_write(below, "x", 1, &nowhere) == CW_ERR_IO);
    snprintf(expected, sizeof expected, "%s: cannot create: No such file or directory", below);
    cr_expect_str_eq(nowhere.message, expected);
}

/* A full quota, or a server that is gone, may be told at the very end. */
Test(file, what_the_system_does_not_keep_is_an_error)
{
    struct cw_bytes held;
    cr_assert(cw_file_write(path, "before", 6, NULL) == CW_OK);
    const struct {
        int sync, close;
        bool good;
    } cases[] = {{EIO, 0, false},   {EDQUOT, 0, false}, {0, EDQUOT, false}, {0, ENOSPC, false}, {EIO, EIO, false},
                 {EINVAL, 0, true}, {EROFS, 0, true},   {ENOTSUP, 0, true}, {0, EINTR, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_error err = CW_ERROR_INIT;
        char reason[200];
        snprintf(reason, sizeof reason, "%s: cannot write: %s", path,
                 strerror(cases[i].sync ? cases[i].sync : cases[i].close));
        cw_io_fail(cases[i].sync, cases[i].close);
        cr_expect(cw_file_write(path, "after", 5, &err) == (cases[i].good ? CW_OK : CW_ERR_IO), "case %zu", i);
        cw_io_fail(0, 0);
        cr_expect_str_eq(err.message, cases[i].good ? "" : reason);
        cr_assert(cw_file_read(&held, path, 100, NULL) == CW_OK);
        cr_expect_str_eq((const char *)held.data, cases[i].good ? "after" : "before");
        cw_bytes_free(&held);
        cr_assert(cw_file_write(path, "before", 6, NULL) == CW_OK);
    }
}

Test(file, what_is_no_file_need_not_be_kept)
{
    cr_expect(cw_file_write("/dev/null", "a", 1, NULL) == CW_OK);
    cr_expect(cw_file_write("/dev/full", "a", 1, NULL) == CW_ERR_IO);
}

Test(file, a_pipe_that_nobody_reads_is_an_error, .timeout = 100)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_assert(mkfifo(path, 0600) == 0);
    cr_expect(cw_file_write(path, "a", 1, &err) == CW_ERR_IO);
    cr_expect(strstr(err.message, "file: cannot open: nobody reads this pipe"), "%s", err.message);
}

Test(file, a_pipe_has_its_reader_later, .timeout = 100)
{
    struct cw_error err = CW_ERROR_INIT;
    char got[4] = "";
    int status = -1;
    cr_assert(mkfifo(path, 0600) == 0);
    const pid_t child = cw_test_fork();
    if (child == 0) {
        usleep(200000);
        const int fd = open(path, O_RDONLY);
        _exit(read(fd, got, sizeof got) == 3 && strcmp(got, "abc") == 0 ? 0 : 1);
    }
    cr_expect(cw_file_write(path, "abc", 3, &err) == CW_OK, "%s", err.message);
    cr_expect(waitpid(child, &status, 0) == child && status == 0);
}

Test(file, a_pipe_is_read_to_its_end)
{
    int ends[2];
    char name[64];
    struct cw_bytes bytes;
    static char block[40000];
    cr_assert(pipe(ends) == 0);
    memset(block, 'x', sizeof block);
    cr_assert(write(ends[1], block, sizeof block) == (ssize_t)sizeof block);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    cr_expect(cw_file_read(&bytes, name, 1 << 20, NULL) == CW_OK && bytes.size == sizeof block);
    cw_bytes_free(&bytes);
    close(ends[0]);
}

Test(bytes, formatted_text_of_any_length)
{
    struct cw_writer out;
    char longer[1000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    cw_writer_init(&out);
    cw_write_format(&out, "%d %s", 7, "short");
    cr_expect_eq(out.size, 7);
    cw_write_format(&out, "<%s>", longer);
    cr_assert_eq(out.size, 7 + 2 + sizeof longer - 1);
    cr_expect_arr_eq(out.data, "7 short<xxx", 11);
    cr_expect_eq(out.data[out.size - 1], '>');
    cr_expect_eq(out.status, CW_OK);
    cw_writer_free(&out);
}

/* ---- order ---- */

static size_t first_from(const int *items, size_t low, size_t high, int wanted)
{
    struct cw_search s = {low, high};
    while (s.low < s.high)
        cw_search_narrow(&s, items[cw_search_middle(&s)] < wanted);
    return s.low;
}

Test(search, finds_the_first_that_is_not_before)
{
    const int items[] = {1, 3, 3, 3, 8};
    const size_t expected[] = {0, 0, 1, 1, 4, 4, 4, 4, 4, 5};
    for (int wanted = 0; wanted < 10; wanted++)
        cr_expect(first_from(items, 0, 5, wanted) == expected[wanted], "%d", wanted);
    cr_expect(first_from(items, 2, 4, 1) == 2 && first_from(items, 2, 4, 9) == 4);
    cr_expect(first_from(NULL, 0, 0, 3) == 0);
}

Test(buckets, sorts_things_by_bucket_and_leaves_some_out)
{
    const struct {
        double other;
        uint32_t bucket;
    } things[] = {{0, 2}, {0, 0}, {0, CW_NO_BUCKET}, {0, 2}, {0, 3}};
    const uint32_t firsts[] = {0, 1, 1, 3, 4}, orders[] = {1, 0, 3, 4};
    uint32_t first[6] = {9, 9, 9, 9, 9, 9}, order[5];
    cw_buckets_sort(first, 4, order, &things->bucket, sizeof *things, 5);
    cr_expect(memcmp(first, firsts, sizeof firsts) == 0 && memcmp(order, orders, sizeof orders) == 0);
    cw_buckets_sort(first, 0, order, &things->bucket, sizeof *things, 0);
    cr_expect(first[0] == 0);
}

static bool is_word(const void *words, uint32_t item, const void *word)
{
    return strcmp(((const char *const *)words)[item], word) == 0;
}

static bool is_number(const void *numbers, uint32_t item, const void *number)
{
    return ((const uint32_t *)numbers)[item] == *(const uint32_t *)number;
}

Test(hash_table, numbers_keys_as_they_come_first)
{
    const char *const words[] = {"one", "two", "three"};
    struct cw_hash_table table = {0};
    cr_expect(cw_hash_table_find(&table, 7, is_word, words, "one") == CW_NO_ITEM);
    for (uint32_t i = 0; i < 3; i++) /* all of one hash */
        cr_expect(cw_hash_table_add(&table, 7, is_word, words, words[i]) == i);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(cw_hash_table_add(&table, 7, is_word, words, words[i]) == i && table.count == 3);
    cr_expect(cw_hash_table_find(&table, 7, is_word, words, "three") == 2);
    cr_expect(cw_hash_table_find(&table, 7, is_word, words, "four") == CW_NO_ITEM);
    cr_expect(cw_hash_table_find(&table, 8, is_word, words, "three") == CW_NO_ITEM);
    cw_hash_table_empty(&table);
    cr_expect(cw_hash_table_find(&table, 7, is_word, words, "three") == CW_NO_ITEM);
    cr_expect(cw_hash_table_add(&table, 7, is_word, words + 2, "three") == 0);
    cw_hash_table_free(&table);
}

Test(hash_table, grows)
{
    enum { COUNT = 5000 };
    uint32_t numbers[COUNT];
    struct cw_hash_table table = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = 3 * i;
        cr_assert(cw_hash_table_add(&table, numbers[i] % 1000, is_number, numbers, &numbers[i]) == i);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        cr_assert(cw_hash_table_find(&table, numbers[i] % 1000, is_number, numbers, &numbers[i]) == i);
    cw_hash_table_free(&table);
}

/* ---- names ---- */

/* Compilers put a hash or a word behind a name that they made global, and PTX has no dots: LLVM writes "_$_" there. */
Test(demangle, with_a_compilers_suffix)
{
    static const char *const names[][2] = {
        {"_Z4gemmPfi$d4926f11", "gemm(float*, int) [clone $d4926f11]"},
        {"_Z4gemmPfi_$_llvm_$_123", "gemm(float*, int) [clone _$_llvm_$_123]"},
        {"_ZL4gemmPf__intern__5a1c", "gemm(float*) [clone __intern__5a1c]"},
        {"_Z4gemmPfi.llvm.123", "gemm(float*, int) [clone .llvm.123]"},
        {"_ZN1a3runEvE4$_2", NULL},
        {"_Z4$_23v", "$_23()"},
        {"_Z$d4926f11", NULL},
        {"gemm$d4926f11", NULL},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *readable = cw_demangle(names[i][0]);
        cr_expect_str_eq(readable ? readable : "-", names[i][1] ? names[i][1] : "-", "%s", names[i][0]);
        free(readable);
    }
}

enum { DEMANGLERS = 8 };
static pthread_barrier_t begin_together;

static void *demangle(void *user)
{
    pthread_barrier_wait(&begin_together);
    *(char **)user = cw_demangle("_Z3foov");
    return NULL;
}

/* Once a thread that came while another loaded the C++ runtime had no readable name. */
Test(demangle, threads_begin_together)
{
    pthread_t threads[DEMANGLERS];
    char *names[DEMANGLERS];
    cr_assert_eq(pthread_barrier_init(&begin_together, NULL, DEMANGLERS), 0);
    for (int i = 0; i < DEMANGLERS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, demangle, &names[i]), 0);
    for (int i = 0; i < DEMANGLERS; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
        cr_expect_str_eq(names[i] ? names[i] : "", "foo()");
        free(names[i]);
    }
    pthread_barrier_destroy(&begin_together);
}
