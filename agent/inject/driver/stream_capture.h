/* Tracks the streams that the program captures into graphs. During a capture, any wait for its context spoils it, in
 * every capture mode and from every thread (seen with driver 580), and streams of other contexts may join. So
 * collection ends before a capture begins, and nothing is started, stopped or replayed during it. */
#ifndef CW_INJECT_STREAM_CAPTURE_H
#define CW_INJECT_STREAM_CAPTURE_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_CAPTURED "work of a program while it captured a stream into a graph"

/* Whether a driver call begins or ends a capture (destroying a stream ends it), and whether it begins one. */
bool cw_stream_capture_follows(CUpti_CallbackId id);
bool cw_stream_capture_begins(CUpti_CallbackId id);
/* Takes note of such a call, before it and after its return; ignores all others. */
void cw_stream_capture_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Removes the captures of a context that is destroyed. */
void cw_stream_capture_forget(CUcontext context);

/* Whether a stream is being captured, or about to be. */
bool cw_stream_capture_is_under_way(void);
/* Whether a launch runs now, rather than becoming a node of a graph. */
bool cw_stream_runs_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
