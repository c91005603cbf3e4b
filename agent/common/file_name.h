/* Names of output files with parts that are known when the program runs. */
#ifndef CW_AGENT_FILE_NAME_H
#define CW_AGENT_FILE_NAME_H

#include "base/error.h"

struct cw_file_name_parts {
    const char *host, *rank; /* NULL: this process's own */
    uint32_t process;
};

/* The number of this process in its parallel job, and how many processes the job has, in digits; NULL unknown. They are
 * those of the innermost launcher that started it: docs/cluster.md has the table. */
const char *cw_rank(void);
const char *cw_rank_count(void);

/* Whether names depend on the process or its rank, which only the process knows. */
bool cw_file_name_of_process(const char *pattern);

/* `pattern` with %h (host), %p (process), %r (rank, "none" without one), %q{NAME} (environment, "" where unset) and %%
 * filled in, in malloc memory. Anything else after a % is CW_ERR_USAGE, and so is a value that would lead to another
 * folder: with a slash, or of dots alone. */
enum cw_status cw_file_name(char **name, const char *pattern, const struct cw_file_name_parts *parts,
                            struct cw_error *err);

#endif
