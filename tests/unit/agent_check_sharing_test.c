/* What doctor and captures say of GPUs that are shared. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"

static FILE *to;
static char *text;
static size_t size;
static int failures, notes, good; /* answers of each kind */
static const char *last;

static void begin(void)
{
    to = open_memstream(&text, &size);
    cr_assert(to);
}

static void end(void)
{
    fclose(to);
    free(text);
}

TestSuite(sharing, .init = begin, .fini = end);

static void count(void)
{
    failures = notes = good = 0;
    last = "";
    fflush(to);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        long kind = strtol(line, NULL, 10);
        *(kind == CW_ANSWER_OK ? &good : kind == CW_ANSWER_NOTE ? &notes : &failures) += 1;
        last = line;
    }
}

Test(sharing, each_way_that_mps_breaks_is_refused_by_its_name)
{
    cr_expect_not(cw_check_mps(to, CW_NEED_RANGE, 3));
    count();
    cr_expect(failures == 1 && !notes && strstr(last, "GPU 3 ") && strstr(last, "'range'"), "%s", last);
    cr_expect_not(cw_check_mps(to, CW_NEED_PC, 0));
    count();
    cr_expect(strstr(last, "'pc'"), "%s", last);
    cr_expect_not(cw_check_mps(to, CW_NEED_SASS, 0));
    count();
    cr_expect(strstr(last, "'sass'"), "%s", last);
    cr_expect(cw_check_mps(to, CW_NEED_PM, 0));
    count();
    cr_expect(failures == 3 && notes == 1);
}

Test(sharing, the_doctor_tells_of_all_ways)
{
    cr_expect_not(cw_check_mps(to, CW_NEED_ALL, 0));
    count();
    cr_expect(failures == 3 && notes == 1);
}

static char root[] = "/tmp/sharing_XXXXXX";

static void process(const char *pid, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", root, pid);
    mkdir(path, 0700);
    strcat(path, "/comm");
    FILE *f = fopen(path, "w");
    cr_assert(f && fprintf(f, "%s\n", name) > 0 && fclose(f) == 0);
}

static void clean(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_expect_eq(system(command), 0);
}

/* Its pipes may be left behind, or lie in a container beside which it runs. */
Test(sharing, the_service_is_found_by_its_process_and_its_pipes)
{
    cr_assert(mkdtemp(root));
    setenv("CUDA_MPS_PIPE_DIRECTORY", root, 1);
    process("1", "init");
    process("self", "nvidia-cuda-mps"); /* no number */
    cw_check_mps_daemon(to, root);
    count();
    cr_expect_eq(notes, 0, "%s", last);
    process("77", "nvidia-cuda-mps"); /* as the system cuts -control and -server */
    cw_check_mps_daemon(to, root);
    count();
    cr_expect(notes == 1 && strstr(last, "runs on this node") && strstr(last, "is not this one"), "%s", last);
    char pipes[200];
    snprintf(pipes, sizeof pipes, "%s/control", root);
    cr_assert_eq(mkfifo(pipes, 0600), 0);
    cw_check_mps_daemon(to, root);
    count();
    cr_expect(notes == 2 && strstr(last, pipes), "%s", last);
    process("77", "sh");
    cw_check_mps_daemon(to, root);
    count();
    cr_expect(notes == 3 && strstr(last, "no process of it"), "%s", last);
    clean();
}

Test(sharing, a_part_of_a_gpu)
{
    cw_check_mig(to, 1, "0000:0a:00.0", true);
    count();
    cr_expect(notes == 1 && strstr(last, "-i 0000:0a:00.0 ") && strstr(last, "context alone"), "%s", last);
    cw_check_mig(to, 1, "", false);
    count();
    cr_expect_eq(good, 1);
}
