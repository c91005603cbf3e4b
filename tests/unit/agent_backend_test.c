/* A build without CUDA headers says why it cannot make a capture of a real GPU. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

#include "agent/command/command.h"

Test(agent_backend, a_missing_one_says_so_of_every_capture)
{
    for (int profiler = CW_PROFILER_RANGE; profiler < CW_PROFILER__COUNT; profiler++) {
        struct cw_command_capture capture = {0};
        struct cw_error err = CW_ERROR_INIT;
        cr_expect(cw_command_begin(&capture, (enum cw_profiler)profiler, &err) == CW_ERR_UNSUPPORTED);
        cr_expect(strstr(err.message, "CUDA headers were not found") != NULL, "%s", err.message);
        cr_redirect_stderr();
        cr_expect(cw_command_end(&capture, err.code, 0, &err) == CW_ERR_UNSUPPORTED);
    }
}

Test(agent_backend, a_missing_one_is_reported_by_the_doctor)
{
    char name[] = "capture-agent", *argv[] = {name, NULL};
    cr_redirect_stdout();
    cr_expect(cw_doctor_command(1, argv) == CW_ERR_UNSUPPORTED);
    fflush(stdout);
    char line[300] = "";
    cr_assert(fgets(line, sizeof line, cr_get_redirected_stdout()) != NULL, "nothing was printed");
    cr_expect(strncmp(line, "FAIL  this build has no cupti backend", 37) == 0, "%s", line);
}
