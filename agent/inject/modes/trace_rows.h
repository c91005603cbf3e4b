/* Rows of a trace in the program: they are collected in tables, one for each kind, and queued for the agent as chunks
 * of counter data when a table is full and again and again (trace_queue.h). Where the queue has no room, rows that no
 * table has room for are lost, and counted. Tables, the queue and what is kept of texts take 32 MB at most, whatever
 * the program does. Everything here takes a lock of its own, so that it can be called from callbacks that must not take
 * the library's. */
#ifndef CW_INJECT_TRACE_ROWS_H
#define CW_INJECT_TRACE_ROWS_H

#include "agent/common/trace_page.h"
#include "agent/inject/driver/descriptor.h"
#include "agent/inject/modes/trace_queue.h"

enum {
    CW_TRACE_TABLE_ROWS = 4096,
    CW_TRACE_KNOWN_TEXTS = 1 << 16, /* that are remembered; slots */
    CW_TRACE_KNOWN_SHAPES = 1 << 13
};

struct cw_trace_known { /* something that has a number, by a hash of 64 bits */
    uint64_t hash;
    uint32_t number; /* 0: an empty slot */
};

struct cw_trace_table {
    uint32_t count;
    uint64_t *values; /* [field][row] */
};

struct cw_trace_sheets {
    bool begun;
    atomic_bool closed; /* nothing more is taken; looked at without the lock */
    bool known;         /* that a trace is wanted; until then nothing is sent, and a full table takes no more */
    struct cw_trace_page *page, early; /* page: behind `begun`; until `known` the early one */
    struct cw_descriptor file;         /* of the page, until the agent has it */
    uint64_t kinds;
    struct cw_trace_table tables[CW_TRACE_KIND__COUNT];
    uint8_t places[CW_TRACE_KIND__COUNT][CW_FIELD__COUNT]; /* of a field in its kind, from 1 on */
    enum cw_trace_kind kind;                               /* of the row that is being made */
    uint32_t row;
    struct cw_trace_known *texts, *shapes;
    uint32_t text_count, shape_count;     /* that are remembered */
    uint32_t last_text, last_shape, sent; /* numbers that were given; texts that were sent */
    struct cw_writer pending;             /* texts that were not: length and bytes of each */
};
extern struct cw_trace_sheets *const cw_trace_sheets;

/* A trace is wanted of these kinds (CW_TRACE_BIT): rows of others are not kept, and of what is there so far those of
 * `early` alone. False without memory, with errno. *page
 * is a descriptor of the page, for the agent, which takes only one that cannot shrink; to be closed by
 * cw_descriptor_close(&sheets->file) then. With the lock. */
bool cw_trace_rows_begin(uint64_t kinds, uint64_t early, int *page);
/* Whether rows may be kept, be it until it is known what is wanted. With the lock. */
bool cw_trace_rows_await(void);

/* Both of the program's thread, without the library's lock: whether rows may be kept, with their lock held then.
 * Without an agent nothing ever is. */
bool cw_trace_rows_enter(void);
void cw_trace_rows_leave(void);

/* Around what follows. */
void cw_trace_rows_lock(void);
void cw_trace_rows_unlock(void);

/* The number of a text; 0 for NULL, "" and without memory. */
uint32_t cw_trace_text_number(const char *text);
/* The same of `size` bytes. */
uint32_t cw_trace_text_number_of(const char *text, size_t size);

/* Begins a row whose fields are not known; false where there is no room: it is counted as lost. The fields follow.
 * Others may have the lock meanwhile. */
bool cw_trace_row(enum cw_trace_kind kind);
/* One that there is no room for elsewhere: it is counted as lost, too. */
void cw_trace_row_lost(enum cw_trace_kind kind);
void cw_trace_put(enum cw_trace_field field, uint64_t value);
void cw_trace_put_text(enum cw_trace_field field, const char *text);

/* The number of what launches have in common, by its hash; 0 where no row has said yet what it is. Behind that row it
 * is added. */
uint32_t cw_trace_shape_find(uint64_t hash);
uint32_t cw_trace_shape_add(uint64_t hash);

/* Queues all rows, where there is room. */
void cw_trace_rows_send(void);
/* What was queued is all, from here on. */
void cw_trace_rows_close(void);
/* Another trace may follow: nothing is kept of this one. With the lock. */
void cw_trace_rows_reset(void);
/* In a child that was forked: it begins anew where it is not yet known what is wanted. */
void cw_trace_forget(void);

#endif
