/* Processes that are more than a session takes, or that send what no injection library of ours does: none hangs the
 * agent, none takes memory without bounds, none harms what the others send, and what is lost is told. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/common/cupti_path.h"
#include "agent/session/session.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/child.h"

const char *cw_cupti_path(char *name, size_t size)
{
    cr_assert(size > 0);
    *name = 0;
    return name;
}

static struct cw_session session;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void listen_here(void)
{
    cw_session_init(&session);
    snprintf(session.folder, sizeof session.folder, "/tmp/session.XXXXXX");
    cr_assert(mkdtemp(session.folder) != NULL);
    snprintf(session.socket_path, sizeof session.socket_path, "%s/socket", session.folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", session.socket_path);
    session.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert(bind(session.listener, (struct sockaddr *)&address, sizeof address) == 0);
    cr_assert(listen(session.listener, 512) == 0);
}

/* The program: `count` connections at a time, the last of which is to be turned away. Its exit status: 0 if it is. */
static void start_program(int count)
{
    session.program.pid = cw_test_fork();
    if (session.program.pid)
        return;
    close(session.listener);
    int last = -1;
    char none;
    for (int i = 0; i < count; i++) {
        last = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(last, (struct sockaddr *)&address, sizeof address) != 0)
            _exit(0);
    }
    alarm(100);
    _exit(recv(last, &none, 1, 0) <= 0 ? 0 : 1);
}

static void check(const char *told)
{
    cw_session_serve(&session);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 0, "%d %u", session.program.how,
              session.program.code);
    cr_expect(strstr(session.trouble.message, told) != NULL, "%s", session.trouble.message);
    cw_session_finish(&session);
}

/* One limit for all: of tests beside one another with different limits, Criterion never frees some of what it notes. */
TestSuite(agent_session, .timeout = 120);

Test(agent_session, the_last_of_too_many_processes_goes_on)
{
    listen_here();
    start_program(CW_MOST_PROCESSES + 1);
    check("more than 256 profiled processes");
}

Test(agent_session, without_descriptors_nobody_waits)
{
    listen_here();
    start_program(60);
    const struct rlimit few = {30, 30};
    cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    check("Too many open files");
}

/* ---- other tools ---------------------------------------------------------------------------------------------------
 */

/* The error of a start without the agent's library beside this test, with what it prints behind it. */
static const char *start_run(const char *cuda, const char *nvtx, bool again)
{
    static char told[1024];
    char name[] = "true", *const program[] = {name, NULL};
    struct cw_error err = {0};
    FILE *printed = tmpfile();
    const int own = dup(STDERR_FILENO);
    cr_assert(printed && own >= 0 && dup2(fileno(printed), STDERR_FILENO) >= 0);
    setenv("CUDA_INJECTION64_PATH", cuda, 1);
    setenv("NVTX_INJECTION64_PATH", nvtx, 1);
    cw_session_init(&session);
    session.again = again;
    cr_expect_neq(cw_session_start(&session, program, &err), CW_OK);
    cw_session_finish(&session);
    fflush(stderr);
    dup2(own, STDERR_FILENO);
    close(own);
    const int length = snprintf(told, sizeof told, "%s; ", err.message);
    rewind(printed);
    told[length + (int)fread(told + length, 1, sizeof told - 1 - (size_t)length, printed)] = 0;
    fclose(printed);
    return told;
}

static const char *start(const char *cuda, const char *nvtx)
{
    return start_run(cuda, nvtx, false);
}

Test(agent_session, another_tool_is_refused_or_told)
{
    static const char alone[] = "libcounterworks_inject.so was not found", replaced[] = "NVTX_INJECTION64_PATH";
    cr_expect(strstr(start("/other.so", ""), "CUDA_INJECTION64_PATH is set to /other.so: another tool"));
    cr_expect(strncmp(start("", ""), alone, sizeof alone - 1) == 0, "%s", start("", ""));
    cr_expect(strncmp(start("/lib/libcounterworks_inject.so", ""), alone, sizeof alone - 1) == 0);
    cr_expect(!strstr(start("", "/lib/libcounterworks_inject.so"), replaced));
    cr_expect(strstr(start("", "/other.so"), "capture-agent: NVTX_INJECTION64_PATH names /other.so, which the program "
                                             "does not load: the agent takes its place\n"),
              "%s", start("", "/other.so"));
    cr_expect(!strstr(start_run("", "/other.so", true), replaced), "a run for each pass tells it once");
}

/* ---- processes that outlive the program ----------------------------------------------------------------------------
 */

static enum cw_status take_nothing(void *user, const struct cw_process *process, enum cw_message_type type,
                                   struct cw_reader *in, struct cw_error *err)
{
    (void)user, (void)process, (void)type, (void)in, (void)err;
    return CW_OK;
}

/* That the process of a start_daemons(0) sends behind its hello; NULL: nothing. */
static const struct cw_steady_report *steady;

static void tell_steady(int fd)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_steady_report_write(&out, steady);
    if (!cw_message_send(fd, CW_MESSAGE_STEADY, out.data, out.size))
        _exit(1);
}

/* As a daemon's does, whose parent is the program. Of 0 one comes, and ends with it; of -1 none does. */
static void start_daemons(int count)
{
    struct cw_writer hello;
    session.chip = "GH100";
    session.take = take_nothing;
    session.program.pid = cw_test_fork();
    if (session.program.pid)
        return;
    cw_writer_init(&hello);
    cw_write_u32(&hello, 77);
    cw_write_string(&hello, "a daemon");
    cw_write_u32(&hello, 0);
    cw_write_u32(&hello, 1);
    cw_write_string(&hello, "chip");
    cw_write_string(&hello, "GH100");
    close(session.listener);
    alarm(20);
    for (int i = 0; i < (count ? count : 1); i++) {
        enum cw_message_type type;
        uint8_t *answer;
        size_t size;
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
            !cw_message_send(fd, CW_MESSAGE_HELLO, hello.data, hello.size) ||
            !cw_message_receive(fd, &type, &answer, &size))
            _exit(1);
        if (steady)
            tell_steady(fd);
        if (count && fork() == 0) {
            while (recv(fd, &type, 1, 0) > 0)
                ;
            _exit(0);
        }
        close(fd);
    }
    _exit(0);
}

static void daemons(int count, const char *told)
{
    char text[500] = "";
    int ends[2], before = dup(STDERR_FILENO);
    listen_here();
    start_daemons(count);
    cr_assert(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    cw_session_serve(&session);
    dup2(before, STDERR_FILENO);
    const ssize_t size = read(ends[0], text, sizeof text - 1);
    cr_expect(*told ? size > 0 && strstr(text, told) != NULL : size <= 0, "%s", text);
    cr_expect_eq(session.trouble.code, CW_OK, "%s", session.trouble.message);
    cw_session_finish(&session);
}

Test(agent_session, processes_that_live_on_are_told_of)
{
    daemons(1, "process 77 (a daemon) lives on behind the program");
    daemons(3, "3 processes, such as 77 (a daemon), live on");
}

Test(agent_session, those_that_end_with_the_program_are_not)
{
    daemons(0, "");
}

static uint32_t reports;

static enum cw_status take_steady(void *user, const struct cw_process *p, struct cw_error *err)
{
    (void)user, (void)err;
    reports++;
    cr_expect(p->reported && p->steady.count == 2 && cw_process_device(p, p->steady.device));
    return CW_OK;
}

Test(agent_session, what_a_process_found_of_its_periods_is_told)
{
    const struct cw_steady_report found = {0, false, 2, {true, 5, 1200, 312, 40, 0, 2000000000, 13000, 4000000000}},
                                  nothing = {.period = {.all = 77}}, late = {.given_up = true, .period = {.all = 77}};
    steady = &found;
    daemons(0, "capture-agent: a daemon repeats 312 launches in 0.05 s, after its first 1200 launches: 40 "
               "times, 50 % of the time; 2 of these periods were captured\n");
    steady = &nothing;
    daemons(0, "capture-agent: nothing repeats for half a second in the 77 launches of a daemon, so nothing was "
               "captured; without "
               "--steady the agent captures everything\n");
    steady = &late;
    daemons(0, "capture-agent: nothing repeats for half a second in the 77 launches of a daemon, so everything behind "
               "the first five "
               "minutes was "
               "captured\n");
}

static uint32_t gone_count;

static void gone(void *user, const struct cw_process *p)
{
    (void)user;
    cr_expect(p->pid && p->number);
    gone_count++;
}

Test(agent_session, who_keeps_reports_is_given_them)
{
    const struct cw_steady_report found = {.count = 2, .period = {.found = true}};
    steady = &found;
    listen_here();
    session.take_steady = take_steady;
    session.gone = gone;
    start_daemons(0);
    cw_session_serve(&session);
    cr_expect(reports == 1 && gone_count == 1);
    cr_expect_eq(session.trouble.code, CW_OK, "%s", session.trouble.message);
    cw_session_finish(&session);
}

Test(agent_session, a_program_of_which_no_process_comes_is_told_of)
{
    daemons(-1, "no process came to the agent");
}

/* ---- faults of messages ----------------------------------------------------------------------------------------- */

#ifdef CW_SANITIZE /* which keeps what is freed */
enum { MANY = 200, MOST_MIB = 1000 };
#else
enum { MANY = 20000, MOST_MIB = 100 };
#endif
enum { DATA = 100, LARGE_SETUP = 1 << 20 };
static const char cut[] = "ended in the middle of a message", no_hello[] = "expected a hello first",
                  no_sense[] = "a hello that makes no sense", not_taken[] = "cannot be taken: Bad message";
static uint32_t taken; /* messages */

static enum cw_status take(void *user, const struct cw_process *process, enum cw_message_type type,
                           struct cw_reader *in, struct cw_error *err)
{
    (void)user;
    (void)err;
    cr_expect(strcmp(process->program, "app") == 0 && cw_process_device(process, 0) != NULL);
    taken += type == CW_MESSAGE_RANGES && in->size == DATA && in->data[DATA - 1] == DATA - 1;
    return CW_OK;
}

/* What the program does; an exit status of 0 says that all went as it should there. */
static void need(bool condition)
{
    if (!condition)
        _exit(1);
}

static int join(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    need(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void put_head(struct cw_writer *out, uint32_t type, uint64_t size)
{
    cw_write_u32(out, type);
    cw_write_u64(out, size);
}

static void put_payload(struct cw_writer *out, uint32_t device, const char *text)
{
    cw_write_u32(out, (uint32_t)getpid());
    cw_write_string(out, "app");
    cw_write_u32(out, device);
    cw_write_u32(out, 2);
    cw_write_string(out, "chip");
    cw_write_string(out, "GH100");
    cw_write_string(out, "pci");
    cw_write_string(out, text);
}

/* A HELLO whose length is `more` than it should be. */
static void put_hello(struct cw_writer *out, uint32_t device, const char *text, int64_t more)
{
    struct cw_writer payload;
    cw_writer_init(&payload);
    put_payload(&payload, device, text);
    put_head(out, CW_MESSAGE_HELLO, payload.size + (uint64_t)more);
    cw_write_bytes(out, payload.data, payload.size);
    cw_writer_free(&payload);
}

static void put_data(struct cw_writer *out)
{
    put_head(out, CW_MESSAGE_RANGES, DATA);
    for (uint8_t i = 0; i < DATA; i++)
        cw_write_u8(out, i);
}

static void send_out(int fd, const struct cw_writer *out)
{
    for (size_t sent = 0; sent < out->size;) {
        ssize_t n = send(fd, out->data + sent, out->size - sent, MSG_NOSIGNAL);
        need(n > 0);
        sent += (size_t)n;
    }
}

static bool is_answered(int fd, enum cw_message_type expected)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    bool answered = cw_message_receive(fd, &type, &payload, &size) && type == expected;
    free(payload);
    return answered;
}

static void say_hello(int fd, uint32_t device, const char *text)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, device, text, 0);
    send_out(fd, &out);
    cw_writer_free(&out);
}

static void send_data(int fd)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_data(&out);
    send_out(fd, &out);
    cw_writer_free(&out);
}

static void be_served(void) /* as if there were nobody else */
{
    int fd = join();
    alarm(100);
    say_hello(fd, 0, "");
    need(is_answered(fd, CW_MESSAGE_SETUP));
    send_data(fd);
    close(fd);
}

/* A process that holds the socket until the agent closes it. */
static void leave_a_fork(int fd)
{
    char none[4096];
    if (fork() == 0) {
        while (recv(fd, none, sizeof none, 0) > 0)
            ;
        _exit(0);
    }
}

static void in_order(void)
{
    be_served();
    be_served();
}

static void byte_by_byte(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, "", 0);
    put_data(&out);
    int fd = join();
    for (size_t i = 0; i < out.size; i++) {
        need(send(fd, out.data + i, 1, MSG_NOSIGNAL) == 1);
        usleep(100);
    }
    need(is_answered(fd, CW_MESSAGE_SETUP));
}

static void too_long(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, "", 1);
    cw_write_u8(&out, 0);
    send_out(join(), &out);
}

static void too_short(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, "", -1);
    send_out(join(), &out);
}

static void another_version(void) /* a hello begins with what it does not know */
{
    struct cw_writer out, payload;
    cw_writer_init(&out);
    cw_writer_init(&payload);
    cw_write_u32(&payload, 2);
    put_payload(&payload, 0, "");
    put_head(&out, CW_MESSAGE_HELLO, payload.size);
    cw_write_bytes(&out, payload.data, payload.size);
    send_out(join(), &out);
}

static void announce(uint32_t type, uint64_t size)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_head(&out, type, size);
    send_out(join(), &out);
}

static void no_type(void)
{
    announce(0, 4);
}

static void unknown_type(void)
{
    announce(99, 4);
}

static void beyond_the_most(void)
{
    announce(CW_MESSAGE_RANGES, UINT64_C(1) << 32);
}

static void a_large_hello(void)
{
    announce(CW_MESSAGE_HELLO, 64 << 20);
}

static void announced_alone(void)
{
    for (int i = 0; i < 20; i++)
        announce(CW_MESSAGE_RANGES, CW_MESSAGE_MAX);
}

static void data_before_hello(void)
{
    send_data(join());
}

static void fails(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, 200); /* no status of ours */
    cw_write_string(&out, "it cannot");
    need(cw_message_send(join(), CW_MESSAGE_FAIL, out.data, out.size));
}

static void fails_without_a_word(void)
{
    need(cw_message_send(join(), CW_MESSAGE_FAIL, NULL, 0));
}

static void many_hellos(void)
{
    char text[16000];
    int fd = join();
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < MANY; i++) {
        say_hello(fd, 0, text);
        need(is_answered(fd, CW_MESSAGE_SETUP));
    }
    send_data(fd);
}

static void hellos_without_reading(void)
{
    int fd = join();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    char text[4096] = "";
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, text, 0);
    for (int i = 0; i < 100; i++)
        if (send(fd, out.data, out.size, MSG_NOSIGNAL) != (ssize_t)out.size)
            break;
    be_served();
}

static void half_a_header(void)
{
    need(send(join(), "\1\0", 2, 0) == 2);
    be_served();
}

static void half_a_message(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, "", 50); /* that do not come */
    send_out(join(), &out);
    be_served();
}

static void dies_and_a_fork_stays(void)
{
    int fd = join();
    say_hello(fd, 0, "");
    need(is_answered(fd, CW_MESSAGE_SETUP));
    need(send(fd, "\5\0\0\0\144\0\0\0\0\0\0\0half", 16, 0) == 16);
    leave_a_fork(fd);
}

static void ends_and_a_fork_stays(void)
{
    int fd = join();
    say_hello(fd, 0, "");
    need(is_answered(fd, CW_MESSAGE_SETUP));
    send_data(fd);
    leave_a_fork(fd);
}

static void ends_and_a_child_goes_on(void)
{
    int ready[2];
    char byte;
    need(pipe(ready) == 0);
    if (fork() == 0) {
        signal(SIGPIPE, SIG_IGN);
        alarm(60);
        int fd = join();
        say_hello(fd, 0, "");
        need(is_answered(fd, CW_MESSAGE_SETUP));
        for (uint64_t i = 0;; i++) {
            uint8_t message[CW_MESSAGE_HEADER] = {CW_MESSAGE_MODULE};
            if (send(fd, message, sizeof message, MSG_NOSIGNAL) < 0)
                _exit(0);
            if (i == 1000)
                (void)!write(ready[1], "", 1);
        }
    }
    need(read(ready[0], &byte, 1) == 1);
}

static void comes_and_goes(void)
{
    for (int i = 0; i < 300; i++)
        close(join());
    be_served();
}

static void ends_before_memory_is_taken(void)
{
    int fd = join(), memory = memfd_create("test", 0);
    uint8_t data[DATA];
    for (uint8_t i = 0; i < DATA; i++)
        data[i] = i;
    say_hello(fd, 0, "");
    need(is_answered(fd, CW_MESSAGE_SETUP));
    for (int i = 0; i < 50; i++)
        need(cw_message_send_with(fd, CW_MESSAGE_RANGES, data, DATA, memory));
}

static const struct {
    const char *name;
    void (*program)(void);
    const char *trouble; /* "": none */
    uint32_t taken;
    size_t setup; /* bytes */
} faults[] = {{"in order", in_order, "", 2},
              {"byte by byte", byte_by_byte, "", 1},
              {"too long", too_long, no_sense, 0},
              {"too short", too_short, no_sense, 0},
              {"another version", another_version, no_sense, 0},
              {"no type", no_type, not_taken, 0},
              {"unknown type", unknown_type, not_taken, 0},
              {"beyond the most", beyond_the_most, not_taken, 0},
              {"a large hello", a_large_hello, not_taken, 0},
              {"announced alone", announced_alone, cut, 0},
              {"data before hello", data_before_hello, no_hello, 0},
              {"fails", fails, "it cannot", 0},
              {"fails without a word", fails_without_a_word, "found 0 bytes, expected 4 more", 0},
              {"many hellos", many_hellos, "", 1},
              {"hellos without reading", hellos_without_reading, "", 1, LARGE_SETUP},
              {"half a header", half_a_header, cut, 1},
              {"half a message", half_a_message, cut, 1},
              {"dies and a fork stays", dies_and_a_fork_stays, cut, 0},
              {"ends and a fork stays", ends_and_a_fork_stays, "", 1},
              {"ends and a child goes on", ends_and_a_child_goes_on, "", 0},
              {"comes and goes", comes_and_goes, "", 1},
              {"ends before memory is taken", ends_before_memory_is_taken, "", 50}};

static long fail_after = -1; /* of the agent's allocations */
static bool alone;

static void run(const char *name, void (*program)(void), size_t setup_size)
{
    listen_here();
    session.chip = "GH100";
    session.alone = alone;
    session.take = take;
    static const uint8_t setup[LARGE_SETUP]; /* more than a socket holds */
    cw_write_bytes(&session.setup, setup, setup_size);
    taken = 0;
    session.program.pid = cw_test_fork();
    if (session.program.pid == 0) {
        program();
        _exit(0);
    }
    cw_alloc_fail_after(fail_after);
    cw_session_serve(&session);
    cw_alloc_fail_after(-1);
    cr_expect(session.program.how == CW_END_EXITED && (session.program.code == 0 || fail_after >= 0), "%s: %d %u", name,
              session.program.how, session.program.code);
    cr_expect(session.held == 0 || session.process_count, "%s", name);
}

static void expect(const char *name, const char *trouble, uint32_t messages)
{
    const char *told = session.trouble.message;
    cr_expect(*trouble ? strstr(told, trouble) != NULL : !*told, "%s: %s", name, told);
    cr_expect(session.trouble.code <= CW_ERR_DIFFERS, "%s: %d", name, session.trouble.code);
    cr_expect(taken == messages, "%s: %u", name, taken);
    cw_session_finish(&session);
}

Test(agent_session, faults_of_messages)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        run(faults[i].name, faults[i].program, faults[i].setup);
        expect(faults[i].name, faults[i].trouble, faults[i].taken);
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    cr_expect(used.ru_maxrss < MOST_MIB << 10, "%ld KiB", used.ru_maxrss);
}

/* GPUs of this test alone: other runs of it at the same time are agents of the same node. */
static char gpu[32], other_gpu[32];

static void name_gpus(void)
{
    alone = true;
    snprintf(gpu, sizeof gpu, "test-%d:0a:00.0", (int)getpid());
    snprintf(other_gpu, sizeof other_gpu, "test-%d:0b:00.0", (int)getpid());
}

static void leave(int fd)
{
    char none;
    shutdown(fd, SHUT_WR);
    need(recv(fd, &none, 1, 0) == 0); /* the agent has closed it */
}

static void two_of_a_gpu(void)
{
    int first = join(), second = join(), other = join();
    say_hello(first, 0, gpu);
    need(is_answered(first, CW_MESSAGE_SETUP));
    say_hello(second, 1, gpu);
    need(is_answered(second, CW_MESSAGE_REFUSE));
    say_hello(other, 0, other_gpu);
    need(is_answered(other, CW_MESSAGE_SETUP));
    say_hello(first, 0, gpu); /* its next context */
    need(is_answered(first, CW_MESSAGE_SETUP));
    leave(first);
    say_hello(second, 0, gpu);
    need(is_answered(second, CW_MESSAGE_SETUP));
}

Test(agent_session, one_process_of_a_gpu_is_collected)
{
    name_gpus();
    run("two of a GPU", two_of_a_gpu, 8);
    cr_expect_eq(session.turned_away, 1);
    expect("two of a GPU", "", 0);
}

static void beside_another_agent(void)
{
    int process = join(), other = join(), reserved = cw_session_reserve(gpu); /* as another agent does */
    need(reserved >= 0 && cw_session_reserve(gpu) == CW_RESERVED);
    say_hello(process, 0, gpu);
    need(is_answered(process, CW_MESSAGE_REFUSE));
    say_hello(other, 0, other_gpu);
    need(is_answered(other, CW_MESSAGE_SETUP));
    close(reserved);
    say_hello(process, 0, gpu);
    need(is_answered(process, CW_MESSAGE_SETUP));
    need(cw_session_reserve(gpu) == CW_RESERVED);
}

Test(agent_session, one_process_of_a_gpu_is_collected_by_all_agents)
{
    name_gpus();
    run("beside another agent", beside_another_agent, 8);
    cr_expect_eq(session.turned_away, 1);
    expect("beside another agent", "", 0);
}

Test(agent_session, every_allocation_may_fail)
{
    for (bool failed = true; failed;) {
        fail_after++;
        run("in order", in_order, 0);
        failed = session.trouble.code != CW_OK;
        cr_expect(failed ? session.trouble.code == CW_ERR_NOMEM : taken == 2, "allocation %ld: %s, %u taken",
                  fail_after, session.trouble.message, taken);
        cw_session_finish(&session);
        cr_assert(fail_after < 1000);
    }
    cr_expect(fail_after > 5, "only %ld allocations", fail_after);
}

static size_t cut_at;

static void is_cut(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    put_hello(&out, 0, "", 0);
    put_data(&out);
    out.size = cut_at < out.size ? cut_at : out.size;
    send_out(join(), &out);
}

Test(agent_session, a_message_may_end_anywhere)
{
    struct cw_writer hello;
    cw_writer_init(&hello);
    put_hello(&hello, 0, "", 0);
    size_t all = hello.size + CW_MESSAGE_HEADER + DATA;
    for (cut_at = 0; cut_at <= all; cut_at++) {
        bool whole = cut_at == 0 || cut_at == hello.size || cut_at == all;
        char name[32];
        snprintf(name, sizeof name, "at byte %zu", cut_at);
        run(name, is_cut, 0);
        expect(name, whole ? "" : cut, cut_at == all);
    }
    cw_writer_free(&hello);
}

/* A program that goes to another folder would not find it there, and nothing of it would be collected. */
Test(agent_session, the_socket_is_found_from_everywhere)
{
    char folder[] = "/tmp/session.XXXXXX", name[] = "true", *const argv[] = {name, NULL};
    struct cw_error err = CW_ERROR_INIT;
    cr_assert(mkdtemp(folder) && chdir(folder) == 0 && mkdir("here", 0700) == 0 && setenv("TMPDIR", "here", 1) == 0);
    cw_session_init(&session);
    cw_session_start(&session, argv, &err); /* there is no library to be injected here */
    cr_expect(session.socket_path[0] == '/', "%s", session.socket_path);
    cw_session_finish(&session);
    cr_expect(rmdir("here") == 0 && rmdir(folder) == 0);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

Test(agent_session, a_program_with_the_rights_of_another_is_known)
{
    char path[] = "/tmp/session_test_XXXXXX";
    close(mkstemp(path));
    const bool other = chown(path, (uid_t)-1, getegid() + 1) == 0;
    cr_assert(chmod(path, 0755) == 0);
    cr_expect_not(cw_program_changes_rights(path));
    cr_assert(chmod(path, 02755) == 0);
    cr_expect_eq(cw_program_changes_rights(path), other, "only root can give a file to another group");
    cr_expect_not(cw_program_changes_rights("/nowhere/to/be/found"));
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_expect_not(cw_program_changes_rights(path), "a container of this kind gives no rights");
    unlink(path);
}
