/* Counters of a range: userrange [RUN.cwd PLAN.cwc]. The program repeats the range until all passes are there; device
 * memory is put back between them. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    int pass = 0;
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.replay = "user";
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_RANGES, &options);
    work_begin();
    counterworks_collect_start(session);
    while (counterworks_collect_pass(session, "step", &pass))
        work_step();
    counterworks_collect_stop(session);
    session_close(session);
    work_print("userrange", work_end());
    return 0;
}
