/* Contents of a trace: kinds of events and their fields, as this version knows them. A file lists its own kinds and
 * fields (TKND), so files of later versions can be read, too. See docs/formats.md. */
#ifndef CW_IMAGE_TRACE_KINDS_H
#define CW_IMAGE_TRACE_KINDS_H

#include <stdint.h>

/* Meaning of a 64-bit number. */
enum cw_trace_type {
    CW_TRACE_NUMBER,
    CW_TRACE_TIME, /* ns since 1970, wall clock; 0 unknown */
    CW_TRACE_BYTES,
    CW_TRACE_TEXT,   /* index into the texts of the process, 0 none */
    CW_TRACE_REAL,   /* bits of a double */
    CW_TRACE_DEVICE, /* the process's own device number */
    CW_TRACE_ADDRESS,
    CW_TRACE_SIGNED, /* two's complement */
    CW_TRACE_TYPE__COUNT
};

/* The number for an unknown value: 0 for a time or a text, -2^63 for a signed number, else CW_TRACE_UNKNOWN. */
uint64_t cw_trace_unknown(enum cw_trace_type type);
#define CW_TRACE_UNKNOWN UINT64_MAX
#define CW_TRACE_SIGNED_UNKNOWN ((uint64_t)INT64_MIN)

/* Fields. A field means the same in every kind. Numbers of contexts, streams, correlation and graphs are CUPTI's, and
 * unique within a process. */
#define CW_TRACE_FIELDS(X)                                                                                             \
    X(START, "start", TIME)                                                                                            \
    X(END, "end", TIME)                                                                                                \
    X(TIME, "time", TIME)                                                                                              \
    X(QUEUED, "queued", TIME)       /* the launch entered the command buffer */                                        \
    X(SUBMITTED, "submitted", TIME) /* the command buffer went to the GPU */                                           \
    X(DEVICE_TIME, "device_time", TIME)                                                                                \
    X(DEVICE, "device", DEVICE)                                                                                        \
    X(CONTEXT, "context", NUMBER)                                                                                      \
    X(STREAM, "stream", NUMBER)                                                                                        \
    X(THREAD, "thread", NUMBER) /* the system's number */                                                              \
    X(END_THREAD, "end_thread", NUMBER)                                                                                \
    X(CORRELATION, "correlation", NUMBER) /* of a driver or runtime call and everything it caused */                   \
    X(ID, "id", NUMBER)                                                                                                \
    X(NAME, "name", TEXT)     /* for a kernel, the mangled name */                                                     \
    X(TYPE, "type", TEXT)     /* subtype within the kind, in words */                                                  \
    X(SHAPE, "shape", NUMBER) /* id of the process's launch_shape */                                                   \
    X(GRAPH, "graph", NUMBER)                                                                                          \
    X(GRAPH_NODE, "graph_node", NUMBER)                                                                                \
    X(DEPENDS_ON, "depends_on", NUMBER) /* the node before it */                                                       \
    X(CHANNEL, "channel", NUMBER)                                                                                      \
    X(CHANNEL_TYPE, "channel_type", TEXT)                                                                              \
    X(DEVICE_LAUNCHED, "device_launched", NUMBER) /* 1: launched from the GPU */                                       \
    X(GRID_X, "grid_x", NUMBER)                                                                                        \
    X(GRID_Y, "grid_y", NUMBER)                                                                                        \
    X(GRID_Z, "grid_z", NUMBER)                                                                                        \
    X(BLOCK_X, "block_x", NUMBER)                                                                                      \
    X(BLOCK_Y, "block_y", NUMBER)                                                                                      \
    X(BLOCK_Z, "block_z", NUMBER)                                                                                      \
    X(CLUSTER_X, "cluster_x", NUMBER)                                                                                  \
    X(CLUSTER_Y, "cluster_y", NUMBER)                                                                                  \
    X(CLUSTER_Z, "cluster_z", NUMBER)                                                                                  \
    X(CLUSTER_POLICY, "cluster_policy", NUMBER)                                                                        \
    X(MAX_CLUSTER_SIZE, "max_cluster_size", NUMBER)                                                                    \
    X(MAX_ACTIVE_CLUSTERS, "max_active_clusters", NUMBER)                                                              \
    X(REGISTERS, "registers_per_thread", NUMBER)                                                                       \
    X(STATIC_SHARED, "static_shared", BYTES)                                                                           \
    X(DYNAMIC_SHARED, "dynamic_shared", BYTES)                                                                         \
    X(SHARED, "shared", BYTES) /* set by the driver for the kernel */                                                  \
    X(LOCAL_PER_THREAD, "local_per_thread", BYTES)                                                                     \
    X(LOCAL_TOTAL, "local_total", BYTES)                                                                               \
    X(CACHE_REQUESTED, "cache_requested", TEXT)                                                                        \
    X(CACHE_EXECUTED, "cache_executed", TEXT)                                                                          \
    X(CARVEOUT, "carveout", NUMBER)        /* requested percentage of shared memory */                                 \
    X(LAUNCH, "launch", TEXT)              /* regular, cooperative... */                                               \
    X(WINDOW_BYTES, "window_bytes", BYTES) /* of memory with a policy of access: what stays in the L2 cache */         \
    X(WINDOW_RATIO, "window_hit_ratio", REAL)                                                                          \
    X(WINDOW_HIT, "window_hit", TEXT)                                                                                  \
    X(WINDOW_MISS, "window_miss", TEXT)                                                                                \
    X(BYTES, "bytes", BYTES)                                                                                           \
    X(COUNT, "count", NUMBER)                                                                                          \
    X(DIRECTION, "direction", TEXT) /* of a copy: HtoD, DtoH... */                                                     \
    X(SOURCE, "source", TEXT)       /* kind of memory */                                                               \
    X(TARGET, "target", TEXT)                                                                                          \
    X(SOURCE_DEVICE, "source_device", DEVICE)                                                                          \
    X(TARGET_DEVICE, "target_device", DEVICE)                                                                          \
    X(SOURCE_CONTEXT, "source_context", NUMBER)                                                                        \
    X(TARGET_CONTEXT, "target_context", NUMBER)                                                                        \
    X(MEMORY, "memory", TEXT)                                                                                          \
    X(ASYNC, "async", NUMBER) /* 1: asynchronous */                                                                    \
    X(VALUE, "value", NUMBER)                                                                                          \
    X(RESULT, "result", NUMBER) /* returned by the call, 0 success */                                                  \
    X(EVENT, "event", NUMBER)                                                                                          \
    X(PRIORITY, "priority", SIGNED)                                                                                    \
    X(NULL_STREAM, "null_stream", NUMBER)                                                                              \
    X(PARENT, "parent", NUMBER)                                                                                        \
    X(MULTIPROCESSORS, "multiprocessors", NUMBER)                                                                      \
    X(DOMAIN, "domain", TEXT)                                                                                          \
    X(CATEGORY, "category", TEXT)                                                                                      \
    X(COLOR, "color", NUMBER) /* 0xAARRGGBB */                                                                         \
    X(PAYLOAD, "payload", SIGNED)                                                                                      \
    X(UNSIGNED_PAYLOAD, "unsigned_payload", NUMBER) /* a value too large for `payload` */                              \
    X(REAL_PAYLOAD, "real_payload", REAL)                                                                              \
    X(PAYLOAD_TEXT, "payload_text", TEXT) /* of a payload with a schema: a JSON object */                              \
    X(ADDRESS, "address", ADDRESS)        /* of a call: the memory that it allocates, frees, sets, or copies to */     \
    X(SOURCE_ADDRESS, "source_address", ADDRESS)                                                                       \
    X(POOL, "pool", ADDRESS)                                                                                           \
    X(POOL_BYTES, "pool_bytes", BYTES)                                                                                 \
    X(POOL_USED, "pool_used", BYTES)                                                                                   \
    X(POOL_THRESHOLD, "pool_threshold", BYTES)                                                                         \
    X(POOL_TYPE, "pool_type", TEXT) /* local, or imported from another process */                                      \
    X(CALLER, "caller", TEXT)       /* the allocating code */                                                          \
    X(CAUSE, "cause", TEXT)                                                                                            \
    X(SM_CLOCK, "sm_clock", NUMBER) /* MHz */                                                                          \
    X(MEMORY_CLOCK, "memory_clock", NUMBER)                                                                            \
    X(THROTTLE, "throttle", NUMBER)       /* bits of the management library */                                         \
    X(TEMPERATURE, "temperature", NUMBER) /* degrees Celsius */                                                        \
    X(POWER, "power", NUMBER)             /* mW */                                                                     \
    X(POWER_LIMIT, "power_limit", NUMBER)                                                                              \
    X(FAN, "fan", NUMBER) /* percent */                                                                                \
    X(PCIE_GENERATION, "pcie_generation", NUMBER)                                                                      \
    X(PCIE_WIDTH, "pcie_width", NUMBER)                                                                                \
    X(BANDWIDTH, "bandwidth", NUMBER)     /* kB/s */                                                                   \
    X(SOURCE_PORTS, "source_ports", TEXT) /* of NVLink, as "0,1,2" */                                                  \
    X(TARGET_PORTS, "target_ports", TEXT)                                                                              \
    X(PEERS, "peers", TEXT)     /* the devices that the GPU can reach over PCI Express */                              \
    X(DEVICES, "devices", TEXT) /* that contend for memory, as "0,1" */                                                \
    X(FILE, "file", TEXT)                                                                                              \
    X(LINE, "line", NUMBER)                                                                                            \
    X(LAUNCHED, "launched", NUMBER) /* counted by the callbacks */                                                     \
    X(RECORDED, "recorded", NUMBER)                                                                                    \
    X(DROPPED, "dropped", NUMBER)                                                                                      \
    X(UNTIMED, "untimed", NUMBER) /* recorded, but without times */                                                    \
    X(NOTE, "note", TEXT)                                                                                              \
    X(EVENT_HANDLE, "event_handle", ADDRESS) /* of a CUDA event, in a call; a later event may have it again */         \
    X(GRID_ID, "grid_id", NUMBER)                                                                                      \
    X(COMPLETED, "completed", TIME) /* the kernel and the kernels that it launched were done, if later than end */     \
    X(SHARED_CONFIG, "shared_config", TEXT) /* width of the banks of shared memory, as the program asked */            \
    X(SHARED_OPTIN, "shared_optin", NUMBER) /* 1: the program raised the kernel's limit of dynamic shared memory */    \
    X(RUNTIME_CORRELATION, "runtime_correlation", NUMBER) /* of the runtime call, if it has a number of its own */     \
    X(PC, "pc", ADDRESS)                                  /* the code that allocated, or that the fault interrupted */ \
    X(POOL_PROCESS, "pool_process", NUMBER)               /* the process that made an imported pool */                 \
    X(POOL_MANAGED, "pool_managed", NUMBER)               /* 1: of managed memory */                                   \
    X(POOL_KEPT, "pool_kept", BYTES)                      /* a trim leaves so much in the pool, at least */            \
    X(ON_CPU, "on_cpu", NUMBER)                           /* 1: the CPU thrashes, or is throttled */                   \
    X(END_DEVICE, "end_device", DEVICE)                   /* ran the last node */                                      \
    X(END_CONTEXT, "end_context", NUMBER)                                                                              \
    X(COMMAND_BUFFER, "command_buffer", NUMBER) /* room that is left in it */                                          \
    X(LINK_ACCESS, "link_access", TEXT)         /* of NVLink, as "peer,system_atomics" */                              \
    X(NVLINK_VERSION, "nvlink_version", NUMBER)                                                                        \
    X(PCIE_RATE, "pcie_rate", NUMBER)   /* GT/s */                                                                     \
    X(PCI_VENDOR, "pci_vendor", NUMBER) /* of a bridge */                                                              \
    X(PCI_DEVICE, "pci_device", NUMBER)                                                                                \
    X(SECONDARY_BUS, "secondary_bus", NUMBER) /* the bus below a bridge */

enum cw_trace_field {
#define X(id, name, type) CW_FIELD_##id,
    CW_TRACE_FIELDS(X)
#undef X
        CW_FIELD__COUNT
};

struct cw_trace_field_info {
    const char *name;
    enum cw_trace_type type;
};
extern const struct cw_trace_field_info cw_trace_fields[CW_FIELD__COUNT];
/* Unit of measure in UDUNITS notation; NULL for none, and for a time. */
const char *cw_trace_field_unit(enum cw_trace_field field);

enum cw_trace_kind {
    CW_TRACE_KERNEL,
    CW_TRACE_SHAPE, /* "launch_shape": common data of a kernel's launches; comes before the first of them */
    CW_TRACE_COPY,
    CW_TRACE_MEMSET,
    CW_TRACE_DRIVER,   /* a driver call */
    CW_TRACE_RUNTIME,  /* a runtime call */
    CW_TRACE_INTERNAL, /* "internal_launch": a call by the driver itself */
    CW_TRACE_SYNC,     /* "synchronization" */
    CW_TRACE_EVENT,    /* "cuda_event": an event was recorded in a stream */
    CW_TRACE_STREAM,
    CW_TRACE_CONTEXT,
    CW_TRACE_NVTX_RANGE, /* type: push or start */
    CW_TRACE_NVTX_MARK,
    CW_TRACE_NAME,       /* the program's name for a thread, device, context, stream or event: type and id */
    CW_TRACE_OVERHEAD,   /* overhead of CUPTI, of compiling and of loading */
    CW_TRACE_ALLOCATION, /* "memory": type allocate or free */
    CW_TRACE_POOL,       /* "memory_pool" */
    CW_TRACE_UNIFIED,    /* "unified_memory": type is the counter, value its count */
    CW_TRACE_ENVIRONMENT,
    CW_TRACE_GRAPH,        /* "graph_launch" */
    CW_TRACE_DEVICE_GRAPH, /* "device_graph_launch" */
    CW_TRACE_JIT,
    CW_TRACE_MODULE,
    CW_TRACE_EXTERNAL, /* "external_correlation" */
    CW_TRACE_LINK,     /* "link": NVLink or PCI Express */
    CW_TRACE_OPENACC,
    CW_TRACE_OPENMP,
    CW_TRACE_DECOMPRESS, /* "memory_decompression" */
    CW_TRACE_GRAPH_MADE, /* "graph": a CUDA graph was made, instantiated or destroyed */
    CW_TRACE_NODE,       /* "graph_node" */
    CW_TRACE_EDGE,       /* "graph_edge": a node waits for another */
    CW_TRACE_WINDOW,     /* the program was traced from start to end; no window: all the time */
    CW_TRACE_ACCOUNT, /* launched, recorded and lost events of the kind in `type`, up to `time`; the last row counts */
    CW_TRACE_KIND__COUNT
};
/* In a set of kinds each kind has a bit. */
#define CW_TRACE_BIT(kind) (UINT64_C(1) << (kind))

/* A kind's fields, in the order in which we write them to a file. */
enum { CW_TRACE_KIND_FIELDS_MAX = 32 };
struct cw_trace_kind_info {
    const char *name;
    uint32_t field_count;
    uint8_t fields[CW_TRACE_KIND_FIELDS_MAX]; /* enum cw_trace_field */
};
extern const struct cw_trace_kind_info cw_trace_kinds[CW_TRACE_KIND__COUNT];

/* Return CW_FIELD__COUNT and CW_TRACE_KIND__COUNT for an unknown name. */
enum cw_trace_field cw_trace_field_find(const char *name);
enum cw_trace_kind cw_trace_kind_find(const char *name);

#endif
