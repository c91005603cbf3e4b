/* The instructions at which warps are: pc_samples [RUN.cwd], of two parts of the program. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = argc > 1 ? argv[1] : NULL;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_PC, &options);
    work_begin();
    for (int part = 0; part < 2; part++) {
        counterworks_collect_start(session);
        for (int i = 0; i < 50; i++)
            work_step();
        counterworks_collect_stop(session);
        work_step(); /* no samples */
    }
    session_close(session);
    work_print("pc_samples", work_end());
    return 0;
}
