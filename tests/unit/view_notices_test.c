#include "view/notices.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/seconds.h"
#include "view/handles.h"
#include "view/metrics.h"

Test(view_notices, each_is_there_once_in_its_order)
{
    struct cw_notices notices = {.arena = cw_arena_create()};
    const char *const texts[] = {"b 1", "a 2", "b 1", "c 3", "a 2"}, *const once[] = {"b 1", "a 2", "c 3"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cw_notice(&notices, "%c %s", *texts[i], texts[i] + 2);
    const struct cw_notice *at = NULL;
    for (const char *text; (text = cw_notice_next(&notices, &at)); count++)
        cr_assert_str_eq(text, once[count]);
    cr_assert_eq(count, 3);
    cw_arena_destroy(notices.arena);
}

Test(view_notices, long_one_is_whole)
{
    struct cw_notices notices = {.arena = cw_arena_create()};
    char path[4096] = "";
    memset(path, 'd', sizeof path - 1);
    cw_notice(&notices, "%s: found an empty file", path);
    const struct cw_notice *at = NULL;
    cr_assert_eq(strlen(cw_notice_next(&notices, &at)), sizeof path - 1 + strlen(": found an empty file"));
    cw_arena_destroy(notices.arena);
}

Test(view_notices, as_many_as_files_of_a_folder)
{
    enum { FILES = 200000 };
    struct cw_notices notices = {.arena = cw_arena_create()};
    uint32_t count = 0;
    cw_test_seconds(10);
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < FILES; i++)
            cw_notice(&notices, "folder/%d.cwd: found an empty file, which is left out", i);
    for (const struct cw_notice *at = NULL; cw_notice_next(&notices, &at);)
        count++;
    cr_assert_eq(count, FILES);
    cw_arena_destroy(notices.arena);
}

/* Names that cannot be read are there, as they are. */
Test(view_notices, unread_names_stay_and_lines_are_left_out)
{
    static const struct {
        uint32_t names, modules;
        const char *text;
    } cases[] = {{1, 0, "a.cwd: 1 name stays mangled: "},
                 {2, 0, "a.cwd: 2 names stay mangled: "},
                 {0, 1, "a.cwd: lines of 1 module are left out: "},
                 {2, 3, "a.cwd: 2 names stay mangled and the lines of 3 modules are left out: "}};
    const struct counterworks_capture capture = {.asked = "a.cwd"};
    struct cw_notices notices = {.arena = cw_arena_create()};
    const struct cw_notice *at = NULL;
    cw_tell_unread(&capture, 0, 0, &notices);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cw_tell_unread(&capture, cases[i].names, cases[i].modules, &notices);
        const char *text = cw_notice_next(&notices, &at);
        cr_expect(text && strncmp(text, cases[i].text, strlen(cases[i].text)) == 0, "%s", text);
    }
    cw_arena_destroy(notices.arena);
}
