/* Holds a fuzz target to the budget of an input. The linker puts this in front of it: --wrap=LLVMFuzzerTestOneInput
 * (fuzz.cmake). A target that was moved uses the data beside it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/budget.h"

__attribute__((constructor)) static void find_data(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "/data");
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash : path, "/data");
    if (access(path, R_OK) == 0)
        setenv("CW_DATA_DIR", path, 0);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cw_budget_begin(size);
    int result = __real_LLVMFuzzerTestOneInput(data, size);
    cw_budget_end();
    return result;
}
