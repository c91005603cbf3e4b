/* A trace for all readers: GPU work by stream and program activity by thread, each in the order of time and joined to
 * each other. Made of rows that are read block by block (image/trace_data.h).
 *
 * Rows without a known time are counted, and are not here. Few readers want kinds such as "memory" and "environment":
 * they read these blocks again (cw_timeline_each).
 *
 * Times are ns since 1970. The list of a lane (`first`, `count`) is ordered by start, the longer item first where two
 * start at once. Long lists are in files (base/large.h): call cw_timeline_step for each item, and 10^8 events take less
 * than 1 GB of memory. */
#ifndef CW_EVAL_TIMELINE_TIMELINE_H
#define CW_EVAL_TIMELINE_TIMELINE_H

#include "base/elide.h"
#include "base/large.h"
#include "image/counter_data.h"
#include "image/trace_data.h"

#define CW_TIMELINE_NONE UINT32_MAX /* no index */

struct cw_timeline_list { /* the items of one lane */
    uint32_t first, count;
};

/* The most open NVTX ranges that are followed in a thread, and in the process. */
enum { CW_TIMELINE_MOST_OPEN = 256 };
enum { CW_TIMELINE_NOT_READY = 600 }; /* a result, but no failure: the answer of a query */

struct cw_timeline_window {
    uint64_t start, end;
};

struct cw_timeline {
    const struct cw_trace *trace;
    const struct cw_counter_data *data;
    struct cw_large *large; /* has the lists of items, and other lists of their length */
    uint64_t start, end;    /* of all rows with a time; 0 without any */
    uint32_t name_count, shape_count, stream_count, thread_count, path_count, account_count, window_count;
    uint32_t gpu_count, call_count, wait_count, range_count, mark_count;
    /* A text of one process or several, in the order of strcmp; 0 is "". */
    struct cw_timeline_name {
        const char *text;  /* as the file has it */
        const char *shown; /* a kernel's for people; a call's without its version: cudaLaunchKernel */
    } * names;
    /* Properties common to launches of a kernel. Unknown are a size of 0, registers of CW_TIMELINE_NONE, and bytes of
     * CW_TRACE_UNKNOWN. */
    struct cw_timeline_shape {
        uint32_t process, name;
        uint64_t id;
        uint32_t grid[3], block[3], cluster[3];
        uint32_t registers;
        uint64_t static_shared, dynamic_shared, local_per_thread;
    } * shapes;
    /* A stream and its items. By device, process, context and stream. */
    struct cw_timeline_stream {
        uint32_t process, device; /* device: index into the file's, or CW_NO_TRACE_DEVICE */
        uint64_t context, stream;
        uint32_t name;                   /* given by the program, 0 none */
        bool shares_number, shares_name; /* with another stream of the process and device */
        struct cw_timeline_list gpu;
    } * streams;
    /* A thread of a process. By process and number. */
    struct cw_timeline_thread {
        uint32_t process;
        uint64_t thread; /* as the system has it; CW_TRACE_UNKNOWN: the file does not say */
        uint32_t name;
        struct cw_timeline_list calls, ranges, marks;
    } * threads;
    /* Nested NVTX ranges: "outer/inner", each "domain@name" where it is of a domain. Ranges that were captured at the
     * same place have this text as their attribute `nvtx`. Path 0 has no name.
     *
     * A call from a thread without an open pushed range has the path of the one thread of its process that has such
     * ranges, and none if several have: PyTorch's backward pass launches from a thread of its own. Captured ranges do
     * without that. */
    struct cw_timeline_path {
        uint32_t parent, domain, name, depth;
    } * paths;
    const struct cw_timeline_part { /* [name] of paths */
        const char *pattern;        /* with stars for its numbers; NULL: in no path */
        struct cw_text_sum sum, pattern_sum;
    } * parts;
    size_t path_size; /* most bytes of a path's text, its NUL included */
    /* The record counts of a process and kind, as of its last row: CW_TRACE_UNKNOWN without any. */
    struct cw_timeline_account {
        uint32_t process;
        const char *kind, *note;
        uint64_t launched, recorded, dropped, untimed;
    } * accounts;
    struct cw_timeline_window *windows; /* the times that were traced, in order, apart; none: all the time */
    /* Work of a GPU: a kernel, copy, memset or graph_launch (a whole graph). */
    struct cw_timeline_gpu {
        uint64_t start, end;
        uint32_t stream;      /* index into streams */
        uint32_t correlation; /* CW_TIMELINE_NONE unknown */
        uint64_t bytes;       /* of copies and memsets; CW_TRACE_UNKNOWN unknown */
        uint32_t name;        /* of a kernel; a copy's direction, a memset's kind of memory */
        uint32_t call;        /* its launch, index into calls, or CW_TIMELINE_NONE */
        uint32_t path;        /* the NVTX ranges around that call (cw_timeline_own_path); 0 none, or not known */
        uint32_t shape;       /* of a kernel, index into shapes, or CW_TIMELINE_NONE */
        uint32_t from, to;    /* of a copy: kinds of memory, names */
        uint32_t block;       /* of the trace, which has its row */
        uint16_t row;
        uint8_t kind;                        /* enum cw_trace_kind */
        bool in_graph : 1, other_thread : 1; /* other_thread: path is of another thread than the call's */
    } * gpu;
    /* A call of the driver or the runtime, or one by the driver itself (internal_launch). */
    struct cw_timeline_call {
        uint64_t start, end;
        uint32_t thread, correlation;
        uint32_t name, result; /* 0: success */
        uint32_t path;         /* the NVTX ranges around it */
        uint32_t launched;     /* how many items on the GPU are from it */
        uint32_t block;
        uint16_t row;
        uint8_t kind;
        bool other_thread; /* path is of another thread */
    } * calls;
    /* A time in which the program waited: a synchronization, an overhead or a jit. By start. */
    struct cw_timeline_wait {
        uint64_t start, end;
        uint32_t process, correlation;
        uint32_t type, call;                    /* type: a name; call: its call, or CW_TIMELINE_NONE */
        uint32_t thread;                        /* or CW_TIMELINE_NONE */
        uint32_t stream;                        /* index into streams, or CW_TIMELINE_NONE */
        uint64_t context, stream_number, event; /* CW_TRACE_UNKNOWN: not known */
        uint32_t block;
        uint16_t row;
        uint8_t kind;
    } * waits;
    /* An NVTX range. One still open at the end of the trace ends there. */
    struct cw_timeline_range {
        uint64_t start, end;
        uint32_t thread, domain, name; /* domain: a name, 0 the default one */
        uint32_t path;                 /* the ranges open at its begin, and itself */
        uint32_t color;                /* 0xAARRGGBB, 0 none */
        uint32_t payload;              /* text of its process (cw_trace_text), 0 none */
        uint32_t block;
        uint16_t row;
        bool pushed, open; /* pushed: of its thread alone; otherwise started, of the whole process */
    } * ranges;
    struct cw_timeline_mark {
        uint64_t start, end; /* equal */
        uint32_t thread, domain, name, color, block;
        uint16_t row;
    } * marks;
    uint64_t rows[CW_TRACE_KIND__COUNT], untimed[CW_TRACE_KIND__COUNT]; /* untimed: rows that should have a time */
    uint32_t unnamed;    /* kernels that stay mangled, as to read their names takes too much memory or time */
    uint64_t unfollowed; /* NVTX ranges without a path, as CW_TIMELINE_MOST_OPEN or so are open around them */
    const char *const *process_marks;  /* [process]: follows a number that others have with the same rank: " on node1",
                                          " on node1 #2"; else "" */
    const uint32_t *const *text_names; /* [process][text]: its name */
    bool *cut; /* [process]: its last rows are lost, as it was killed or the file lacks its end */
};

/* Call it between two items of a long list. */
static inline void cw_timeline_step(const struct cw_timeline *timeline)
{
    cw_large_step(timeline->large);
}

/* The path of the launching thread's own ranges. */
static inline uint32_t cw_timeline_own_path(const struct cw_timeline_gpu *gpu)
{
    return gpu->other_thread ? 0 : gpu->path;
}

/* Reads all blocks. `trace` and `data` must stay. CW_ERR_INPUT also if the blocks have more rows than a file of this
 * size may have. Free the timeline in any case. */
enum cw_status cw_timeline_load(struct cw_timeline *timeline, const struct cw_trace *trace,
                                const struct cw_counter_data *data, size_t file_size, struct cw_arena *arena,
                                struct cw_error *err);
void cw_timeline_free(struct cw_timeline *timeline);

/* The windows that the user asked for, if none has opened, so that nothing was traced; NULL otherwise. */
const char *cw_timeline_unopened(const struct cw_timeline *timeline);

/* Fills in the times of each process's first and last row, [process]; 0 and 0 without a row that has a time. */
void cw_timeline_spans(const struct cw_timeline *timeline, struct cw_timeline_window *spans);

/* Brings windows into order, joins windows that touch, and returns how many remain. */
uint32_t cw_timeline_join_windows(struct cw_timeline_window *windows, uint32_t count);

/* Reads the blocks of a kind, in their order, as long as `take` returns CW_OK. */
typedef enum cw_status cw_timeline_take(void *context, const struct cw_trace_rows *rows, size_t block,
                                        struct cw_error *err);
enum cw_status cw_timeline_each(const struct cw_timeline *timeline, enum cw_trace_kind kind, cw_timeline_take *take,
                                void *context, struct cw_error *err);

/* The name for a text of a process. */
uint32_t cw_timeline_name(const struct cw_timeline *timeline, uint32_t process, uint64_t text);
/* An attribute of a process ("rank"), or NULL. */
const char *cw_timeline_attribute(const struct cw_timeline *timeline, uint32_t process, const char *key);

/* The text of a path, "outer/inner". One longer than path_size is elided (base/elide.h): path_size is
 * CW_TIMELINE_NAME_SIZE, unless the texts of all paths are much longer than the file. Needs no memory. Returns `text`.
 */
enum { CW_TIMELINE_NAME_SIZE = CW_ELIDED_SIZE };
const char *cw_timeline_path_text(const struct cw_timeline *timeline, uint32_t path, char text[CW_TIMELINE_NAME_SIZE]);
/* The same with stars for the numbers of mixed paths, [path]. */
const char *cw_timeline_path_pattern(const struct cw_timeline *timeline, uint32_t path, const bool *mixed,
                                     char text[CW_TIMELINE_NAME_SIZE]);
/* These numbers: "3/12". Returns `text`. */
const char *cw_timeline_path_numbers(const struct cw_timeline *timeline, uint32_t path, const bool *mixed,
                                     char text[CW_TIMELINE_NAME_SIZE]);
/* The texts of all paths; `patterns`: with stars for all numbers. NULL when out of memory. */
const char *const *cw_timeline_path_texts(const struct cw_timeline *timeline, bool patterns, struct cw_arena *arena);

#endif
