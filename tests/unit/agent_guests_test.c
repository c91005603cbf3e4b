/* Programs that do unusual things to their process (support/guest.c) do the same with the injection library as alone:
 * output, exit status, descriptors, environments, files. The library waits for an agent, or has one. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/common/effort.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { SOON = 600, MOST_PROCESSES = 256, LONGEST = 1 << 16 };
enum way { ALONE, WAITING, RANGES, TRACED, WAYS };

struct guest {
    char name[16];
    int processes; /* that come to an agent */
    int launches;  /* in ranges, without those before another program replaces it; -1: as many as there is time for */
};

struct seen {
    char text[LONGEST];
    int status;
};

/* ---- the agent --------------------------------------------------------------------------------------------------- */

static struct fake_agent agent;
static atomic_int introduced, launches;

/* The number of launches in RANGES, with those that were not collected. */
static int count_launches(const uint8_t *payload, size_t size)
{
    struct cw_effort effort;
    struct cw_reader in;
    struct cw_arena *arena = cw_arena_create();
    cw_reader_init(&in, payload, size, "message", 0, NULL);
    cw_read_u32(&in);
    const uint32_t dropped = cw_read_u32(&in);
    cw_read_string(&in, arena);
    cw_effort_read(&in, &effort, arena);
    const uint32_t collected = cw_read_count(&in, 4, "launches");
    cr_expect_eq(in.status, CW_OK);
    cw_arena_destroy(arena);
    return (int)(dropped + collected);
}

static void *serve(void *connection)
{
    const int fd = *(int *)connection;
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    while (cw_message_receive(fd, &type, &payload, &size)) {
        if (type == CW_MESSAGE_HELLO)
            fake_agent_answer(fd);
        if (type == CW_MESSAGE_RANGES || type == CW_MESSAGE_TRACE_PAGE)
            cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0);
        introduced += type == CW_MESSAGE_HELLO;
        launches += type == CW_MESSAGE_RANGES ? count_launches(payload, size) : 0;
        free(payload);
    }
    close(fd);
    return NULL;
}

/* Serves all processes until nobody is left, which shutdown() says. */
static void *accept_all(void *unused)
{
    static int connections[MOST_PROCESSES];
    static pthread_t servers[MOST_PROCESSES];
    int count = 0;
    while (count < MOST_PROCESSES && (connections[count] = accept4(agent.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0 &&
           pthread_create(&servers[count], NULL, serve, &connections[count]) == 0)
        count++;
    while (count)
        pthread_join(servers[--count], NULL);
    return unused;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/guests_test_XXXXXX"; /* the program's */

/* Adds a file to the text, without lines of the library's own. */
static void add_file(struct seen *seen, int fd)
{
    size_t size = strlen(seen->text);
    lseek(fd, 0, SEEK_SET);
    for (ssize_t n; size < LONGEST - 1 && (n = read(fd, seen->text + size, LONGEST - 1 - size)) > 0;)
        size += (size_t)n;
    close(fd);
    for (char *line; (line = strstr(seen->text, "counterworks: "));) {
        const char *end = strchr(line, '\n');
        memmove(line, end ? end + 1 : "", end ? strlen(end) : 1);
    }
}

/* Adds all files that the program has left. */
static void add_files(struct seen *seen)
{
    DIR *all = opendir(folder);
    cr_assert_not_null(all);
    for (const struct dirent *entry; (entry = readdir(all));)
        if (*entry->d_name != '.') {
            strncat(seen->text, entry->d_name, LONGEST - strlen(seen->text) - 1);
            add_file(seen, openat(dirfd(all), entry->d_name, O_RDONLY | O_CLOEXEC));
            cr_expect_eq(unlinkat(dirfd(all), entry->d_name, 0), 0);
        }
    closedir(all);
}

static void set_way(enum way way)
{
    fake_cupti.mode = way == TRACED ? CW_MODE_TRACE : CW_MODE_RANGE;
    if (way == ALONE)
        return;
    setenv("CUDA_INJECTION64_PATH", CW_FAKE_INJECT, 1);
    if (way > WAITING)
        setenv(CW_AGENT_SOCKET_VARIABLE, agent.address.sun_path, 1);
}

static void run(char *const *command, enum way way, struct seen *seen)
{
    const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    pid_t child = cw_test_fork();
    if (child == 0) {
        if (chdir(folder) != 0 || dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0 ||
            dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
            _exit(125);
        close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        clearenv();
        setenv("TMPDIR", folder, 1);
        set_way(way);
        alarm(SOON / 5);
        execv(command[0], command);
        _exit(125);
    }
    *seen = (struct seen){.status = -1};
    cr_assert_eq(waitpid(child, &seen->status, 0), child);
    while (wait(NULL) > 0) /* what it has left to init */
        ;
    add_file(seen, out);
    add_file(seen, err);
    add_files(seen);
}

/* Runs a command in every way, with an agent behind the first two. */
static void compare(char *const *command, const struct guest *g)
{
    static struct seen alone, seen;
    static const char *const names[WAYS] = {"alone", "waiting", "ranges", "traced"};
    cr_assert(mkdtemp(folder) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    run(command, ALONE, &alone);
    cr_expect(WIFEXITED(alone.status) && WEXITSTATUS(alone.status) < 124, "%x: %s", alone.status, alone.text);
    for (enum way way = WAITING; way < WAYS; way++) {
        pthread_t server;
        introduced = launches = 0;
        fake_agent_listen(&agent);
        unsetenv(CW_AGENT_SOCKET_VARIABLE); /* each way has it or not */
        cr_assert_eq(pthread_create(&server, NULL, accept_all, NULL), 0);
        run(command, way, &seen);
        shutdown(agent.listener, SHUT_RDWR);
        pthread_join(server, NULL);
        fake_agent_close(&agent);
        cr_expect_eq(seen.status, alone.status, "%s, %s: %x, not %x", g->name, names[way], seen.status, alone.status);
        cr_expect_str_eq(seen.text, alone.text, "%s, %s", g->name, names[way]);
        cr_expect_eq(introduced, way == WAITING ? 0 : g->processes, "%s, %s: %d", g->name, names[way], introduced);
        cr_expect(way != RANGES || g->launches < 0 || launches == g->launches, "%s: %d", g->name, launches);
    }
    cr_expect_eq(rmdir(folder), 0);
}

ParameterizedTestParameters(guests, behave_as_alone)
{
    static struct guest all[] = {
        {"plain", 1, 2},      {"no_new_rights", 2, 2}, {"namespace", 1, -1}, {"vfork", 2, 4},   {"spawn", 2, 4},
        {"no_streams", 1, 2}, {"filter", 1, 2},        {"strict", 0, 0},     {"locked", 1, -1}, {"io_uring", 1, 6},
        {"read_only", 1, 2},  {"threads", 1, -1},      {"close", 1, -1},     {"change", 2, -1}, {"descriptors", 1, -1},
        {"memory", 1, -1},    {"preload", 2, 2},       {"itself", 6, 2},     {"fork", 2, 8},    {"daemon", 1, 2},
        {"chain", 201, 201},  {"end", 1, -1},          {"stacks", 1, 2},     {"rights", 1, 2},  {"environment", 1, -1}};
    return cr_make_param_array(struct guest, all, sizeof all / sizeof *all);
}

ParameterizedTest(struct guest *g, guests, behave_as_alone, .timeout = SOON)
{
    char program[] = CW_GUEST;
    compare((char *[]){program, g->name, NULL}, g);
}

#ifdef CW_VALGRIND
Test(guests, have_no_errors_that_valgrind_sees, .timeout = SOON)
{
    char valgrind[] = CW_VALGRIND, quiet[] = "-q", code[] = "--error-exitcode=124", program[] = CW_GUEST,
         name[] = "link";
    compare((char *[]){valgrind, quiet, code, program, name, NULL}, &(struct guest){"valgrind", 1, 1});
}
#endif
