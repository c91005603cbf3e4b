/* What of a program to collect. The agent asks about processes and devices, the injection library (or the simulated
 * GPU) about launches and ranges; both are told the same. */
#ifndef CW_AGENT_FILTER_H
#define CW_AGENT_FILTER_H

#include <regex.h>

#include "base/bytes.h"

enum { CW_FILTER_MOST = 16 };

struct cw_filter_options {                                          /* names are POSIX extended regular expressions */
    const char *kernels[CW_FILTER_MOST], *excluded[CW_FILTER_MOST]; /* any of them */
    size_t kernel_count, excluded_count;                            /* 0 kernels: all */
    const char *range, *process;                                    /* NULL: everything */
    uint64_t devices;                                               /* a bit for each device number; 0: all */
    uint64_t launch_skip, launch_count;                             /* of the launches that match everything else */
    bool only_program;                                              /* not its children */
};

struct cw_filter_regexes {
    regex_t list[CW_FILTER_MOST];
    size_t count;
};

struct cw_filter {
    struct cw_filter_options options;
    struct cw_filter_regexes kernels, excluded, ranges, processes;
    uint64_t launches; /* that matched so far */
    char *last_kernel; /* programs launch the same few again and again */
    bool last_matches;
};

/* The options must outlive the filter. An expression that does not compile is CW_ERR_USAGE. To be closed also then. */
enum cw_status cw_filter_open(struct cw_filter *filter, const struct cw_filter_options *options, struct cw_error *err);
void cw_filter_close(struct cw_filter *filter);

bool cw_filter_process(const struct cw_filter *filter, const char *name, bool is_program);
bool cw_filter_device(const struct cw_filter *filter, uint32_t device);
/* Whether a user range with this name is wanted. */
bool cw_filter_range(const struct cw_filter *filter, const char *name);
/* Whether a kernel is wanted, whatever else of its launches is asked for. The name is as the driver gives it, "" for a
 * graph; it matches as it is or demangled. */
bool cw_filter_kernel(struct cw_filter *filter, const char *kernel);
/* Whether a launch is wanted; `in_range` says whether it lies in a range that is. Counts the launch. */
bool cw_filter_launch(struct cw_filter *filter, const char *kernel, bool in_range);

/* Whether a list "cudaMalloc*,-cudaMallocHost" has a name: the last pattern (fnmatch) that matches says so, with a "-"
 * that it has not. One that begins with a "-" has all others. */
bool cw_filter_name_is_listed(const char *list, const char *name);

/* Whether it takes some launches and not others of one kernel. */
bool cw_filter_counts(const struct cw_filter_options *options);
/* The options as a shell takes them: "--kernel gemm --launch-skip 700"; "" for everything. NULL when out of memory. */
const char *cw_filter_text(const struct cw_filter_options *options, struct cw_arena *arena);

void cw_filter_write(struct cw_writer *out, const struct cw_filter_options *options);
void cw_filter_read(struct cw_reader *in, struct cw_filter_options *options, struct cw_arena *arena);

#endif
