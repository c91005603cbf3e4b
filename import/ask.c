#define _POSIX_C_SOURCE 200809L
#include "import/ask.h"

#include <string.h>
#include <time.h>

void *cw_ask_array(struct cw_ask *ask, size_t count, size_t size)
{
    void *p = cw_ask_ok(ask) ? cw_arena_alloc(ask->arena, count, size) : NULL;
    if (!p && cw_ask_ok(ask))
        ask->status = cw_error_nomem(ask->err);
    return p;
}

bool cw_ask_ok(const struct cw_ask *ask)
{
    return ask->status == CW_OK;
}

uint32_t cw_ask_draw(uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 20) % n);
}

uint32_t cw_ask_random(struct cw_ask *ask, uint32_t n)
{
    return cw_ask_draw(&ask->random, n);
}

bool cw_ask_fits(struct cw_ask *ask, const struct cw_chip *chip, const uint32_t *placements, uint32_t count)
{
    struct cw_nvperf_placement asked[CW_ASK_MOST];
    bool fits = false;
    if (!cw_ask_ok(ask) || count > CW_ASK_MOST)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_chip_placement *p = &chip->placements[placements[i]];
        asked[i] = (struct cw_nvperf_placement){chip->raws[p->raw].id, chip->domains[p->domain].id};
    }
    ask->questions++;
    ask->status = cw_nvperf_fits(ask->scheduler, asked, count, &fits, ask->err);
    return cw_ask_ok(ask) && fits;
}

void cw_ask_minimize(struct cw_ask *ask, const struct cw_chip *chip, uint32_t *placements, uint32_t *count)
{
    for (uint32_t i = 0; i < *count && cw_ask_ok(ask);) {
        uint32_t dropped = placements[i];
        size_t behind = (*count - i - 1) * sizeof *placements;
        memmove(placements + i, placements + i + 1, behind);
        if (!cw_ask_fits(ask, chip, placements, *count - 1)) {
            --*count;
        } else {
            memmove(placements + i + 1, placements + i, behind);
            placements[i++] = dropped;
        }
    }
}

double cw_ask_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
