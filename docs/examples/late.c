/* Sessions in a program that runs, one after another: late [RUN.cwd PLAN.cwc TRACE.cwd]. CUDA has a context before, so
 * passes take turns over the launches of one kernel, and nothing is repeated. A trace follows. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    work_begin();
    work_step();
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.started = true;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_KERNELS, &options);
    for (int i = 0; i < 8; i++)
        work_step();
    session_close(session);
    work_step(); /* not collected */
    options.output = argc > 3 ? argv[3] : NULL;
    options.plan = NULL;
    session = session_open(COUNTERWORKS_COLLECT_TRACE, &options);
    work_step();
    session_close(session);
    work_print("late", work_end());
    return 0;
}
