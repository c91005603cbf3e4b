/* A trace of one part of the program, with its ranges: trace [RUN.cwd]. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = argc > 1 ? argv[1] : NULL;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_TRACE, &options);
    work_begin();
    work_step(); /* not traced */
    counterworks_collect_start(session);
    for (int i = 0; i < 3; i++) {
        counterworks_collect_push(session, "step");
        work_step();
        counterworks_collect_pop(session);
    }
    counterworks_collect_stop(session);
    session_close(session);
    work_print("trace", work_end());
    return 0;
}
