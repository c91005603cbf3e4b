/* Preloaded into a command, fails one call of a kind:
 *
 *   LD_PRELOAD=faults.so CW_FAULTS="KIND N SEEN [still]" command...
 *
 * The N-th call of the KIND fails, counted from 1; with `still` all later ones fail, too. At the end the number of
 * calls of each kind stands in the file SEEN, a line `KIND CALLS`. N 0 fails none. The kinds are the rows of the table
 * below.
 *
 * A filter of the kernel (seccomp) traps the C library's own system calls, so that streams are reached as well as
 * read() and write(). Calls of other code, such as the dynamic linker, pass. Other programs that the command starts are
 * left alone: the filter knows the place of this process's C library. Allocations count by code that was loaded at the
 * start. HDF5 comes later: it crashes, or calls exit(), where it gets no memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum kind { MALLOC, OPEN, READ, WRITE, FSYNC, CLOSE, RENAME, MMAP, FORK, SOCKET, SHORT, EINTR_, KINDS };

static const struct {
    const char *name;
    int error; /* 0: the call does less than asked */
} kinds[KINDS] = {[MALLOC] = {"malloc", ENOMEM}, [OPEN] = {"open", EMFILE}, [READ] = {"read", EIO},
                  [WRITE] = {"write", ENOSPC},   [FSYNC] = {"fsync", EIO},  [CLOSE] = {"close", EIO},
                  [RENAME] = {"rename", EACCES}, [MMAP] = {"mmap", ENOMEM}, [FORK] = {"fork", EAGAIN},
                  [SOCKET] = {"socket", EMFILE}, [SHORT] = {"short", 0},    [EINTR_] = {"eintr", EINTR}};

static const struct {
    int number;
    enum kind kind;
} calls[] = {{SYS_open, OPEN},         {SYS_openat, OPEN},      {SYS_creat, OPEN},
             {SYS_read, READ},         {SYS_pread64, READ},     {SYS_readv, READ},
             {SYS_preadv, READ},       {SYS_getdents64, READ},  {SYS_copy_file_range, READ},
             {SYS_write, WRITE},       {SYS_pwrite64, WRITE},   {SYS_writev, WRITE},
             {SYS_pwritev, WRITE},     {SYS_ftruncate, WRITE},  {SYS_fsync, FSYNC},
             {SYS_fdatasync, FSYNC},   {SYS_close, CLOSE},      {SYS_rename, RENAME},
             {SYS_renameat, RENAME},   {SYS_renameat2, RENAME}, {SYS_link, RENAME},
             {SYS_linkat, RENAME},     {SYS_mmap, MMAP},        {SYS_socket, SOCKET},
             {SYS_socketpair, SOCKET}, {SYS_accept4, SOCKET},   {SYS_pipe2, SOCKET}};
enum { CALLS = sizeof calls / sizeof *calls };

static enum kind chosen = KINDS;
static long due, seen[KINDS];
static int still, active;
static char seen_path[4096];
static uintptr_t begin, end; /* the C library's code */
static struct {
    uintptr_t begin, end;
} codes[64]; /* of everything loaded at the start */
static int code_count;

/* A system call from this library, which the filter lets pass. */
static long call(long number, const long a[6])
{
    long result;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static int is_due(enum kind kind)
{
    if (!active)
        return 0;
    const long now = __atomic_add_fetch(&seen[kind], 1, __ATOMIC_RELAXED);
    return kind == chosen && due && (now == due || (still && now > due));
}

/* ---- system calls ----------------------------------------------------------------------------------------------- */

static long answer(long number, long a[6])
{
    enum kind kind = KINDS;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            kind = calls[i].kind;
    const int plain = number == SYS_read || number == SYS_write || number == SYS_pread64 || number == SYS_pwrite64;
    if (plain && is_due(EINTR_))
        return -EINTR;
    if (plain && a[2] > 1 && is_due(SHORT))
        a[2] /= 2;
    const int fails = kind != KINDS && is_due(kind);
    if (fails && kind == CLOSE) /* Linux closes also where it reports an error */
        call(number, a);
    return fails ? -kinds[kind].error : call(number, a);
}

static void take(int signal, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)signal;
    long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = answer(info->si_syscall, a);
}

static int note_code(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum && code_count < 64; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            const uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            codes[code_count].begin = at;
            codes[code_count++].end = at + info->dlpi_phdr[i].p_memsz;
            if (strstr(info->dlpi_name, "libc.so")) {
                begin = at;
                end = at + info->dlpi_phdr[i].p_memsz;
            }
        }
    return 0;
}

/* Traps calls of the table from [begin, end), whose addresses have one upper half. */
static int trap(void)
{
    struct sock_filter code[CALLS + 9];
    size_t n = 0;
    enum { LOW = offsetof(struct seccomp_data, instruction_pointer), HIGH = LOW + 4 };
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++)
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, (uint8_t)(CALLS - i), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(begin >> 32), 0, 4);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 2);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)end, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {(unsigned short)n, code};
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* A blocked SIGSYS would end the process at its next trapped call. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t own;
    if (set) {
        own = *set;
        sigdelset(&own, SIGSYS);
    }
    return syscall(SYS_rt_sigprocmask, how, set ? &own : NULL, before, 8) ? errno : 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    const int reason = pthread_sigmask(how, set, before);
    return reason ? (errno = reason, -1) : 0;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int fails(const void *caller)
{
    int i = 0;
    while (i < code_count && ((uintptr_t)caller < codes[i].begin || (uintptr_t)caller >= codes[i].end))
        i++;
    if (i == code_count || !is_due(MALLOC))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

pid_t fork(void)
{
    if (!is_due(FORK))
        return ((pid_t(*)(void))dlsym(RTLD_NEXT, "fork"))();
    errno = EAGAIN;
    return -1;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void start(void)
{
    char kind[16], word[8] = "";
    const char *text = getenv("CW_FAULTS");
    if (!text || sscanf(text, "%15s %ld %4095s %7s", kind, &due, seen_path, word) < 3)
        return;
    still = *word != 0;
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, kind) == 0)
            chosen = (enum kind)k;
    unsetenv("LD_PRELOAD");
    dl_iterate_phdr(note_code, NULL);
    if (chosen == KINDS || !begin || begin >> 32 != end >> 32 || !trap()) {
        static const char message[] = "faults.so: cannot begin\n";
        (void)!write(2, message, sizeof message - 1);
        _exit(99);
    }
    active = 1;
}

/* After the command's own ends: what the C library closes then is its concern. */
__attribute__((destructor)) static void finish(void)
{
    const int was = active;
    active = 0;
    const int to = was ? open(seen_path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    for (int k = 0; k < KINDS && to >= 0; k++)
        dprintf(to, "%s %ld\n", kinds[k].name, seen[k]);
    if (to >= 0)
        close(to);
}
