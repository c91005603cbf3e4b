#include "base/buckets.h"

#include <string.h>

static uint32_t bucket_of(const uint32_t *of, size_t stride, uint32_t i)
{
    return *(const uint32_t *)(const void *)((const char *)of + stride * i);
}

/* While `order` is filled, first[b + 1] is the place for the next item of bucket b. */
void cw_buckets_sort(uint32_t *first, uint32_t bucket_count, uint32_t *order, const uint32_t *of, size_t stride,
                     uint32_t count)
{
    memset(first, 0, ((size_t)bucket_count + 2) * sizeof *first);
    for (uint32_t i = 0; i < count; i++)
        if (bucket_of(of, stride, i) != CW_NO_BUCKET)
            first[bucket_of(of, stride, i) + 2]++;
    for (uint32_t b = 0; b < bucket_count; b++)
        first[b + 2] += first[b + 1];
    for (uint32_t i = 0; i < count; i++)
        if (bucket_of(of, stride, i) != CW_NO_BUCKET)
            order[first[bucket_of(of, stride, i) + 1]++] = i;
}
