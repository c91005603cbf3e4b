/* A main for unit tests in place of Criterion's. Without arguments: a fork for each test, and the end at the first that
 * fails, for run_mutants; Criterion starts the program anew for each test, which takes ten times as long. `--names`
 * prints the tests, and `SUITE/NAME [NUMBER]` runs one in this process, for run_threads; Criterion does not start under
 * ThreadSanitizer. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

static const struct criterion_test *test;
static size_t number; /* of its parameters */

static void run_each(void (*of)(const struct criterion_test_extra_data *))
{
    for (struct criterion_suite **s = __start_cr_sts; s < __stop_cr_sts; s++)
        if (*s && strcmp((*s)->name, test->category) == 0)
            of((*s)->data);
}

static void begin(const struct criterion_test_extra_data *data)
{
    if (data->init)
        data->init();
}

static void end(const struct criterion_test_extra_data *data)
{
    if (data->fini)
        data->fini();
}

/* In place of the library's, which speak to a parent: */
void criterion_internal_test_setup(void)
{
    run_each(begin);
    begin(test->data);
}

void criterion_internal_test_main(void (*body)(void))
{
    if (test->data->kind_ == CR_TEST_NORMAL) {
        body();
    } else {
        const struct criterion_test_params all = test->data->param_();
        ((void (*)(void *))body)((char *)all.params + number * all.size);
    }
}

void criterion_internal_test_teardown(void)
{
    end(test->data);
    run_each(end);
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (stats->passed)
        return;
    fprintf(stderr, "%s:%u: %s\n", stats->file, stats->line, stats->message);
    _exit(1);
}

void cri_asserts_passed_incr(void)
{
}

void criterion_skip_test(const char *format, ...)
{
    fprintf(stderr, "skipped: %s\n", format);
    _exit(0);
}

static int print_names(void)
{
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
        const struct criterion_test_extra_data *data = *t ? (*t)->data : NULL;
        const size_t count = data && data->kind_ == CR_TEST_PARAMETERIZED ? data->param_().length : 1;
        for (size_t i = 0; data && i < count; i++)
            printf("%s/%s %zu %d\n", (*t)->category, (*t)->name, i, data->signal);
    }
    return 0;
}

static int run_one(const char *name)
{
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++)
        if (*t && strcmp((*t)->data->identifier_, name) == 0) {
            test = *t;
            test->test();
            return 0;
        }
    return 2;
}

static int run_all(void)
{
    int code = 0;
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst && !code; t++) {
        if (!*t)
            continue;
        test = *t;
        const pid_t child = fork();
        if (!child) {
            test->test();
            _exit(0);
        }
        if (child < 0 || waitpid(child, &code, 0) != child)
            return 1;
    }
    return code ? 1 : 0;
}

int main(int argc, char **argv)
{
    number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    return argc < 2 ? run_all() : strcmp(argv[1], "--names") == 0 ? print_names() : run_one(argv[1]);
}
