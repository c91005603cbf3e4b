/* Makes a trace (image/trace_data.h) of another profiler's events, which come in any order. Errors are sticky: calls
 * after the first failure do nothing, and cw_trace_maker_finish reports it. */
#ifndef CW_FOREIGN_TRACE_MAKER_H
#define CW_FOREIGN_TRACE_MAKER_H

#include "base/input.h"
#include "image/trace_data.h"

struct cw_trace_maker;

/* Values by field. Begin with cw_made_row_begin, which makes all unknown. */
typedef uint64_t cw_made_row[CW_FIELD__COUNT];
void cw_made_row_begin(cw_made_row row);

/* NULL when out of memory. `from` names the profiler ("nsys"). `source` is for messages; it and `err` are borrowed. */
struct cw_trace_maker *cw_trace_maker_create(const char *from, const char *source, struct cw_error *err);
/* NULL is allowed. */
void cw_trace_maker_free(struct cw_trace_maker *m);
bool cw_trace_maker_failed(const struct cw_trace_maker *m);

/* Describes a GPU of the node, before rows name it. The maker adds its chip, by its product's name or its compute
 * capability. Later calls for the same GPU do nothing. */
void cw_trace_maker_gpu(struct cw_trace_maker *m, uint32_t gpu, const struct cw_pair *attributes, uint32_t count);
/* Returns the process of this key, made with its number if necessary. Processes of several hosts may share a number. */
uint32_t cw_trace_maker_process(struct cw_trace_maker *m, uint64_t key, uint32_t pid);
/* Changes the number of a process. */
void cw_trace_maker_pid(struct cw_trace_maker *m, uint32_t process, uint32_t pid);
/* Adds an attribute of a process. */
void cw_trace_maker_attribute(struct cw_trace_maker *m, uint32_t process, const char *key, const char *value);
/* Says which GPU the process's device is; without a call it is the GPU of the same number. */
void cw_trace_maker_device(struct cw_trace_maker *m, uint32_t process, uint32_t device, uint32_t gpu);
/* Returns the number of a text of the process, for a row; 0 for "" and NULL. */
uint64_t cw_trace_maker_text(struct cw_trace_maker *m, uint32_t process, const char *text);
/* Adds a row. A kernel's row has the fields of its launch_shape as well; the maker makes that. */
void cw_trace_maker_row(struct cw_trace_maker *m, uint32_t process, enum cw_trace_kind kind, const cw_made_row row);
/* Ends the trace: *made is a capture of that name, incomplete unless `complete`. CW_ERR_INPUT without a row. */
enum cw_status cw_trace_maker_finish(struct cw_trace_maker *m, bool complete, struct cw_input *made);

#endif
