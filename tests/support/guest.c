/* `guest NAME`: a program that uses CUDA and does one unusual thing, for agent_guests_test.c. It prints its findings,
 * which are the same without the injection library. As CUDA does, it loads the library that the environment names. That
 * is fake_inject, which brings a CUPTI without a GPU along. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1024, OWN_DESCRIPTORS = 512, THREADS = 1000, CHAIN = 200, FILES = 20, TURNS = 5 };
extern char **environ;
static char program[] = "/proc/self/exe";

/* ---- CUDA -------------------------------------------------------------------------------------------------------- */

static void *library;

static void load(void)
{
    const char *path = secure_getenv("CUDA_INJECTION64_PATH");
    library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (path && !library)
        printf("%s\n", dlerror());
}

static void call(const char *name)
{
    void (*const function)(void) = library ? (void (*)(void))dlsym(library, name) : NULL;
    if (function)
        function();
}

static void launch(void)
{
    call("launch_fake_cuda");
}

static void begin(void)
{
    load();
    call("begin_fake_cuda");
    launch();
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void show_descriptors(int end)
{
    printf("descriptors:");
    for (int fd = 0; fd < end; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf(" %d (%d)", fd, fcntl(fd, F_GETFD));
    printf("\n");
}

static void show_signals(void)
{
    sigset_t blocked, pending;
    stack_t stack;
    struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    sigaltstack(NULL, &stack);
    printf("stack: %d, %zu\nsignals:", stack.ss_flags, stack.ss_size);
    for (int s = 1; s < NSIG; s++)
        if (sigaction(s, NULL, &action) == 0)
            printf(" %d%d%d%x", sigismember(&blocked, s), sigismember(&pending, s),
                   action.sa_handler == SIG_DFL   ? 0
                   : action.sa_handler == SIG_IGN ? 1
                                                  : 2,
                   (unsigned)action.sa_flags);
    printf("\n");
}

/* All that a process has of its own, or from its parent. */
static void show(void)
{
    char text[4096] = "gone";
    struct rlimit limit;
    const mode_t mask = umask(0);
    umask(mask);
    show_signals();
    for (int resource = 0; resource < (int)RLIMIT_NLIMITS; resource++)
        if (getrlimit((__rlimit_resource_t)resource, &limit) == 0)
            printf("%llx %llx ", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    for (char **at = environ; *at; at++)
        if (!strstr(*at, "COUNTERWORKS_") && !strstr(*at, "_INJECTION64_PATH="))
            printf("\n%s", *at);
    if (prctl(PR_GET_NAME, text + 2048) == 0 && getcwd(text, 2048))
        printf("\n%s in %s, ", text + 2048, text);
    printf("mask %o, %d %d %d %d\n", mask, prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS), prctl(PR_GET_SECCOMP),
           getpriority(PRIO_PROCESS, 0));
}

static void show_end(pid_t child)
{
    int status = -1;
    const pid_t waited = waitpid(child, &status, 0);
    printf("child: %d, %x\n", waited == child, status);
}

static void need(const char *name, int result)
{
    if (result < 0)
        printf("%s: %s\n", name, strerror(errno));
}

/* The arguments of another run of this program. */
static char **with(const char *name)
{
    static char copy[16], *arguments[] = {program, copy, NULL};
    snprintf(copy, sizeof copy, "%s", name);
    return arguments;
}

static int run_again(const char *name)
{
    fflush(NULL);
    execv(program, with(name));
    return 127;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Also the child of others. */
static int plain(void)
{
    show_descriptors(MOST_DESCRIPTORS);
    begin();
    launch();
    show_descriptors(OWN_DESCRIPTORS);
    show();
    return 3;
}

static int no_new_rights(void)
{
    begin();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return run_again("plain");
}

static int in_namespace(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    library = path ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : NULL;
    call("begin_fake_cuda");
    launch();
    const pid_t child = fork();
    if (child == 0) {
        launch();
        _exit(4);
    }
    show_end(child);
    launch();
    return 3;
}

static int vforks(void)
{
    begin();
    const pid_t child = vfork();
    if (child == 0)
        _exit(run_again("plain"));
    show_end(child);
    launch();
    return 0;
}

static int spawns(void)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t some;
    pid_t child;
    begin();
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addclose(&files, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, 7, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 8);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &some);
    if (posix_spawn(&child, program, &files, &attributes, with("plain"), environ) == 0)
        show_end(child);
    launch();
    return 0;
}

static int without_standard_streams(void)
{
    const int before = dup(STDOUT_FILENO);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    begin();
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (open("/dev/zero", O_RDWR) != fd)
            return 1;
    launch();
    dup2(before, STDOUT_FILENO);
    show_descriptors(OWN_DESCRIPTORS);
    return 0;
}

/* As container runtimes do by default, and some more. */
static int filtered(void)
{
#define REFUSE(name, error)                                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(io_uring_setup, EPERM),
        REFUSE(clone3, ENOSYS),
        REFUSE(close_range, ENOSYS),
        REFUSE(perf_event_open, EPERM),
        REFUSE(ptrace, EPERM),
        REFUSE(process_vm_readv, EPERM),
        REFUSE(process_vm_writev, EPERM),
        REFUSE(kcmp, EPERM),
        REFUSE(membarrier, ENOSYS),
        REFUSE(userfaultfd, EPERM),
        REFUSE(statx, ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    need("filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    return plain();
}

/* All of its threads may do very little from now on. */
static int locked_in(void)
{
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(futex),
        ALLOW(mmap),
        ALLOW(munmap),
        ALLOW(brk),
        ALLOW(rt_sigprocmask),
        ALLOW(exit),
        ALLOW(exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};
    begin();
    show_descriptors(OWN_DESCRIPTORS);
    fflush(NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    need("filter", (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter));
    for (int i = 0; i < THREADS; i++)
        launch();
    return 0;
}

/* It ends its only thread: it would live on beside one of the library's. CUDA has threads itself, so this is a program
 * that has the library for its ranges alone. */
static int strict(void)
{
    load();
    fflush(NULL);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    syscall(SYS_exit, 7);
    return 1;
}

static int with_io_uring(void)
{
    struct io_uring_params p = {0};
    begin();
    const int ring = (int)syscall(SYS_io_uring_setup, 1, &p);
    need("io_uring", ring);
    if (ring < 0)
        return 0;
    const size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    void *queue = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (queue == MAP_FAILED || entry == MAP_FAILED)
        return 1;
    unsigned *begun = (void *)((char *)queue + p.sq_off.tail), *seen = (void *)((char *)queue + p.cq_off.head),
             *ended = (void *)((char *)queue + p.cq_off.tail);
    const struct io_uring_cqe *last = (const void *)((char *)queue + p.cq_off.cqes);
    for (int turn = 0; turn < TURNS; turn++) {
        *entry = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = 5};
        ++*begun;
        launch();
        printf("%ld\n", syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
        ++*seen;
    }
    printf("%u: %d, %d\n", *ended, (int)last->user_data, last->res);
    return 0;
}

static int read_only(void)
{
    const bool can = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (can && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        need("mount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
    setenv("TMPDIR", "/nowhere", 1);
    begin();
    need("file", open("file", O_CREAT | O_RDWR | O_EXCL, 0600));
    unlink("file");
    launch();
    return 0;
}

static void *launch_once(void *user)
{
    launch();
    return user;
}

static int threads(void)
{
    static pthread_t all[THREADS];
    pthread_attr_t small;
    int started = 0, ended = 0;
    begin();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    while (started < THREADS && pthread_create(&all[started], &small, launch_once, all) == 0)
        started++;
    for (int i = 0; i < started; i++) {
        void *result = NULL;
        ended += pthread_join(all[i], &result) == 0 && result == all;
    }
    printf("%d of %d threads\n", ended, started);
    return 0;
}

static int closes_all(void)
{
    struct stat null, file;
    begin();
    close_range(STDERR_FILENO + 1, ~0U, 0);
    stat("/dev/null", &null);
    int fd = STDERR_FILENO;
    for (; fd < OWN_DESCRIPTORS + TURNS; fd++)
        if (open("/dev/null", O_RDONLY) < 0)
            break;
    launch();
    printf("up to %d\n", fd);
    for (; fd > STDERR_FILENO; fd--)
        if (fstat(fd, &file) != 0 || file.st_rdev != null.st_rdev)
            printf("%d is another\n", fd);
    return 0;
}

static void handle(int number)
{
    (void)number;
    launch();
}

static int changes_all(void)
{
    static char room[1 << 16];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigset_t all;
    sigfillset(&all);
    for (int turn = 0; turn < 2; turn++) { /* before CUDA and behind it */
        sigaltstack(&stack, NULL);
        sigaction(SIGSEGV, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER}, NULL);
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK}, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGCHLD, SIG_IGN);
        if (turn == 0)
            begin();
        raise(SIGSEGV);
        raise(SIGUSR1);
        sigprocmask(SIG_SETMASK, &all, NULL);
        kill(getpid(), SIGTERM); /* for no thread that does not block it */
        umask(0);
        need("mkdir", mkdir("removed", 0700) || chdir("removed") || rmdir("../removed") ? -1 : 0);
        umask(0777);
        launch();
        show();
        need("back", chdir("/"));
        launch();
        need("folder", chdir(getenv("TMPDIR")));
    }
    return run_again("plain");
}

static int with_few_descriptors(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 256});
    begin();
    for (int i = 0; i < FILES; i++)
        printf("%d ", open("/dev/null", O_RDONLY | O_CLOEXEC));
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){4, 256});
    launch();
    printf("%d\n", open("/dev/null", O_RDONLY));
    return 0;
}

static int with_little_memory(void)
{
    struct rlimit limit;
    FILE *own = fopen("/proc/self/statm", "re");
    load();
    getrlimit(RLIMIT_AS, &limit);
    unsigned long pages = 0;
    if (!own || fscanf(own, "%lu", &pages) != 1 || fclose(own) != 0)
        return 1;
    limit.rlim_cur = pages * (rlim_t)getpagesize() + (4 << 20);
    setrlimit(RLIMIT_AS, &limit);
    call("begin_fake_cuda");
    launch();
    while (malloc(4096)) /* all of it */
        ;
    launch();
    return 0;
}

static int with_own_preload(void)
{
    setenv("LD_PRELOAD", "libm.so.6", 1);
    begin();
    return run_again("plain");
}

static int runs_itself(void)
{
    const char *turn = getenv("TURN");
    const int left = turn ? atoi(turn) : TURNS;
    char next[16];
    if (!left)
        return plain();
    begin();
    snprintf(next, sizeof next, "%d", left - 1);
    setenv("TURN", next, 1);
    return run_again("itself");
}

static int forks(void)
{
    begin();
    fflush(NULL);
    for (int i = 0; i < TURNS; i++) {
        const pid_t child = fork();
        if (child == 0) {
            launch();
            show_descriptors(OWN_DESCRIPTORS);
            if (i == 0)
                exit(run_again("plain"));
            if (i % 2)
                exit(i);
            fflush(NULL);
            _exit(i);
        }
        show_end(child);
        launch();
        fflush(NULL);
    }
    return 0;
}

/* Nobody waits for it; its file says that it lived. */
static int daemonizes(void)
{
    if (fork() || setsid() < 0 || fork())
        return 0;
    const int file = open("lived", O_CREAT | O_WRONLY, 0600);
    if (chdir("/") != 0 || dup2(file, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO, ~0U, 0) != 0)
        return 1;
    close(STDIN_FILENO);
    return plain();
}

static int chain(void)
{
    int sum = 0, status;
    pid_t child;
    begin();
    for (int i = 0; i < CHAIN; i++)
        if (posix_spawn(&child, program, NULL, NULL, with("link"), environ) == 0 && waitpid(child, &status, 0) == child)
            sum += WEXITSTATUS(status);
    printf("%d\n", sum);
    return 0;
}

static pthread_t worker;
static atomic_bool stops;

static void *launch_all(void *unused)
{
    while (!stops)
        launch();
    return unused;
}

static void end_worker(void)
{
    stops = true;
    printf("worker: %d\n", pthread_join(worker, NULL));
}

/* A thread launches beside the end, and a handler from before CUDA waits for it, as a pool's destructor does. */
static int ends_beside_launches(void)
{
    atexit(end_worker);
    begin();
    return pthread_create(&worker, NULL, launch_all, NULL);
}

/* The program's threads have stacks of the least size, by default. */
static int with_small_stacks(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN);
    pthread_setattr_default_np(&small);
    begin();
    launch();
    return 0;
}

static int gives_up_rights(void)
{
    uid_t user[3];
    begin();
    need("group", setresgid(65534, 65534, 65534));
    need("user", setresuid(65534, 65534, 65534));
    launch();
    if (getresuid(&user[0], &user[1], &user[2]) == 0)
        printf("%u %u %u\n", user[0], user[1], user[2]);
    return 0;
}

static int one_link(void)
{
    begin();
    return 2;
}

static int without_environment(void)
{
    begin();
    fflush(NULL);
    execve(program, with("plain"), (char *[]){NULL});
    return 127;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } all[] = {{"plain", plain},
               {"no_new_rights", no_new_rights},
               {"namespace", in_namespace},
               {"vfork", vforks},
               {"spawn", spawns},
               {"no_streams", without_standard_streams},
               {"filter", filtered},
               {"locked", locked_in},
               {"strict", strict},
               {"io_uring", with_io_uring},
               {"read_only", read_only},
               {"threads", threads},
               {"close", closes_all},
               {"change", changes_all},
               {"descriptors", with_few_descriptors},
               {"memory", with_little_memory},
               {"preload", with_own_preload},
               {"itself", runs_itself},
               {"fork", forks},
               {"daemon", daemonizes},
               {"chain", chain},
               {"link", one_link},
               {"end", ends_beside_launches},
               {"stacks", with_small_stacks},
               {"rights", gives_up_rights},
               {"environment", without_environment}};
    for (size_t i = 0; count > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(arguments[1], all[i].name) == 0)
            return all[i].run();
    return 126;
}
