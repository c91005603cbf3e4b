#include "agent/common/beyond.h"

static uint32_t find(const struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    uint32_t i = 0;
    while (i < b->count && (b->of[i].thread != thread || b->of[i].domain != domain))
        i++;
    return i;
}

void cw_beyond_push(struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    const uint32_t i = find(b, thread, domain);
    if (i == CW_MOST_BEYOND)
        return;
    if (i == b->count) {
        b->of[b->count].thread = thread;
        b->of[b->count].domain = domain;
        b->of[b->count++].depth = 0;
    }
    b->of[i].depth++;
}

bool cw_beyond_pop(struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    const uint32_t i = find(b, thread, domain);
    if (i == b->count)
        return false;
    if (!--b->of[i].depth)
        b->of[i] = b->of[--b->count];
    return true;
}
