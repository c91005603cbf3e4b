/* A build without CUDA headers says why it cannot make a capture of a real GPU. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

#include "agent/backend/backend.h"

static void check(enum cw_status status, const struct cw_error *err)
{
    cr_expect(status == CW_ERR_UNSUPPORTED);
    cr_expect(strstr(err->message, "CUDA headers were not found") != NULL, "%s", err->message);
}

Test(agent_backend, an_absent_one_says_so_of_every_capture)
{
    const struct cw_backend *b = &cw_backend_absent;
    struct cw_error range = CW_ERROR_INIT, pc = CW_ERROR_INIT, pm = CW_ERROR_INIT, node = CW_ERROR_INIT;
    int exit_status;
    check(b->range(&(struct cw_range_options){0}, &exit_status, &range), &range);
    check(b->pc(&(struct cw_pc_options){0}, &exit_status, &pc), &pc);
    check(b->pm(&(struct cw_pm_options){0}, &exit_status, &pm), &pm);
    check(b->check(&(struct cw_node_needs){0}, &node), &node);
}

Test(agent_backend, an_absent_one_is_reported_by_the_doctor)
{
    struct cw_error err = CW_ERROR_INIT;
    cr_redirect_stdout();
    check(cw_backend_absent.check(&(struct cw_node_needs){.need = CW_NEED_ALL, .report = true}, &err), &err);
    fflush(stdout);
    char line[300] = "";
    cr_assert(fgets(line, sizeof line, cr_get_redirected_stdout()) != NULL, "nothing was printed");
    cr_expect(strncmp(line, "FAIL  this build has no cupti backend", 37) == 0, "%s", line);
}
