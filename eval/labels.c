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

/* "" for a capture of our own, and for one without a device. */
static const char *profiler_of(const struct cw_counter_data *data)
{
    static const char *const foreign[] = {"ncu", "nsys", "kineto"};
    const char *backend = data->device_count ? cw_device_attribute(&data->devices[0], "backend") : NULL;
    for (size_t i = 0; backend && i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(backend, foreign[i]) == 0)
            return foreign[i];
    return "";
}

bool cw_labels_alike(const struct cw_counter_data *a, const struct cw_counter_data *b)
{
    return strcmp(profiler_of(a), profiler_of(b)) == 0;
}
