/* Writes traces: rows of processes as they arrive, into one file, or one for each process, rank or host if the name
 * asks for it (file_name.h). Keeps the books for `account` rows. */
#ifndef CW_AGENT_TRACE_OUTPUT_H
#define CW_AGENT_TRACE_OUTPUT_H

#include "agent/common/trace_page.h"
#include "agent/output/collector.h"
#include "agent/output/file_devices.h"
#include "agent/session/program.h"
#include "image/trace_data.h"

/* Counts of a kind; for one process as in its last account, 0 if unknown. */
struct cw_trace_books {
    uint64_t rows; /* in the file */
    uint64_t launched, recorded, lost, untimed;
    bool accounted;
};

enum { CW_MOST_TRACE_NOTES = 32 };

/* Writes traces into the file of samples. Kernels and their shapes are not written as rows then. */
struct cw_trace_beside {
    struct cw_collector *out;
    /* Returns the file's number of a device; false if the file does not have it. */
    bool (*find_device)(void *user, const struct cw_device *device, uint32_t *number);
    /* Takes rows of the kinds kernel and launch_shape of a process of the output. */
    enum cw_status (*take_kernels)(void *user, uint32_t process, const struct cw_trace_rows *rows,
                                   struct cw_error *err);
    void *user;
};

struct cw_trace_output_file;
struct cw_trace_output_process;

struct cw_trace_output {
    const struct cw_trace_beside *beside; /* NULL: has its own files */
    const char *pattern;
    bool force; /* replace files that are no captures, too */
    struct cw_schema schema;
    const char *filter;  /* note in the files about the filter; NULL or "": everything was traced */
    const char *windows; /* note about windows; NULL or "": there are none. Set it before the first process */
    struct cw_arena *arena;
    const struct cw_clock_log *clocks; /* may be set before the end; NULL: unknown */
    uint32_t process_count, process_capacity, file_count, file_capacity, note_count;
    struct cw_trace_output_process **processes;
    struct cw_trace_output_file **files;
    struct cw_trace_note { /* reason why something is missing */
        uint64_t kinds;    /* CW_TRACE_BIT of each */
        const char *text;
    } notes[CW_MOST_TRACE_NOTES]; /* without duplicates */
    struct cw_trace_buffer buffer;
    size_t kept;      /* bytes of texts */
    uint64_t dropped; /* records that CUPTI lost, of any kind */
    uint64_t rows;    /* in all files */
    uint64_t uses;    /* uses of files so far */
};

/* Opens the output. Creates the file at once if its name does not depend on the process. Pattern and filter must
 * outlive the output. Close it also after a failure. */
enum cw_status cw_trace_output_open(struct cw_trace_output *output, const char *pattern, bool force, const char *chip,
                                    const char *filter, struct cw_error *err);
/* Opens an output beside another writer, who also ends the file. `beside` must outlive the output. */
enum cw_status cw_trace_output_beside(struct cw_trace_output *output, const struct cw_trace_beside *beside,
                                      struct cw_error *err);
/* Begins a process with its pid and attributes; *index is its number. The attributes `rank` and `host` may choose the
 * file. Add devices and texts later. */
enum cw_status cw_trace_output_add_process(struct cw_trace_output *output, const struct cw_trace_process *process,
                                           uint32_t *index, struct cw_error *err);
/* Adds a device under the process's number device->index, before rows refer to it. Repetitions have no effect. */
enum cw_status cw_trace_output_add_device(struct cw_trace_output *output, uint32_t process,
                                          const struct cw_device *device, struct cw_error *err);

/* A text that a process has sent; "" for none, and for texts that were not kept. */
const char *cw_trace_output_text(const struct cw_trace_output *output, uint32_t process, uint64_t number);
/* Takes the rest of the reader: whole TSTR and TREC chunks of a program of the same build. Checks them and writes them
 * compactly, with the number of the process in this file. */
enum cw_status cw_trace_output_take_chunks(struct cw_trace_output *output, uint32_t process, struct cw_reader *in,
                                           struct cw_error *err);

/* Write this process's own texts and rows: texts are numbered from 1 in their order; rows may be more than fit one
 * block. */
enum cw_status cw_trace_output_texts(struct cw_trace_output *output, uint32_t process, const char *const *texts,
                                     uint32_t count, struct cw_error *err);
enum cw_status cw_trace_output_rows(struct cw_trace_output *output, uint32_t process, enum cw_trace_kind kind,
                                    uint64_t count, const uint64_t *const *columns, struct cw_error *err);

/* Notes in the accounts of a process that it ended before it had sent everything. Add nothing to the process
 * afterwards. */
enum cw_status cw_trace_output_cut(struct cw_trace_output *output, uint32_t process, struct cw_error *err);
/* Settles the accounts of a process that is gone: rows and launches on its page that did not arrive count as lost. Add
 * nothing to the process afterwards. */
enum cw_status cw_trace_output_settle(struct cw_trace_output *output, uint32_t process,
                                      const struct cw_trace_page *page, struct cw_error *err);
/* Writes into the files how the program ended. */
enum cw_status cw_trace_output_end(struct cw_trace_output *output, const struct cw_program *program,
                                   struct cw_error *err);
void cw_trace_output_close(struct cw_trace_output *output);

/* The books of a kind, summed over all processes. */
struct cw_trace_books cw_trace_output_books(const struct cw_trace_output *output, enum cw_trace_kind kind);

/* Number of records that CUPTI reports as lost, of any kind. */
uint64_t cw_trace_output_dropped(const struct cw_trace_output *output);

#endif
