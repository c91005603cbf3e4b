/* Processes of a trace of Kineto, by the texts of "pid". Programs that merge the files of ranks put a label before the
 * number: "[TP00] 4711". Events of GPUs have the GPU's number in place of the process's, behind the same label. */
#ifndef CW_FOREIGN_PIDS_H
#define CW_FOREIGN_PIDS_H

#include "base/hash_table.h"

/* A process of the list, 0 for an unknown one. */
typedef uint32_t cw_pid;

struct cw_pids { /* initialize with zeros */
    struct cw_hash_table pid_table, label_table, call_table;
    struct cw_pid_entry *list;
    struct cw_pid_call *calls;
    char **labels;
    size_t room, call_room, label_room;
    uint32_t count, label_count;
};

/* Finds or adds the process of a text; "" and "0" are unknown. False when out of memory. */
bool cw_pids_add(struct cw_pids *p, cw_pid *pid, const char *text);
/* Adds a call of a process. False when out of memory. */
bool cw_pids_add_call(struct cw_pids *p, cw_pid pid, uint64_t correlation);
/* The process of a GPU's event: among the processes of its label, the one of the same text, else the one whose call has
 * the correlation, else the only one. An event without a label, or of one without processes, may be of any process; the
 * same text counts for it only if it is not the number of its `device` (UINT64_MAX: unknown), as in exports of this
 * project. 0 if none is known. */
cw_pid cw_pids_find(const struct cw_pids *p, const char *text, uint64_t device, uint64_t correlation);
/* Gives each process a number: the one in its text, or the next free one where texts share it or have none. Call it
 * after the last process was added. False when out of memory. */
bool cw_pids_number(struct cw_pids *p);
/* 0 for an unknown process. */
uint32_t cw_pids_number_of(const struct cw_pids *p, cw_pid pid);
/* The process's text; NULL if it is only a number. */
const char *cw_pids_name_of(const struct cw_pids *p, cw_pid pid);
void cw_pids_free(struct cw_pids *p);

#endif
