/* A main for the unit tests of run_mutants: a fork for each test, and the end at the first that fails. Criterion starts
 * the program anew for each test, which takes ten times as long. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

static const struct criterion_test *test;

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
    body();
}

void criterion_internal_test_teardown(void)
{
    end(test->data);
    run_each(end);
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (!stats->passed)
        _exit(1);
}

void cri_asserts_passed_incr(void)
{
}

int main(void)
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
