#include "eval/labels.h"

#include <stdlib.h>
#include <string.h>

struct label {
    const char *text;
    uint32_t index;
};

static int by_text(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    return strcmp(a->text, b->text);
}

const uint32_t *cw_labels_number(const char *const *texts, uint32_t count, struct cw_arena *arena)
{
    uint32_t *numbers = cw_arena_alloc(arena, count, sizeof *numbers), number = 0;
    struct label *labels = malloc(((size_t)count + 1) * sizeof *labels);
    const bool good = numbers && labels && (texts || !count);
    for (uint32_t i = 0; good && i < count; i++)
        labels[i] = (struct label){texts[i] ? texts[i] : "", i};
    if (good)
        qsort(labels, count, sizeof *labels, by_text);
    for (uint32_t i = 0; good && i < count; i++) {
        number += i && strcmp(labels[i - 1].text, labels[i].text) != 0;
        numbers[labels[i].index] = number;
    }
    free(labels);
    return good ? numbers : NULL;
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
