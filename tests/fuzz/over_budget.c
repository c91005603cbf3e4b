/* A target that goes beyond the budget in the way that the input names: what is stopped. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void take_memory(size_t each)
{
    void *volatile blocks[128];
    for (size_t i = 0; i < 128; i++) {
        blocks[i] = malloc(each);
        CW_FUZZ_CHECK(blocks[i]);
        memset(blocks[i], 1, 1);
    }
    for (size_t i = 0; i < 128; i++)
        free(blocks[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    volatile unsigned spins = 0;
    if (size >= 6 && memcmp(data, "memory", 6) == 0)
        take_memory(1 << 20);
    else
        while (size >= 4 && memcmp(data, "time", 4) == 0)
            spins++;
    for (int i = 0; i < 128; i++) /* 64 MB one after the other are fine */
        take_memory(1 << 12);
    return 0;
}
