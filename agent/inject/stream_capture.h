/* Streams that the program captures into graphs. While one of a context is captured, whatever waits for the context
 * spoils the capture, in every mode of the capture and from every thread (seen with driver 580). So what is being
 * collected ends before the capture begins, and nothing is started, stopped or replayed in the context meanwhile. */
#ifndef CW_INJECT_STREAM_CAPTURE_H
#define CW_INJECT_STREAM_CAPTURE_H

#include "agent/inject/inject.h"

#define CW_WHY_CAPTURED "what a context did while one of its streams was captured into a graph"

/* Whether a call of the driver begins or ends a capture, and whether it begins one. */
bool cw_stream_capture_follows(CUpti_CallbackId id);
bool cw_stream_capture_begins(CUpti_CallbackId id);
/* Takes note of such a call, when it begins and when it has returned; others are ignored. */
void cw_stream_capture_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Whether a stream of the context is being captured, or about to be. */
bool cw_stream_capture_is_under_way(CUcontext context);
/* True where calls on the stream become nodes of a graph. Asks the driver: not to be called between the start of a
 * collection and the return of the launch that it was started for. */
bool cw_stream_is_captured(CUstream stream);
/* True for a launch that runs now. Asks likewise. */
bool cw_stream_runs_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
