/* Streams that the program captures into graphs. While one is captured, whatever waits for its context spoils the
 * capture, in every mode of the capture and from every thread (seen with driver 580), and another context's streams may
 * join it. So what is being collected ends before a capture begins, and nothing is started, stopped or replayed
 * meanwhile. */
#ifndef CW_INJECT_STREAM_CAPTURE_H
#define CW_INJECT_STREAM_CAPTURE_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_CAPTURED "what a program did while it captured a stream into a graph"

enum { CW_MOST_STREAM_CAPTURES = 256 };

struct cw_stream_capture {
    CUcontext context; /* that was current where it began */
    CUstream stream;
    uint64_t thread; /* of a stream that each thread has its own of */
};
struct cw_stream_captures {
    struct cw_stream_capture items[CW_MOST_STREAM_CAPTURES];
    uint32_t count;
};
extern struct cw_stream_captures *const cw_stream_captures;

/* Whether a call of the driver begins or ends a capture (as that of a stream's end does), and whether it is one that
 * begins or ends one by itself. */
bool cw_stream_capture_follows(CUpti_CallbackId id);
bool cw_stream_capture_begins(CUpti_CallbackId id);
bool cw_stream_capture_ends(CUpti_CallbackId id);
/* Takes note of such a call, when it begins and when it has returned; others are ignored. */
void cw_stream_capture_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* A context goes, and its captures with it. */
void cw_stream_capture_forget(CUcontext context);

/* Whether a stream is being captured, or about to be. */
bool cw_stream_capture_is_under_way(void);
/* True for a launch that runs now, and does not become a node of a graph. */
bool cw_stream_runs_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
