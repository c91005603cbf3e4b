/* What the handles of libcounterworks are. Each has all that it gives in an arena of its own. */
#ifndef CW_LIB_HANDLES_H
#define CW_LIB_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/input.h"
#include "eval/result.h"
#include "host/plan.h"
#include "image/counter_data.h"
#include "image/job_ranks.h"
#include "include/counterworks/counterworks.h"

struct counterworks {
    struct cw_arena *arena;
    const char *folder; /* NULL: where the data is by default */
    size_t chip_count;
    struct cw_lib_name {
        const char *name, *path;
    } * chips; /* by name */
};

/* What plans still have of a chip that was closed: its arena. */
struct cw_lib_share {
    atomic_uint users;
    struct cw_arena *arena;
};

/* What was read of the glossary, also by functions that take the chip as const. */
struct cw_lib_words {
    pthread_mutex_t lock;
    bool asked; /* for a metric */
    struct cw_arena *arena;
    const struct cw_glossary *glossary; /* all of it; NULL: not read */
};

struct counterworks_chip {
    struct cw_arena *arena;
    struct cw_lib_share *share; /* with what else needs the arena */
    const char *folder;
    const struct cw_chip *chip;
    struct cw_lib_words *words;
    void (*tell)(void *user, const char *line); /* NULL: nobody listens */
    void *user;
};

struct counterworks_plan {
    struct cw_arena *arena;
    struct cw_lib_share *chip;
    struct cw_plan plan;
    struct cw_plan_options options; /* that it was made with in the end */
    struct cw_writer native;        /* of NVIDIA's library, in the plan's image */
};

struct counterworks_capture {
    struct cw_arena *arena;
    struct cw_input file;
    const char *name;     /* as the caller has it, for messages */
    const char *source;   /* without folders */
    struct cw_counter_data data;
};

/* A handle of `size` bytes, all zero, which begins with its arena. NULL when out of memory. */
void *cw_lib_handle(size_t size);
/* Ends a handle that cw_lib_handle() has made. */
void cw_lib_drop(void *handle);
/* One user less; the last destroys the arena. NULL is allowed. */
void cw_lib_leave(struct cw_lib_share *share);

/* Around every call that reads or prints numbers: they have a decimal point, whatever the program's locale says. */
struct cw_lib_call {
    struct cw_error err;
    void *before; /* the thread's locale_t */
};
struct cw_lib_call cw_lib_enter(void);
/* Ends the call and hands over what was found out: *error is NULL or the caller's. */
enum counterworks_status cw_lib_finish(const struct cw_lib_call *call, enum cw_status status,
                                       struct counterworks_error *error);

/* Tells the chip's listener a line, and frees it. */
void cw_lib_tell(const struct counterworks_chip *chip, struct cw_writer *line);

/* Where `err` is about a name that is no metric of the chip, adds to its message which chips of the data folder have it
 * and, if no spelling is near, the metrics of this chip whose names are most alike. `names` are those that were asked
 * for: the first that the chip does not know is the one. */
void cw_lib_hint(struct cw_error *err, const struct counterworks_chip *chip, const char *const *names, size_t count);
/* Where `err` says that CUPTI does not collect a counter with a profiler, or that no formula is known, adds the metrics
 * of the profiler's list that are most alike. */
void cw_lib_hint_listed(struct cw_error *err, const struct counterworks_chip *chip, uint32_t listed,
                        const char *const *names, size_t count);

/* Whether a name is among others. */
bool cw_lib_has_name(const char *const *names, size_t count, const char *name);
/* Begins with a capture's rows and chip, which goes by the name that it has there. CW_ERR_INPUT for another chip. */
enum cw_status cw_lib_begin(struct cw_result *wanted, const struct counterworks_capture *capture,
                            const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Opens a capture as counterworks_capture_open does, but leaves ranges and samples in the file (image/counter_data.h). */
enum cw_status cw_lib_open(struct counterworks_capture **capture, const char *path, struct cw_error *err);
/* The same, which may leave out launches of other ranks of a job than these, a list as image/rank_index.h has it; NULL:
 * none is. Ranges are numbered without them. */
enum cw_status cw_lib_open_ranks(struct counterworks_capture **capture, const char *path, const char *ranks,
                                 struct cw_error *err);
/* Brings them into memory, for what works on all of them at once; once is enough. */
enum cw_status cw_lib_load(struct counterworks_capture *capture, struct cw_error *err);
/* counterworks_capture_merge, which also says whether one of them lacks its end, and so the result, and which ranks of
 * a job they have. */
enum cw_status cw_lib_merge(const char *output, const char *const *paths, size_t count, bool *incomplete,
                            struct cw_job_ranks *job, struct cw_error *err);
/* Opens several captures, which can be merged, as one: `name` says which, as "a.cwd and 2 more". */
enum cw_status cw_lib_open_joined(struct counterworks_capture **capture, const char *const *paths, size_t count,
                                  const char *name, struct cw_error *err);
/* The one way from names to values: what `result` is to be made of, in `arena`. The chip goes by the name that it has
 * in the capture; CW_ERR_INPUT for another chip, CW_ERR_UNSUPPORTED for a capture of instructions. NULL for the names:
 * every metric whose counters the capture has. The chip's listener is told what the capture lacks, and what the chip's
 * database, with the user's formulas, knows otherwise than the plan did. */
enum cw_status cw_lib_select(struct cw_result *result, const struct counterworks_capture *capture,
                             const struct counterworks_chip *chip, const char *const *names, size_t count,
                             struct cw_arena *arena, struct cw_error *err);
/* Selects and evaluates; the listener is told of metrics without a formula as well. `groups`: what eval/groups.h made
 * of the capture, whose rows are evaluated then, or NULL. */
enum cw_status cw_lib_evaluate(struct cw_result *result, const struct counterworks_capture *capture,
                               const struct cw_counter_data *groups, const struct counterworks_chip *chip,
                               const char *const *names, size_t count, const struct cw_eval_options *options,
                               struct cw_arena *arena, struct cw_error *err);
/* Tells the chip's listener of a capture that is incomplete. */
void cw_lib_tell_incomplete(const struct counterworks_capture *capture, const struct counterworks_chip *to);
/* What is written of a result, which is borrowed: with what is said of its metrics in the chip's data folder, or
 * without for NULL. All else lives in `arena`; `output` must stay where it is. Of the library for HDF5. */
struct cw_output;
enum cw_status cw_lib_output(struct cw_output *output, const struct cw_result *result,
                             const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* The same of groups of ranges. */
struct cw_output_rows;
enum cw_status cw_lib_output_groups(struct cw_output *output, const struct cw_output_rows *rows,
                                    const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* NULL: the usual ones. */
struct cw_eval_options cw_lib_spans(const struct counterworks_evaluate_options *options);

#endif
