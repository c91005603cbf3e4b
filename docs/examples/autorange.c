/* Counters of each launch: autorange [RUN.cwd PLAN.cwc]. The session comes before the first call of CUDA, so launches
 * are replayed together; the program sees each once. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_KERNELS, &options);
    work_begin(); /* not collected */
    counterworks_collect_start(session);
    work_step();
    counterworks_collect_stop(session);
    work_step(); /* nor this */
    session_close(session);
    work_print("autorange", work_end());
    return 0;
}
