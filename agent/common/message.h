/* Messages between capture-agent and its library inside the profiled program, over a Unix socket in a private folder.
 *
 * The program connects and says HELLO for the device of its first context; the agent answers SETUP or REFUSE. Then the
 * program sends RANGES until it ends. Everything is framed as type u32, length u64, payload; both ends are of the same
 * build, but the agent still checks what it reads: the program is not ours. */
#ifndef CW_AGENT_MESSAGE_H
#define CW_AGENT_MESSAGE_H

#include <stdarg.h>

#include "agent/common/facts.h"
#include "base/bytes.h"
#include "image/counter_data.h"

#define CW_AGENT_SOCKET_VARIABLE "COUNTERWORKS_SOCKET"
/* The file beside the socket that processes lock while they have a GPU's counters (counters.h). */
#define CW_AGENT_COUNTERS_FILE "counters"
#define CW_AGENT_CUPTI_VARIABLE "COUNTERWORKS_CUPTI"
/* Content of a trace, which the library needs before it asks the agent: kinds (CW_TRACE_BIT) and flags
 * (enum cw_trace_flag), in hexadecimal. */
#define CW_AGENT_TRACE_VARIABLE "COUNTERWORKS_TRACE"
/* Seconds that the program waits for an agent that does not read or answer, such as one that is stopped. */
#define CW_AGENT_PATIENCE_VARIABLE "COUNTERWORKS_PATIENCE"
enum { CW_AGENT_PATIENCE = 120, CW_AGENT_MOST_PATIENCE = 86400 };

/* CUPTI's version from CUDA 13.0 on; an older one does not see launches by itself. */
enum { CW_CUPTI_OF_CUDA_13 = 130000 };

enum cw_message_type {
    CW_MESSAGE_HELLO = 1,  /* process: u32, program: string, device: u32, attributes: list<{key, value}> */
    CW_MESSAGE_SETUP,      /* mode: u32, then its options */
    CW_MESSAGE_REFUSE,     /* empty: this device is not to be profiled */
    CW_MESSAGE_TAKEN,      /* empty, to the program: memory that came with a message has been read */
    CW_MESSAGE_RANGES,     /* device: u32, dropped: u32, why: string ("": unknown), cost of a batch (cw_effort_write),
                              launches: list<launch>, part that counted them: u32 (first the plan's parts, then the
                              parts for launches counted once; or CW_PART_ALL), sizes of the native counter data of each
                              part, or of this one part: list<u32>, empty without ranges. The data comes as memory, each
                              piece at the first multiple of CW_MESSAGE_ALIGNMENT behind the piece before */
    CW_MESSAGE_FAIL,       /* status: u32, text: string; the capture of this process is over */
    CW_MESSAGE_MODULE,     /* crc: u64, code: to the end */
    CW_MESSAGE_PC,         /* the payload of a PCSM chunk */
    CW_MESSAGE_SASS,       /* the payloads of an NCNT and a SASS chunk */
    CW_MESSAGE_TRACE_PAGE, /* empty, with memory: a struct cw_trace_page, which the agent keeps */
    CW_MESSAGE_TRACE,      /* whole chunks TSTR and TREC, of process 0 */
    CW_MESSAGE_ATTACH,     /* path of CUPTI: string. The first message of an agent that attaches to a running program
                              (attach_socket.h) */
    CW_MESSAGE_DETACH,     /* empty, from such an agent: send the rest, then close the connection */
    CW_MESSAGE_STEADY,     /* a report on the period of launches (steady_report.h); the last one counts */
    /* from the agent's own sampling process: */
    CW_MESSAGE_READY,  /* PCI address: string; sampling has begun */
    CW_MESSAGE_CHUNKS, /* samples: u32, lost samples: u64, time per sample: u64 ns (0: unknown), whole chunks of counter
                          data */
    CW_MESSAGE_DONE,   /* empty: every sample was sent */
    CW_MESSAGE_WINDOW, /* u8. From a program: whether wanted user ranges are open from here on; the agent answers with
                          TAKEN. From the sampling process: an enum cw_window_state */
    CW_MESSAGE__END,
};

/* State of the sampling process, if user ranges open windows. */
enum cw_window_state { CW_WINDOW_IDLE, CW_WINDOW_OPEN, CW_WINDOW_CLOSED /* and being decoded */ };

/* The injection library's way to collect, with the options behind it in SETUP. */
enum cw_mode {
    CW_MODE_RANGE,    /* ranges at a time: u32, parts of the plan: list<{metrics: list<string>, passes: u32}>, native
                         config images of all their passes, one that counts the context and one that counts the device: u32
                         and bytes each (with both, the device's is used while nothing else uses the device; empty: never),
                         the same (parts of one pass each, and config images) for launches counted once, empty: there are
                         none, replay: u32, user ranges: u8, level of user ranges: u32, levels: u32, whole graphs: u8,
                         where to save memory    (see CW_RESERVE_USUAL): u32, u32, filter (cw_filter_write), when to
                         collect:    start of the program:    u64 ns, and cw_trace_window_write */
    CW_MODE_BATCH,    /* the same; launches are replayed together */
    CW_MODE_PC,       /* flush after: u64 ns, mode: u8, period: u8 (0: CUPTI's own), buffer: u64 bytes (0: CUPTI's own),
                         code: u8 (0: no modules), stall reasons: list<string> (empty: all), filter, when to collect
                         as above */
    CW_MODE_SASS,     /* code: u8, flush after: u64 ns, metrics: list<{name: string, level: u8}> of different names,
                         filter, when to collect as above */
    CW_MODE_LAUNCHES, /* the options of CW_MODE_TRACE, then a filter of the user ranges or launches to send a WINDOW
                         for */
    CW_MODE_TRACE,    /* kinds: u64 (CW_TRACE_BIT of each), enum cw_trace_flag: u32, start of the program: u64 ns, flush
                         after: u64 ns, bytes of a buffer: u64, most buffers: u32, window (cw_trace_window_write), filter
                         of    ranges and launches that open it, calls: string (cw_filter_name_is_listed; "": the calls of
                         interest) */
    CW_MODE_MULTIPLEX, /* the options of CW_MODE_RANGE, then every: u32 (count one of so many similar launches),
                          slowdown: u32 (thousandths of a percent that counting may cost; 0: no limit) */
};

/* Limits on saved device memory, in MiB: how much of the device's memory stays free, CW_RESERVE_USUAL for the usual
 * amount, and how much of the host's memory the library may take. */
#define CW_RESERVE_USUAL UINT32_MAX
enum { CW_ON_HOST_USUAL = 1024 };

#define CW_PART_ALL UINT32_MAX /* every part of the plan counted the range */

/* How the passes of a range come about. */
enum cw_replay_kind {
    CW_REPLAY_BATCH,       /* launches are replayed together */
    CW_REPLAY_KERNEL,      /* each launch is replayed by itself */
    CW_REPLAY_APPLICATION, /* the program runs once for each pass */
    CW_REPLAY_USER,        /* the program repeats a piece of its work */
    CW_REPLAY_MULTIPLEX,   /* each launch or user range gets one pass; passes take turns over similar ones */
    CW_REPLAY_ONCE,        /* the only pass, because the launch may not be repeated; cannot be requested */
    CW_REPLAY__COUNT
};
extern const char *const cw_replay_names[CW_REPLAY__COUNT];

/* Whose work a range holds. */
enum cw_scope {
    CW_SCOPE_CONTEXT,
    CW_SCOPE_DEVICE, /* all work of the device in this time */
    CW_SCOPE_SHARED, /* the same, and other programs used the device */
    CW_SCOPE__COUNT
};
extern const char *const cw_scope_names[CW_SCOPE__COUNT];

enum {
    CW_MESSAGE_HEADER = 12,
    CW_MESSAGE_MAX = 1 << 30,    /* bytes of a payload */
    CW_MESSAGE_SHORT = 16 << 10, /* of HELLO and FAIL */
    CW_MESSAGE_ALIGNMENT = 64
};

/* A launch, or a user range. */
struct cw_launch {
    const char *kernel; /* "" for a user range; cw_graph_name for a graph */
    const char *nvtx;   /* enclosing user ranges as "outer/inner"; a user range's own path */
    bool user;          /* a user range */
    bool unwanted;      /* the filter left it out, but the range around another launch could not end before it; or the
                           driver refused it in a pushed range */
    enum cw_replay_kind replay;
    enum cw_scope scope;
    const char *once; /* why it was counted in one pass only; "" or NULL: it was not */
    bool cold;        /* the first of its kind since a change of pass, which leaves nothing in caches */
    bool pushed;      /* its range was pushed around it: its time includes the work around it */
    uint32_t graphs;  /* number of CUDA graphs launched in it */
    uint32_t graph_kernel, graph_kernels; /* number in its graph, from 1, if launched apart from the graph; 0: none */
    uint32_t period;           /* number of the captured period around it (steady_report.h), from 1; 0: none */
    uint64_t context, stream;  /* CUPTI's numbers, as in a trace; 0: unknown or none */
    uint64_t start_ns, end_ns; /* host time around the call, wall-clock ns */
    uint32_t grid[3], block[3];
    double facts[CW_FACT__COUNT]; /* NaN: unknown; for a user range the facts that all its launches share */
};
void cw_launch_write(struct cw_writer *out, const struct cw_launch *launch);
void cw_launch_read(struct cw_reader *in, struct cw_launch *launch, struct cw_arena *arena);

/* Writes "graph (12 kernels)", or "graph" if the number is unknown (0). */
void cw_graph_name(uint32_t kernels, char *text, size_t size);
/* Why launches are skipped, as phrases for "not collected: ". */
#define CW_WHY_AFTER_GRAPH "a launch behind a program's first CUDA graph, where kernel replay ends"
#define CW_WHY_GRAPH "a CUDA graph, which only batched replay collects"

/* Sends one message. False if the other end is gone, or does not read within the socket's time limit (EAGAIN). */
bool cw_message_send(int fd, enum cw_message_type type, const void *payload, size_t size);
/* The same with memory, a file's descriptor, or -1 for none. */
bool cw_message_send_with(int fd, enum cw_message_type type, const void *payload, size_t size, int memory);

/* A message that arrives piece by piece. */
struct cw_message_in {
    uint8_t head[CW_MESSAGE_HEADER];
    size_t got; /* bytes of the header and the payload so far */
    enum cw_message_type type;
    uint8_t *payload;      /* malloc memory of `capacity` bytes; NULL when empty */
    size_t size, capacity; /* of the whole payload; of the buffer */
    int memory;            /* descriptor that came with it, or -1 */
};
enum cw_arrival {
    CW_ARRIVAL_PART,  /* more is to come */
    CW_ARRIVAL_WHOLE, /* the message is there; drop it before you read the next */
    CW_ARRIVAL_END,   /* the stream ended behind a whole message */
    CW_ARRIVAL_CUT,   /* the stream ended within a message */
    CW_ARRIVAL_BAD,   /* errno is EBADMSG for a malformed or too large frame, ENOMEM beyond `most` */
};
void cw_message_begin(struct cw_message_in *in);
/* Reads once; without `wait` only bytes that have arrived. `most`: limit on held bytes of the payload. */
enum cw_arrival cw_message_read(struct cw_message_in *in, int fd, bool wait, size_t most);
/* Frees payload and memory, and begins the next. */
void cw_message_drop(struct cw_message_in *in);

/* Receives one message. *payload: malloc memory that the caller frees, NULL if empty. False at the end of the stream
 * (errno is not set then), for a malformed or too large frame (EBADMSG), without memory (ENOMEM), and if nothing comes
 * within the socket's time limit (EAGAIN). Closes a descriptor that came with the message. */
bool cw_message_receive(int fd, enum cw_message_type *type, uint8_t **payload, size_t *size);

/* Begins `out` with the payload of FAIL. */
void cw_message_write_failure(struct cw_writer *out, enum cw_status status, const char *format, va_list args);
/* Makes an error of a FAIL message: `of`, then the message's text. An unknown status becomes CW_ERR_DEVICE. */
enum cw_status cw_message_failure(struct cw_reader *in, struct cw_arena *arena, const char *of, struct cw_error *err);

#endif
