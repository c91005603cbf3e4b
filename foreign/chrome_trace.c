#include "foreign/chrome_trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "foreign/json_repair.h"
#include "foreign/pids.h"
#include "foreign/trace_maker.h"

/* Limit on a value, such as an event. An input has to hold all of it. */
enum { LARGEST_VALUE = 1 << 20, PIECE = 1 << 18 };

/* The parts of a file that are taken in one reading of it: both, if nothing about an event stands behind it. */
enum part { MEMBERS = 1, EVENTS = 2 };

struct scan {
    struct cw_window window;
    const struct cw_input *input;
    const uint8_t *piece;
    size_t used, size; /* of the piece */
    uint64_t start;    /* of the piece */
    struct cw_writer value;
    struct cw_trace_maker *m;
    struct cw_error *err;
    enum cw_status status;
    unsigned parts;
    bool behind;     /* members that are about the events stand behind them */
    int64_t base_ns; /* added to all times */
    bool several;    /* processes */
    struct cw_pids pids;
    uint32_t unowned; /* events of GPUs of which no one process is known */
    bool cut;         /* the list of events has no end */
};

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* Returns the next byte without taking it, -1 at the end or after a failure. */
static int peek(struct scan *s)
{
    if (s->used < s->size)
        return s->piece[s->used];
    const uint64_t at = s->start + s->size, left = s->input->size - at;
    if (!left || s->status != CW_OK)
        return -1;
    s->start = at;
    s->size = left < PIECE ? (size_t)left : PIECE;
    s->used = 0;
    s->status = cw_window_get(&s->window, at, s->size, &s->piece, s->err);
    if (s->status == CW_OK)
        return s->piece[0];
    s->size = 0;
    return -1;
}

static int take(struct scan *s)
{
    const int c = peek(s);
    s->used += c >= 0;
    return c;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int peek_behind_blanks(struct scan *s)
{
    while (is_blank(peek(s)))
        s->used++;
    return peek(s);
}

static void fail(struct scan *s, const char *expected)
{
    const int c = peek(s);
    if (s->status == CW_OK && c < 0)
        s->status = cw_error_offset(s->err, CW_ERR_INPUT, s->input->name, s->start + s->used,
                                    "found the end of the file, expected %s", expected);
    else if (s->status == CW_OK)
        s->status = cw_error_offset(s->err, CW_ERR_INPUT, s->input->name, s->start + s->used,
                                    "found the byte 0x%02x, expected %s", (unsigned)c, expected);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Takes a byte of a value, and keeps it up to the limit. */
static int keep(struct scan *s, bool kept)
{
    const int c = take(s);
    const uint8_t byte = (uint8_t)c;
    if (kept && c >= 0 && s->value.size <= LARGEST_VALUE)
        cw_write_bytes(&s->value, &byte, 1);
    return c;
}

static void take_string(struct scan *s, bool kept)
{
    int c = keep(s, kept);
    while ((c = keep(s, kept)) >= 0 && c != '"')
        if (c == '\\')
            keep(s, kept);
}

/* Takes a value, whose brackets are counted; jansson reads the ones that are kept. False at the end of the file. */
static bool take_value(struct scan *s, bool kept)
{
    size_t depth = 0;
    s->value.size = 0;
    do {
        const int c = peek(s);
        if (c < 0) /* it may have ended within a string */
            return false;
        if (c == '"')
            take_string(s, kept);
        else if (!depth && (c == ',' || c == ']' || c == '}' || is_blank(c)))
            break;
        else
            keep(s, kept);
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!depth && (c == '"' || c == '}' || c == ']'))
            break;
    } while (s->status == CW_OK);
    if (s->status == CW_OK && s->value.status != CW_OK)
        s->status = cw_error_nomem(s->err);
    return s->status == CW_OK;
}

/* Puts a readable value in place of the kept one, which jansson refuses, and parses it. NULL where that fails as well.
 */
static json_t *parse_repaired(struct scan *s, json_error_t *error)
{
    struct cw_writer repaired;
    cw_writer_init(&repaired);
    cw_json_repair(&repaired, s->value.data, s->value.size);
    if (repaired.status != CW_OK)
        s->status = cw_error_nomem(s->err);
    cw_writer_free(&s->value);
    s->value = repaired;
    return s->status == CW_OK ? json_loadb((const char *)s->value.data, s->value.size, JSON_DECODE_ANY, error) : NULL;
}

/* Parses the kept value; NULL after a failure. A value that is not whole is cut off, if it has no other fault: behind a
 * quote that lacks its end, all brackets are within strings. */
static json_t *parse(struct scan *s, uint64_t at, bool whole)
{
    json_error_t error, last = {.position = 0};
    if (s->value.size > LARGEST_VALUE) {
        s->status = cw_error_offset(s->err, CW_ERR_INPUT, s->input->name, at,
                                    "found a value of more than %d bytes, expected no more", LARGEST_VALUE);
        return NULL;
    }
    json_t *made = json_loadb((const char *)s->value.data, s->value.size, JSON_DECODE_ANY, &error);
    if (!made && json_error_code(&error) != json_error_out_of_memory)
        made = parse_repaired(s, &last);
    s->cut = !whole && s->status == CW_OK &&
             (json_error_code(&last) == json_error_premature_end_of_input ||
              (size_t)last.position + strlen("-Infinity") > s->value.size); /* which jansson refuses from its - on */
    if (!made && s->status == CW_OK && !s->cut)
        s->status = json_error_code(&error) == json_error_out_of_memory
                        ? cw_error_nomem(s->err)
                        : cw_error_offset(s->err, CW_ERR_INPUT, s->input->name, at + (uint64_t)error.position,
                                          "found JSON that cannot be read: %s", error.text);
    return made;
}

/* ---- members of objects ----------------------------------------------------------------------------------------- */

/* A number that may be written as a text; `otherwise` for other texts, such as "n/a", and other values. */
static double number_of(const json_t *value, double otherwise)
{
    char *end = NULL;
    if (json_is_number(value))
        return json_number_value(value);
    const double read = json_is_string(value) ? strtod(json_string_value(value), &end) : otherwise;
    return end && end > json_string_value(value) && !*end ? read : otherwise;
}

static double number(const json_t *of, const char *key, double otherwise)
{
    return number_of(json_object_get(of, key), otherwise);
}

/* A whole number in [0, 2^53]; CW_TRACE_UNKNOWN for any other. */
static uint64_t whole_of(const json_t *number)
{
    const double value = number_of(number, -1);
    return value >= 0 && value <= 0x1p53 ? (uint64_t)value : CW_TRACE_UNKNOWN;
}

static uint64_t whole(const json_t *of, const char *key)
{
    return whole_of(json_object_get(of, key));
}

static const char *text(const json_t *of, const char *key)
{
    const char *value = json_string_value(json_object_get(of, key));
    return value ? value : "";
}

/* ns of 146 years, the farthest time that is read */
#define FARTHEST (INT64_C(1) << 62)

static int64_t clamped(double value)
{
    return value >= 0x1p62 ? FARTHEST : value > -0x1p62 ? (int64_t)llround(value) : -FARTHEST;
}

/* ---- times: a double has microseconds since 1970 in steps of 250 ns, so that they are read from the text -------- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* The text of a member's number within the kept value, which is an object; NULL for none. The last one counts. */
static const char *number_text(const struct scan *s, const char *key, size_t *size)
{
    const char *at = (const char *)s->value.data, *end = at + s->value.size, *found = NULL;
    const size_t length = strlen(key);
    for (int depth = 0; at < end;) {
        const char *from = at + 1;
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at = *at == '"' ? skip_string(at, end) : at + 1;
        if (depth != 1 || from[-1] != '"' || (size_t)(at - from) != length + 1 || memcmp(from, key, length) != 0)
            continue;
        at = skip_blanks(at, end);
        if (at == end || *at != ':')
            continue;
        found = skip_blanks(at + 1, end);
        found += found < end && *found == '"';
        at = found;
        while (at < end && !is_blank(*at) && *at != ',' && *at != '}' && *at != '"')
            at++;
        *size = (size_t)(at - found);
        at += at < end && *at == '"';
    }
    return found;
}

/* Reads microseconds as ns. False where there is no such number. */
static bool read_time(const struct scan *s, const json_t *event, const char *key, int64_t *ns)
{
    size_t size = 0;
    const double rounded = number(event, key, NAN);
    const char *exact = isfinite(rounded) ? number_text(s, key, &size) : NULL;
    if (!exact || !cw_decimal_read_shifted(exact, size, 3, ns))
        *ns = clamped(rounded * 1000);
    return isfinite(rounded);
}

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ---- the file's own members ------------------------------------------------------------------------------------- */

static void take_gpu(struct scan *s, const json_t *of)
{
    static const char *const keys[][2] = {{"multiprocessors", "numSms"},
                                          {"compute_capability_major", "computeMajor"},
                                          {"compute_capability_minor", "computeMinor"},
                                          {"memory_bytes", "totalGlobalMem"},
                                          {"warp_size", "warpSize"},
                                          {"max_threads_per_multiprocessor", "maxThreadsPerMultiprocessor"},
                                          {"max_threads_per_block", "maxThreadsPerBlock"}};
    enum { COUNT = sizeof keys / sizeof *keys };
    struct cw_pair pairs[COUNT + 1];
    char numbers[COUNT][24];
    uint32_t count = 0;
    const uint64_t id = whole(of, "id");
    if (*text(of, "name"))
        pairs[count++] = (struct cw_pair){"name", text(of, "name")};
    for (int i = 0; i < COUNT; i++) {
        const uint64_t value = whole(of, keys[i][1]);
        snprintf(numbers[i], sizeof numbers[i], "%" PRIu64, value);
        if (value != CW_TRACE_UNKNOWN)
            pairs[count++] = (struct cw_pair){keys[i][0], numbers[i]};
    }
    if (id < UINT32_MAX)
        cw_trace_maker_gpu(s->m, (uint32_t)id, pairs, count);
}

struct member {
    const char *key;
    void (*take)(struct scan *s, const json_t *value);
};

static void take_gpus(struct scan *s, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        take_gpu(s, json_array_get(value, i));
}

static void take_base(struct scan *s, const json_t *value)
{
    const char *exact = (const char *)s->value.data;
    if (!json_is_number(value) || !cw_decimal_read_shifted(exact, s->value.size, 0, &s->base_ns))
        s->base_ns = 0;
}

static void take_rank(struct scan *s, const json_t *value)
{
    static const char *const keys[][2] = {{"rank", "rank"}, {"ranks", "world_size"}};
    for (int i = 0; i < 2 && !s->several; i++) {
        char number[24];
        const uint64_t of = whole(value, keys[i][1]);
        snprintf(number, sizeof number, "%" PRIu64, of);
        if (of != CW_TRACE_UNKNOWN)
            cw_trace_maker_attribute(s->m, 0, keys[i][0], number);
    }
}

static void take_member(struct scan *s, const char *key, bool behind)
{
    static const struct member members[] = {
        {"deviceProperties", take_gpus}, {"baseTimeNanoseconds", take_base}, {"distributedInfo", take_rank}};
    const struct member *found = NULL;
    const uint64_t at = s->start + s->used;
    for (size_t i = 0; i < sizeof members / sizeof *members && s->parts & MEMBERS; i++)
        found = strcmp(key, members[i].key) == 0 ? &members[i] : found;
    s->behind = s->behind || (found && behind);
    if (!take_value(s, found != NULL)) {
        fail(s, "a value");
        return;
    }
    json_t *value = found ? parse(s, at, true) : NULL;
    if (value)
        found->take(s, value);
    json_decref(value);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

struct event {
    uint32_t process;
    const json_t *args;
    const char *name;
    cw_made_row row;
};

static void put_text(struct scan *s, struct event *e, enum cw_trace_field field, const char *word)
{
    e->row[field] = cw_trace_maker_text(s->m, e->process, word);
}

static void put_sizes(struct event *e, const char *key, enum cw_trace_field first)
{
    const json_t *sizes = json_object_get(e->args, key);
    for (unsigned i = 0; i < 3 && i < json_array_size(sizes); i++)
        e->row[first + i] = whole_of(json_array_get(sizes, i));
}

static void put_place(struct event *e)
{
    e->row[CW_FIELD_DEVICE] = whole(e->args, "device");
    e->row[CW_FIELD_CONTEXT] = whole(e->args, "context");
    e->row[CW_FIELD_STREAM] = whole(e->args, "stream");
    e->row[CW_FIELD_BYTES] = whole(e->args, "bytes");
    const uint64_t node = whole(e->args, "graph node id");
    e->row[CW_FIELD_GRAPH] = whole(e->args, "graph id");
    e->row[CW_FIELD_GRAPH] = e->row[CW_FIELD_GRAPH] ? e->row[CW_FIELD_GRAPH] : CW_TRACE_UNKNOWN;
    e->row[CW_FIELD_GRAPH_NODE] = node ? node : CW_TRACE_UNKNOWN;
}

static void put_kernel(struct scan *s, struct event *e)
{
    put_place(e);
    put_text(s, e, CW_FIELD_NAME, e->name);
    put_sizes(e, "grid", CW_FIELD_GRID_X);
    put_sizes(e, "block", CW_FIELD_BLOCK_X);
    e->row[CW_FIELD_REGISTERS] = whole(e->args, "registers per thread");
    e->row[CW_FIELD_SHARED] = whole(e->args, "shared memory");
}

/* Kineto writes "Device Static" for the memory "device_static", and wrote "Pagable" in 2021. */
static void put_memory(struct scan *s, struct event *e, enum cw_trace_field field, char *words)
{
    for (size_t size = strlen(words); size && words[size - 1] == ' '; size--)
        words[size - 1] = 0;
    for (char *c = words; *c; c++)
        *c = *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
    put_text(s, e, field, strcmp(words, "pagable") == 0 ? "pageable" : words);
}

/* A copy from GPU to GPU has three devices: it leaves the first, is done by the second, and reaches the third. */
static void put_peers(struct event *e)
{
    if (!json_object_get(e->args, "inDevice"))
        return;
    e->row[CW_FIELD_DEVICE] = whole(e->args, "inDevice");
    e->row[CW_FIELD_CONTEXT] = whole(e->args, "inContext");
    e->row[CW_FIELD_SOURCE_DEVICE] = whole(e->args, "fromDevice");
    e->row[CW_FIELD_SOURCE_CONTEXT] = whole(e->args, "fromContext");
    e->row[CW_FIELD_TARGET_DEVICE] = whole(e->args, "toDevice");
    e->row[CW_FIELD_TARGET_CONTEXT] = whole(e->args, "toContext");
}

/* The words in "Memcpy HtoD (Pageable -> Device)"; an export of ours leaves out the unknown ones. */
static void put_copy(struct scan *s, struct event *e)
{
    char direction[8] = "", from[20] = "", to[20] = "";
    put_place(e);
    put_peers(e);
    sscanf(e->name, "Memcpy %7[A-Za-z]", direction);
    const char *ends = strchr(e->name, '(');
    if (ends && sscanf(ends, "(%19[A-Za-z ]-> %19[A-Za-z ])", from, to) < 1)
        sscanf(ends, "(-> %19[A-Za-z ])", to);
    put_text(s, e, CW_FIELD_DIRECTION, direction);
    put_memory(s, e, CW_FIELD_SOURCE, from);
    put_memory(s, e, CW_FIELD_TARGET, to);
}

static void put_memset(struct scan *s, struct event *e)
{
    char memory[20] = "";
    put_place(e);
    sscanf(e->name, "Memset (%19[A-Za-z ])", memory);
    put_memory(s, e, CW_FIELD_MEMORY, memory);
}

/* Both stay unknown where there is no such time: Kineto has 0 for events that CUPTI could not time, and numbers near
 * 2^64 are negative ones that wrapped. A trace that counts from 0 on begins at 1. */
static void put_times(const struct scan *s, struct event *e, const json_t *of)
{
    int64_t start, length;
    if (!read_time(s, of, "ts", &start) || !read_time(s, of, "dur", &length) || length < 0 || length >= FARTHEST)
        return;
    const int64_t from = sum_of(s->base_ns, start);
    if (from < 0 || from >= FARTHEST || (!length && (!start || !from)))
        return;
    e->row[CW_FIELD_START] = from ? (uint64_t)from : 1;
    e->row[CW_FIELD_END] = (uint64_t)(from + length);
}

static void put_graph(struct scan *s, struct event *e)
{
    (void)s;
    put_place(e);
}

static void put_call(struct scan *s, struct event *e)
{
    put_text(s, e, CW_FIELD_NAME, e->name);
}

static void put_range(struct scan *s, struct event *e)
{
    put_text(s, e, CW_FIELD_NAME, e->name);
    put_text(s, e, CW_FIELD_DOMAIN, text(e->args, "domain")); /* of an export of ours */
    put_text(s, e, CW_FIELD_TYPE, "push");
    e->row[CW_FIELD_END_THREAD] = e->row[CW_FIELD_THREAD];
}

/* Kineto's categories, in letters of any case; the last ones are of 2021. gpu_user_annotation is left out, as it
 * repeats user_annotation. */
static const struct category {
    const char *name;
    enum cw_trace_kind kind;
    bool of_host; /* "pid" and "tid" are the system's */
    void (*put)(struct scan *s, struct event *e);
} categories[] = {
    {"kernel", CW_TRACE_KERNEL, false, put_kernel},
    {"gpu_memcpy", CW_TRACE_COPY, false, put_copy},
    {"gpu_memset", CW_TRACE_MEMSET, false, put_memset},
    {"cuda_runtime", CW_TRACE_RUNTIME, true, put_call},
    {"cuda_driver", CW_TRACE_DRIVER, true, put_call},
    {"cpu_op", CW_TRACE_NVTX_RANGE, true, put_range},
    {"user_annotation", CW_TRACE_NVTX_RANGE, true, put_range},
    {"graph_launch", CW_TRACE_GRAPH, false, put_graph}, /* of an export of ours */
    {"memcpy", CW_TRACE_COPY, false, put_copy},
    {"memset", CW_TRACE_MEMSET, false, put_memset},
    {"runtime", CW_TRACE_RUNTIME, true, put_call},
    {"operator", CW_TRACE_NVTX_RANGE, true, put_range},
};

static const struct category *category_of(const json_t *event)
{
    const char *name = text(event, "cat");
    if (strcmp(text(event, "ph"), "X") == 0)
        for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
            if (strcasecmp(name, categories[i].name) == 0)
                return &categories[i];
    return NULL;
}

enum { PID_ROOM = 32 };

/* The text of an event's "pid", which may be a number. */
static const char *pid_text(const json_t *event, char room[PID_ROOM])
{
    const json_t *pid = json_object_get(event, "pid");
    *room = 0;
    if (json_is_integer(pid))
        snprintf(room, PID_ROOM, "%" JSON_INTEGER_FORMAT, json_integer_value(pid));
    else if (json_is_real(pid))
        cw_decimal_text(json_real_value(pid), room);
    return json_is_string(pid) ? json_string_value(pid) : room;
}

/* The process of an event of the host. */
static cw_pid caller_of(struct scan *s, const json_t *event)
{
    char room[PID_ROOM];
    cw_pid pid;
    if (cw_pids_add(&s->pids, &pid, pid_text(event, room)))
        return pid;
    s->status = cw_error_nomem(s->err);
    return 0;
}

/* Names a process as its text, if that is more than a number. */
static uint32_t named_process(struct scan *s, uint32_t process, cw_pid pid)
{
    const char *name = cw_pids_name_of(&s->pids, pid);
    if (name)
        cw_trace_maker_attribute(s->m, process, "program", name);
    return process;
}

/* Takes the file for one of a single process, until a second one calls. */
static uint32_t only_process(struct scan *s, cw_pid pid)
{
    s->several = s->pids.count > 1;
    if (pid && !s->several)
        cw_trace_maker_pid(s->m, 0, cw_pids_number_of(&s->pids, pid));
    return named_process(s, 0, pid);
}

/* The process of an event. Events of GPUs do not say it: their "pid" is the GPU. */
static uint32_t process_of(struct scan *s, const struct category *c, const json_t *event, uint64_t correlation)
{
    char room[PID_ROOM];
    cw_pid pid = c->of_host ? caller_of(s, event) : 0;
    if (!s->several)
        return only_process(s, pid);
    if (!c->of_host) {
        const json_t *args = json_object_get(event, "args");
        const uint64_t device = whole(args, json_object_get(args, "inDevice") ? "inDevice" : "device");
        pid = cw_pids_find(&s->pids, pid_text(event, room), device, correlation);
        s->unowned += !pid;
    }
    const uint32_t number = cw_pids_number_of(&s->pids, pid);
    return named_process(s, cw_trace_maker_process(s->m, number, number), pid);
}

static void take_event(struct scan *s, const json_t *of)
{
    const struct category *c = category_of(of);
    if (!c)
        return;
    struct event e = {.args = json_object_get(of, "args"), .name = text(of, "name")};
    cw_made_row_begin(e.row);
    put_times(s, &e, of);
    e.row[CW_FIELD_CORRELATION] = whole(e.args, "correlation");
    const bool beside = json_object_get(e.args, "thread"); /* a range of an export of ours */
    if (c->of_host)
        e.row[CW_FIELD_THREAD] = whole(beside ? e.args : of, beside ? "thread" : "tid");
    e.process = process_of(s, c, of, e.row[CW_FIELD_CORRELATION]);
    c->put(s, &e);
    cw_trace_maker_row(s->m, e.process, c->kind, e.row);
}

/* Notes the process of an event, and its call. */
static void note_event(struct scan *s, const json_t *event)
{
    const struct category *c = category_of(event);
    const uint64_t correlation = whole(json_object_get(event, "args"), "correlation");
    const cw_pid pid = c && c->of_host ? caller_of(s, event) : 0;
    if (c && c->put == put_call && correlation != CW_TRACE_UNKNOWN && s->status == CW_OK &&
        !cw_pids_add_call(&s->pids, pid, correlation))
        s->status = cw_error_nomem(s->err);
}

/* Whether this reading is over: it failed, or calls of a second process belie it. */
static bool is_over(const struct scan *s)
{
    return s->status != CW_OK || cw_trace_maker_failed(s->m) || (s->several && s->parts == (MEMBERS | EVENTS));
}

/* Takes the list behind its opening bracket. Chrome reads lists that lack their end, so that programs may die. */
static void take_events(struct scan *s)
{
    const bool wanted = s->several || s->parts & EVENTS;
    while (!is_over(s)) {
        int c = peek_behind_blanks(s);
        while (c == ',') {
            take(s);
            c = peek_behind_blanks(s);
        }
        if (c == ']' || c < 0) {
            s->cut = c < 0;
            take(s);
            return;
        }
        const uint64_t at = s->start + s->used;
        if (c != '{') {
            fail(s, "an event, { ... }");
            return;
        }
        const bool whole = take_value(s, wanted);
        if (wanted && s->status == CW_OK) {
            json_t *event = parse(s, at, whole);
            if (event && s->parts & EVENTS)
                take_event(s, event);
            else if (event)
                note_event(s, event);
            json_decref(event);
        }
        s->cut = s->cut || !whole;
        if (s->cut)
            return;
    }
}

static void take_key(struct scan *s, char *key, size_t room)
{
    if (peek_behind_blanks(s) != '"') {
        fail(s, "the name of a member");
        return;
    }
    s->value.size = 0;
    take_string(s, true);
    if (s->status == CW_OK && s->value.status != CW_OK)
        s->status = cw_error_nomem(s->err);
    if (peek(s) < 0)
        fail(s, "a member");
    const size_t length = s->value.size > 1 ? s->value.size - 2 : 0;
    *key = 0;
    if (s->status == CW_OK && length < room) {
        memcpy(key, s->value.data + 1, length);
        key[length] = 0;
    }
    if (s->status == CW_OK && peek_behind_blanks(s) != ':')
        fail(s, "':'");
    take(s);
    peek_behind_blanks(s);
}

/* Takes the members of the file's object behind its opening bracket. */
static void take_members(struct scan *s)
{
    char key[64];
    bool events = false;
    while (!is_over(s) && !s->cut) {
        const int c = peek_behind_blanks(s);
        if (c == '}' || (c < 0 && events)) {
            s->cut = c < 0;
            take(s);
            break;
        }
        if (c == ',') {
            take(s);
            continue;
        }
        take_key(s, key, sizeof key);
        if (s->status != CW_OK)
            break;
        if (strcmp(key, "traceEvents") == 0 && peek(s) == '[') {
            events = take(s) == '[';
            take_events(s);
        } else {
            take_member(s, key, events);
        }
    }
    if (s->status == CW_OK && !events && !cw_trace_maker_failed(s->m))
        s->status = cw_error_set(s->err, CW_ERR_INPUT,
                                 "%s: found JSON without \"traceEvents\", expected a trace of Kineto", s->input->name);
}

/* Takes parts of the file, which is read from its beginning. */
static void take_parts(struct scan *s, unsigned parts)
{
    s->parts = parts;
    s->start = s->used = s->size = 0;
    s->cut = s->behind = false;
    for (const char *mark = "\xef\xbb\xbf"; *mark && peek(s) == (uint8_t)*mark; mark++)
        take(s);
    const int first = peek_behind_blanks(s);
    if (first != '{' && first != '[')
        fail(s, "{ or [");
    take(s);
    if (first == '[')
        take_events(s);
    else if (first == '{')
        take_members(s);
    if (!is_over(s) && !s->cut && peek_behind_blanks(s) >= 0)
        fail(s, "the end of the file");
}

static void begin(struct scan *s)
{
    cw_trace_maker_free(s->m);
    s->m = cw_trace_maker_create("kineto", s->input->name, s->err);
    if (!s->m)
        s->status = CW_ERR_NOMEM;
    else if (!s->several)
        cw_trace_maker_process(s->m, 0, 0);
}

/* What is known of an event may stand behind it: JSON has no order, and a file of several processes says whose events
 * are whose by the calls in it. */
static void take_file(struct scan *s)
{
    begin(s);
    if (s->status == CW_OK)
        take_parts(s, MEMBERS | EVENTS);
    if (s->status != CW_OK || cw_trace_maker_failed(s->m) || !(s->behind || s->several))
        return;
    begin(s);
    if (s->status == CW_OK)
        take_parts(s, MEMBERS);
    if (s->status == CW_OK && !cw_pids_number(&s->pids))
        s->status = cw_error_nomem(s->err);
    if (s->status == CW_OK)
        take_parts(s, EVENTS);
}

enum cw_status cw_chrome_trace_read(struct cw_input *made, char *notice, size_t size, const struct cw_input *input,
                                    struct cw_error *err)
{
    struct scan s = {.window = {.input = input}, .input = input, .err = err};
    take_file(&s);
    if (s.status == CW_OK)
        s.status = cw_trace_maker_finish(s.m, !s.cut, made);
    if (s.status == CW_OK && s.unowned)
        snprintf(notice, size,
                 "cannot tell the process of %" PRIu32 " events of GPUs, which are listed under process 0: read a file "
                 "of each process instead",
                 s.unowned);
    cw_pids_free(&s.pids);
    cw_trace_maker_free(s.m);
    cw_writer_free(&s.value);
    free(s.window.data);
    return s.status;
}
