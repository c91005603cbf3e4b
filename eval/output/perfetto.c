#include "eval/output/perfetto.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/elide.h"
#include "base/hash_table.h"
#include "base/text.h"
#include "eval/output/perfetto.pb-c.h"

/* All packets form one sequence. It has each text once, and the time of a packet is the time since the packet before.
 * The sequence's clock has the first free number, and starts at a time of the wall clock. */
enum { SEQUENCE = 1, CLOCK_REALTIME_ID = 1, CLOCK_OF_SEQUENCE = 64 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* flags */

enum { CATEGORIES, EVENT_NAMES, NOTE_NAMES, NOTE_TEXTS, TEXT_KINDS };
enum { NEW_AT_MOST = 64 };

/* Texts that the file has once, by number. */
struct interns { /* begins as zeros */
    const char **texts;
    size_t room;
    struct cw_hash_table table; /* of texts */
    bool nomem;
};

static bool is_text(const void *texts, uint32_t item, const void *text)
{
    return strcmp(((const char *const *)texts)[item], text) == 0;
}

/* The number of a text, from 1 on; the text must live as long as the table. *added: it is new. 0 when out of memory,
 * which `nomem` remembers. */
static uint64_t number_text(struct interns *in, const char *text, bool *added)
{
    const uint32_t count = in->table.count;
    const char **texts = cw_grown(in->texts, &in->room, count, sizeof *texts);
    in->texts = texts ? texts : in->texts;
    const uint32_t item =
        texts ? cw_hash_table_add(&in->table, XXH3_64bits(text, strlen(text)), is_text, texts, text) : CW_NO_ITEM;
    in->nomem = in->nomem || item == CW_NO_ITEM;
    *added = item == count;
    if (*added)
        texts[item] = text;
    return item == CW_NO_ITEM ? 0 : item + 1;
}

static void free_interns(struct interns *in)
{
    free(in->texts);
    cw_hash_table_free(&in->table);
    *in = (struct interns){0};
}

struct cw_perfetto {
    FILE *out;
    uint64_t last; /* time of the packet before */
    bool nomem;
    uint8_t *buffer;
    size_t buffer_size;
    struct interns interns[TEXT_KINDS];
    struct cw_elisions elisions; /* the number of a text is found by the whole of it, for each event */
    /* for the packet in the making: texts that the file does not have yet, and notes */
    Pf__Name names[TEXT_KINDS][NEW_AT_MOST], *pointers[TEXT_KINDS][NEW_AT_MOST];
    size_t new_count[TEXT_KINDS];
    Pf__Note notes[NEW_AT_MOST], *note_pointers[NEW_AT_MOST];
};

struct cw_perfetto *cw_perfetto_create(FILE *out)
{
    struct cw_perfetto *p = calloc(1, sizeof *p);
    if (p)
        p->out = out;
    return p;
}

void cw_perfetto_free(struct cw_perfetto *p)
{
    for (int i = 0; p && i < TEXT_KINDS; i++)
        free_interns(&p->interns[i]);
    if (p) {
        cw_elisions_free(&p->elisions);
        free(p->buffer);
    }
    free(p);
}

bool cw_perfetto_is_whole(const struct cw_perfetto *p)
{
    bool whole = !p->nomem;
    for (int i = 0; i < TEXT_KINDS; i++)
        whole = whole && !p->interns[i].nomem;
    return whole;
}

static bool is_full(const void *perfetto)
{
    const struct cw_perfetto *p = perfetto;
    return p->nomem || ferror(p->out);
}

/* A text, escaped to be drawn, in malloc memory; NULL when out of memory. */
static char *drawn(struct cw_perfetto *p, const char *text)
{
    const size_t room = 6 * strlen(text) + 1;
    char *escaped = malloc(room);
    if (escaped)
        cw_text_format(escaped, room, "%s", text);
    p->nomem = p->nomem || !escaped;
    return escaped;
}

/* Writes a packet; the format allows a list of packets one after another. */
static void write_packet(struct cw_perfetto *p, Pf__Packet *packet)
{
    Pf__Trace trace = PF__TRACE__INIT;
    packet->has_sequence = true;
    packet->sequence = SEQUENCE;
    trace.n_packet = 1;
    trace.packet = &packet;
    const size_t size = pf__trace__get_packed_size(&trace);
    if (size > p->buffer_size) {
        uint8_t *more = realloc(p->buffer, 2 * size);
        p->nomem = p->nomem || !more;
        if (!more)
            return;
        p->buffer = more;
        p->buffer_size = 2 * size;
    }
    fwrite(p->buffer, 1, pf__trace__pack(&trace, p->buffer), p->out);
}

static void write_start(void *perfetto, uint64_t origin)
{
    struct cw_perfetto *p = perfetto;
    Pf__Clock of_sequence = PF__CLOCK__INIT, wall = PF__CLOCK__INIT, *clocks[] = {&of_sequence, &wall};
    Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
    Pf__Defaults defaults = PF__DEFAULTS__INIT;
    Pf__Packet first = PF__PACKET__INIT, clock = PF__PACKET__INIT;
    first.has_sequence_flags = clock.has_sequence_flags = true;
    first.has_first_packet_on_sequence = first.first_packet_on_sequence = true;
    first.sequence_flags = STATE_CLEARED;
    first.defaults = &defaults;
    defaults.has_timestamp_clock_id = true;
    defaults.timestamp_clock_id = CLOCK_OF_SEQUENCE;
    write_packet(p, &first);
    of_sequence.has_clock_id = of_sequence.has_timestamp = wall.has_clock_id = wall.has_timestamp = true;
    of_sequence.clock_id = CLOCK_OF_SEQUENCE;
    of_sequence.has_is_incremental = of_sequence.is_incremental = true;
    wall.clock_id = CLOCK_REALTIME_ID;
    of_sequence.timestamp = wall.timestamp = p->last = origin;
    snapshot.n_clocks = 2;
    snapshot.clocks = clocks;
    snapshot.has_primary_trace_clock = true;
    snapshot.primary_trace_clock = CLOCK_REALTIME_ID;
    clock.sequence_flags = NEEDS_STATE;
    clock.clock_snapshot = &snapshot;
    write_packet(p, &clock);
}

/* Numbers are from 1 on. */
static uint64_t number_of(uint32_t lane)
{
    return (uint64_t)lane + 1;
}

static void write_lane(void *perfetto, uint32_t number, const struct cw_lane *lane)
{
    struct cw_perfetto *p = perfetto;
    Pf__Track track = PF__TRACK__INIT;
    Pf__Process process = PF__PROCESS__INIT;
    Pf__Thread thread = PF__THREAD__INIT;
    Pf__Counter counter = PF__COUNTER__INIT;
    Pf__Packet packet = PF__PACKET__INIT;
    char *name = drawn(p, lane->name), *unit = lane->unit ? drawn(p, lane->unit) : NULL;
    packet.track = &track;
    track.has_uuid = true;
    track.uuid = number_of(number);
    track.has_parent_uuid = lane->parent != CW_NO_LANE;
    track.parent_uuid = number_of(lane->parent);
    track.has_sibling_order_rank = true;
    track.sibling_order_rank = number < INT32_MAX ? (int32_t)number : INT32_MAX;
    track.has_child_ordering = true;
    track.child_ordering = PF__TRACK__CHILD_ORDER__EXPLICIT;
    track.name = name;
    if (lane->kind == CW_LANE_PROCESS) {
        track.process = &process;
        process.has_pid = true;
        process.pid = lane->pid;
        process.process_name = name;
    } else if (lane->kind == CW_LANE_THREAD) {
        track.thread = &thread;
        thread.has_pid = thread.has_tid = true;
        thread.pid = lane->pid;
        thread.tid = (int32_t)lane->thread;
        thread.thread_name = name;
    } else if (lane->kind == CW_LANE_COUNTER) {
        const bool bytes = unit && strcmp(unit, "bytes") == 0;
        track.counter = &counter;
        counter.has_unit = bytes;
        counter.unit = PF__COUNTER__UNIT__UNIT_SIZE_BYTES;
        counter.unit_name = bytes ? NULL : unit;
    }
    write_packet(p, &packet);
    free(name);
    free(unit);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* The number of a text; a new text is written with this packet. */
static uint64_t intern(struct cw_perfetto *p, int kind, const char *text)
{
    bool added;
    text = cw_elisions_text(&p->elisions, text);
    const uint64_t number = number_text(&p->interns[kind], text, &added);
    if (added && p->new_count[kind] < NEW_AT_MOST) {
        const size_t i = p->new_count[kind]++;
        p->names[kind][i] = (Pf__Name)PF__NAME__INIT;
        p->names[kind][i].has_iid = true;
        p->names[kind][i].iid = number;
        p->names[kind][i].name = drawn(p, text);
        p->pointers[kind][i] = &p->names[kind][i];
    }
    return number;
}

static void add_note(struct cw_perfetto *p, Pf__Event *event, const struct cw_lane_note *n)
{
    if (event->n_notes == NEW_AT_MOST || (n->kind == CW_NOTE_NUMBER && n->number == UINT64_MAX))
        return;
    Pf__Note *note = &p->notes[event->n_notes];
    *note = (Pf__Note)PF__NOTE__INIT;
    p->note_pointers[event->n_notes++] = note;
    note->has_name_iid = true;
    note->name_iid = intern(p, NOTE_NAMES, n->name);
    switch (n->kind) {
    case CW_NOTE_NUMBER:
        note->has_uint_value = true;
        note->uint_value = n->number;
        break;
    case CW_NOTE_REAL:
        note->has_double_value = true;
        note->double_value = n->real;
        break;
    case CW_NOTE_ADDRESS:
        note->has_pointer_value = true;
        note->pointer_value = n->number;
        break;
    case CW_NOTE_TEXT:
    case CW_NOTE_SIZES:
        note->has_string_value_iid = true;
        note->string_value_iid = intern(p, NOTE_TEXTS, n->text);
        break;
    }
}

/* Packets come in the order of time, so the difference is not negative. */
static void write_event(struct cw_perfetto *p, Pf__Event *event, uint32_t lane, uint64_t time)
{
    Pf__Interned interned = PF__INTERNED__INIT;
    Pf__Packet packet = PF__PACKET__INIT;
    Pf__Name ***const lists[] = {&interned.categories, &interned.event_names, &interned.note_names,
                                 &interned.note_texts};
    size_t *const counts[] = {&interned.n_categories, &interned.n_event_names, &interned.n_note_names,
                              &interned.n_note_texts};
    event->has_type = event->has_track_uuid = true;
    event->track_uuid = number_of(lane);
    packet.event = event;
    packet.has_timestamp = packet.has_sequence_flags = true;
    packet.timestamp = time - p->last;
    packet.sequence_flags = NEEDS_STATE;
    p->last = time;
    for (int i = 0; i < TEXT_KINDS; i++) {
        *lists[i] = p->pointers[i];
        *counts[i] = p->new_count[i];
        if (p->new_count[i])
            packet.interned = &interned;
    }
    if (!p->nomem)
        write_packet(p, &packet);
    for (int i = 0; i < TEXT_KINDS; i++)
        for (; p->new_count[i]; p->new_count[i]--)
            free(p->names[i][p->new_count[i] - 1].name);
}

static void write_texts(struct cw_perfetto *p, const struct cw_lane_event *e, Pf__Event__Type type)
{
    Pf__Event event = PF__EVENT__INIT;
    uint64_t category = intern(p, CATEGORIES, e->category);
    event.n_flow_ids = e->flow_starts;
    event.flow_ids = (uint64_t *)(uintptr_t)e->flows; /* protobuf-c only reads them */
    event.n_terminating_flow_ids = e->flow_count - e->flow_starts;
    event.terminating_flow_ids = e->flow_count ? event.flow_ids + e->flow_starts : NULL;
    event.type = type;
    event.n_category_iids = 1;
    event.category_iids = &category;
    event.has_name_iid = true;
    event.name_iid = intern(p, EVENT_NAMES, e->name);
    event.notes = p->note_pointers;
    if (type == PF__EVENT__TYPE__INSTANT && e->end > e->time)
        add_note(p, &event, &(struct cw_lane_note){"duration_ns", CW_NOTE_NUMBER, {.number = e->end - e->time}});
    if (e->whole)
        add_note(p, &event, &(struct cw_lane_note){"function", CW_NOTE_TEXT, {.text = e->whole}});
    for (size_t i = 0; i < e->note_count; i++)
        add_note(p, &event, &e->notes[i]);
    write_event(p, &event, e->lane, e->time);
}

static void write_begin(void *perfetto, const struct cw_lane_event *e)
{
    write_texts(perfetto, e, PF__EVENT__TYPE__BEGIN);
}

static void write_instant(void *perfetto, const struct cw_lane_event *e)
{
    write_texts(perfetto, e, PF__EVENT__TYPE__INSTANT);
}

static void write_end(void *perfetto, uint32_t lane, uint64_t time)
{
    Pf__Event event = PF__EVENT__INIT;
    event.type = PF__EVENT__TYPE__END;
    write_event(perfetto, &event, lane, time);
}

static void write_count(void *perfetto, uint32_t lane, uint64_t time, double value)
{
    Pf__Event event = PF__EVENT__INIT;
    event.type = PF__EVENT__TYPE__COUNTER;
    event.has_double_counter_value = true;
    event.double_counter_value = value;
    write_event(perfetto, &event, lane, time);
}

const struct cw_lane_format cw_perfetto_format = {
    .start = write_start,
    .lane = write_lane,
    .begin = write_begin,
    .end = write_end,
    .instant = write_instant,
    .count = write_count,
    .full = is_full,
};
