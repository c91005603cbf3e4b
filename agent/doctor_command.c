#include <argp.h>

#include "agent/backend.h"
#include "agent/command.h"

int cw_doctor_command(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     NULL,
                                     "",
                                     "Says what on this node would stop a capture, and how to mend it.\v"
                                     "Example:\n  capture-agent doctor",
                                     NULL,
                                     NULL,
                                     NULL};
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    struct cw_error err = CW_ERROR_INIT;
    return cw_cupti_check(NULL, true, &err) == CW_OK ? 0 : cw_command_fail(&err);
}
