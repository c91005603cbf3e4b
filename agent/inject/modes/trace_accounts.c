#include "agent/inject/modes/trace_accounts.h"

#define self cw_trace_accounts

static uint64_t count_of(const _Atomic uint64_t *counts, enum cw_trace_kind kind)
{
    return atomic_load_explicit(&counts[kind], memory_order_relaxed);
}

static void put_account(uint32_t type, uint64_t launched, uint64_t recorded, uint64_t dropped, uint64_t untimed,
                        const char *note)
{
    const uint32_t note_text = cw_trace_text_number(note);
    if (!cw_trace_row(CW_TRACE_ACCOUNT))
        return;
    cw_trace_put(CW_FIELD_TIME, cw_inject_now_ns());
    cw_trace_put(CW_FIELD_TYPE, type);
    cw_trace_put(CW_FIELD_LAUNCHED, launched);
    cw_trace_put(CW_FIELD_RECORDED, recorded);
    cw_trace_put(CW_FIELD_DROPPED, dropped);
    cw_trace_put(CW_FIELD_UNTIMED, untimed);
    cw_trace_put(CW_FIELD_NOTE, note_text);
}

/* Sum of all counts in accounts, except those of accounts themselves. */
static uint64_t all_counts(void)
{
    const struct cw_trace_page *page = cw_trace_sheets->page;
    uint64_t sum = atomic_load(&page->dropped);
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        sum += k == CW_TRACE_ACCOUNT ? 0 : count_of(page->launched, k) + count_of(page->rows, k);
    return sum;
}

/* Puts the account of a kind. CUPTI hands over its records, and there may have been no room for some. */
static void put_kind(const struct cw_trace_page *page, enum cw_trace_kind k)
{
    const bool counted = k == CW_TRACE_KERNEL || k == CW_TRACE_GRAPH;
    const uint64_t launched = cw_trace_page_launched(page, k), lost = count_of(page->lost, k),
                   had = count_of(counted ? page->direct : page->rows, k);
    put_account((uint32_t)k + 1, counted && launched ? launched : CW_TRACE_UNKNOWN, had > lost ? had - lost : 0,
                lost ? lost : CW_TRACE_UNKNOWN, count_of(page->untimed, k),
                lost ? "the program sent rows faster than the agent took them, or had too many ranges open" : NULL);
}

void cw_trace_accounts_put(void)
{
    const uint64_t all = all_counts();
    if (all == self->told || !cw_trace_queue_has_room())
        return;
    self->told = all;
    const struct cw_trace_page *page = cw_trace_sheets->page;
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (k != CW_TRACE_ACCOUNT && (count_of(page->launched, k) || count_of(page->rows, k)))
            put_kind(page, k);
    const uint64_t dropped = atomic_load(&page->dropped);
    if (dropped)
        put_account(CW_TRACE_TEXT_OF_ALL, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, dropped, CW_TRACE_UNKNOWN, NULL);
}

void cw_trace_accounts_note(enum cw_trace_kind kind, const char *why)
{
    const bool all = kind == CW_TRACE_KIND__COUNT;
    put_account((uint32_t)kind + 1, CW_TRACE_UNKNOWN, all ? CW_TRACE_UNKNOWN : 0, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN,
                why);
}
