#include "agent/common/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void cw_tally_add(struct cw_tally *t, const char *name, uint64_t count)
{
    struct cw_tally_item *item = t->items;
    while (item < t->items + t->count && strncmp(item->name, name, sizeof item->name - 1) != 0)
        item++;
    if (item == t->items + t->count) {
        t->count += t->count <= CW_TALLY_NAMES;
        item = &t->items[t->count - 1];
        snprintf(item->name, sizeof item->name, "%s", item < t->items + CW_TALLY_NAMES ? name : "others");
    }
    item->count += count;
}

static int by_count(const void *one, const void *other)
{
    const struct cw_tally_item *a = one, *b = other;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->name, b->name);
}

void cw_tally_print(struct cw_tally *t, FILE *out)
{
    qsort(t->items, t->count, sizeof *t->items, by_count);
    for (uint32_t i = 0; i < t->count; i++)
        cw_text_print(out, "%s%s %" PRIu64, i ? ", " : "", t->items[i].name, t->items[i].count);
}
