/* Writes ranges: directly into a file, or under application replay into a table until every run is done. One file, or
 * one for each process, rank or host if the name asks for it (file_name.h). */
#ifndef CW_AGENT_RANGE_OUTPUT_H
#define CW_AGENT_RANGE_OUTPUT_H

#include "agent/common/steady_report.h"
#include "agent/common/tally.h"
#include "agent/output/collector.h"
#include "agent/output/file_devices.h"
#include "agent/output/runs.h"
#include "agent/session/program.h"

enum { CW_MOST_FILES = 1024 };

struct cw_output_device;
struct cw_output_file;

struct cw_range_output {
    const char *pattern;
    bool force; /* also replace files that are no captures */
    const struct cw_schema *schema;
    struct cw_arena *arena;
    const struct cw_clock_log *clocks; /* may be set before the end; NULL: unknown */
    struct cw_runs *runs;              /* NULL: no application replay */
    uint32_t run_count, run, groups;   /* groups: sets of runs that see different ranges */
    uint64_t ranges, dropped;
    uint64_t arrived;                 /* ranges, in this run */
    const char *filter;               /* the filter as text, for the file; NULL or "": nothing was left out */
    struct cw_tally why;              /* why ranges were dropped, where that is known */
    bool steady;                      /* devices get a report on periods; set it before the first range */
    struct cw_file_devices known;     /* all devices of the capture, as indices of `devices` */
    struct cw_output_device *devices; /* room for CW_MOST_FILE_DEVICES */
    uint32_t file_count;
    struct cw_output_file *files[CW_MOST_FILES];
};

struct cw_range_source { /* the process of a range */
    uint32_t process;
    const char *program;
    const struct cw_device *device; /* with the facts of this run: 0 instances for counters not collected */
};

/* Opens the output. `runs` is 1, or under application replay the number of runs, which alternate between `groups`
 * (cw_runs_begin). The schema must outlive the output. Creates the file at once if its name does not depend on the
 * process. Close the output also after a failure. */
enum cw_status cw_range_output_open(struct cw_range_output *output, const char *pattern, bool force,
                                    const struct cw_schema *schema, uint32_t runs, uint32_t groups,
                                    struct cw_error *err);
void cw_range_output_begin(struct cw_range_output *output);
/* Adds a range, with attributes `rank` (if known) and `runs`. values: NULL for a range that this run saw and did not
 * collect, because another run may have collected it. */
enum cw_status cw_range_output_add(struct cw_range_output *output, const struct cw_range_source *source,
                                   const struct cw_range *range, const struct cw_value *values, struct cw_error *err);
/* Counts launches or ranges that were not collected; `why`: reason for the first, "" or NULL if unknown. */
enum cw_status cw_range_output_drop(struct cw_range_output *output, const struct cw_range_source *source,
                                    uint64_t count, const char *why, struct cw_error *err);
/* Takes a report on the periods of launches on the source's device; a later one replaces it. */
enum cw_status cw_range_output_steady(struct cw_range_output *output, const struct cw_range_source *source,
                                      const struct cw_steady_report *report, struct cw_error *err);
/* Prints on stderr how many launches or ranges were dropped. */
void cw_range_output_report(struct cw_range_output *output);
/* Ends a run and reports on stderr how it differs from the first. */
void cw_range_output_compare(const struct cw_range_output *output);
/* Writes the ranges that application replay collected. */
enum cw_status cw_range_output_flush(struct cw_range_output *output, struct cw_error *err);
/* Writes these ranges, and how the program ended. */
enum cw_status cw_range_output_end(struct cw_range_output *output, const struct cw_program *program,
                                   struct cw_error *err);
void cw_range_output_close(struct cw_range_output *output);

#endif
