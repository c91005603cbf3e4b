/* Lanes for programs that draw them: events with texts and numbers, and counters, in the order of time. Every format
 * gets the same ones. */
#ifndef CW_EVAL_OUTPUT_LANES_H
#define CW_EVAL_OUTPUT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum cw_lane_kind {
    CW_LANE_PROCESS, /* has no parent; pid */
    CW_LANE_THREAD,  /* pid, thread */
    CW_LANE_GROUP,   /* of lanes, without events */
    CW_LANE_EVENTS,
    CW_LANE_COUNTER
};

#define CW_NO_LANE UINT32_MAX
/* Numbers from here on no system gives to a process or a thread: for lanes that are neither. */
enum { CW_LANES_FREE = 1 << 30 };
struct cw_lane {
    enum cw_lane_kind kind;
    bool flat;       /* overlapping events are drawn beside one another, not nested */
    bool calls;      /* events are calls of `thread`, in a CW_LANE_THREAD or beside it */
    uint32_t parent; /* a lane before this one, or CW_NO_LANE */
    int32_t pid;
    uint64_t thread;         /* UINT64_MAX is unknown */
    const char *name, *unit; /* unit: of a counter, "bytes" or any other */
};

enum cw_lane_note_kind {
    CW_NOTE_NUMBER, /* UINT64_MAX is unknown: null in JSON, left out elsewhere */
    CW_NOTE_REAL,
    CW_NOTE_ADDRESS,
    CW_NOTE_TEXT,
    CW_NOTE_SIZES /* a text, "64x1x1" */
};
struct cw_lane_event {
    uint32_t lane;
    uint64_t time, end; /* ns since 1970 */
    bool instant;
    double value;                        /* of a counter, which has none of the members below */
    const char *category, *name, *whole; /* whole: the name without cuts, NULL if it is the same */
    size_t note_count, flow_count, flow_starts;
    const struct cw_lane_note {
        const char *name;
        enum cw_lane_note_kind kind;
        union {
            uint64_t number;
            double real;
            const char *text;
        };
    } * notes;
    const uint64_t *flows; /* numbers of arrows, equal at both ends: `flow_starts` begin here, the others end */
};

/* A format. `lane` is called for each lane before any of its events, and events come in the order of time. Events of a
 * lane nest: one that begins within another ends there, too. Texts may hold any characters, and live until the end. */
struct cw_lane_format {
    void (*start)(void *state, uint64_t origin); /* called first: no event is before this time */
    void (*lane)(void *state, uint32_t number, const struct cw_lane *lane);
    void (*begin)(void *state, const struct cw_lane_event *event);
    void (*end)(void *state, uint32_t lane, uint64_t time);
    void (*instant)(void *state, const struct cw_lane_event *event);
    void (*count)(void *state, uint32_t lane, uint64_t time, double value);
    bool (*full)(const void *state); /* takes no more events: the rest is left out */
};

/* The time of event `i` of a source, and the event itself. Its notes and flows stay until the next call, its texts
 * until the end. */
typedef uint64_t cw_lane_time(const void *source, uint32_t i);
typedef void cw_lane_fill(void *source, uint32_t i, struct cw_lane_event *event);

struct cw_lanes;
/* NULL when out of memory. Its memory lives in `arena`, or until cw_lanes_free. */
struct cw_lanes *cw_lanes_create(struct cw_arena *arena);
void cw_lanes_free(struct cw_lanes *lanes);
/* The number of a new lane; CW_NO_LANE when out of memory, which cw_lanes_write reports. */
uint32_t cw_lanes_add(struct cw_lanes *lanes, const struct cw_lane *lane);
size_t cw_lanes_count(const struct cw_lanes *lanes);
/* Adds a source of `count` events in the order of time. At one time, events of an earlier source come first. */
void cw_lanes_source(struct cw_lanes *lanes, uint32_t count, void *source, cw_lane_time *time, cw_lane_fill *event);

/* Events that overlap without nesting go to further lanes of the same name and parent. An event that would need more
 * than CW_LANES_BESIDE lanes, or nest deeper than CW_LANES_DEEP, becomes an instant. */
enum { CW_LANES_BESIDE = 64, CW_LANES_DEEP = 256 };
/* *crowded: how many events became instants. CW_ERR_NOMEM alone. */
enum cw_status cw_lanes_write(struct cw_lanes *lanes, const struct cw_lane_format *format, void *state,
                              uint64_t *crowded, struct cw_error *err);

#endif
