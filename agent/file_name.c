#define _GNU_SOURCE
#include "agent/file_name.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/bytes.h"

const char *cw_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return NULL;
}

static void put_host(struct cw_writer *out, const char *host)
{
    char own[256] = "";
    if (!host && gethostname(own, sizeof own - 1) == 0)
        host = own;
    cw_write_format(out, "%s", host);
}

/* Writes what the letter at `at` means; returns the character after it, or NULL. */
static const char *put_part(struct cw_writer *out, const char *at, const struct cw_file_name_parts *parts)
{
    const char *rank = parts->rank ? parts->rank : cw_rank(), *end;
    char variable[256];
    switch (*at) {
    case '%':
        cw_write_u8(out, '%');
        return at + 1;
    case 'h':
        put_host(out, parts->host);
        return at + 1;
    case 'p':
        cw_write_format(out, "%u", parts->process);
        return at + 1;
    case 'r':
        cw_write_format(out, "%s", rank ? rank : "none");
        return at + 1;
    case 'q':
        end = at[1] == '{' ? strchr(at, '}') : NULL;
        if (!end || (size_t)(end - at - 2) >= sizeof variable)
            return NULL;
        memcpy(variable, at + 2, (size_t)(end - at - 2));
        variable[end - at - 2] = 0;
        cw_write_format(out, "%s", getenv(variable) ? getenv(variable) : "");
        return end + 1;
    default:
        return NULL;
    }
}

enum cw_status cw_file_name(char **name, const char *pattern, const struct cw_file_name_parts *parts,
                            struct cw_error *err)
{
    struct cw_writer out;
    const char *at = pattern;
    cw_writer_init(&out);
    *name = NULL;
    while (at && *at) {
        if (*at == '%')
            at = put_part(&out, at + 1, parts);
        else
            cw_write_u8(&out, (uint8_t)*at++);
    }
    cw_write_u8(&out, 0);
    if (at && out.status == CW_OK)
        *name = strdup((const char *)out.data);
    cw_writer_free(&out);
    if (!at)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found the file name '%s', expected %%h, %%p, %%r, %%q{NAME} or %%%% after "
                            "each %%",
                            pattern);
    return *name ? CW_OK : cw_error_nomem(err);
}
