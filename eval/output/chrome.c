#define _GNU_SOURCE
#include "eval/output/chrome.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/elide.h"
#include "base/text.h"

struct place { /* of a lane */
    int32_t pid;
    int64_t tid;
    bool moved; /* calls of `thread`, which is not `tid` */
    uint64_t thread;
    const char *group, *name, *unit; /* group: the lane around a counter, "" for a process */
};

struct cw_chrome {
    const struct cw_timeline *timeline;
    FILE *out, *line; /* line: in memory, to know its length */
    char *text;
    size_t size, written, count, room;
    struct place *places;
    uint64_t base; /* ns since 1970 at the time 0 of the file */
    bool nomem, any;
    struct cw_elisions elisions; /* of the texts of events, which live until the end */
};

struct cw_chrome *cw_chrome_create(FILE *out, const struct cw_timeline *timeline)
{
    struct cw_chrome *c = calloc(1, sizeof *c);
    if (c) {
        c->timeline = timeline;
        c->out = out;
        c->line = open_memstream(&c->text, &c->size);
    }
    if (c && !c->line) {
        free(c);
        c = NULL;
    }
    return c;
}

void cw_chrome_free(struct cw_chrome *c)
{
    if (!c)
        return;
    fclose(c->line);
    free(c->text);
    free(c->places);
    cw_elisions_free(&c->elisions);
    free(c);
}

/* Writes the finished line. */
static void put_line(struct cw_chrome *c)
{
    if (fflush(c->line) != 0 || ferror(c->line)) {
        c->nomem = true;
        return;
    }
    fwrite(c->text, 1, c->size, c->out);
    c->written += c->size;
    rewind(c->line);
}

static bool is_full(const void *chrome)
{
    const struct cw_chrome *c = chrome;
    return c->nomem || ferror(c->out) || c->written > CW_CHROME_BYTES_MAX;
}

enum cw_status cw_chrome_finish(struct cw_chrome *c)
{
    fputs("\n]}\n", c->line);
    put_line(c);
    return c->nomem ? CW_ERR_NOMEM : c->written > CW_CHROME_BYTES_MAX ? CW_ERR_UNSUPPORTED : CW_OK;
}

/* Writes a member that the capture has as a text, if that is a number. */
static bool put_number(struct cw_chrome *c, const char *before, const char *name, const char *text)
{
    char *end = NULL;
    const unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    const bool is_number = text && isdigit((unsigned char)*text) && !*end;
    if (is_number)
        cw_text_print(c->line, "%s\"%s\": %llu", before, name, value);
    return is_number;
}

static void put_device(struct cw_chrome *c, const struct cw_device *device)
{
    static const char *const numbers[][2] = {{"numSms", "multiprocessors"},
                                             {"computeMajor", "compute_capability_major"},
                                             {"computeMinor", "compute_capability_minor"},
                                             {"totalGlobalMem", "memory_bytes"}};
    const char *name = cw_device_attribute(device, "name");
    cw_text_print(c->line, "{\"id\": %" PRIu32 ", \"name\": ", device->index);
    cw_text_put(c->line, CW_TEXT_JSON, cw_elisions_text(&c->elisions, name ? name : ""));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(c, ", ", numbers[i][0], cw_device_attribute(device, numbers[i][1]));
    fputc('}', c->line);
}

/* The attribute that all processes have alike; NULL for none. */
static const char *common(const struct cw_timeline *t, const char *key)
{
    const char *first = t->trace->process_count ? cw_timeline_attribute(t, 0, key) : NULL;
    for (uint32_t i = 1; first && i < t->trace->process_count; i++) {
        const char *other = cw_timeline_attribute(t, i, key);
        if (!other || strcmp(other, first) != 0)
            return NULL;
    }
    return first;
}

static void put_rank(struct cw_chrome *c)
{
    if (!put_number(c, ", \"distributedInfo\": {", "rank", common(c->timeline, "rank")))
        return;
    put_number(c, ", ", "world_size", common(c->timeline, "ranks"));
    fputc('}', c->line);
}

/* Times begin at a whole second, which readers hold exactly in a double, and never at 0: that is an unknown time. */
static void start(void *chrome, uint64_t origin)
{
    enum { SECOND = 1000000000 };
    struct cw_chrome *c = chrome;
    c->base = origin ? (origin - 1) / SECOND * SECOND : 0;
    cw_text_print(c->line,
                  "{\"displayTimeUnit\": \"ns\", \"baseTimeNanoseconds\": %" PRIu64 ", \"deviceProperties\": [",
                  c->base);
    for (uint32_t i = 0; i < c->timeline->data->device_count; i++) {
        fputs(i ? ", " : "", c->line);
        put_device(c, &c->timeline->data->devices[i]);
    }
    fputc(']', c->line);
    put_rank(c);
    fputs(", \"traceEvents\": [", c->line);
    put_line(c);
}

/* The members that begin every event. */
static void put_head(struct cw_chrome *c, const char *phase, const struct place *place)
{
    cw_text_print(c->line, "%s\n{\"ph\": \"%s\", \"pid\": %" PRId32 ", \"tid\": %" PRId64, c->any ? "," : "", phase,
                  place->pid, place->tid);
    c->any = true;
}

/* Times are in microseconds. */
static void put_time(struct cw_chrome *c, const char *name, uint64_t ns)
{
    cw_text_print(c->line, ", \"%s\": %" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

/* A name to draw, escaped, so that no character moves the line. */
static void put_drawn(struct cw_chrome *c, const char *text)
{
    text = cw_elisions_text(&c->elisions, text);
    const size_t room = 6 * strlen(text) + 1;
    char *escaped = malloc(room);
    c->nomem = c->nomem || !escaped;
    if (escaped)
        cw_text_format(escaped, room, "%s", text);
    cw_text_put(c->line, CW_TEXT_JSON, escaped ? escaped : "");
    free(escaped);
}

static void put_name(struct cw_chrome *c, const char *member, const char *text)
{
    cw_text_print(c->line, ", \"%s\": ", member);
    put_drawn(c, text);
}

static void put_meta(struct cw_chrome *c, const char *what, const struct place *place, const char *name, uint32_t order)
{
    put_head(c, "M", place);
    cw_text_print(c->line, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    put_drawn(c, name);
    fputs("}}", c->line);
    put_head(c, "M", place);
    cw_text_print(c->line, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %" PRIu32 "}}", what, order);
    put_line(c);
}

/* Lanes that are no threads get numbers above all threads'. */
static void lane(void *chrome, uint32_t number, const struct cw_lane *of)
{
    struct cw_chrome *c = chrome;
    if (number >= c->room) {
        const size_t room = 2 * (size_t)number + 64;
        struct place *more = realloc(c->places, room * sizeof *more);
        c->nomem = c->nomem || !more;
        if (!more)
            return;
        c->places = more;
        c->room = room;
    }
    const struct place *parent = of->parent < number ? &c->places[of->parent] : NULL;
    struct place *place = &c->places[number];
    *place = (struct place){.pid = parent ? parent->pid : of->pid,
                            .tid = of->kind == CW_LANE_THREAD ? (int64_t)of->thread : (int64_t)CW_LANES_FREE + number,
                            .moved = of->calls && of->kind != CW_LANE_THREAD,
                            .thread = of->thread,
                            .group = parent ? parent->group : "",
                            .name = of->name,
                            .unit = of->unit};
    if (of->kind == CW_LANE_GROUP)
        place->group = of->name;
    if (of->kind == CW_LANE_PROCESS)
        put_meta(c, "process", place, of->name, number);
    else if (of->kind == CW_LANE_THREAD || of->kind == CW_LANE_EVENTS)
        put_meta(c, "thread", place, of->name, number);
}

/* "64x1x1" as [64, 1, 1] */
static void put_sizes(struct cw_chrome *c, const char *text)
{
    fputc('[', c->line);
    for (; *text; text++)
        if (*text == 'x')
            fputs(", ", c->line);
        else
            fputc(*text, c->line);
    fputc(']', c->line);
}

/* A double holds 53 bits: larger numbers are texts. */
static void put_whole(struct cw_chrome *c, uint64_t number)
{
    if (number == CW_TRACE_UNKNOWN)
        fputs("null", c->line);
    else
        cw_text_print(c->line, number >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, number);
}

static void put_notes(struct cw_chrome *c, const struct cw_lane_event *e)
{
    const struct place *place = &c->places[e->lane];
    fputs(", \"args\": {", c->line);
    if (place->moved) {
        fputs("\"thread\": ", c->line);
        put_whole(c, place->thread);
    }
    for (size_t i = 0; i < e->note_count; i++) {
        const struct cw_lane_note *n = &e->notes[i];
        cw_text_print(c->line, "%s\"%s\": ", i || place->moved ? ", " : "", n->name);
        if (n->kind == CW_NOTE_SIZES)
            put_sizes(c, n->text);
        else if (n->kind == CW_NOTE_TEXT)
            cw_text_put(c->line, CW_TEXT_JSON, cw_elisions_text(&c->elisions, n->text));
        else if (n->kind == CW_NOTE_REAL)
            cw_text_print(c->line, n->real - n->real == 0 ? "%.9g" : "null", n->real);
        else if (n->kind == CW_NOTE_ADDRESS)
            cw_text_print(c->line, "\"0x%" PRIx64 "\"", n->number);
        else
            put_whole(c, n->number);
    }
    fputs("}}", c->line);
}

static void put_event(struct cw_chrome *c, const char *phase, const struct cw_lane_event *e)
{
    if (c->nomem) /* its lane has no place */
        return;
    put_head(c, phase, &c->places[e->lane]);
    put_time(c, "ts", e->time - c->base);
    if (e->end > e->time || *phase == 'X')
        put_time(c, "dur", e->end - e->time);
    if (*phase == 'i')
        fputs(", \"s\": \"t\"", c->line);
    put_name(c, "cat", e->category);
    put_name(c, "name", e->whole ? e->whole : e->name);
    put_notes(c, e);
    for (size_t i = 0; i < e->flow_count; i++) {
        put_head(c, i < e->flow_starts ? "s" : "f", &c->places[e->lane]);
        put_time(c, "ts", e->time - c->base);
        cw_text_print(c->line, ", \"bp\": \"e\", \"cat\": \"launch\", \"name\": \"launch\", \"id\": %" PRIu64 "}",
                      e->flows[i]);
    }
    put_line(c);
}

static void begin(void *chrome, const struct cw_lane_event *event)
{
    put_event(chrome, "X", event);
}

/* `begin` has written the length of the event. */
static void end(void *chrome, uint32_t number, uint64_t time)
{
    (void)chrome;
    (void)number;
    (void)time;
}

static void instant(void *chrome, const struct cw_lane_event *event)
{
    put_event(chrome, "i", event);
}

static void count(void *chrome, uint32_t number, uint64_t time, double value)
{
    struct cw_chrome *c = chrome;
    if (c->nomem)
        return;
    const struct place *place = &c->places[number];
    put_head(c, "C", place);
    put_time(c, "ts", time - c->base);
    fputs(", \"name\": ", c->line);
    char name[512];
    cw_text_format(name, sizeof name, "%s%s%s", place->group, *place->group ? " " : "", place->name);
    cw_text_put(c->line, CW_TEXT_JSON, name);
    fputs(", \"args\": {", c->line);
    put_drawn(c, place->unit);
    cw_text_print(c->line, value - value == 0 ? ": %.17g}}" : ": null}}", value);
    put_line(c);
}

const struct cw_lane_format cw_chrome_format = {
    .start = start,
    .lane = lane,
    .begin = begin,
    .end = end,
    .instant = instant,
    .count = count,
    .full = is_full,
};
