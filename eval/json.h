/* JSON of a result. */
#ifndef CW_EVAL_JSON_H
#define CW_EVAL_JSON_H

#include "eval/result.h"

/* Writes
 *
 *     {"capture": {...}, "ranges": [{"range", "name", "kernel", "device", "process", "context", "stream", "grid",
 *                                    "block", "start_ns", "end_ns", "metrics": [{"name", "unit", "value", "status"}]}]}
 *
 * Values are numbers, except that JSON has none for the strings "inf", "-inf" and "nan". Characters that
 * a terminal would take for commands are escaped (CW_TEXT_JSON). Write errors stay in the stream (ferror). */
enum cw_status cw_json_write(const struct cw_result *result, FILE *out, struct cw_error *err);

/* Begins such an object: `{"capture": {...}`. */
enum cw_status cw_json_put_capture(const struct cw_result *result, FILE *out, struct cw_error *err);

/* The facts of the capture that are no values ("capture" above) as JSON; the caller frees *text. */
enum cw_status cw_json_manifest(const struct cw_result *result, char **text, struct cw_error *err);

#endif
