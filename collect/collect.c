#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/common/other_tool.h"
#include "collect/fail.h"

#define fail cw_collect_fail
#define fail_memory cw_collect_fail_memory

extern char **environ;

enum { MOST_ENVIRONMENT = 16384, MOST_OWN_ARGUMENTS = 24, LONGEST_NAME = 1000, NOT_KNOWN = -1 };

/* The functions of the injection library (agent/inject/inside.h, counterworks/annotate.h). */
struct inside {
    const char *(*begin)(const char *environment, counterworks_collect_launched on_launch, void *user);
    void (*control)(bool open);
    void (*flush)(void);
    void (*end)(void);
    int (*push)(const char *name);
    int (*pop)(void);
    int (*pass)(const char *name, int pass);
};

struct counterworks_collect {
    pid_t process, agent; /* of the session; its agent, a child */
    int wire;             /* to the agent: its environment comes, a byte for the end goes, its exit status comes */
    int told;             /* what the agent prints */
    int capture;          /* without output: a file in memory for the agent; else -1 */
    int simulated;        /* events of a simulated GPU go there; -1: it is a real one */
    bool begun;           /* in the injection library */
    counterworks_collect_launched on_launch;
    void *user; /* of on_launch */
    struct inside inside;
};

/* A process has one session at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counterworks_collect *current;
static bool had_one;

/* ---- errors ----------------------------------------------------------------------------------------------------- */

enum counterworks_status cw_collect_fail(struct counterworks_error *error, enum counterworks_status status,
                                         const char *format, ...)
{
    va_list arguments;
    if (!error)
        return status;
    memset(error, 0, sizeof *error);
    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

enum counterworks_status cw_collect_fail_memory(struct counterworks_error *error)
{
    return cw_collect_fail(error, COUNTERWORKS_NOMEM, "out of memory");
}

/* The library's status for an exit status of the agent. */
static enum counterworks_status status_of(int code)
{
    switch (code) {
    case COUNTERWORKS_OK:
    case COUNTERWORKS_USAGE:
    case COUNTERWORKS_INPUT:
    case COUNTERWORKS_UNSUPPORTED:
    case COUNTERWORKS_IO:
    case COUNTERWORKS_NOMEM:
        return (enum counterworks_status)code;
    case 6: /* no GPU, or no permission */
        return COUNTERWORKS_UNSUPPORTED;
    case 7: /* the program did nothing that could be collected */
        return COUNTERWORKS_INPUT;
    default:
        return COUNTERWORKS_IO;
    }
}

/* ---- the agent's command ---------------------------------------------------------------------------------------- */

/* Whether CUDA has a context in this process. */
static bool has_context(void)
{
    int (*count_devices)(int *) = NULL, (*state)(int, unsigned *, int *) = NULL, (*get_current)(void **) = NULL;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *context = NULL;
    int count = 0, active = 0;
    unsigned flags;
    if (!cuda)
        return false;
    *(void **)&count_devices = dlsym(cuda, "cuDeviceGetCount");
    *(void **)&state = dlsym(cuda, "cuDevicePrimaryCtxGetState");
    *(void **)&get_current = dlsym(cuda, "cuCtxGetCurrent");
    bool has = get_current && get_current(&context) == 0 && context;
    if (!count_devices || !state || count_devices(&count) != 0)
        count = 0;
    for (int device = 0; device < count && !has; device++)
        has = state(device, &flags, &active) == 0 && active;
    dlclose(cuda);
    return has;
}

/* The path of capture-agent: named by the program or the environment, beside the library, or of PATH. */
static const char *find_agent(const struct counterworks_collect_options *o, char path[PATH_MAX])
{
    static const char *const places[] = {"", "../bin/", "../../bin/"};
    Dl_info own;
    const char *named = o->agent ? o->agent : secure_getenv("COUNTERWORKS_AGENT");
    if (named)
        return named;
    const char *slash = dladdr((void *)&current, &own) && own.dli_fname ? strrchr(own.dli_fname, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        const int length =
            snprintf(path, PATH_MAX, "%.*s%scapture-agent", (int)(slash + 1 - own.dli_fname), own.dli_fname, places[i]);
        if (length < PATH_MAX && access(path, X_OK) == 0)
            return path;
    }
    return "capture-agent";
}

struct command {
    const char **words;
    size_t count;
    char *output; /* one of the words */
};

static void add(struct command *c, const char *word)
{
    c->words[c->count++] = word;
}

static void add_option(struct command *c, const char *name, const char *value)
{
    add(c, name);
    add(c, value);
}

/* The agent takes the name of its file for a pattern. Returns the one for `path` itself, in malloc memory. */
static char *escape(const char *path)
{
    char *pattern = malloc(2 * strlen(path) + 1), *end = pattern;
    for (; pattern && *path; path++) {
        *end++ = *path;
        if (*path == '%')
            *end++ = '%';
    }
    if (pattern)
        *end = 0;
    return pattern;
}

static const char *replay_of(enum counterworks_collect_kind kind, const struct counterworks_collect_options *o)
{
    if (o->replay)
        return o->replay;
    return kind == COUNTERWORKS_COLLECT_RANGES || had_one || has_context() ? "multiplex" : "batch";
}

static bool counts_ranges(enum counterworks_collect_kind kind)
{
    return kind == COUNTERWORKS_COLLECT_KERNELS || kind == COUNTERWORKS_COLLECT_RANGES;
}

/* `output`: "", or the path of the session's file in memory */
static enum counterworks_status make_command(struct command *c, enum counterworks_collect_kind kind,
                                             const struct counterworks_collect_options *o, const char *agent,
                                             const char *wire, const char *output, struct counterworks_error *error)
{
    static const char *const commands[] = {
        [COUNTERWORKS_COLLECT_KERNELS] = "range",     [COUNTERWORKS_COLLECT_RANGES] = "range",
        [COUNTERWORKS_COLLECT_SAMPLES] = "pm",        [COUNTERWORKS_COLLECT_PC] = "pc",
        [COUNTERWORKS_COLLECT_INSTRUCTIONS] = "sass", [COUNTERWORKS_COLLECT_TRACE] = "trace"};
    if ((unsigned)kind >= sizeof commands / sizeof *commands)
        return fail(error, COUNTERWORKS_USAGE, "found kind %u, expected one of enum counterworks_collect_kind", kind);
    if (!o->plan != (kind > COUNTERWORKS_COLLECT_SAMPLES))
        return fail(error, COUNTERWORKS_USAGE,
                    o->plan ? "found a plan for a kind without counters, expected none"
                            : "found no plan, expected the path of a config image (metric-config)");
    if (o->replay && !counts_ranges(kind))
        return fail(error, COUNTERWORKS_USAGE, "found replay '%s' for a kind without it, expected none", o->replay);
    c->words = calloc(o->argument_count + MOST_OWN_ARGUMENTS, sizeof *c->words);
    c->output = escape(o->output ? o->output : output);
    if (!c->words || !c->output)
        return fail_memory(error);
    add(c, agent);
    add(c, commands[kind]);
    add_option(c, "--parent", wire);
    add_option(c, "-o", c->output);
    if (!o->output)
        add(c, "--force"); /* it is there, and empty */
    if (o->plan)
        add_option(c, "-c", o->plan);
    const char *replay = counts_ranges(kind) ? replay_of(kind, o) : NULL;
    if (replay)
        add_option(c, "--replay", replay);
    if (kind == COUNTERWORKS_COLLECT_RANGES)
        add_option(c, "--ranges", "user");
    if (!replay || strcmp(replay, "user") != 0) /* its loops say what is collected */
        add(c, "--profiler-api");
    for (size_t i = 0; i < o->argument_count; i++)
        add(c, o->arguments[i]);
    return COUNTERWORKS_OK;
}

/* The environment of the agent: this process's own, without what would make it profile itself. */
static char **make_environment(void)
{
    static const char *const left_out[] = {"CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=", "COUNTERWORKS_SOCKET="};
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **made = calloc(count + 1, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        bool keep = true;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            keep = keep && strncmp(environ[i], left_out[k], strlen(left_out[k])) != 0;
        if (keep)
            made[kept++] = environ[i];
    }
    return made;
}

/* Starts the agent in a group of its own, so that a terminal's signals reach the program alone. */
static int spawn(struct counterworks_collect *s, const struct command *c, int end)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    char **environment = make_environment();
    sigemptyset(&none);
    if (!environment)
        return ENOMEM;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, s->told, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, s->told, 2);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, end, end); /* open in the agent */
    if (s->capture >= 0)
        failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, s->capture, s->capture);
    failed = failed ? failed
                    : posix_spawnp(&s->agent, c->words[0], &files, &attributes, (char *const *)(uintptr_t)c->words,
                                   environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return failed;
}

/* ---- the end of the agent --------------------------------------------------------------------------------------- */

/* Waits for the agent. Returns its exit status; where the program lets nobody wait for children, as it told it. */
static int wait_for_agent(const struct counterworks_collect *s)
{
    unsigned char byte = 0;
    int code = NOT_KNOWN, status = 0;
    ssize_t n;
    while ((n = read(s->wire, &byte, 1)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            code = byte;
    pid_t ended;
    while ((ended = waitpid(s->agent, &status, 0)) < 0 && errno == EINTR)
        ;
    return ended != s->agent ? code : WIFEXITED(status) ? WEXITSTATUS(status) : NOT_KNOWN;
}

/* Reads what the agent has printed, for the caller to free; NULL without memory. */
static char *read_told(int fd)
{
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST + 1);
    ssize_t size = text ? pread(fd, text, MOST, 0) : 0;
    if (text)
        text[size > 0 ? size : 0] = 0;
    return text;
}

/* The text of a line behind "capture-agent: " or "capture-agent range: "; NULL for any other line. */
static const char *message_of(const char *line)
{
    static const char name[] = "capture-agent";
    const char *colon = strncmp(line, name, strlen(name)) == 0 ? strstr(line, ": ") : NULL;
    const size_t word = colon ? (size_t)(colon - line) - strlen(name) : 0;
    return colon && (!word || (line[strlen(name)] == ' ' && word < sizeof " doctor")) ? colon + 2 : NULL;
}

/* Hands the agent's messages over, but the last one of a failure, which becomes the error. */
static enum counterworks_status take_told(const struct counterworks_collect *s, int code,
                                          void (*tell)(void *user, const char *line), void *user,
                                          struct counterworks_error *error)
{
    enum counterworks_status status = status_of(code);
    char *text = read_told(s->told), *rest = text, *line, last[sizeof error->message] = "";
    while ((line = rest ? strsep(&rest, "\n") : NULL)) {
        const char *message = message_of(line);
        if (!message)
            continue;
        if (*last && tell)
            tell(user, last);
        snprintf(last, sizeof last, "%s", message);
    }
    if (status == COUNTERWORKS_OK && *last && tell)
        tell(user, last);
    if (status != COUNTERWORKS_OK)
        fail(error, status, "%s",
             *last               ? last
             : code == NOT_KNOWN ? "capture-agent was killed"
                                 : "capture-agent failed");
    free(text);
    return status;
}

static void drop(struct counterworks_collect *s)
{
    const int own[] = {s->wire, s->told, s->capture, s->simulated};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] >= 0)
            close(own[i]);
    free(s);
}

static enum counterworks_status end(struct counterworks_collect *s, void (*tell)(void *user, const char *line),
                                    void *user, struct counterworks_error *error)
{
    const char byte = 0;
    if (s->begun)
        s->inside.end();
    if (s->simulated >= 0)
        close(s->simulated);
    s->simulated = -1;
    (void)!send(s->wire, &byte, 1, MSG_NOSIGNAL);
    return take_told(s, wait_for_agent(s), tell, user, error);
}

/* ---- beginning -------------------------------------------------------------------------------------------------- */

static const char *variable(const char *environment, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = environment; *at; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* Receives the environment, which ends with an empty text. False if the agent has ended before. */
static bool receive(const struct counterworks_collect *s, char environment[MOST_ENVIRONMENT])
{
    size_t size = 0;
    while (size < MOST_ENVIRONMENT) {
        const ssize_t n = read(s->wire, environment + size, MOST_ENVIRONMENT - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || (n == 1 && size == 0)) /* at first one byte is its exit status */
            return false;
        size += (size_t)n;
        if (environment[size - 1] == 0 && environment[size - 2] == 0)
            return true;
    }
    return false;
}

/* Opens the agent's pipe for events, which it names by its own descriptor. */
static int open_events(const struct counterworks_collect *s, const char *name)
{
    char path[64];
    const char *slash = strrchr(name, '/');
    snprintf(path, sizeof path, "/proc/%ld/fd%s", (long)s->agent, slash ? slash : "");
    return open(path, O_WRONLY | O_CLOEXEC | O_APPEND);
}

static enum counterworks_status load(struct counterworks_collect *s, const char *environment,
                                     struct counterworks_error *error)
{
    const char *path = variable(environment, "CUDA_INJECTION64_PATH");
    int (*initialise)(unsigned) = NULL;
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "the injection library cannot be loaded: %s", dlerror());
#define FIND(member, name) *(void **)&s->inside.member = dlsym(library, name)
    FIND(begin, "counterworks_inside_open");
    FIND(control, "counterworks_inside_control");
    FIND(flush, "counterworks_inside_flush");
    FIND(end, "counterworks_inside_close");
    FIND(push, "counterworks_range_push");
    FIND(pop, "counterworks_range_pop");
    FIND(pass, "counterworks_range_pass");
#undef FIND
    const struct inside *i = &s->inside;
    if (!i->begin || !i->control || !i->flush || !i->end || !i->push || !i->pop || !i->pass)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "found %s of another version, expected that of this library",
                    path);
    if (cuda)
        *(void **)&initialise = dlsym(cuda, "cuInit");
    if (initialise && initialise(0) != 0)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "found that CUDA cannot be initialised in this process");
    const char *why = i->begin(environment, s->on_launch, s->user);
    s->begun = !why;
    return why ? fail(error, COUNTERWORKS_UNSUPPORTED, "%s", why) : COUNTERWORKS_OK;
}

/* Moves a descriptor behind the standard ones, which the agent has as its own. -1 for none. */
static int keep_clear(int fd)
{
    const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd >= 0)
        close(fd);
    return moved;
}

/* Makes the session's descriptors. */
static enum counterworks_status make_wires(struct counterworks_collect *s, bool in_memory, int *end,
                                           struct counterworks_error *error)
{
    int ends[2] = {-1, -1};
    if (in_memory && (s->capture = keep_clear(memfd_create("capture.cwd", MFD_CLOEXEC))) < 0)
        return fail(error, COUNTERWORKS_IO, "cannot make a file in memory: %s", strerror(errno));
    s->told = keep_clear(memfd_create("capture-agent", MFD_CLOEXEC));
    (void)!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    s->wire = keep_clear(ends[0]);
    *end = keep_clear(ends[1]);
    return s->told >= 0 && fcntl(s->told, F_SETFL, O_APPEND) == 0 && s->wire >= 0 && *end >= 0
               ? COUNTERWORKS_OK
               : fail(error, COUNTERWORKS_IO, "cannot make a connection to capture-agent: %s", strerror(errno));
}

static enum counterworks_status start_agent(struct counterworks_collect *s, enum counterworks_collect_kind kind,
                                            const struct counterworks_collect_options *o, int wire,
                                            struct counterworks_error *error)
{
    struct command c = {0};
    char path[PATH_MAX], number[16], output[32];
    const char *agent = find_agent(o, path);
    snprintf(number, sizeof number, "%d", wire);
    snprintf(output, sizeof output, "/proc/self/fd/%d", s->capture);
    enum counterworks_status status = make_command(&c, kind, o, agent, number, output, error);
    const int failed = status == COUNTERWORKS_OK ? spawn(s, &c, wire) : 0;
    if (failed)
        status = fail(error, COUNTERWORKS_UNSUPPORTED,
                      "cannot run %s: %s; name it in COUNTERWORKS_AGENT, or put it into PATH", agent, strerror(failed));
    free(c.words);
    free(c.output);
    return status;
}

static enum counterworks_status connect_to(struct counterworks_collect *s, struct counterworks_error *error)
{
    char environment[MOST_ENVIRONMENT];
    const char ready = 1;
    if (!receive(s, environment))
        return end(s, NULL, NULL, error) == COUNTERWORKS_OK
                   ? fail(error, COUNTERWORKS_UNSUPPORTED, "capture-agent has ended at once")
               : error ? error->status
                       : COUNTERWORKS_UNSUPPORTED;
    const char *events = variable(environment, "COUNTERWORKS_SIM");
    if (events)
        s->simulated = open_events(s, events);
    enum counterworks_status status =
        events && s->simulated < 0
            ? fail(error, COUNTERWORKS_IO, "cannot open the events of the simulated GPU: %s", strerror(errno))
            : COUNTERWORKS_OK;
    (void)!send(s->wire, &ready, 1, MSG_NOSIGNAL);
    if (status == COUNTERWORKS_OK && !events)
        status = load(s, environment, error);
    if (status != COUNTERWORKS_OK)
        end(s, NULL, NULL, NULL);
    return status;
}

static enum counterworks_status begin(struct counterworks_collect *s, enum counterworks_collect_kind kind,
                                      const struct counterworks_collect_options *o, struct counterworks_error *error)
{
    int wire = -1;
    if (!o || o->size < offsetof(struct counterworks_collect_options, started))
        return fail(error, COUNTERWORKS_USAGE, "found no options, expected COUNTERWORKS_COLLECT_OPTIONS");
    if (current)
        return fail(error, COUNTERWORKS_USAGE, "found an open session of this process, expected one at a time");
    const char *other = cw_other_tool("CUDA_INJECTION64_PATH");
    if (other)
        return fail(error, COUNTERWORKS_UNSUPPORTED,
                    "CUDA_INJECTION64_PATH is set to %s: another tool profiles already", other);
    if (o->size >= sizeof *o) {
        s->on_launch = o->on_launch;
        s->user = o->user;
    }
    enum counterworks_status status = make_wires(s, !o->output, &wire, error);
    if (status == COUNTERWORKS_OK)
        status = start_agent(s, kind, o, wire, error);
    if (wire >= 0)
        close(wire);
    return status == COUNTERWORKS_OK ? connect_to(s, error) : status;
}

enum counterworks_status counterworks_collect_open(struct counterworks_collect **session,
                                                   enum counterworks_collect_kind kind,
                                                   const struct counterworks_collect_options *options,
                                                   struct counterworks_error *error)
{
    struct counterworks_collect *s = calloc(1, sizeof *s);
    *session = NULL;
    if (!s)
        return fail_memory(error);
    *s = (struct counterworks_collect){.process = getpid(), .wire = -1, .told = -1, .capture = -1, .simulated = -1};
    pthread_mutex_lock(&lock);
    const enum counterworks_status status = begin(s, kind, options, error);
    if (status == COUNTERWORKS_OK) {
        *session = current = s;
        had_one = true;
    } else {
        drop(s);
    }
    pthread_mutex_unlock(&lock);
    if (status == COUNTERWORKS_OK && options->started)
        counterworks_collect_start(s);
    return status;
}

/* Reads the file in memory; *capture stays NULL if it is empty. */
static enum counterworks_status read_capture(int fd, void **capture, size_t *size, struct counterworks_error *error)
{
    struct stat file;
    if (fd < 0)
        return fail(error, COUNTERWORKS_USAGE,
                    "found a session with an output, expected one whose capture is in memory");
    if (fstat(fd, &file) != 0 || file.st_size <= 0)
        return fail(error, COUNTERWORKS_IO, "found no capture in memory, expected that capture-agent wrote it there");
    char *bytes = malloc((size_t)file.st_size);
    size_t have = 0;
    if (!bytes)
        return fail_memory(error);
    for (ssize_t n = 1; n > 0; have += n > 0 ? (size_t)n : 0)
        n = pread(fd, bytes + have, (size_t)file.st_size - have, (off_t)have);
    if (have != (size_t)file.st_size) {
        free(bytes);
        return fail(error, COUNTERWORKS_IO, "cannot read the capture in memory: %s", strerror(errno));
    }
    *capture = bytes;
    *size = have;
    return COUNTERWORKS_OK;
}

/* `capture`: NULL, or gets the file in memory */
static enum counterworks_status finish(struct counterworks_collect *s, void **capture, size_t *size,
                                       void (*tell)(void *user, const char *line), void *user,
                                       struct counterworks_error *error)
{
    if (!s)
        return COUNTERWORKS_OK;
    if (s->process != getpid())
        return fail(error, COUNTERWORKS_USAGE, "found a session of the process before a fork, expected one's own");
    pthread_mutex_lock(&lock);
    enum counterworks_status status = end(s, tell, user, error);
    if (capture) {
        const enum counterworks_status taken =
            read_capture(s->capture, capture, size, status == COUNTERWORKS_OK ? error : NULL);
        status = status == COUNTERWORKS_OK ? taken : status;
    }
    current = NULL;
    drop(s);
    pthread_mutex_unlock(&lock);
    return status;
}

enum counterworks_status counterworks_collect_close(struct counterworks_collect *s,
                                                    void (*tell)(void *user, const char *line), void *user,
                                                    struct counterworks_error *error)
{
    return finish(s, NULL, NULL, tell, user, error);
}

enum counterworks_status counterworks_collect_take(struct counterworks_collect *s, void **capture, size_t *size,
                                                   void (*tell)(void *user, const char *line), void *user,
                                                   struct counterworks_error *error)
{
    *capture = NULL;
    *size = 0;
    return finish(s, capture, size, tell, user, error);
}

/* ---- within a session ------------------------------------------------------------------------------------------- */

static bool is_simulated(const struct counterworks_collect *s)
{
    return s && s->simulated >= 0 && s->process == getpid();
}

/* Writes an event of the simulated GPU in one piece: a name in it is one line. Nothing if the agent has left. */
static void pretend(const struct counterworks_collect *s, const char *event, const char *name)
{
    char line[LONGEST_NAME + 64];
    struct pollfd one = {.fd = s ? s->simulated : -1, .events = POLLOUT};
    if (!is_simulated(s) || poll(&one, 1, -1) <= 0 || one.revents & POLLERR)
        return;
    size_t length = (size_t)snprintf(line, sizeof line - LONGEST_NAME, "%s", event);
    for (; *name && length + 3 <= sizeof line; name++) {
        if (*name == '\n') /* as user ranges of a GPU have it */
            line[length++] = '\\';
        line[length++] = *name == '\n' ? 'n' : *name;
    }
    line[length++] = '\n';
    (void)!write(s->simulated, line, length);
}

static bool is_real(const struct counterworks_collect *s)
{
    return s && s->begun && s->process == getpid();
}

void counterworks_collect_start(struct counterworks_collect *s)
{
    pretend(s, "profiler start", "");
    if (is_real(s))
        s->inside.control(true);
}

void counterworks_collect_stop(struct counterworks_collect *s)
{
    pretend(s, "profiler stop", "");
    if (is_real(s))
        s->inside.control(false);
}

/* Waits until the agent has read all events of the simulated GPU or has left: two seconds beside threads that go on. */
static void wait_until_read(const struct counterworks_collect *s)
{
    const struct timespec moment = {.tv_nsec = 200000};
    struct pollfd one = {.fd = s->simulated};
    for (int left = 1, i = 0; i < 10000 && ioctl(s->simulated, FIONREAD, &left) == 0 && left && !poll(&one, 1, 0); i++)
        nanosleep(&moment, NULL);
}

void counterworks_collect_flush(struct counterworks_collect *s)
{
    pretend(s, "flush", "");
    if (is_simulated(s)) { /* the agent reads the second when it has done the first */
        wait_until_read(s);
        pretend(s, "wait 0", "");
        wait_until_read(s);
    }
    if (is_real(s))
        s->inside.flush();
}

void counterworks_collect_push(struct counterworks_collect *s, const char *name)
{
    pretend(s, "push ", name ? name : "");
    if (is_real(s))
        s->inside.push(name);
}

void counterworks_collect_pop(struct counterworks_collect *s)
{
    pretend(s, "pop", "");
    if (is_real(s))
        s->inside.pop();
}

bool counterworks_collect_pass(struct counterworks_collect *s, const char *name, int *pass)
{
    const int number = (*pass)++;
    if (is_real(s))
        return s->inside.pass(name, number);
    if (number == 0)
        counterworks_collect_push(s, name);
    else
        counterworks_collect_pop(s);
    return number == 0;
}

/* Tells the program of a launch that it pretends, as the injection library does of a real one. */
static void tell_launch(const char *kernel, bool returned)
{
    const struct counterworks_collect_launch launch = {.kernel = kernel, .returned = returned};
    pthread_mutex_lock(&lock);
    const bool good = *kernel && is_simulated(current);
    const counterworks_collect_launched on_launch = good ? current->on_launch : NULL;
    void *const user = good ? current->user : NULL;
    pthread_mutex_unlock(&lock);
    if (on_launch)
        on_launch(user, &launch);
}

void counterworks_collect_pretend(const char *event)
{
    char kernel[LONGEST_NAME + 1] = "";
    sscanf(event, "launch %1000s", kernel);
    tell_launch(kernel, false);
    pthread_mutex_lock(&lock);
    pretend(current, "", event);
    pthread_mutex_unlock(&lock);
    tell_launch(kernel, true);
}
