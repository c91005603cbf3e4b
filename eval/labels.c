#include "eval/labels.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *left, const void *right)
{
    const struct cw_label *a = left, *b = right;
    const int order = strcmp(a->text, b->text);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

const uint32_t *cw_label_number(struct cw_label *labels, uint32_t count, struct cw_arena *arena)
{
    uint32_t *numbers = cw_arena_alloc(arena, count, sizeof *numbers);
    uint32_t number = 0;
    qsort(labels, count, sizeof *labels, by_text);
    for (uint32_t i = 0; numbers && i < count; i++) {
        number += i && strcmp(labels[i - 1].text, labels[i].text) != 0;
        numbers[labels[i].index] = number;
    }
    return numbers;
}
