/* A process of a simulated program whose GPUs are traced: its clocks, streams and windows, and rows that are written as
 * they become many. Times follow from the seed. */
#ifndef CW_AGENT_SIM_PROCESS_H
#define CW_AGENT_SIM_PROCESS_H

#include "agent/backend/trace_capture.h"

enum { CW_SIM_THREADS = 8, CW_SIM_STREAMS = 16, CW_SIM_DEVICES = 16, CW_SIM_OPEN_RANGES = 256 };

struct cw_sim_world { /* what the processes of a trace share */
    const struct cw_trace_options *options;
    struct cw_trace_output out;
    struct cw_error trouble; /* the first thing that went wrong */
    uint64_t start_ns;       /* of the program, on the wall clock */
    uint64_t lose, untimed;  /* kernels that are still to be lost, or to be recorded without times */
    uint64_t program_key;    /* what shapes of kernels follow from */
};

struct cw_sim_stream {
    uint32_t device, number;
    uint64_t busy_ns; /* until then */
};

struct cw_sim_range { /* that is open */
    bool pushed, wanted;
    uint32_t thread;
    uint64_t start_ns, domain, name, category, color, payload;
};

struct cw_sim_rows { /* that are not written yet; a column behind the other */
    uint32_t count;
    uint64_t *values;
};

struct cw_sim_count {
    uint64_t launched, recorded, dropped, untimed;
};

struct cw_sim_process {
    struct cw_sim_world *world;
    uint32_t index, pid; /* index: in the output */
    bool wanted, ended;
    struct cw_filter filter;
    struct cw_trace_window window;
    bool open; /* the window is, since: */
    uint64_t opened_ns, closed_ns; /* closed: the last one was; 0: there was none */
    uint32_t device, stream, thread; /* of what comes next; the thread's place */
    uint32_t device_count, stream_count, range_count;
    uint32_t devices[CW_SIM_DEVICES];
    uint64_t engines[CW_SIM_DEVICES][2]; /* of copies to and from the device: busy until then */
    struct cw_sim_stream streams[CW_SIM_STREAMS];
    struct cw_sim_range ranges[CW_SIM_OPEN_RANGES];
    uint64_t now_ns[CW_SIM_THREADS];
    uint64_t environment_ns; /* the next reading */
    uint64_t draws, correlation, graph, event, address, allocation, allocated;
    void *texts; /* a tree */
    uint32_t text_count, shape_count;
    struct cw_writer new_texts; /* ended by NUL each */
    uint32_t new_count;
    struct cw_sim_rows rows[CW_TRACE_KIND__COUNT];
    struct cw_sim_count counts[CW_TRACE_KIND__COUNT];
};

/* in_job: its rank, and how many the job has; a value may be NULL. NULL without memory and where the output failed,
 * which is trouble of the world. */
struct cw_sim_process *cw_sim_process_begin(struct cw_sim_world *world, uint32_t pid, const char *program,
                                            const struct cw_pair in_job[2], bool is_program);
/* Writes what there is, and the accounts of it. */
void cw_sim_flush(struct cw_sim_process *p);
/* The process ends; `killed`: what was not written by then is lost. Nothing of it may come behind. */
void cw_sim_process_end(struct cw_sim_process *p, bool killed);
void cw_sim_process_free(struct cw_sim_process *p);

/* From now on this is the device that things are done on, at a PCI address. */
void cw_sim_use_device(struct cw_sim_process *p, uint32_t number, const char *pci);
bool cw_sim_is_device_wanted(const struct cw_sim_process *p);
void cw_sim_use_stream(struct cw_sim_process *p, uint32_t number);
/* That of the device in use; it is made where it is new. */
struct cw_sim_stream *cw_sim_find_stream(struct cw_sim_process *p, uint32_t number);
/* Another thread goes on, not before the one that it takes over from. */
void cw_sim_use_thread(struct cw_sim_process *p, uint32_t thread);
/* Time goes by for the thread. */
void cw_sim_wait(struct cw_sim_process *p, uint64_t ns);
/* Opens or closes the window, if that is due. */
void cw_sim_look(struct cw_sim_process *p);
uint64_t cw_sim_now(const struct cw_sim_process *p);
/* As the clock of the GPU in use has it, which runs off by so many in a million, the other way on every other GPU. */
uint64_t cw_sim_on_gpu(const struct cw_sim_process *p, uint64_t at);
uint64_t cw_sim_thread_id(const struct cw_sim_process *p);
/* A number below `below`, another one each time. */
uint64_t cw_sim_draw(struct cw_sim_process *p, uint64_t below);

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct cw_sim_text {
    uint64_t number, shape; /* shape: of a kernel of this name; 0 none */
    char text[];
};
/* NULL without memory. */
struct cw_sim_text *cw_sim_find_text(struct cw_sim_process *p, const char *text);
/* Its number in the rows; 0 for "". */
uint64_t cw_sim_text(struct cw_sim_process *p, const char *text);

struct cw_sim_value {
    enum cw_trace_field field;
    uint64_t value;
};
/* Whether rows of the kind are kept now. */
bool cw_sim_is_recorded(const struct cw_sim_process *p, enum cw_trace_kind kind);
/* A row; what is not among the values is not known. */
void cw_sim_add(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count);
/* The same where it is recorded, and counted. */
void cw_sim_put(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count);
/* The row of a user range; end 0: it is open still. */
void cw_sim_put_range(struct cw_sim_process *p, const struct cw_sim_range *range, uint64_t end);
/* CW_SIM_PUT(p, MEMSET, {CW_FIELD_START, 1000}, {CW_FIELD_END, 2000}) */
#define CW_SIM_PUT(p, kind, ...)                                                                                       \
    cw_sim_put(p, CW_TRACE_##kind, (const struct cw_sim_value[]){__VA_ARGS__},                                         \
               sizeof((const struct cw_sim_value[]){__VA_ARGS__}) / sizeof(struct cw_sim_value))

#endif
