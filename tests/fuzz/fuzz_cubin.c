#include "tests/fuzz/fuzz.h"

#include "agent/common/cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_cubin_variables found = cw_cubin_variables(data, size);
    CW_FUZZ_CHECK(found.any || !found.managed);
    return 0;
}
