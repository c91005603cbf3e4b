/* What every fuzz target defines: takes any bytes, aborts when something is wrong. */
#ifndef CW_TESTS_FUZZ_H
#define CW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion that holds in release builds too. */
#define CW_FUZZ_CHECK(condition)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
