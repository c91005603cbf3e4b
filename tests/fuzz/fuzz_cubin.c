#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "agent/common/cubin.h"

static void see(void *length, const char *name)
{
    *(size_t *)length += strlen(name) + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = 0;
    const struct cw_cubin_variables found = cw_cubin_variables(data, size, see, &length);
    CW_FUZZ_CHECK(found.any || !found.managed);
    CW_FUZZ_CHECK(found.any == (length > 0));
    cw_cubin_launchers(data, size, see, &length);
    return 0;
}
