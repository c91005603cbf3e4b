/* Holds a fuzz target to the budget of an input. The linker puts this in front of it: --wrap=LLVMFuzzerTestOneInput
 * (fuzz.cmake). */
#include "tests/fuzz/fuzz.h"
#include "tests/support/budget.h"

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cw_budget_begin(size);
    int result = __real_LLVMFuzzerTestOneInput(data, size);
    cw_budget_end();
    return result;
}
