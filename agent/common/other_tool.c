#define _GNU_SOURCE
#include "agent/common/other_tool.h"

#include <stdlib.h>
#include <string.h>

const char *cw_other_tool(const char *variable)
{
    const char *library = secure_getenv(variable);
    return library && *library && !strstr(library, "libcounterworks_inject.so") ? library : NULL;
}
