#define _GNU_SOURCE
#include "eval/output/chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/elide.h"
#include "base/text.h"

struct place { /* of a lane */
    int32_t pid;
    int64_t tid;
    const char *group, *name, *unit; /* group: the lane around a counter, "" for a process */
};

struct cw_chrome {
    FILE *out, *line; /* line: in memory, to know its length */
    char *text;
    size_t size, written, count, room;
    struct place *places;
    uint64_t origin;
    bool nomem, any;
    struct cw_elisions elisions; /* of the texts of events, which live until the end */
};

struct cw_chrome *cw_chrome_create(FILE *out)
{
    struct cw_chrome *c = calloc(1, sizeof *c);
    if (c) {
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

static void start(void *chrome, uint64_t origin)
{
    struct cw_chrome *c = chrome;
    c->origin = origin;
    cw_text_print(c->line,
                  "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"start_ns\": \"%" PRIu64 "\"}, \"traceEvents\": [",
                  origin);
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
    enum { BEHIND = 1 << 30 };
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
                            .tid = of->kind == CW_LANE_THREAD ? of->tid : (int64_t)BEHIND + number,
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

static void put_notes(struct cw_chrome *c, const struct cw_lane_event *e)
{
    fputs(", \"args\": {", c->line);
    for (size_t i = 0; i < e->note_count; i++) {
        const struct cw_lane_note *n = &e->notes[i];
        cw_text_print(c->line, "%s\"%s\": ", i ? ", " : "", n->name);
        if (n->kind == CW_NOTE_TEXT)
            cw_text_put(c->line, CW_TEXT_JSON, cw_elisions_text(&c->elisions, n->text));
        else if (n->kind == CW_NOTE_REAL)
            cw_text_print(c->line, n->real - n->real == 0 ? "%.9g" : "null", n->real);
        else if (n->kind == CW_NOTE_ADDRESS)
            cw_text_print(c->line, "\"0x%" PRIx64 "\"", n->number);
        else /* a double holds 53 bits: larger numbers are texts */
            cw_text_print(c->line, n->number >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, n->number);
    }
    fputs("}}", c->line);
}

static void put_event(struct cw_chrome *c, const char *phase, const struct cw_lane_event *e)
{
    if (c->nomem) /* its lane has no place */
        return;
    put_head(c, phase, &c->places[e->lane]);
    put_time(c, "ts", e->time - c->origin);
    if (e->end > e->time || *phase == 'X')
        put_time(c, "dur", e->end - e->time);
    if (*phase == 'i')
        fputs(", \"s\": \"t\"", c->line);
    put_name(c, "cat", e->category);
    put_name(c, "name", e->name);
    put_notes(c, e);
    for (size_t i = 0; i < e->flow_count; i++) {
        put_head(c, i < e->flow_starts ? "s" : "f", &c->places[e->lane]);
        put_time(c, "ts", e->time - c->origin);
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
    put_time(c, "ts", time - c->origin);
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
