/* Collects rows of a trace in the program, in a table for each kind. A table is queued for the agent as a chunk of
 * counter data when it is full, and at intervals (trace_queue.h). When the queue is full, rows that do not fit the
 * tables are lost and counted. Tables, queue and remembered texts take at most 32 MB, whatever the program does. This
 * module has a lock of its own, so that callbacks that must not take the library's lock can use it. */
#ifndef CW_INJECT_TRACE_ROWS_H
#define CW_INJECT_TRACE_ROWS_H

#include "agent/common/trace_page.h"
#include "agent/inject/driver/descriptor.h"
#include "agent/inject/modes/trace_queue.h"

enum {
    CW_TRACE_TABLE_ROWS = 4096,
    CW_TRACE_KNOWN_TEXTS = 1 << 16, /* slots for remembered texts */
    CW_TRACE_KNOWN_SHAPES = 1 << 13
};

struct cw_trace_sheets {
    bool begun;
    atomic_bool closed; /* takes no more rows; read without the lock */
    bool known; /* the setup is known: a trace is wanted. Until then nothing is sent, and a full table takes no more */
    struct cw_trace_page *page, early; /* page: valid after `begun`; the early one until `known` */
    struct cw_descriptor file;         /* file of the page, until the agent has it */
    uint64_t kinds;
    struct cw_trace_table {
        uint32_t count;
        uint64_t *values; /* [field][row] */
    } tables[CW_TRACE_KIND__COUNT];
    uint8_t places[CW_TRACE_KIND__COUNT][CW_FIELD__COUNT]; /* place of a field in its kind, from 1 on */
    enum cw_trace_kind kind;                               /* kind of the current row */
    uint32_t row;
    struct cw_trace_known *texts, *shapes;
    uint32_t text_count, shape_count;     /* number of remembered ones */
    uint32_t last_text, last_shape, sent; /* last assigned numbers; number of texts sent */
    struct cw_writer pending;             /* unsent texts: length and bytes of each */
    uint64_t accounted;                   /* sum of counts at the last accounts */
};
extern struct cw_trace_sheets *const cw_trace_sheets;

/* Begins a trace of these kinds (CW_TRACE_BIT). Rows of other kinds are dropped; of the earlier rows only kinds in
 * `early` are kept. False when out of memory, with errno. *page is a descriptor of the page for the agent, which only
 * accepts one that cannot shrink; close it with cw_descriptor_close(&sheets->file) afterwards. Call it with the
 * lock. */
bool cw_trace_rows_begin(uint64_t kinds, uint64_t early, int *page);

/* For the program's threads, without the library's lock: cw_trace_rows_enter takes the rows' lock if rows may be kept,
 * and returns whether it did. Without an agent rows are never kept. */
bool cw_trace_rows_enter(void);
void cw_trace_rows_leave(void);

/* Surround the calls below. */
void cw_trace_rows_lock(void);
void cw_trace_rows_unlock(void);

/* The number of a text; 0 for NULL, "" and when out of memory. */
uint32_t cw_trace_text_number(const char *text);

/* Begins a row with all fields unknown; false if there is no room, and the row is counted as lost. Then put the fields.
 * May release the lock meanwhile. */
bool cw_trace_row(enum cw_trace_kind kind);
/* Returns to the last row of a kind with that value, to put more fields; false if there is none, or it was sent. */
bool cw_trace_row_again(enum cw_trace_kind kind, enum cw_trace_field field, uint64_t value);
/* Whether rows of a kind may be recorded, so that their texts need numbers. */
bool cw_trace_row_wanted(enum cw_trace_kind kind);
/* Counts a row as lost for which there is no room elsewhere. */
void cw_trace_row_lost(enum cw_trace_kind kind);
void cw_trace_put(enum cw_trace_field field, uint64_t value);
void cw_trace_put_text(enum cw_trace_field field, const char *text);

/* The number of a launch shape, by its hash; 0 if no row describes it yet. Add it after that row. */
uint32_t cw_trace_shape_find(uint64_t hash);
uint32_t cw_trace_shape_add(uint64_t hash);

/* Puts accounts if they have changed, because a program may be idle for days. Call it with the rows' lock. */
void cw_trace_accounts_put(void);
/* Puts an account with the reason why a kind is missing or incomplete; CW_TRACE_KIND__COUNT: all kinds. Call it with
 * the rows' lock. */
void cw_trace_accounts_note(enum cw_trace_kind kind, const char *why);

/* Queues all rows, as far as there is room. */
void cw_trace_rows_send(void);
/* Takes no more rows from here on. */
void cw_trace_rows_close(void);
/* Prepares for another trace: drops everything of this one. Call it with the lock. */
void cw_trace_rows_reset(void);
/* Call it in a forked child: begins anew if the setup is not known yet. */
void cw_trace_forget(void);

#endif
