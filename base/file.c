#define _GNU_SOURCE
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"

bool cw_file_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

enum cw_status cw_file_read(struct cw_bytes *out, const char *path, size_t limit, struct cw_error *err)
{
    *out = (struct cw_bytes){0};
    if (limit > SIZE_MAX / 4) /* room to double below */
        limit = SIZE_MAX / 4;
    int fd = cw_file_is_standard(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    enum cw_status status = CW_OK;
    struct stat st;
    size_t capacity = 64 * 1024, size = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        capacity = (size_t)st.st_size + 1;
    if (capacity > limit + 1)
        capacity = limit + 1;
    uint8_t *data = malloc(capacity + 1);
    while (data) {
        ssize_t n = read(fd, data + size, capacity - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (n <= 0)
            break;
        size += (size_t)n;
        if (size > limit) {
            status = cw_error_set(err, CW_ERR_INPUT, "%s: found more than %zu bytes, expected no more", path, limit);
            break;
        }
        if (size == capacity) {
            capacity = capacity * 2 > limit + 1 ? limit + 1 : capacity * 2;
            uint8_t *grown = realloc(data, capacity + 1);
            if (!grown) {
                free(data);
                data = NULL;
            } else {
                data = grown;
            }
        }
    }
    close(fd);
    if (!data)
        return cw_error_nomem(err);
    if (status != CW_OK) {
        free(data);
        return status;
    }
    data[size] = 0;
    *out = (struct cw_bytes){data, size};
    return CW_OK;
}

void cw_bytes_free(struct cw_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct cw_bytes){0};
}

bool cw_file_is_same(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(b, &of_b) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(of_b.st_mode) && stat(a, &of_a) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

enum cw_status cw_file_keep(const char *output, const char *input, const char *kind, struct cw_error *err)
{
    if (!output || !input || cw_file_is_standard(output) || !cw_file_is_same(input, output))
        return CW_OK;
    return cw_error_set(err, CW_ERR_USAGE, "found %s as %s and output, expected another file for each", output, kind);
}

/* ---- kinds of files --------------------------------------------------------------------------------------------- */

const struct cw_file_kind cw_file_plan = {"a config image", true, {CW_FILE_HEAD_PLAN}};
const struct cw_file_kind cw_file_capture = {"a capture", true, {CW_FILE_HEAD_CAPTURE}};
const struct cw_file_kind cw_file_hdf5 = {"HDF5",
                                          true,
                                          {"\x89"
                                           "HDF\r\n\x1a\n"}};
const struct cw_file_kind cw_file_csv = {
    "CSV of metric-eval",
    false,
    {"range,name,kernel,", "sample,device,start_ns,", "sample,time_start,", "device,process,", "group,kernel,",
     "rank,host,kernel,", "range,device,ranges,", "launch,kernel,nvtx,", "kernel,device,traced,",
     "name,launches,total_ns,",
     /* headers of each kind of trace row */
     "start_ns,end_ns,", "time_ns,", "context,device,null_stream,", "correlation,type,id,", "id,device,context,",
     "id,name,grid_x,", "stream,context,priority,", "type,source,target,"}};
const struct cw_file_kind cw_file_json = {"JSON of metric-eval", false, {"{\"capture\": "}};
const struct cw_file_kind cw_file_report = {"a page of metric-eval", false, {"<!doctype html><!-- counterworks "}};

/* Returns the descriptor of standard output or error if that is the file, -1 otherwise. */
static int standard(const struct stat *st)
{
    struct stat of;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &of) == 0 && of.st_dev == st->st_dev && of.st_ino == st->st_ino)
            return fd;
    return -1;
}

bool cw_file_is_kind(int fd, const struct cw_file_kind *kind)
{
    char head[64] = "";
    ssize_t size = read(fd, head, sizeof head - 1);
    bool found = false;
    for (size_t i = 0; size > 0 && i < sizeof kind->heads / sizeof *kind->heads && kind->heads[i]; i++)
        found = found || strncmp(head, kind->heads[i], strlen(kind->heads[i])) == 0;
    return found;
}

enum cw_status cw_file_may_replace(const char *path, const struct cw_file_kind *kind, bool force, struct cw_error *err)
{
    struct stat st;
    enum cw_status status = CW_OK;
    if (!*path)
        return cw_error_set(err, CW_ERR_USAGE, "found an empty name, expected that of a file to write");
    if (cw_file_is_standard(path) ? fstat(STDOUT_FILENO, &st) != 0 : stat(path, &st) != 0)
        return CW_OK;
    bool device = S_ISCHR(st.st_mode);
    if ((!device || !kind->binary) && (force || !S_ISREG(st.st_mode) || !st.st_size || standard(&st) >= 0))
        return CW_OK;
    int fd = cw_file_is_standard(path) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                       : open(path, (device ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (device && fd >= 0 && isatty(fd))
        status =
            cw_error_set(err, CW_ERR_USAGE, "%s: found a terminal, expected a file or pipe for %s", path, kind->name);
    else if (!device && fd < 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot read the old file: %s", path, strerror(errno));
    else if (!device && !cw_file_is_kind(fd, kind))
        status = cw_error_set(err, CW_ERR_USAGE,
                              "%s: found a file that is not %s, expected one to replace, or none; --force replaces it",
                              path, kind->name);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool is_pipe(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* A reader that was started beside us may come later: `sort <pipe & metric-eval ... --csv pipe`. */
int cw_file_open_write(const char *path, int flags)
{
    enum { PATIENCE_MS = 5000, PAUSE_US = 10000 };
    const uint64_t until = cw_now_ms() + PATIENCE_MS;
    int fd;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666)) < 0 && errno == ENXIO &&
           is_pipe(path) && cw_now_ms() < until)
        usleep(PAUSE_US);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

enum cw_status cw_file_cannot_open(const char *path, int reason, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_IO, "%s: cannot open: %s", path,
                        reason == ENXIO && is_pipe(path) ? "nobody reads this pipe" : strerror(reason));
}

/* A stream that failed before it was flushed keeps no reason: errno is 0 then. */
static enum cw_status cannot_write(const char *path, struct cw_error *err)
{
    const int reason = errno;
    return cw_error_set(err, CW_ERR_IO, "%s: cannot write%s%s", path, reason ? ": " : "",
                        reason ? strerror(reason) : "");
}

/* Pipes and devices store nothing, so there is nothing to sync. */
enum cw_status cw_file_sync(int fd, const char *path, struct cw_error *err)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    bool kept = result == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
    return kept ? CW_OK : cannot_write(path, err);
}

enum cw_status cw_file_finish(int fd, const char *path, struct cw_error *err)
{
    enum cw_status status = cw_file_sync(fd, path, err);
    if (close(fd) != 0 && errno != EINTR && status == CW_OK) /* EINTR: the descriptor is closed all the same */
        status = cannot_write(path, err);
    return status;
}

/* ---- files at a path -------------------------------------------------------------------------------------------- */

static bool is_special(const char *path) /* /dev/stdout, wherever it leads, or a pipe */
{
    struct stat st;
    return stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || standard(&st) >= 0);
}

/* Reads /proc: umask() returns the mask only by setting it, and other threads would see that. */
static mode_t read_umask(void)
{
    unsigned mask = 077;
    char line[128];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "Umask: %o", &mask) != 1)
        ;
    if (status)
        fclose(status);
    return mask;
}

/* Mode of the file that the new one replaces, or the default mode. */
static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0666 & ~read_umask();
}

/* Start of a temporary file's name. NULL when out of memory. */
static char *temporary_start(void)
{
    const char *folder = getenv("TMPDIR");
    char *name;
    return asprintf(&name, "%s/counterworks", folder && *folder ? folder : "/tmp") < 0 ? NULL : name;
}

enum cw_status cw_file_open_nameless(int *fd, struct cw_error *err)
{
    char *start = temporary_start(), *name;
    if (!start || asprintf(&name, "%s.XXXXXX", start) < 0)
        name = NULL;
    free(start);
    enum cw_status status = CW_OK;
    *fd = name ? mkostemp(name, O_CLOEXEC) : -1;
    if (!name)
        return cw_error_nomem(err);
    if (*fd >= 0)
        unlink(name);
    else
        status = cw_error_set(err, CW_ERR_IO, "%.*s: cannot create a temporary file: %s",
                              (int)(strrchr(name, '/') - name), name, strerror(errno));
    free(name);
    return status;
}

/* ---- files of processes that were killed ------------------------------------------------------------------------ */

/* Identifies the scope within which process numbers are unique: this boot of this host, and this process namespace. 0:
 * unknown. */
static uint64_t numbering(void)
{
    char boot[48] = "";
    struct stat names;
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
    const bool known = in && fgets(boot, sizeof boot, in) && stat("/proc/self/ns/pid", &names) == 0;
    if (in)
        fclose(in);
    if (!known)
        return 0;
    for (const char *c = boot; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    return ((hash ^ names.st_ino) * 0x100000001b3) >> 16;
}

/* Whether `file` is the temporary file for `name` of a process that has ended. */
static bool is_left(const char *file, const char *name, const char *owner)
{
    enum { RANDOM = 6 };
    const size_t name_size = strlen(name), owner_size = strlen(owner);
    if (strncmp(file, name, name_size) != 0 || strncmp(file + name_size, owner, owner_size) != 0)
        return false;
    const char *number = file + name_size + owner_size;
    char *end;
    errno = 0;
    const long process = strtol(number, &end, 10);
    return errno == 0 && *number > '0' && *number <= '9' && process > 0 && process == (pid_t)process && *end == '-' &&
           strlen(end + 1) == RANDOM && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Removes such files. Stops early in a folder of very many files: each of many processes would read all of it. */
static void remove_left(const char *start, const char *owner)
{
    enum { MOST = 10000 };
    const char *slash = strrchr(start, '/');
    char *folder = slash ? strndup(start, (size_t)(slash - start) + 1) : strdup(".");
    DIR *files = folder ? opendir(folder) : NULL;
    const struct dirent *file;
    for (int i = 0; files && i < MOST && (file = readdir(files)); i++)
        if (is_left(file->d_name, slash ? slash + 1 : start, owner))
            unlinkat(dirfd(files), file->d_name, 0);
    if (files)
        closedir(files);
    free(folder);
}

/* Opens a file whose name begins with `start`; *name is NULL when out of memory. -1 after a failure. The name
 * identifies the process that writes the file: a shared folder also has files of other hosts and containers, and nobody
 * here can tell whether their processes still run. */
static int open_temporary(const char *start, char **name)
{
    const uint64_t numbers = numbering();
    char owner[64] = "";
    int fd = -1;
    if (numbers) {
        snprintf(owner, sizeof owner, ".cw-%012" PRIx64 "-", numbers);
        remove_left(start, owner);
        if (asprintf(name, "%s%s%ld-XXXXXX", start, owner, (long)getpid()) < 0)
            *name = NULL;
        fd = *name ? mkostemp(*name, O_CLOEXEC) : -1;
        if (fd >= 0 || !*name || errno != ENAMETOOLONG)
            return fd;
        free(*name);
    }
    const char *slash = strrchr(start, '/');
    if (asprintf(name, "%.*s.cw-XXXXXX", slash ? (int)(slash + 1 - start) : 0, start) < 0)
        *name = NULL;
    return *name ? mkostemp(*name, O_CLOEXEC) : -1;
}

/* Where a path leads: a symbolic link stays a link, also one to a file that is to come. NULL when out of memory. */
static char *target_of(const char *path)
{
    enum { MOST = 40 }; /* links one after another, as the system's limit */
    char *target = realpath(path, NULL), to[PATH_MAX];
    if (target || errno != ENOENT)
        return target ? target : strdup(path);
    target = strdup(path);
    ssize_t size;
    for (int i = 0; target && i < MOST && (size = readlink(target, to, sizeof to)) > 0; i++) {
        const char *slash = *to == '/' ? NULL : strrchr(target, '/');
        char *next;
        if (asprintf(&next, "%.*s%.*s", slash ? (int)(slash + 1 - target) : 0, target, (int)size, to) < 0)
            next = NULL;
        free(target);
        target = next;
    }
    return target;
}

/* ---- new files -------------------------------------------------------------------------------------------------- */

enum cw_status cw_new_file_open(struct cw_new_file *f, const char *path, struct cw_error *err)
{
    bool printed = cw_file_is_standard(path);
    *f = (struct cw_new_file){.path = path, .fd = -1, .target = printed ? NULL : target_of(path)};
    if (!printed && is_special(path))
        return cw_error_set(err, CW_ERR_IO,
                            "%s: found standard output, a device, pipe or folder, expected a file or none", path);
    char *start = printed ? temporary_start() : f->target;
    if (start)
        f->fd = open_temporary(start, &f->temporary);
    const int reason = errno;
    if (printed)
        free(start);
    if (!f->temporary)
        return cw_error_nomem(err);
    errno = reason;
    if (f->fd < 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
    return CW_OK;
}

bool cw_file_put(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, (const uint8_t *)data + done, size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static enum cw_status write_all(int fd, const char *path, const void *data, size_t size, struct cw_error *err)
{
    return cw_file_put(fd, data, size) ? CW_OK : cannot_write(path, err);
}

/* Copies the whole file to standard output, behind any output printed there before. */
static enum cw_status copy_to_standard(const char *from, struct cw_error *err)
{
    uint8_t part[64 * 1024];
    int fd = open(from, O_RDONLY | O_CLOEXEC); /* the file's own descriptor may stand at any position */
    enum cw_status status = fd >= 0 ? cw_file_flush(err) : cw_error_set(err, CW_ERR_IO, "%s: cannot open", from);
    ssize_t n = 0;
    while (status == CW_OK && ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)))
        status = n > 0 ? write_all(STDOUT_FILENO, "standard output", part, (size_t)n, err) : CW_OK;
    if (status == CW_OK && n < 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", from, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

enum cw_status cw_new_file_close(struct cw_new_file *f, bool keep, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    if (f->fd >= 0) {
        if (f->target)
            (void)!fchmod(f->fd, mode_of(f->path));
        if (keep)
            status = cw_file_finish(f->fd, f->path, err);
        else
            close(f->fd);
        if (keep && status == CW_OK && !f->target)
            status = copy_to_standard(f->temporary, err);
        else if (keep && status == CW_OK && rename(f->temporary, f->target) != 0)
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot rename into place: %s", f->path, strerror(errno));
        if (!keep || status != CW_OK || !f->target)
            unlink(f->temporary);
    }
    free(f->temporary);
    free(f->target);
    *f = (struct cw_new_file){.fd = -1};
    return status;
}

/* The content of a new file. */
struct content {
    const void *data;
    size_t size;
    cw_file_render *render; /* NULL: writes `data` as it is */
};

/* Target of a stream. `err` keeps the reason of a failure, which the stream itself would lose. */
struct printed {
    int fd;
    const char *path;
    struct cw_error *err;
};

static ssize_t write_printed(void *cookie, const char *data, size_t size)
{
    const struct printed *to = cookie;
    return write_all(to->fd, to->path, data, size, to->err) == CW_OK ? (ssize_t)size : 0;
}

enum { PRINT_BUFFER = 1 << 18 };

static enum cw_status print_all(int fd, const char *path, const struct content *c, struct cw_error *err)
{
    struct printed to = {fd, path, err};
    FILE *out = fopencookie(&to, "w", (cookie_io_functions_t){.write = write_printed});
    if (!out)
        return cw_error_nomem(err);
    char *buffer = malloc(PRINT_BUFFER); /* the C library's own buffer would be one page */
    if (buffer)
        setvbuf(out, buffer, _IOFBF, PRINT_BUFFER);
    enum cw_status status = c->render(out, c->data, err);
    bool failed = ferror(out);
    errno = 0;
    failed = fclose(out) != 0 || failed;
    free(buffer);
    if (failed && status == CW_OK)
        status = cannot_write(path, err);
    return status;
}

static enum cw_status fill(int fd, const char *path, const struct content *c, struct cw_error *err)
{
    return c->render ? print_all(fd, path, c, err) : write_all(fd, path, c->data, c->size, err);
}

static enum cw_status fill_special(const char *path, const struct content *c, struct cw_error *err)
{
    struct stat st;
    int own = stat(path, &st) == 0 ? standard(&st) : -1;
    int fd = own >= 0 ? dup(own) : cw_file_open_write(path, 0); /* keeps the content of the file */
    if (fd < 0)
        return cw_file_cannot_open(path, errno, err);
    enum cw_status status = CW_OK;
    if (own < 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        status = cw_error_set(err, CW_ERR_IO, "%s: found a file where a pipe or device was before", path);
    if (status == CW_OK)
        status = fill(fd, path, c, err);
    enum cw_status finishing = cw_file_finish(fd, path, err);
    return status == CW_OK ? finishing : status;
}

/* `together`: the group of files that this one waits for; NULL: it takes its place at once. */
static enum cw_status make(struct cw_new_files *together, const char *path, const struct content *c,
                           struct cw_error *err)
{
    struct cw_new_file alone, *file = &alone;
    if (cw_file_is_standard(path)) {
        enum cw_status before = cw_file_flush(err);
        return before == CW_OK ? fill(STDOUT_FILENO, "standard output", c, err) : before;
    }
    if (is_special(path))
        return fill_special(path, c, err);
    enum cw_status status =
        together ? cw_new_files_open(together, path, &file, err) : cw_new_file_open(file, path, err);
    if (status == CW_OK)
        status = fill(file->fd, path, c, err);
    if (together)
        return status;
    enum cw_status closing = cw_new_file_close(file, status == CW_OK, err);
    return status == CW_OK ? closing : status;
}

enum cw_status cw_new_files_open(struct cw_new_files *files, const char *path, struct cw_new_file **file,
                                 struct cw_error *err)
{
    if (files->count == CW_NEW_FILES_MAX)
        return cw_error_nomem(err);
    *file = &files->list[files->count++];
    return cw_new_file_open(*file, path, err);
}

enum cw_status cw_new_files_print(struct cw_new_files *files, const char *path, cw_file_render *render,
                                  const void *data, struct cw_error *err)
{
    return make(files, path, &(struct content){data, 0, render}, err);
}

enum cw_status cw_new_files_close(struct cw_new_files *files, bool keep, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < files->count; i++) {
        const enum cw_status closing = cw_new_file_close(&files->list[i], keep && status == CW_OK, err);
        status = status == CW_OK ? closing : status;
    }
    files->count = 0;
    return status;
}

enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err)
{
    return make(NULL, path, &(struct content){data, size, NULL}, err);
}

enum cw_status cw_file_print(const char *path, cw_file_render *render, const void *data, struct cw_error *err)
{
    return make(NULL, path, &(struct content){data, 0, render}, err);
}

enum cw_status cw_file_flush(struct cw_error *err)
{
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? CW_OK : cannot_write("standard output", err);
}
