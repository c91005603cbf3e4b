/* What events of a trace are called: a kernel of a shape, a call, an NVTX range. Each is on the page once. */
#ifndef CW_REPORT_TRACE_NAMES_H
#define CW_REPORT_TRACE_NAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "eval/keys.h"
#include "eval/timeline/timeline.h"

/* Kinds of the page: those of rows, and one of its own. */
enum { CW_REPORT_IDLE = CW_TRACE_KIND__COUNT, CW_REPORT_KINDS };

struct cw_trace_what {
    uint8_t kind;
    uint32_t name;        /* of the timeline */
    uint32_t parts[3];    /* shape + 1; from and to of a copy; result of a call; domain and colour of an NVTX range */
    uint64_t count, time; /* all events of it */
    uint32_t number;      /* on the page */
};

struct cw_trace_names {
    const struct cw_timeline *timeline;
    struct cw_trace_what *whats;
    size_t room;
    struct cw_keys keys; /* of whats: kind and name, and parts */
};

/* The index of a what, to which one event of `time` ns is added. CW_TIMELINE_NONE when out of memory. */
uint32_t cw_trace_names_add(struct cw_trace_names *names, const struct cw_trace_what *what, uint64_t time);
/* Numbers them, those of most time first, and prints members of an object: "kinds", "names", "whats" and "names_left",
 * how many have no text on the page and share one number for each kind. False when out of memory. */
bool cw_trace_names_put(struct cw_trace_names *names, FILE *out);
void cw_trace_names_free(struct cw_trace_names *names);

#endif
