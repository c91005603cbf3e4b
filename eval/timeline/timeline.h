/* A trace as everybody reads it: what ran on the GPUs, by stream, and what the program did, by thread, each in the
 * order of time and joined to each other. Made of rows that are read block by block (image/trace_data.h).
 *
 * What happened at no known time is counted and has no place here. Kinds of rows that are few, or that only one reader
 * wants, such as "memory" and "environment", are read from the blocks again (cw_timeline_each).
 *
 * Times are ns since 1970. A list that a lane has (`first`, `count`) is ordered by start, the longer first where two
 * start at once. Lists of many items are in files (base/large.h): who goes through one calls cw_timeline_step for each
 * item, and 10^8 events take less than 1 GB of memory. */
#ifndef CW_EVAL_TIMELINE_TIMELINE_H
#define CW_EVAL_TIMELINE_TIMELINE_H

#include "base/elide.h"
#include "base/large.h"
#include "image/counter_data.h"
#include "image/trace_data.h"

/* No index. */
#define CW_TIMELINE_NONE UINT32_MAX

/* A text of one process or several. Names are in the order of strcmp; 0 is "". */
struct cw_timeline_name {
    const char *text;  /* as the file has it */
    const char *shown; /* a kernel's as people read it; a call's without its version: cudaLaunchKernel */
};

/* What launches of a kernel have in common. */
struct cw_timeline_shape {
    uint32_t process, name;
    uint64_t id;
    uint32_t grid[3], block[3], cluster[3]; /* 0 unknown, here and below */
    uint32_t registers;
    uint64_t static_shared, dynamic_shared, local_per_thread;
};

struct cw_timeline_list { /* of items of one lane */
    uint32_t first, count;
};

/* A stream, with what ran in it. By device, process, context and stream. */
struct cw_timeline_stream {
    uint32_t process, device; /* device: index into the file's, or CW_NO_TRACE_DEVICE */
    uint64_t context, stream;
    uint32_t name;                   /* that the program gave it, 0 none */
    bool shares_number, shares_name; /* with another stream of the process and device */
    struct cw_timeline_list gpu;
};

/* A thread of a process. By process and number. */
struct cw_timeline_thread {
    uint32_t process;
    uint64_t thread; /* as the system has it; CW_TRACE_UNKNOWN: the file does not say */
    uint32_t name;
    struct cw_timeline_list calls, ranges, marks;
};

/* What ran on a GPU: a kernel, copy, memset or graph_launch (a whole graph). */
struct cw_timeline_gpu {
    uint64_t start, end;
    uint32_t stream;      /* index into streams */
    uint32_t correlation; /* CW_TIMELINE_NONE unknown */
    uint64_t bytes;       /* of copies and memsets; CW_TRACE_UNKNOWN unknown */
    uint32_t name;        /* of a kernel; a copy's direction, a memset's kind of memory */
    uint32_t call;        /* that launched it, index into calls, or CW_TIMELINE_NONE */
    uint32_t path;        /* the NVTX ranges around that call (cw_timeline_own_path); 0 none, or not known */
    uint32_t shape;       /* of a kernel, index into shapes, or CW_TIMELINE_NONE */
    uint32_t from, to;    /* of a copy: kinds of memory, names */
    uint32_t block;       /* where its row is: of which block of the trace */
    uint16_t row;
    uint8_t kind;                        /* enum cw_trace_kind */
    bool in_graph : 1, other_thread : 1; /* other_thread: path is of another thread than the call's */
};

enum { CW_TIMELINE_NOT_READY = 600 }; /* a result: the answer to a question whether something is done, no failure */

/* A call of the driver or the runtime, or one that the driver makes itself (internal_launch). */
struct cw_timeline_call {
    uint64_t start, end;
    uint32_t thread, correlation;
    uint32_t name, result; /* 0: success */
    uint32_t path;         /* the NVTX ranges around it */
    uint32_t launched;     /* how much on the GPU is from it */
    uint32_t block;
    uint16_t row;
    uint8_t kind;
    bool other_thread; /* path is of another thread */
};

/* What kept the program waiting: a synchronization, an overhead or a jit. By start. */
struct cw_timeline_wait {
    uint64_t start, end;
    uint32_t process, correlation;
    uint32_t type, call;                    /* type: a name; call: that did it, or CW_TIMELINE_NONE */
    uint32_t thread;                        /* or CW_TIMELINE_NONE */
    uint32_t stream;                        /* index into streams, or CW_TIMELINE_NONE */
    uint64_t context, stream_number, event; /* CW_TRACE_UNKNOWN: not known */
    uint32_t block;
    uint16_t row;
    uint8_t kind;
};

/* An NVTX range. One that was still open has the end of the trace. */
struct cw_timeline_range {
    uint64_t start, end;
    uint32_t thread, domain, name; /* domain: a name, 0 the default one */
    uint32_t path;                 /* what was open when it began, and itself */
    uint32_t color;                /* 0xAARRGGBB, 0 none */
    uint32_t block;
    uint16_t row;
    bool pushed, open; /* pushed: it is of its thread alone; started: of the whole process */
};

struct cw_timeline_mark {
    uint64_t start, end; /* both its time */
    uint32_t thread, domain, name, color, block;
    uint16_t row;
};

/* NVTX ranges one in another, as they were opened: "outer/inner", each "domain@name" where it is of a domain. This is
 * the attribute `nvtx` of ranges that are captured at the same place.
 *
 * A call from a thread that has pushed none which are open has the path of the only thread of its process that has,
 * if one alone has: PyTorch's backward pass launches from a thread of its own. Captured ranges know nothing of that. */
struct cw_timeline_path {
    uint32_t parent, domain, name, depth; /* path 0 has no name */
};

/* A name that paths have. */
struct cw_timeline_part {
    const char *pattern; /* with stars for its numbers; NULL: no path has it */
    struct cw_text_sum sum, pattern_sum;
};

/* The books of a kind: CW_TRACE_UNKNOWN where there is none. */
struct cw_timeline_account {
    uint32_t process;
    const char *kind, *note;
    uint64_t launched, recorded, dropped, untimed;
};

struct cw_timeline_window {
    uint64_t start, end;
};

struct cw_timeline {
    const struct cw_trace *trace;
    const struct cw_counter_data *data;
    struct cw_large *large; /* the lists of items, and others that are as long */
    uint64_t start, end;    /* of all that has a time; 0 where nothing has */
    uint32_t name_count, shape_count, stream_count, thread_count, path_count, account_count, window_count;
    uint32_t gpu_count, call_count, wait_count, range_count, mark_count;
    struct cw_timeline_name *names;
    struct cw_timeline_shape *shapes;
    struct cw_timeline_stream *streams;
    struct cw_timeline_thread *threads;
    struct cw_timeline_path *paths;
    const struct cw_timeline_part *parts; /* by name */
    size_t path_size;                     /* bytes of a path's text at most, its NUL included */
    struct cw_timeline_account *accounts; /* the last of each process and kind */
    struct cw_timeline_window *windows;   /* in which the program was traced, in order, apart; none: all the time */
    struct cw_timeline_gpu *gpu;
    struct cw_timeline_call *calls;
    struct cw_timeline_wait *waits;
    struct cw_timeline_range *ranges;
    struct cw_timeline_mark *marks;
    uint64_t rows[CW_TRACE_KIND__COUNT], untimed[CW_TRACE_KIND__COUNT]; /* untimed: of those that should have times */
    uint32_t unnamed;                 /* kernels whose readable names take too much memory or time: they stay mangled */
    uint64_t unfollowed;              /* NVTX ranges that are too deep for paths */
    const char *const *process_marks; /* [process]: follows its number where others have that and the rank: " on node1",
                                         " on node1 #2"; else "" */
    const uint32_t *const *text_names; /* [process][text]: its name */
    bool *cut; /* [process]: what came last is lost, as it was killed, or as the file lacks its end */
};

/* Between two items of a long list. */
static inline void cw_timeline_step(const struct cw_timeline *timeline)
{
    cw_large_step(timeline->large);
}

/* The path of the launching thread's own ranges. */
static inline uint32_t cw_timeline_own_path(const struct cw_timeline_gpu *gpu)
{
    return gpu->other_thread ? 0 : gpu->path;
}

/* Reads all blocks. What it refers to must stay. CW_ERR_INPUT also where there is more in the blocks than a file of its
 * size may hold. To be freed in any case. */
enum cw_status cw_timeline_load(struct cw_timeline *timeline, const struct cw_trace *trace,
                                const struct cw_counter_data *data, size_t file_size, struct cw_arena *arena,
                                struct cw_error *err);
void cw_timeline_free(struct cw_timeline *timeline);

/* The windows that were asked for, where none has opened: then nothing was traced. NULL otherwise. */
const char *cw_timeline_unopened(const struct cw_timeline *timeline);

/* Fills in when each process has its first and its last row with a time; 0 and 0 where it has none. */
void cw_timeline_spans(const struct cw_timeline *timeline, struct cw_timeline_window *spans);

/* Brings windows into order, joins those that touch, and returns how many are left. */
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

/* "outer/inner", elided where it is longer than path_size (base/elide.h): that is all of CW_TIMELINE_NAME_SIZE, unless
 * the texts of all paths were much longer than the file. Needs no memory. Returns `text`. */
enum { CW_TIMELINE_NAME_SIZE = CW_ELIDED_SIZE };
const char *cw_timeline_path_text(const struct cw_timeline *timeline, uint32_t path, char text[CW_TIMELINE_NAME_SIZE]);
/* The same of every path; with `patterns` there are stars for numbers. NULL when out of memory. */
const char *const *cw_timeline_path_texts(const struct cw_timeline *timeline, bool patterns, struct cw_arena *arena);

#endif
