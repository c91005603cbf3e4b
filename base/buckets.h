/* Counting sort: orders items by the bucket of each. */
#ifndef CW_BASE_BUCKETS_H
#define CW_BASE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

/* The bucket of an item that the sort leaves out. */
#define CW_NO_BUCKET UINT32_MAX

/* Puts the items of bucket b into order[first[b]] up to order[first[b + 1]], ascending. `first` has room for
 * bucket_count + 2 numbers and `order` for `count`. *of is the bucket of the first item, the next one's lies `stride`
 * bytes behind; each is below bucket_count, or CW_NO_BUCKET. */
void cw_buckets_sort(uint32_t *first, uint32_t bucket_count, uint32_t *order, const uint32_t *of, size_t stride,
                     uint32_t count);

#endif
