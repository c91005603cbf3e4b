/* Where traces go: rows of processes as they come, into one file, or one for each process, rank or host where the name
 * says so (file_name.h). Keeps the books that `account` rows tell. */
#ifndef CW_AGENT_TRACE_OUTPUT_H
#define CW_AGENT_TRACE_OUTPUT_H

#include "agent/common/trace_page.h"
#include "agent/output/collector.h"
#include "agent/output/file_devices.h"
#include "agent/session/program.h"
#include "image/trace_data.h"

/* What became of a kind; of one process as its last account has it, 0 where it does not say. */
struct cw_trace_books {
    uint64_t rows; /* in the file */
    uint64_t launched, recorded, lost, untimed;
    bool accounted;
};

struct cw_trace_note { /* why something is not there */
    uint64_t kinds;    /* CW_TRACE_BIT of each */
    const char *text;
};
enum { CW_MOST_TRACE_NOTES = 32 };

/* Where traces stand in the file of samples. Kernels and their shapes are not written as rows then. */
struct cw_trace_beside {
    struct cw_collector *out;
    /* The number that the file has a device by; false where it has none of it. */
    bool (*find_device)(void *user, const struct cw_device *device, uint32_t *number);
    /* Rows of the kinds kernel and launch_shape of a process of the output. */
    enum cw_status (*take_kernels)(void *user, uint32_t process, const struct cw_trace_rows *rows,
                                   struct cw_error *err);
    void *user;
};

struct cw_trace_output_file;
struct cw_trace_output_process;

struct cw_trace_output {
    const struct cw_trace_beside *beside; /* NULL: files of its own */
    const char *pattern;
    bool force; /* replace files that are no captures, too */
    struct cw_schema schema;
    const char *filter;  /* what the files are to say of it; NULL or "": nothing was left out */
    const char *windows; /* the same of windows; NULL or "": there are none. To be set before the first process */
    struct cw_arena *arena;
    const struct cw_clock_log *clocks; /* may be set before the end; NULL: not known */
    uint32_t process_count, process_capacity, file_count, file_capacity, note_count;
    struct cw_trace_output_process **processes;
    struct cw_trace_output_file **files;
    struct cw_trace_note notes[CW_MOST_TRACE_NOTES]; /* no two alike */
    struct cw_trace_buffer buffer;
    size_t kept;      /* bytes of texts */
    uint64_t dropped; /* records that CUPTI lost, of whatever kind */
    uint64_t rows;    /* in all files */
    uint64_t uses;    /* of files, so far */
};

/* Creates the file at once where its name does not depend on the process. Pattern and filter must outlive the output.
 * To be closed also after a failure. */
enum cw_status cw_trace_output_open(struct cw_trace_output *output, const char *pattern, bool force, const char *chip,
                                    const char *filter, struct cw_error *err);
/* The same beside what someone else writes, who also ends the file. `beside` must outlive the output. */
enum cw_status cw_trace_output_beside(struct cw_trace_output *output, const struct cw_trace_beside *beside,
                                      struct cw_error *err);
/* Begins a process, which gets the number *index: its pid and attributes, of which `rank` and `host` may choose the
 * file. Devices and texts come later. */
enum cw_status cw_trace_output_add_process(struct cw_trace_output *output, const struct cw_trace_process *process,
                                           uint32_t *index, struct cw_error *err);
/* A device that the process has under the number device->index; again: nothing changes. Before rows that name it. */
enum cw_status cw_trace_output_add_device(struct cw_trace_output *output, uint32_t process,
                                          const struct cw_device *device, struct cw_error *err);

/* The payload of a TSTR or of a TREC, of a program that is of this build (cw_trace_write_texts, cw_trace_write_rows;
 * `plain` or not): it is checked and written compactly, with the process's own number instead of what stands there. The
 * reader is behind it then. */
enum cw_status cw_trace_output_take_texts(struct cw_trace_output *output, uint32_t process, struct cw_reader *in,
                                          struct cw_error *err);
enum cw_status cw_trace_output_take_rows(struct cw_trace_output *output, uint32_t process, struct cw_reader *in,
                                         struct cw_error *err);
/* A text that a process has sent; "" for none, and beyond what is kept. */
const char *cw_trace_output_text(const struct cw_trace_output *output, uint32_t process, uint64_t number);
/* All that is left in the reader: whole chunks TSTR and TREC, as a program writes them. */
enum cw_status cw_trace_output_take_chunks(struct cw_trace_output *output, uint32_t process, struct cw_reader *in,
                                           struct cw_error *err);

/* The same of this process's own: texts are numbered from 1 on as they come, rows may be more than a block has. */
enum cw_status cw_trace_output_texts(struct cw_trace_output *output, uint32_t process, const char *const *texts,
                                     uint32_t count, struct cw_error *err);
enum cw_status cw_trace_output_rows(struct cw_trace_output *output, uint32_t process, enum cw_trace_kind kind,
                                    uint64_t count, const uint64_t *const *columns, struct cw_error *err);

/* The process ended before it had sent all: says so in its accounts. Nothing of it may come behind. */
enum cw_status cw_trace_output_cut(struct cw_trace_output *output, uint32_t process, struct cw_error *err);
/* The process is gone: what its page says of rows and launches that did not come is lost. Nothing of it may come
 * behind.
 */
enum cw_status cw_trace_output_settle(struct cw_trace_output *output, uint32_t process,
                                      const struct cw_trace_page *page, struct cw_error *err);
/* Says in the files how the program ended. */
enum cw_status cw_trace_output_end(struct cw_trace_output *output, const struct cw_program *program,
                                   struct cw_error *err);
void cw_trace_output_close(struct cw_trace_output *output);

/* The books of a kind, of all processes. */
struct cw_trace_books cw_trace_output_books(const struct cw_trace_output *output, enum cw_trace_kind kind);

/* How many records CUPTI says it lost, of whatever kind. */
uint64_t cw_trace_output_dropped(const struct cw_trace_output *output);

#endif
