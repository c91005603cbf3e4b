/* A process of a simulated program whose GPUs are traced: its clocks, streams and windows, and its rows, which are
 * written in blocks. Times follow from the seed. */
#ifndef CW_AGENT_SIM_PROCESS_H
#define CW_AGENT_SIM_PROCESS_H

#include "agent/backend/trace_capture.h"

enum { CW_SIM_THREADS = 8, CW_SIM_STREAMS = 16, CW_SIM_DEVICES = 16, CW_SIM_OPEN_RANGES = 256 };

struct cw_sim_world { /* shared by the processes of a trace */
    const struct cw_trace_options *options;
    struct cw_trace_output out;
    struct cw_error trouble; /* the first error */
    uint64_t start_ns;       /* start of the program, wall clock */
    uint64_t lose, untimed;  /* number of kernels still to lose, or to record without times */
    uint64_t program_key;    /* determines the shapes of kernels */
};

struct cw_sim_process {
    struct cw_sim_world *world;
    uint32_t index, pid; /* index: its number in the output */
    bool wanted, ended;
    struct cw_filter filter;
    struct cw_trace_window window;
    bool open;                       /* the window is open, since: */
    uint64_t opened_ns, closed_ns;   /* closed_ns: close of the last window; 0: there was none */
    uint32_t device, stream, thread; /* of the next events; thread is an index */
    uint32_t device_count, stream_count, range_count;
    uint32_t devices[CW_SIM_DEVICES];
    uint64_t engines[CW_SIM_DEVICES][2]; /* by device: copies to and from it; busy until this time */
    struct cw_sim_stream {
        uint32_t device, number;
        uint64_t busy_ns; /* busy until this time */
    } streams[CW_SIM_STREAMS];
    struct cw_sim_range { /* an open range */
        bool pushed, wanted;
        uint32_t thread;
        uint64_t start_ns, domain, name, category, color, payload;
    } ranges[CW_SIM_OPEN_RANGES];
    uint64_t now_ns[CW_SIM_THREADS];
    uint64_t environment_ns; /* time of the next reading */
    uint64_t draws, correlation, graph, event, address, allocation, allocated;
    void *texts; /* a tree */
    uint32_t text_count, shape_count;
    struct cw_writer new_texts; /* each ended by NUL */
    uint32_t new_count;
    struct cw_sim_rows { /* rows not yet written, column after column */
        uint32_t count;
        uint64_t *values;
    } rows[CW_TRACE_KIND__COUNT];
    struct cw_sim_count {
        uint64_t launched, recorded, dropped, untimed;
    } counts[CW_TRACE_KIND__COUNT];
};

/* Begins a process. in_job: its rank, and the number of ranks; a value may be NULL. NULL when out of memory or when the
 * output failed, which is an error of the world. */
struct cw_sim_process *cw_sim_process_begin(struct cw_sim_world *world, uint32_t pid, const char *program,
                                            const struct cw_pair in_job[2], bool is_program);
/* Writes all rows, and their accounts. */
void cw_sim_flush(struct cw_sim_process *p);
/* Ends the process; `killed`: unwritten rows are lost. Add nothing to it afterwards. */
void cw_sim_process_end(struct cw_sim_process *p, bool killed);
void cw_sim_process_free(struct cw_sim_process *p);

/* Selects the device of later events, at a PCI address. */
void cw_sim_use_device(struct cw_sim_process *p, uint32_t number, const char *pci);
bool cw_sim_is_device_wanted(const struct cw_sim_process *p);
void cw_sim_use_stream(struct cw_sim_process *p, uint32_t number);
/* Finds a stream of the selected device; makes it if it is new. */
struct cw_sim_stream *cw_sim_find_stream(struct cw_sim_process *p, uint32_t number);
/* Switches to another thread, whose time is at least that of the last one. */
void cw_sim_use_thread(struct cw_sim_process *p, uint32_t thread);
/* Lets time pass for the thread. */
void cw_sim_wait(struct cw_sim_process *p, uint64_t ns);
/* Opens or closes the window if due. */
void cw_sim_look(struct cw_sim_process *p);
uint64_t cw_sim_now(const struct cw_sim_process *p);
/* The time on the selected GPU's clock, which drifts by some parts per million, in the opposite direction on every
 * other GPU. */
uint64_t cw_sim_on_gpu(const struct cw_sim_process *p, uint64_t at);
uint64_t cw_sim_thread_id(const struct cw_sim_process *p);
/* Draws a pseudo-random number below `below`, a new one each time. */
uint64_t cw_sim_draw(struct cw_sim_process *p, uint64_t below);

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct cw_sim_text {
    uint64_t number, shape; /* shape: of a kernel of this name; 0 none */
    char text[];
};
/* NULL when out of memory. */
struct cw_sim_text *cw_sim_find_text(struct cw_sim_process *p, const char *text);
/* The number of a text in rows; 0 for "". */
uint64_t cw_sim_text(struct cw_sim_process *p, const char *text);

struct cw_sim_value {
    enum cw_trace_field field;
    uint64_t value;
};
/* Whether rows of the kind are recorded now. */
bool cw_sim_is_recorded(const struct cw_sim_process *p, enum cw_trace_kind kind);
/* Adds a row; fields without a value are unknown. */
void cw_sim_add(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count);
/* Adds a row if its kind is recorded, and counts it. */
void cw_sim_put(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count);
/* Adds the row of a user range; end 0: it is still open. */
void cw_sim_put_range(struct cw_sim_process *p, const struct cw_sim_range *range, uint64_t end);
/* Example: CW_SIM_PUT(p, MEMSET, {CW_FIELD_START, 1000}, {CW_FIELD_END, 2000}) */
#define CW_SIM_PUT(p, kind, ...)                                                                                       \
    cw_sim_put(p, CW_TRACE_##kind, (const struct cw_sim_value[]){__VA_ARGS__},                                         \
               sizeof((const struct cw_sim_value[]){__VA_ARGS__}) / sizeof(struct cw_sim_value))

#endif
