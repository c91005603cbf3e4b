/* What the injection library says on the program's standard error, which is the program's. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/ranges/collection.h"
#include "tests/support/fake_cupti.h"

enum { BEFORE_LONG = 100, MORE_THAN_ARE_FOLLOWED = 4097 };

/* The library warns of ranges that are open beyond the most. */
static void warn(void)
{
    for (int i = 0; i < MORE_THAN_ARE_FOLLOWED; i++)
        counterworks_range_push("r");
}

static int begin(void)
{
    int ends[2];
    cr_assert(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
    cw_say_begin();
    return ends[0];
}

Test(say, writes_a_line_to_the_standard_error, .timeout = BEFORE_LONG)
{
    char text[500] = "";
    int reader = begin();
    warn();
    cr_expect_gt(read(reader, text, sizeof text - 1), 0);
    cr_expect(strncmp(text, "counterworks: ", 14) == 0 && text[strlen(text) - 1] == '\n', "%s", text);
}

Test(say, does_not_end_a_program_whose_standard_error_nobody_reads, .timeout = BEFORE_LONG)
{
    signal(SIGPIPE, SIG_DFL);
    close(begin());
    warn();
}

Test(say, does_not_wait_for_who_does_not_read, .timeout = BEFORE_LONG)
{
    char byte = 0;
    begin();
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    while (write(STDERR_FILENO, &byte, 1) == 1)
        ;
    fcntl(STDERR_FILENO, F_SETFL, 0);
    warn();
}

Test(say, does_not_write_into_what_took_the_place_of_the_standard_error, .timeout = BEFORE_LONG)
{
    char path[] = "/tmp/say_test_XXXXXX";
    struct stat file;
    begin();
    close(STDERR_FILENO);
    int own = mkstemp(path);
    cr_assert(own == STDERR_FILENO && unlink(path) == 0);
    warn();
    cr_expect(fstat(own, &file) == 0 && file.st_size == 0);
}

/* It would be killed by SIGXFSZ. */
Test(say, does_not_end_a_program_whose_files_are_limited, .timeout = BEFORE_LONG)
{
    char path[] = "/tmp/say_test_XXXXXX";
    int log = mkstemp(path);
    cr_assert(log >= 0 && unlink(path) == 0 && dup2(log, STDERR_FILENO) == STDERR_FILENO);
    cr_assert(write(log, "all full", 8) == 8);
    cw_say_begin();
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, RLIM_INFINITY});
    signal(SIGXFSZ, SIG_DFL);
    warn();
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
}

/* ---- what is left out ------------------------------------------------------------------------------------------- */

static void heard(int reader, const char *expected)
{
    char text[500] = "";
    fcntl(reader, F_SETFL, O_NONBLOCK);
    cr_expect(read(reader, text, sizeof text - 1) > 0 && strstr(text, expected), "%s", text);
}

Test(say, that_no_agent_is_there, .timeout = BEFORE_LONG)
{
    int reader = begin();
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nonexistent/socket", 1);
    InitializeInjection();
    heard(reader, "capture-agent has ended, or cannot be reached from here (No such file or directory)");
}

Test(say, that_there_are_more_contexts_than_are_followed, .timeout = BEFORE_LONG)
{
    int reader = begin();
    for (uintptr_t i = 0; i < CW_MOST_CONTEXTS; i++)
        cw_collections->slots[cw_collections->slot_count++].context = (CUcontext)(i + 1);
    cr_expect_null(cw_collection_open((CUcontext)1, 0), "it is one of them");
    cr_expect_null(cw_collection_open((CUcontext)0x1000, 0));
    cr_expect_null(cw_collection_open((CUcontext)0x1000, 0));
    heard(reader, "counterworks: found more than 64 contexts at a time: launches of further ones are not captured\n");
}

#ifndef CW_SANITIZE /* which wants memory of its own for a thread */
static void *nothing(void *user)
{
    return user;
}

Test(say, that_no_thread_can_be_had, .timeout = BEFORE_LONG)
{
    int reader = begin();
    struct rlimit before;
    cr_assert(getrlimit(RLIMIT_AS, &before) == 0);
    cr_assert(setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, before.rlim_max}) == 0);
    const bool first = cw_inject_start_thread(nothing, NULL), again = cw_inject_start_thread(nothing, NULL);
    setrlimit(RLIMIT_AS, &before);
    cr_expect(!first && !again);
    heard(reader, "counterworks: the program can have no more threads: the capture lacks work that needs one\n");
}
#endif
