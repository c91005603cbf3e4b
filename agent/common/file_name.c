#define _GNU_SOURCE
#include "agent/common/file_name.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

const char *cw_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return NULL;
}

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
};

/* A value is part of a name: it leads to no other folder. */
static void put_value(struct filling *f, const char *part, size_t length, const char *value)
{
    bool dots = *value && !value[strspn(value, ".")];
    if ((dots || strchr(value, '/')) && !f->refused) {
        cw_error_set(f->err, CW_ERR_USAGE,
                     "found '%s' for %%%.*s in the file name '%s', expected a value that is no path", value,
                     (int)length, part, f->pattern);
        f->refused = true;
    }
    cw_write_bytes(&f->out, value, strlen(value));
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
    put_value(f, at, (size_t)(end + 1 - at), getenv(name) ? getenv(name) : "");
    return end + 1;
}

/* Writes what the letter at `at` means; returns the character after it, or NULL. */
static const char *put_part(struct filling *f, const char *at)
{
    const struct cw_file_name_parts *parts = f->parts;
    const char *rank = parts->rank ? parts->rank : cw_rank();
    char host[256] = "";
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

enum cw_status cw_file_name(char **name, const char *pattern, const struct cw_file_name_parts *parts,
                            struct cw_error *err)
{
    struct filling f = {.pattern = pattern, .parts = parts, .err = err};
    const char *at = pattern;
    cw_writer_init(&f.out);
    *name = NULL;
    while (at && *at) {
        if (*at == '%')
            at = put_part(&f, at + 1);
        else
            cw_write_u8(&f.out, (uint8_t)*at++);
    }
    cw_write_u8(&f.out, 0);
    if (at && !f.refused && f.out.status == CW_OK)
        *name = strdup((const char *)f.out.data);
    cw_writer_free(&f.out);
    if (!at)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found the file name '%s', expected %%h, %%p, %%r, %%q{NAME} or %%%% after "
                            "each %%",
                            pattern);
    return f.refused ? CW_ERR_USAGE : *name ? CW_OK : cw_error_nomem(err);
}
