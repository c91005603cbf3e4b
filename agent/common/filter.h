/* Selects the parts of a program to collect. The agent asks about processes and devices, the injection library (or the
 * simulated GPU) about launches and ranges; both get the same options. */
#ifndef CW_AGENT_FILTER_H
#define CW_AGENT_FILTER_H

#include <regex.h>

#include "base/bytes.h"

enum { CW_FILTER_MOST = 16 };

struct cw_filter_options { /* names are whole ones, or POSIX extended regular expressions */
    const char *kernels[CW_FILTER_MOST], *excluded[CW_FILTER_MOST]; /* any of these names */
    size_t kernel_count, excluded_count;                            /* no kernels: all */
    const char *range, *process;                                    /* NULL: all */
    uint64_t devices;                                               /* a bit for each device number; 0: all */
    uint64_t launch_skip, launch_count;                             /* count launches that match everything else */
    bool only_program;                                              /* only the program itself, not its children */
};

struct cw_filter {
    struct cw_filter_options options;
    struct cw_filter_regexes {
        regex_t list[CW_FILTER_MOST];
        bool is_name[CW_FILTER_MOST]; /* a whole name that is no expression: the regex is unused */
        size_t count;
    } kernels, excluded, ranges, processes;
    uint64_t launches; /* matching launches so far */
    char *last_kernel; /* cache: programs launch the same few kernels again and again */
    bool last_matches;
};

/* Opens a filter. The options must outlive it. CW_ERR_USAGE if an expression does not compile. Close the filter also
 * after a failure. */
enum cw_status cw_filter_open(struct cw_filter *filter, const struct cw_filter_options *options, struct cw_error *err);
void cw_filter_close(struct cw_filter *filter);

bool cw_filter_process(const struct cw_filter *filter, const char *name, bool is_program);
bool cw_filter_device(const struct cw_filter *filter, uint32_t device);
/* Whether the filter selects user ranges of this name. */
bool cw_filter_range(const struct cw_filter *filter, const char *name);
/* Whether the filter selects the kernel by its name, apart from the conditions on launches. The name is the driver's,
 * "" for a graph; it is matched both as it is and demangled. */
bool cw_filter_kernel(struct cw_filter *filter, const char *kernel);
/* Counts a launch that matches everything else. Whether the filter selects it by its number. */
bool cw_filter_count(struct cw_filter *filter);
/* Whether it selects none of the launches that follow, by their number. */
bool cw_filter_is_done(const struct cw_filter *filter);
/* Whether the filter selects a launch, and counts the launch. `in_range`: it lies in a selected range. */
bool cw_filter_launch(struct cw_filter *filter, const char *kernel, bool in_range);

/* Whether a list such as "cudaMalloc*,-cudaMallocHost" includes a name. The last matching pattern (fnmatch) decides; a
 * "-" excludes. A list that begins with "-" includes all other names. */
bool cw_filter_name_is_listed(const char *list, const char *name);
/* Whether such a list includes a driver call by a pattern for the driver's calls alone: one that begins with "cu", but
 * not with "cuda". */
bool cw_filter_names_driver_call(const char *list, const char *name);

/* Whether the filter may select only some launches of a kernel. */
bool cw_filter_counts(const struct cw_filter_options *options);
/* Returns the options as shell text: "--kernel gemm --launch-skip 700"; "" if they select everything. NULL when out of
 * memory. */
const char *cw_filter_text(const struct cw_filter_options *options, struct cw_arena *arena);

void cw_filter_write(struct cw_writer *out, const struct cw_filter_options *options);
void cw_filter_read(struct cw_reader *in, struct cw_filter_options *options, struct cw_arena *arena);

#endif
