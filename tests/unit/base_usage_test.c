#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/usage.h"
#include "tests/support/child.h"

enum colour { RED, GREEN, BLUE };

struct inner {
    const char *name;
    uint64_t bytes;
};

struct options {
    const char *output;
    bool all, known;
    enum colour colour;
    uint8_t small;
    uint32_t middle;
    const char *words[2];
    size_t word_count;
    bool learned;
    struct inner inner;
    char *const *program;
    size_t program_words;
    bool checked;
};

static void learn(void *learned, char *text, struct argp_state *state)
{
    (void)state;
    *(bool *)learned = !text;
}

static void name_inner(void *options, char *text, struct argp_state *state)
{
    (void)state;
    ((struct inner *)options)->name = text;
}

static void check(void *options, struct argp_state *state)
{
    (void)state;
    ((struct options *)options)->checked = true;
}

static const struct cw_option inner_rows[] = {
    {"name", 0, "TEXT", "", CW_OPTION_TAKE(name_inner)},
    {"bytes", 0, "MIB", "", CW_OPTION_UNITS(struct inner, bytes, 0, 4096, 1 << 20)},
    {0},
};

static const struct cw_option more_rows[] = {
    {"all", 'a', NULL, "", CW_OPTION_FLAG(struct options, all)},
    {0},
};

static const struct cw_option plain_rows[] = {
    {"output", 'o', "FILE", "", CW_OPTION_TEXT(struct options, output)},
    {"known", 0, "no|yes", "", CW_OPTION_CHOICE(struct options, known)},
    {"colour", 0, "red|green|blue", "", CW_OPTION_CHOICE(struct options, colour)},
    {"shade", 0, "dark|light", "", .called = "the shade", CW_OPTION_CHOICE(struct options, known)},
    {"small", 0, "N", "", CW_OPTION_NUMBER(struct options, small, 5, 31)},
    {"middle", 0, "N", "", CW_OPTION_NUMBER(struct options, middle, 0, UINT32_MAX)},
    {"most", 0, "N", "", CW_OPTION_OR_ALL, CW_OPTION_NUMBER(struct options, middle, 1, 9)},
    {"learn", 'L', "WHAT", "", CW_OPTION_READ(struct options, learned, learn), .optional = true},
    {CW_OPTION_GROUP(struct options, inner, inner_rows)},
    {CW_OPTION_ROWS(more_rows)},
    {CW_OPTION_CHECK(check)},
    {0},
};
static const struct cw_option word_rows[] = {
    {CW_OPTION_ROWS(plain_rows)}, {.called = "names", CW_OPTION_LIST(struct options, words, word_count)}, {0}};
static const struct cw_option program_rows[] = {
    {CW_OPTION_ROWS(plain_rows)}, {CW_OPTION_PROGRAM(struct options, program)}, {0}};
static const struct cw_option all_word_rows[] = {
    {CW_OPTION_ROWS(plain_rows)}, {CW_OPTION_WORDS(struct options, program, program_words)}, {0}};

static struct options read_line(const struct cw_option *rows, const char *const *words)
{
    struct options options = {0};
    const struct cw_usage usage = {rows, "", "Does it.\vExample:\n  $0 --all, $0\n"};
    static char name[] = "tool", texts[16][32], *argv[17];
    int argc = 1;
    argv[0] = name;
    for (; *words; words++) {
        argv[argc] = strcpy(texts[argc - 1], *words);
        argc++;
    }
    argv[argc] = NULL;
    argp_err_exit_status = 2;
    cw_usage_read(&usage, argc, argv, &options);
    return options;
}
#define READ(rows, ...) read_line(rows, (const char *const[]){__VA_ARGS__, NULL})

Test(usage, each_kind_is_stored_in_its_member)
{
    struct options o = READ(plain_rows, "-o", "x", "--all", "--known", "yes", "--colour=blue", "--small", "31",
                            "--middle", "4294967295", "--bytes", "3", "--name", "n", "-L");
    cr_expect_str_eq(o.output, "x");
    cr_expect(o.all && o.known && o.colour == BLUE && o.small == 31 && o.middle == UINT32_MAX && o.learned);
    cr_expect(o.inner.bytes == UINT64_C(3) << 20 && o.checked);
    cr_expect_str_eq(o.inner.name, "n");
}

Test(usage, what_is_not_given_stays)
{
    struct options o = READ(word_rows, "one", "-a", "two");
    cr_expect(o.word_count == 2 && o.all && !o.output && !o.colour && !o.small && !o.learned);
    cr_expect_str_eq(o.words[1], "two");
}

Test(usage, all_is_the_greatest_number)
{
    cr_expect(READ(plain_rows, "--most", "all").middle == 9);
}

Test(usage, a_value_may_look_like_an_option)
{
    struct options o = READ(plain_rows, "-ao", "--zebra", "--small", "7");
    cr_expect(o.all && o.small == 7);
    cr_expect_str_eq(o.output, "--zebra");
    o = READ(plain_rows, "--outp", "--zebra");
    cr_expect_str_eq(o.output, "--zebra");
    o = READ(plain_rows, "--outp=", "--sm", "7");
    cr_expect_str_eq(o.output, "");
    cr_expect(o.small == 7);
    o = READ(program_rows, "ls", "--zebra");
    cr_expect_str_eq(o.program[1], "--zebra");
}

Test(usage, a_program_ends_the_options)
{
    struct options o = READ(program_rows, "-o", "x", "ls", "-a");
    cr_assert(o.program && o.checked && !o.all);
    cr_expect_str_eq(o.program[0], "ls");
    cr_expect_str_eq(o.program[1], "-a");
    o = READ(program_rows, "--", "--all");
    cr_expect_str_eq(o.program[0], "--all");
}

Test(usage, any_number_of_words_stands_among_options)
{
    struct options o = READ(all_word_rows, "one", "-a", "two", "-o", "x", "--", "--three");
    cr_assert(o.program_words == 3 && o.all && o.checked);
    cr_expect_str_eq(o.program[0], "one");
    cr_expect_str_eq(o.program[2], "--three");
    cr_expect(READ(all_word_rows, "-a").program_words == 0);
}

enum { MOST_TEXT = 4096 };

/* What the command line prints on standard output or error, and the exit status. */
static int read_printed(char text[MOST_TEXT], int of, const struct cw_option *rows, const char *const *words)
{
    int ends[2], how = 0;
    cr_assert(pipe(ends) == 0);
    pid_t pid = cw_test_fork();
    cr_assert(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], of);
        read_line(rows, words);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n = 1; n > 0 && used + 1 < MOST_TEXT; used += n > 0 ? (size_t)n : 0)
        n = read(ends[0], text + used, MOST_TEXT - 1 - used);
    text[used] = 0;
    close(ends[0]);
    cr_assert(waitpid(pid, &how, 0) == pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

/* The first line that the command line is refused with. */
static void expect_refused(const struct cw_option *rows, const char *const *words, const char *expected)
{
    char text[MOST_TEXT];
    cr_expect(read_printed(text, 2, rows, words) == 2);
    text[strcspn(text, "\n")] = 0;
    cr_expect_str_eq(text, expected);
}
#define REFUSES(expected, ...) expect_refused(plain_rows, (const char *const[]){__VA_ARGS__, NULL}, "tool: " expected)

Test(usage, mistakes_are_said_in_one_way)
{
    REFUSES("found --colour 'pink', expected red, green or blue", "--colour", "pink");
    REFUSES("found --colour 'red|green', expected red, green or blue", "--colour", "red|green");
    REFUSES("found the shade 'grey', expected dark or light", "--shade", "grey");
    REFUSES("found --known '', expected no or yes", "--known=");
    REFUSES("found --small '4', expected a whole number from 5 to 31", "--small", "4");
    REFUSES("found --small '32', expected a whole number from 5 to 31", "--small", "32");
    REFUSES("found --middle '-1', expected a whole number up to 4294967295", "--middle=-1");
    REFUSES("found --middle '', expected a whole number up to 4294967295", "--middle=");
    REFUSES("found --most 'ALL', expected a whole number from 1 to 9, or all", "--most", "ALL");
    REFUSES("found --middle 'all', expected a whole number up to 4294967295", "--middle", "all");
    REFUSES("found --bytes '1k', expected a whole number up to 4096", "--bytes", "1k");
    REFUSES("found 'word', expected only options", "word");
    REFUSES("found the option '--colur', expected another; did you mean --colour?", "--colur=red");
    REFUSES("found the option '--zebra', expected another", "--zebra");
    expect_refused(word_rows, (const char *const[]){"a", "b", "c", NULL}, "tool: found more than 2 names");
}

static const struct cw_option rare_rows[] = {
    {"output", 'o', "FILE", "", CW_OPTION_TEXT(struct options, output)},
    {"small", 0, "N", "", CW_OPTION_RARE, CW_OPTION_NUMBER(struct options, small, 5, 31)},
    {CW_OPTION_RARE, CW_OPTION_GROUP(struct options, inner, inner_rows)},
    {0},
};

Test(usage, rare_options_are_read_and_shown_on_demand)
{
    char text[MOST_TEXT];
    struct options o = READ(rare_rows, "--small", "7", "--name", "n");
    cr_expect(o.small == 7);
    cr_expect_str_eq(o.inner.name, "n");
    cr_expect(read_printed(text, 1, rare_rows, (const char *const[]){"--help", NULL}) == 0);
    cr_expect(strstr(text, "--output") && !strstr(text, "--small") && !strstr(text, "--bytes"));
    cr_expect(strstr(text, "\"tool --help=all\" also shows 3 rarely used options."));
    cr_expect(strstr(text, "Example:\n  tool --all, tool\n"));
    cr_expect(read_printed(text, 1, rare_rows, (const char *const[]){"--help=all", NULL}) == 0);
    cr_expect(strstr(text, "--output") && strstr(text, "--small") && strstr(text, "--bytes"));
    cr_expect(!strstr(text, "also shows"));
    REFUSES("found --help 'more', expected all", "--help=more");
}
