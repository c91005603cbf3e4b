#define _GNU_SOURCE
#include "foreign/nsys_sqlite.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"
#include "foreign/trace_maker.h"

enum { MOST_MEMORY_KINDS = 16, MEMORY_WORD = 24, REMEMBERED = 4096, OPS = 1000, LONGEST_TEXT = 1 << 20 };
enum { PAGE = 4096, SMALL_FILE = 64 << 10, SMALL_PAGE = 1024, PAGE_SIZE_AT = 16 /* big-endian in the header */ };

/* The meaning of a column. */
enum reads {
    NUMBER,
    TIME,      /* ns since the session began */
    STRING,    /* id in StringIds; a later column of the same field wins */
    CALL,      /* the same, the name of a call, with a version behind it */
    TEXT,      /* the text itself */
    DIRECTION, /* number of nsys: CUPTI's and more */
    MEMORY,    /* id in ENUM_CUDA_MEM_KIND, else number of nsys */
    WAIT,      /* number of CUPTI */
    NVTX,      /* type of an event of NVTX */
    PROCESS,   /* bits 24 to 47 are the process, above them the VM and the hardware */
    THREAD,    /* the same, and the lowest 24 are the thread */
};

struct column {
    const char *name;
    enum reads reads;
    enum cw_trace_field field;
};

#define ON_GPU                                                                                                         \
    {"start", TIME, CW_FIELD_START}, {"end", TIME, CW_FIELD_END}, {"deviceId", NUMBER, CW_FIELD_DEVICE},               \
        {"contextId", NUMBER, CW_FIELD_CONTEXT}, {"streamId", NUMBER, CW_FIELD_STREAM},                                \
        {"correlationId", NUMBER, CW_FIELD_CORRELATION}, {"globalPid", PROCESS, 0},                                    \
        {"graphNodeId", NUMBER, CW_FIELD_GRAPH_NODE},                                                                  \
    {                                                                                                                  \
        "graphId", NUMBER, CW_FIELD_GRAPH                                                                              \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0                                                                                                     \
    }

static const struct column kernel_columns[] = {ON_GPU,
                                               {"shortName", STRING, CW_FIELD_NAME},
                                               {"demangledName", STRING, CW_FIELD_NAME},
                                               {"mangledName", STRING, CW_FIELD_NAME},
                                               {"gridX", NUMBER, CW_FIELD_GRID_X},
                                               {"gridY", NUMBER, CW_FIELD_GRID_Y},
                                               {"gridZ", NUMBER, CW_FIELD_GRID_Z},
                                               {"blockX", NUMBER, CW_FIELD_BLOCK_X},
                                               {"blockY", NUMBER, CW_FIELD_BLOCK_Y},
                                               {"blockZ", NUMBER, CW_FIELD_BLOCK_Z},
                                               {"clusterX", NUMBER, CW_FIELD_CLUSTER_X},
                                               {"clusterY", NUMBER, CW_FIELD_CLUSTER_Y},
                                               {"clusterZ", NUMBER, CW_FIELD_CLUSTER_Z},
                                               {"registersPerThread", NUMBER, CW_FIELD_REGISTERS},
                                               {"staticSharedMemory", NUMBER, CW_FIELD_STATIC_SHARED},
                                               {"dynamicSharedMemory", NUMBER, CW_FIELD_DYNAMIC_SHARED},
                                               {"sharedMemoryExecuted", NUMBER, CW_FIELD_SHARED},
                                               {"localMemoryPerThread", NUMBER, CW_FIELD_LOCAL_PER_THREAD},
                                               {"localMemoryTotal", NUMBER, CW_FIELD_LOCAL_TOTAL},
                                               END};
static const struct column copy_columns[] = {ON_GPU,
                                             {"bytes", NUMBER, CW_FIELD_BYTES},
                                             {"copyCount", NUMBER, CW_FIELD_COUNT},
                                             {"copyKind", DIRECTION, CW_FIELD_DIRECTION},
                                             {"srcKind", MEMORY, CW_FIELD_SOURCE},
                                             {"dstKind", MEMORY, CW_FIELD_TARGET},
                                             {"srcDeviceId", NUMBER, CW_FIELD_SOURCE_DEVICE},
                                             {"dstDeviceId", NUMBER, CW_FIELD_TARGET_DEVICE},
                                             END};
static const struct column set_columns[] = {ON_GPU,
                                            {"bytes", NUMBER, CW_FIELD_BYTES},
                                            {"value", NUMBER, CW_FIELD_VALUE},
                                            {"memKind", MEMORY, CW_FIELD_MEMORY},
                                            END};
static const struct column graph_columns[] = {ON_GPU, END};
static const struct column wait_columns[] = {{"start", TIME, CW_FIELD_START},
                                             {"end", TIME, CW_FIELD_END},
                                             {"contextId", NUMBER, CW_FIELD_CONTEXT},
                                             {"streamId", NUMBER, CW_FIELD_STREAM},
                                             {"correlationId", NUMBER, CW_FIELD_CORRELATION},
                                             {"globalPid", PROCESS, 0},
                                             {"syncType", WAIT, CW_FIELD_TYPE},
                                             {"eventId", NUMBER, CW_FIELD_EVENT},
                                             END};
static const struct column call_columns[] = {{"start", TIME, CW_FIELD_START},
                                             {"end", TIME, CW_FIELD_END},
                                             {"globalTid", THREAD, CW_FIELD_THREAD},
                                             {"correlationId", NUMBER, CW_FIELD_CORRELATION},
                                             {"nameId", CALL, CW_FIELD_NAME},
                                             {"returnValue", NUMBER, CW_FIELD_RESULT},
                                             END};
static const struct column range_columns[] = {{"start", TIME, CW_FIELD_START},
                                              {"end", TIME, CW_FIELD_END},
                                              {"eventType", NVTX, CW_FIELD_TYPE},
                                              {"globalTid", THREAD, CW_FIELD_THREAD},
                                              {"endGlobalTid", THREAD, CW_FIELD_END_THREAD},
                                              {"textId", STRING, CW_FIELD_NAME},
                                              {"text", TEXT, CW_FIELD_NAME},
                                              {"color", NUMBER, CW_FIELD_COLOR},
                                              END};

static const struct table {
    const char *name;
    enum cw_trace_kind kind;
    const struct column *columns;
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", CW_TRACE_KERNEL, kernel_columns},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", CW_TRACE_COPY, copy_columns},
    {"CUPTI_ACTIVITY_KIND_MEMSET", CW_TRACE_MEMSET, set_columns},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", CW_TRACE_GRAPH, graph_columns},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", CW_TRACE_SYNC, wait_columns},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", CW_TRACE_RUNTIME, call_columns}, /* has calls of the driver, too */
    {"NVTX_EVENTS", CW_TRACE_NVTX_RANGE, range_columns},
};

struct remembered {
    int64_t id;
    uint32_t process;
    uint64_t text; /* 0: the place is free */
    bool driver;   /* the name of a call of the driver */
};

struct device { /* of all processes with this pid */
    uint32_t pid, number, gpu;
};

struct reading {
    sqlite3 *db;
    const struct cw_input *input;
    struct cw_trace_maker *m;
    struct cw_error *err;
    enum cw_status status;
    sqlite3_stmt *strings;
    int64_t start_ns;
    uint64_t ops_left; /* thousands of steps of SQLite's machine */
    char memory[MOST_MEMORY_KINDS][MEMORY_WORD];
    struct remembered *remembered;
    struct device *devices; /* behind read_session by pid and number, one of each */
    size_t device_count, device_room;
    uint32_t process_count; /* processes that have their devices */
    bool driver;            /* the row at hand is a call of the driver */
};

/* ---- SQLite, loaded when the first database is read -------------------------------------------------------------- */

/* Few commands read one, and nodes without the library can run all others. */
#define FUNCTIONS(X)                                                                                                   \
    X(sqlite3_bind_int64)                                                                                              \
    X(sqlite3_bind_text)                                                                                               \
    X(sqlite3_close_v2)                                                                                                \
    X(sqlite3_column_int64)                                                                                            \
    X(sqlite3_column_text)                                                                                             \
    X(sqlite3_column_type)                                                                                             \
    X(sqlite3_db_config)                                                                                               \
    X(sqlite3_deserialize)                                                                                             \
    X(sqlite3_errmsg)                                                                                                  \
    X(sqlite3_finalize)                                                                                                \
    X(sqlite3_limit)                                                                                                   \
    X(sqlite3_open_v2)                                                                                                 \
    X(sqlite3_prepare_v2)                                                                                              \
    X(sqlite3_progress_handler)                                                                                        \
    X(sqlite3_reset)                                                                                                   \
    X(sqlite3_step)

static struct sqlite {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} sqlite;
static const char *missing;

static void load(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    missing = library ? NULL : "libsqlite3.so.0";
#define X(name)                                                                                                        \
    *(void **)&sqlite.name = library ? dlsym(library, #name) : NULL;                                                   \
    missing = missing || sqlite.name ? missing : #name;
    FUNCTIONS(X)
#undef X
}

/* CW_ERR_UNSUPPORTED where the library is missing. */
static enum cw_status need_sqlite(struct cw_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return missing ? cw_error_set(err, CW_ERR_UNSUPPORTED,
                                  "found a database of SQLite, and no %s to read it: install libsqlite3", missing)
                   : CW_OK;
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

/* Stops what takes longer than the file's size explains: a hostile file may hold itself many times. */
static int count_ops(void *reading)
{
    struct reading *r = reading;
    return r->ops_left ? (r->ops_left--, 0) : 1;
}

static void fail(struct reading *r)
{
    if (r->status == CW_OK && !r->ops_left)
        r->status =
            cw_error_set(r->err, CW_ERR_INPUT,
                         "%s: found more rows than its size explains, expected a database of nsys", r->input->name);
    else if (r->status == CW_OK)
        r->status = cw_error_set(r->err, CW_ERR_INPUT, "%s: found a database that cannot be read: %s", r->input->name,
                                 sqlite.sqlite3_errmsg(r->db));
}

/* NULL after a failure. */
static sqlite3_stmt *prepare(struct reading *r, const char *text)
{
    sqlite3_stmt *made = NULL;
    if (r->status == CW_OK && sqlite.sqlite3_prepare_v2(r->db, text, -1, &made, NULL) != SQLITE_OK)
        fail(r);
    return made;
}

static bool step(struct reading *r, sqlite3_stmt *statement)
{
    const int result = statement && r->status == CW_OK ? sqlite.sqlite3_step(statement) : SQLITE_DONE;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        fail(r);
    return result == SQLITE_ROW;
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite.sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

/* Whether a real table has this name: no view, which may be a query of any length, and no module's table. */
static bool has_table(struct reading *r, const char *name)
{
    sqlite3_stmt *s = prepare(r, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?1");
    if (s)
        sqlite.sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    const bool has = step(r, s);
    sqlite.sqlite3_finalize(s);
    return has;
}

/* Versions of nsys differ in columns; a missing one reads as NULL. */
static sqlite3_stmt *select_columns(struct reading *r, const struct table *t)
{
    char text[2048], ask[128];
    size_t used = 0;
    bool has[32] = {false};
    snprintf(ask, sizeof ask, "PRAGMA table_info(%s)", t->name);
    sqlite3_stmt *info = prepare(r, ask);
    while (step(r, info))
        for (size_t i = 0; t->columns[i].name; i++)
            has[i] = has[i] || strcmp(text_at(info, 1), t->columns[i].name) == 0;
    sqlite.sqlite3_finalize(info);
    for (size_t i = 0; t->columns[i].name; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, has[i] ? "%s\"%s\"" : "%sNULL", i ? ", " : "SELECT ",
                                 t->columns[i].name);
    snprintf(text + used, sizeof text - used, " FROM %s", t->name);
    return prepare(r, text);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Cuts the version from cudaLaunchKernel_v7000; names of the driver have theirs, as in cuCtxCreate_v2. */
static void cut_version(char *name)
{
    char *version = strncmp(name, "cuda", 4) == 0 ? strstr(name, "_v") : NULL;
    if (version && isdigit((unsigned char)version[2]))
        *version = 0;
}

static struct remembered look_up(struct reading *r, uint32_t process, int64_t id, bool call)
{
    struct remembered made = {.id = id, .process = process};
    if (r->strings)
        sqlite.sqlite3_bind_int64(r->strings, 1, id);
    if (step(r, r->strings)) {
        char *text = strdup(text_at(r->strings, 0));
        if (!text)
            r->status = cw_error_nomem(r->err);
        if (text && call)
            cut_version(text);
        made.driver = text && strncmp(text, "cu", 2) == 0 && isupper((unsigned char)text[2]);
        made.text = cw_trace_maker_text(r->m, process, text);
        free(text);
    }
    if (r->strings)
        sqlite.sqlite3_reset(r->strings);
    return made;
}

static uint64_t string_of(struct reading *r, uint32_t process, int64_t id, bool call)
{
    struct remembered *place = &r->remembered[((uint64_t)id * 31 + process) % REMEMBERED];
    if (!place->text || place->id != id || place->process != process)
        *place = look_up(r, process, id, call);
    r->driver = call && place->driver;
    return place->text;
}

#define NAME_OF(names, value, otherwise)                                                                               \
    ((value) >= 0 && (value) < (int64_t)(sizeof(names) / sizeof *(names)) ? (names)[value] : (otherwise))

static const char *word_of(const struct reading *r, enum reads reads, int64_t value)
{
    /* the last three are pages of unified memory */
    static const char *const directions[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                             "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
    static const char *const waits[] = {"unknown", "event", "stream_wait_event", "stream", "context"};
    static const char *const memory[] = {"pageable", "pinned",        "device",         "array",
                                         "managed",  "device_static", "managed_static", "unknown"};
    if (reads == DIRECTION)
        return NAME_OF(directions, value, "unknown");
    if (reads == WAIT)
        return NAME_OF(waits, value, "unknown");
    return value >= 0 && value < MOST_MEMORY_KINDS && *r->memory[value] ? r->memory[value] : NAME_OF(memory, value, "");
}

/* Both times stay unknown where one is not there, and where both are 0, as of events that CUPTI could not time. A trace
 * that counts from 0 on begins at 1. A range of NVTX without an end is open until the trace ends. */
static void put_times(const struct reading *r, const struct table *t, sqlite3_stmt *s, cw_made_row row)
{
    int64_t times[2] = {0};
    bool has[2] = {false};
    for (int i = 0; t->columns[i].name; i++)
        if (t->columns[i].reads == TIME && sqlite.sqlite3_column_type(s, i) != SQLITE_NULL) {
            const bool end = t->columns[i].field == CW_FIELD_END;
            times[end] = sqlite.sqlite3_column_int64(s, i);
            has[end] = true;
        }
    const bool open = t->kind == CW_TRACE_NVTX_RANGE && !has[1];
    bool known = has[0] && (open || (has[1] && (times[0] || times[1])));
    for (int i = 0; i < 2; i++)
        known = known && !__builtin_add_overflow(times[i], r->start_ns, &times[i]) && times[i] >= 0;
    if (known) {
        row[CW_FIELD_START] = times[0] ? (uint64_t)times[0] : 1;
        row[CW_FIELD_END] = open ? 0 : times[1] ? (uint64_t)times[1] : 1;
    }
}

/* Finds the process of a thread or process of nsys. */
static uint32_t process_of(struct reading *r, int64_t global)
{
    const uint64_t key = (uint64_t)global >> 24;
    const uint32_t pid = key & 0xffffff, process = cw_trace_maker_process(r->m, key, pid);
    if (process < r->process_count)
        return process;
    struct cw_search of = {0, r->device_count};
    while (of.low < of.high)
        cw_search_narrow(&of, r->devices[cw_search_middle(&of)].pid < pid);
    for (size_t i = of.low, end = i + CW_TRACE_DEVICES_MAX; i < end && i < r->device_count && r->devices[i].pid == pid;
         i++)
        cw_trace_maker_device(r->m, process, r->devices[i].number, r->devices[i].gpu);
    r->process_count = process + 1;
    return process;
}

/* Reads the process of a row, which the texts of its other columns need. */
static uint32_t find_process(struct reading *r, const struct table *t, sqlite3_stmt *s)
{
    int64_t global = 0;
    for (int i = 0; t->columns[i].name; i++)
        if (t->columns[i].reads == PROCESS || (t->columns[i].reads == THREAD && t->columns[i].field == CW_FIELD_THREAD))
            global = sqlite.sqlite3_column_int64(s, i);
    return process_of(r, global);
}

/* The types of ranges of NVTX; marks and others have no end. */
static uint64_t nvtx_type(struct reading *r, uint32_t process, int64_t type)
{
    return cw_trace_maker_text(r->m, process, type == 59 ? "push" : type == 60 ? "start" : "");
}

static void put(struct reading *r, const struct column *c, int64_t value, const char *text, uint32_t process,
                cw_made_row row)
{
    uint64_t *to = &row[c->field];
    switch (c->reads) {
    case NUMBER:
        *to = value >= 0 ? (uint64_t)value : CW_TRACE_UNKNOWN;
        break;
    case STRING:
    case CALL:
        *to = string_of(r, process, value, c->reads == CALL);
        break;
    case TEXT:
        *to = *text ? cw_trace_maker_text(r->m, process, text) : *to;
        break;
    case NVTX:
        *to = nvtx_type(r, process, value);
        break;
    case THREAD:
        *to = (uint64_t)value & 0xffffff;
        break;
    case TIME:
    case PROCESS:
        break;
    default:
        *to = cw_trace_maker_text(r->m, process, word_of(r, c->reads, value));
    }
}

static void take_row(struct reading *r, const struct table *t, sqlite3_stmt *s)
{
    cw_made_row row;
    const uint32_t process = find_process(r, t, s);
    cw_made_row_begin(row);
    r->driver = false;
    for (int i = 0; t->columns[i].name; i++)
        if (sqlite.sqlite3_column_type(s, i) != SQLITE_NULL)
            put(r, &t->columns[i], sqlite.sqlite3_column_int64(s, i), t->columns[i].reads == TEXT ? text_at(s, i) : "",
                process, row);
    put_times(r, t, s, row);
    if (t->kind == CW_TRACE_NVTX_RANGE && !row[CW_FIELD_TYPE])
        return;
    if (row[CW_FIELD_GRAPH] == CW_TRACE_UNKNOWN && row[CW_FIELD_GRAPH_NODE] != CW_TRACE_UNKNOWN)
        row[CW_FIELD_GRAPH] = row[CW_FIELD_GRAPH_NODE] >> 32; /* the upper half names the graph */
    if (row[CW_FIELD_END_THREAD] == CW_TRACE_UNKNOWN)
        row[CW_FIELD_END_THREAD] = row[CW_FIELD_THREAD];
    cw_trace_maker_row(r->m, process, t->kind == CW_TRACE_RUNTIME && r->driver ? CW_TRACE_DRIVER : t->kind, row);
}

static void take_table(struct reading *r, const struct table *t)
{
    if (!has_table(r, t->name))
        return;
    sqlite3_stmt *s = select_columns(r, t);
    while (!cw_trace_maker_failed(r->m) && step(r, s))
        take_row(r, t, s);
    sqlite.sqlite3_finalize(s);
}

/* ---- about the session ------------------------------------------------------------------------------------------ */

/* Calls `take` with the rows of a query, if the table exists and has its columns. */
static void ask(struct reading *r, const char *table, const char *query,
                void (*take)(struct reading *r, sqlite3_stmt *s))
{
    sqlite3_stmt *s = NULL;
    if (!has_table(r, table) || sqlite.sqlite3_prepare_v2(r->db, query, -1, &s, NULL) != SQLITE_OK)
        return;
    while (!cw_trace_maker_failed(r->m) && step(r, s))
        take(r, s);
    sqlite.sqlite3_finalize(s);
}

static void take_start(struct reading *r, sqlite3_stmt *s)
{
    r->start_ns = sqlite.sqlite3_column_int64(s, 0);
}

static void take_gpu(struct reading *r, sqlite3_stmt *s)
{
    const struct cw_pair pairs[] = {
        {"name", text_at(s, 1)}, {"multiprocessors", text_at(s, 2)}, {"memory_bytes", text_at(s, 3)}};
    cw_trace_maker_gpu(r->m, (uint32_t)sqlite.sqlite3_column_int64(s, 0), pairs, 3);
}

static void take_device(struct reading *r, sqlite3_stmt *s)
{
    struct device *grown = cw_grown(r->devices, &r->device_room, r->device_count, sizeof *grown);
    if (!grown) {
        r->status = cw_error_nomem(r->err);
        return;
    }
    r->devices = grown;
    grown[r->device_count++] = (struct device){.gpu = (uint32_t)sqlite.sqlite3_column_int64(s, 0),
                                               .number = (uint32_t)sqlite.sqlite3_column_int64(s, 1),
                                               .pid = (uint32_t)sqlite.sqlite3_column_int64(s, 2)};
}

static int compare_devices(const void *left, const void *right)
{
    const struct device *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->number != b->number ? (a->number < b->number ? -1 : 1) : (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

/* Sorts the devices and keeps one of each number in a process: each of many processes looks at few of them. */
static void sort_devices(struct reading *r)
{
    size_t kept = 0;
    if (r->device_count)
        qsort(r->devices, r->device_count, sizeof *r->devices, compare_devices);
    for (size_t i = 0; i < r->device_count; i++)
        if (!kept || r->devices[kept - 1].pid != r->devices[i].pid ||
            r->devices[kept - 1].number != r->devices[i].number)
            r->devices[kept++] = r->devices[i];
    r->device_count = kept;
}

static void take_memory_kind(struct reading *r, sqlite3_stmt *s)
{
    const int64_t id = sqlite.sqlite3_column_int64(s, 0);
    if (id < 0 || id >= MOST_MEMORY_KINDS)
        return;
    snprintf(r->memory[id], MEMORY_WORD, "%.*s", MEMORY_WORD - 1, text_at(s, 1));
    for (char *c = r->memory[id]; *c; c++)
        *c = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
}

static enum cw_status say_nvprof(const struct reading *r)
{
    return cw_error_set(r->err, CW_ERR_INPUT,
                        "%s: found a database of nvprof, expected one of nsys: nsys export --type sqlite",
                        r->input->name);
}

/* nvprof has tables of other columns under some of the same names. */
static void refuse_nvprof(struct reading *r)
{
    if (has_table(r, "StringTable") && !has_table(r, "StringIds") && r->status == CW_OK)
        r->status = say_nvprof(r);
}

static void read_session(struct reading *r)
{
    ask(r, "TARGET_INFO_SESSION_START_TIME", "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", take_start);
    ask(r, "TARGET_INFO_GPU", "SELECT id, name, smCount, totalMemory FROM TARGET_INFO_GPU", take_gpu);
    ask(r, "TARGET_INFO_CUDA_DEVICE", "SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE", take_device);
    sort_devices(r);
    ask(r, "ENUM_CUDA_MEM_KIND", "SELECT id, label FROM ENUM_CUDA_MEM_KIND", take_memory_kind);
    if (has_table(r, "StringIds"))
        r->strings = prepare(r, "SELECT value FROM StringIds WHERE id = ?1");
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* Nothing in the file may run: no views, triggers, or functions of its own, and nothing larger than a kernel's name. */
static void confine(struct reading *r)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, LONGEST_TEXT}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                    {SQLITE_LIMIT_COLUMN, 256},          {SQLITE_LIMIT_EXPR_DEPTH, 32},
                                    {SQLITE_LIMIT_VDBE_OP, 1 << 14},     {SQLITE_LIMIT_ATTACHED, 0}};
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite.sqlite3_limit(r->db, limits[i][0], limits[i][1]);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite.sqlite3_db_config(r->db, off[i], 0, NULL);
    sqlite.sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    r->ops_left = 10000 + r->input->size * 8 / OPS;
    sqlite.sqlite3_progress_handler(r->db, OPS, count_ops, r);
}

static bool open_place(struct reading *r, const char *place)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite.sqlite3_open_v2(place, &r->db, flags, NULL) == SQLITE_OK)
        return true;
    sqlite.sqlite3_close_v2(r->db);
    r->db = NULL;
    return false;
}

/* Whether the file holds transactions: an ended rollback journal may stay, empty or with zeros for a header. */
static bool holds_changes(const char *path)
{
    char first = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == EACCES;
    const bool holds = read(fd, &first, 1) == 1 && first;
    close(fd);
    return holds;
}

/* Finds the path of an input's file behind its links, as SQLite does; "" if it has none. Some nodes have no /proc. */
static void find_path(const struct cw_input *input, char path[static PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", input->fd);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    if (length < 0 && !cw_file_is_standard(input->name) && !realpath(input->name, path))
        *path = 0;
}

/* Refuses a database that is half of its data. SQLite itself would write into the folder to join the halves. */
static void refuse_unfinished(struct reading *r)
{
    static const char *const ends[] = {"-wal", "-journal"};
    char path[PATH_MAX + 16] = "";
    if (r->input->is_open)
        find_path(r->input, path);
    const size_t length = strlen(path);
    for (size_t i = 0; length && r->status == CW_OK && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path + length, sizeof path - length, "%s", ends[i]);
        if (holds_changes(path))
            r->status =
                cw_error_set(r->err, CW_ERR_INPUT,
                             "%s: found a database that has a part of its data in its %s file, expected all in one "
                             "file: end the program that writes it, or open it once: sqlite3 FILE .tables",
                             r->input->name, ends[i]);
    }
}

/* Whether the file begins with the tables of nvprof; sets the status to a failure. SQLite before 3.12 made pages of
 * 1,024 bytes. */
static bool looks_like_nvprof(struct reading *r)
{
    const size_t size = r->input->size < SMALL_FILE ? r->input->size : SMALL_FILE;
    char *head = malloc(size);
    if (!head) {
        r->status = cw_error_nomem(r->err);
        return false;
    }
    r->status = cw_input_read(r->input, 0, size, head, r->err);
    const bool found =
        r->status == CW_OK && memmem(head, size, "StringTable", 11) && !memmem(head, size, "StringIds", 9);
    free(head);
    return found;
}

/* A row may claim 4 GB. SQLite clears 4 bytes for each page of a row that it reads: 34 MB in pages of 512 bytes, where
 * a row may take 53 bytes of the file. nsys writes pages of 4,096 bytes: 4 MB, for a row of 500. A small file has few
 * rows. */
static void refuse_small_pages(struct reading *r)
{
    unsigned char at[2] = {0};
    const unsigned least = r->input->size > SMALL_FILE ? PAGE : SMALL_PAGE;
    if (r->status != CW_OK || r->input->size < PAGE_SIZE_AT + sizeof at)
        return;
    r->status = cw_input_read(r->input, PAGE_SIZE_AT, sizeof at, at, r->err);
    const unsigned bytes = at[0] << 8 | at[1]; /* 1 stands for 65,536 */
    if (r->status != CW_OK || bytes == 1 || bytes >= least)
        return;
    const bool nvprof = looks_like_nvprof(r);
    if (r->status == CW_OK)
        r->status = nvprof ? say_nvprof(r)
                           : cw_error_set(r->err, CW_ERR_INPUT,
                                          "%s: found a database in pages of %u bytes, expected at least %u: "
                                          "sqlite3 FILE \"PRAGMA page_size = 4096; VACUUM\"",
                                          r->input->name, bytes, least);
}

/* Opens a file in place, without its locks and whatever its name, and data without a name in memory. */
static void open_database(struct reading *r, struct cw_input *copy)
{
    char place[64];
    refuse_unfinished(r);
    refuse_small_pages(r);
    if (r->status != CW_OK)
        return;
    snprintf(place, sizeof place, "file:/proc/self/fd/%d?immutable=1", r->input->fd);
    if (!r->input->bytes && open_place(r, place)) {
        confine(r);
        return;
    }
    *copy = *r->input;
    copy->own = (struct cw_bytes){0};
    r->status = cw_input_load(copy, r->err);
    if (r->status != CW_OK)
        return;
    if (!open_place(r, "file::memory:")) {
        r->status = cw_error_nomem(r->err);
        return;
    }
    confine(r);
    if (sqlite.sqlite3_deserialize(r->db, "main", (unsigned char *)copy->bytes, (sqlite3_int64)copy->size,
                                   (sqlite3_int64)copy->size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        fail(r);
}

enum cw_status cw_nsys_read(struct cw_input *made, const struct cw_input *input, struct cw_error *err)
{
    struct reading r = {.input = input, .err = err};
    struct cw_input copy = {0};
    CW_TRY(need_sqlite(err));
    r.m = cw_trace_maker_create("nsys", input->name, err);
    r.remembered = calloc(REMEMBERED, sizeof *r.remembered);
    r.status = r.m && r.remembered ? CW_OK : cw_error_nomem(err);
    if (r.status == CW_OK)
        open_database(&r, &copy);
    refuse_nvprof(&r);
    read_session(&r);
    for (size_t i = 0; r.status == CW_OK && i < sizeof tables / sizeof *tables; i++)
        take_table(&r, &tables[i]);
    if (r.status == CW_OK)
        r.status = cw_trace_maker_finish(r.m, true, made);
    sqlite.sqlite3_finalize(r.strings);
    sqlite.sqlite3_close_v2(r.db);
    cw_trace_maker_free(r.m);
    free(r.remembered);
    free(r.devices);
    cw_bytes_free(&copy.own);
    return r.status;
}
