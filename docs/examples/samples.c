/* Counters of the GPU at equal intervals: samples [RUN.cwd PLAN.cwc], with a plan for PM sampling. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    static const char *const interval[] = {"--interval", "20us"};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.arguments = interval;
    options.argument_count = 2;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_SAMPLES, &options);
    work_begin();
    counterworks_collect_start(session);
    for (int i = 0; i < 50; i++)
        work_step();
    counterworks_collect_stop(session);
    session_close(session);
    work_print("samples", work_end());
    return 0;
}
