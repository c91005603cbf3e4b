/* Counts for each instruction, by SASS metrics: instructions [RUN.cwd]. CUPTI counts in code that is loaded at the
 * first launch, so the session comes before. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    static const char *const metrics[] = {"-m", "smsp__sass_inst_executed", "-m", "smsp__sass_thread_inst_executed"};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = argc > 1 ? argv[1] : NULL;
    options.arguments = metrics;
    options.argument_count = 4;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_INSTRUCTIONS, &options);
    work_begin();
    counterworks_collect_start(session);
    work_step();
    counterworks_collect_stop(session);
    session_close(session);
    work_print("instructions", work_end());
    return 0;
}
