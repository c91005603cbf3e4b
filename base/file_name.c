#define _GNU_SOURCE
#include "base/file_name.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/decimal.h"

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

/* An empty variable counts as unset. */
static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static bool read_variable(const char *variable, uint32_t *number)
{
    const char *value = getenv(variable);
    return value && cw_decimal_read_u32(value, number);
}

/* Confirms RANK, which alone may mean anything, such as the node number in a script that calls torchrun. */
static bool is_worker(void)
{
    return is_set("LOCAL_RANK") || is_set("TORCHELASTIC_RUN_ID");
}

/* Whether this process is part of a Slurm step. The script of an allocation is one process, but has SLURM_PROCID=0 and
 * maybe the number of tasks that srun would start. It has no step, or a step number that Slurm reserves. */
static bool is_step(void)
{
    enum { STEP_NUMBERS_END = 0xfffffff0 };
    const char *step = is_set("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
    uint32_t number;
    if (is_set(step))
        return read_variable(step, &number) && number < STEP_NUMBERS_END;
    return read_variable("SLURM_PROCID", &number) && number > 0;
}

/* Launchers, inner ones first: a launcher within an allocation, a task or a rank passes on the variables of the
 * launcher around it. */
static const struct launcher {
    const char *rank, *sizes[2];
    bool (*started)(void); /* whether it started this process; NULL: its rank variable is proof enough */
} launchers[] = {
    {"RANK", {"WORLD_SIZE"}, is_worker},
    {"HOROVOD_RANK", {"HOROVOD_SIZE"}, NULL},
    {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, NULL},
    {"PMI_RANK", {"PMI_SIZE"}, NULL},
    {"MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_SIZE"}, NULL},
    {"MVP_COMM_WORLD_RANK", {"MVP_COMM_WORLD_SIZE"}, NULL},
    {"FLUX_TASK_RANK", {"FLUX_JOB_SIZE"}, NULL},
    {"JSM_NAMESPACE_RANK", {"JSM_NAMESPACE_SIZE"}, NULL},
    {"PALS_RANKID", {NULL}, NULL},
    {"ALPS_APP_PE", {NULL}, NULL},
    {"PMIX_RANK", {NULL}, NULL},
    {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, is_step},
    {"RANK", {"WORLD_SIZE"}, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* Index of the first launcher, from `first` on, that gives this process a rank; LAUNCHERS: none does. */
static size_t find_launcher(size_t first, uint32_t *rank)
{
    size_t i = first;
    while (i < LAUNCHERS &&
           !(read_variable(launchers[i].rank, rank) && (!launchers[i].started || launchers[i].started())))
        i++;
    return i;
}

const char *cw_rank(void)
{
    uint32_t rank;
    const size_t found = find_launcher(0, &rank);
    return found < LAUNCHERS ? getenv(launchers[found].rank) : NULL;
}

/* PMIx, PALS and ALPS have no variable for the size. If an outer launcher gives the same rank, it is the same job: srun
 * passes PMIX_RANK on itself. */
const char *cw_rank_count(void)
{
    uint32_t rank, other, count;
    size_t found = find_launcher(0, &rank);
    while (found < LAUNCHERS && !launchers[found].sizes[0])
        if ((found = find_launcher(found + 1, &other)) < LAUNCHERS && other != rank)
            return NULL;
    for (size_t i = 0; found < LAUNCHERS && i < 2 && launchers[found].sizes[i]; i++)
        if (read_variable(launchers[found].sizes[i], &count) && count > rank)
            return getenv(launchers[found].sizes[i]);
    return NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

bool cw_file_name_of_process(const char *pattern)
{
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'p' || at[1] == 'r')
            return true;
    return false;
}

struct filling {
    struct cw_writer out;
    const char *pattern;
    const struct cw_file_name_parts *parts;
    struct cw_error *err;
    bool refused;
    bool glob, any_host; /* glob: for glob(3) */
};

/* Of a process and of a rank in a pattern for glob(3), which knows no repeated digits: cw_file_name_fits() does. */
static const char number[] = "[0-9]*", number_or_none[] = "[0-9n]*";

/* Puts text that stands for itself. */
static void put_text(struct filling *f, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (f->glob && strchr("*?[\\", text[i]))
            cw_write_u8(&f->out, '\\');
        cw_write_u8(&f->out, (uint8_t)text[i]);
    }
}

/* Puts a value into the name. Refuses a value that would lead to another folder. */
static void put_value(struct filling *f, const char *part, size_t length, const char *value)
{
    bool dots = *value && !value[strspn(value, ".")];
    if ((dots || strchr(value, '/')) && !f->refused) {
        cw_error_set(f->err, CW_ERR_USAGE,
                     "found '%s' for %%%.*s in the file name '%s', expected a value that is no path", value,
                     (int)length, part, f->pattern);
        f->refused = true;
    }
    put_text(f, value, strlen(value));
}

static const char *own_host(char *name, size_t size)
{
    return gethostname(name, size - 1) == 0 ? name : "";
}

/* %q{NAME} */
static const char *put_variable(struct filling *f, const char *at)
{
    char name[256];
    const char *end = at[1] == '{' ? strchr(at, '}') : NULL;
    size_t length = end ? (size_t)(end - at - 2) : sizeof name;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, at + 2, length);
    name[length] = 0;
    if (f->glob && f->any_host)
        cw_write_u8(&f->out, '*');
    else
        put_value(f, at, (size_t)(end + 1 - at), getenv(name) ? getenv(name) : "");
    return end + 1;
}

/* Writes the part for the letter at `at`; returns the character behind it, or NULL. */
static const char *put_part(struct filling *f, const char *at)
{
    const struct cw_file_name_parts *parts = f->parts;
    const char *rank = parts->rank ? parts->rank : cw_rank();
    char host[256] = "";
    if (f->glob && (*at == 'p' || *at == 'r' || (*at == 'h' && f->any_host))) {
        cw_write_format(&f->out, "%s", *at == 'p' ? number : *at == 'r' ? number_or_none : "*");
        return at + 1;
    }
    switch (*at) {
    case '%':
        cw_write_u8(&f->out, '%');
        return at + 1;
    case 'h':
        put_value(f, at, 1, parts->host ? parts->host : own_host(host, sizeof host));
        return at + 1;
    case 'p':
        cw_write_format(&f->out, "%u", parts->process);
        return at + 1;
    case 'r':
        put_value(f, at, 1, rank ? rank : "none");
        return at + 1;
    case 'q':
        return put_variable(f, at);
    default:
        return NULL;
    }
}

static enum cw_status fill(char **name, struct filling *f)
{
    const char *at = f->pattern;
    cw_writer_init(&f->out);
    *name = NULL;
    while (at && *at) {
        if (*at == '%')
            at = put_part(f, at + 1);
        else
            put_text(f, at++, 1);
    }
    cw_write_u8(&f->out, 0);
    if (at && !f->refused && f->out.status == CW_OK)
        *name = strdup((const char *)f->out.data);
    cw_writer_free(&f->out);
    if (!at)
        return cw_error_set(f->err, CW_ERR_USAGE,
                            "found the file name '%s', expected %%h, %%p, %%r, %%q{NAME} or %%%% after "
                            "each %%",
                            f->pattern);
    return f->refused ? CW_ERR_USAGE : *name ? CW_OK : cw_error_nomem(f->err);
}

enum cw_status cw_file_name(char **name, const char *pattern, const struct cw_file_name_parts *parts,
                            struct cw_error *err)
{
    struct filling f = {.pattern = pattern, .parts = parts, .err = err};
    return fill(name, &f);
}

enum cw_status cw_file_name_glob(char **glob, const char *pattern, bool any_host, struct cw_error *err)
{
    const struct cw_file_name_parts own = {0};
    struct filling f = {.pattern = pattern, .parts = &own, .err = err, .glob = true, .any_host = any_host};
    return fill(glob, &f);
}

/* Whether a name fits that begins with `least` to `most` characters for a part of the pattern, and then fits the rest.
 */
static bool fits_after(const char *rest, const char *name, size_t least, size_t most)
{
    for (size_t length = least; length <= most; length++)
        if (cw_file_name_fits(rest, name + length))
            return true;
    return false;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool cw_file_name_fits(const char *glob, const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    if (begins(glob, number))
        return fits_after(glob + strlen(number), name, 1, digits);
    if (begins(glob, number_or_none))
        return begins(name, "none") ? cw_file_name_fits(glob + strlen(number_or_none), name + strlen("none"))
                                    : fits_after(glob + strlen(number_or_none), name, 1, digits);
    if (*glob == '*')
        return fits_after(glob + 1, name, 0, strcspn(name, "/"));
    glob += *glob == '\\';
    return *glob == *name && (!*name || cw_file_name_fits(glob + 1, name + 1));
}

char *cw_file_name_literal(const char *name)
{
    char *pattern = malloc(2 * strlen(name) + 1), *end = pattern;
    for (; pattern && *name; name++) {
        *end++ = *name;
        if (*name == '%')
            *end++ = '%';
    }
    if (pattern)
        *end = 0;
    return pattern;
}
