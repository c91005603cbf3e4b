/* Makes a whole command run out of memory: with CW_ALLOC_FAIL_AFTER=N in its environment the allocation after N more fails,
 * of our code and of jansson. How many there were is written to the file CW_ALLOC_SEEN. */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "tests/support/alloc_fail.h"

__attribute__((constructor)) static void begin(void)
{
    const char *count = getenv("CW_ALLOC_FAIL_AFTER");
    json_set_alloc_funcs(malloc, free); /* the ones that can fail */
    cw_alloc_fail_after(count ? strtol(count, NULL, 10) : -1);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("CW_ALLOC_SEEN");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", cw_alloc_seen());
        fclose(out);
    }
}
