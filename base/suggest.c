#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 160 };

unsigned cw_edit_distance(const char *a, const char *b, unsigned limit)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST || n > m + limit || m > n + limit)
        return limit + 1;
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned best = row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < d)
                d = last[j] + 1;
            if (row[j - 1] + 1 < d)
                d = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < d)
                d = before[j - 2] + 1;
            row[j] = d;
            if (d < best)
                best = d;
        }
        if (best > limit)
            return limit + 1;
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m] <= limit ? last[m] : limit + 1;
}

void cw_suggest_init(struct cw_suggest *suggest, const char *wanted)
{
    *suggest = (struct cw_suggest){.wanted = wanted};
}

void cw_suggest_offer(struct cw_suggest *suggest, const char *candidate)
{
    unsigned limit = 1 + (unsigned)strlen(suggest->wanted) / 6;
    if (suggest->count == CW_SUGGEST_MAX && suggest->distance[CW_SUGGEST_MAX - 1] <= limit) {
        if (suggest->distance[CW_SUGGEST_MAX - 1] == 0)
            return;
        limit = suggest->distance[CW_SUGGEST_MAX - 1] - 1;
    }
    unsigned d = cw_edit_distance(suggest->wanted, candidate, limit);
    if (d > limit)
        return;
    size_t i = suggest->count < CW_SUGGEST_MAX ? suggest->count++ : CW_SUGGEST_MAX - 1;
    for (; i > 0 && suggest->distance[i - 1] > d; i--) {
        suggest->name[i] = suggest->name[i - 1];
        suggest->distance[i] = suggest->distance[i - 1];
    }
    suggest->name[i] = candidate;
    suggest->distance[i] = d;
}

const char *cw_suggest_text(const struct cw_suggest *suggest, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < suggest->count && used < size; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 == suggest->count ? " or " : ", ";
        int n = snprintf(buffer + used, size - used, "%s%s%s", before, suggest->name[i],
                         i + 1 == suggest->count ? "?" : "");
        used += n > 0 ? (size_t)n : 0;
    }
    return buffer;
}
