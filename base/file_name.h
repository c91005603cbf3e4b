/* Fills in names of output files with values known when the program runs. */
#ifndef CW_BASE_FILE_NAME_H
#define CW_BASE_FILE_NAME_H

#include "base/error.h"

struct cw_file_name_parts {
    const char *host, *rank; /* NULL: use this process's own */
    uint32_t process;
};

/* Return the number of this process in its parallel job, and the number of processes in the job, in digits; NULL
 * unknown. The innermost launcher decides: docs/cluster.md has the table. */
const char *cw_rank(void);
const char *cw_rank_count(void);

/* Whether names depend on the process or its rank, which only the process knows. */
bool cw_file_name_of_process(const char *pattern);

/* Fills in `pattern`: %h (host), %p (process), %r (rank, "none" without one), %q{NAME} (environment, "" if unset) and
 * %%. Returns malloc memory. CW_ERR_USAGE for anything else after a %, and for a value that would lead to another
 * folder: with a slash, or only dots. */
enum cw_status cw_file_name(char **name, const char *pattern, const struct cw_file_name_parts *parts,
                            struct cw_error *err);

/* Makes a pattern for glob(3) of all names that `pattern` may become for processes of this host, or of any, which has
 * an environment of its own. Returns malloc memory, and fails as cw_file_name() does. */
enum cw_status cw_file_name_glob(char **glob, const char *pattern, bool any_host, struct cw_error *err);
/* Whether a name fits such a pattern. glob(3) also finds names that have more than digits for a process or a rank. */
bool cw_file_name_fits(const char *glob, const char *name);

/* Returns the pattern whose name is `name` itself, in malloc memory; NULL when out of memory. */
char *cw_file_name_literal(const char *name);

#endif
