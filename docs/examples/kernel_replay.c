/* Counters of each launch, replayed by itself: kernel_replay [RUN.cwd PLAN.cwc]. It is slower than replaying launches
 * together, and can begin in a program that runs. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    work_begin();
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.replay = "kernel";
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_KERNELS, &options);
    counterworks_collect_start(session);
    work_step();
    counterworks_collect_stop(session);
    session_close(session);
    work_print("kernel_replay", work_end());
    return 0;
}
