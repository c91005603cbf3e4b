#include <stdio.h>

#include "agent/command/command.h"
#include "base/usage.h"

int cw_doctor_command(int argc, char **argv)
{
    static const struct cw_option none[] = {{0}};
    static const struct cw_usage usage = {none, "",
                                          "Says what on this node would stop a capture, and how to mend it: a line for "
                                          "each check, ok, note or FAIL.\v"
                                          "Example:\n  capture-agent doctor"};
    cw_usage_read(&usage, argc, argv, NULL);
    const struct cw_backend *backend = cw_command_real_backend();
    if (backend->missing) {
        printf("FAIL  %s\n", backend->missing);
        return CW_ERR_UNSUPPORTED;
    }
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_node_needs everything = {.need = CW_NEED_ALL, .report = true, .devices = CW_EVERY_DEVICE};
    enum cw_status status = backend->check(&everything, &err);
    if (status != CW_OK) /* what failed was reported */
        return status;
    return cw_file_flush(&err) == CW_OK ? CW_OK : cw_usage_fail(&err);
}
