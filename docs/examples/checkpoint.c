/* Steps from the same memory: checkpoint [RUN.cwd PLAN.cwc]. Each step changes its own input, so the program puts
 * memory back before it takes the next one. Its result is that of a single step. The session's passes take turns over
 * them. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    struct counterworks_checkpoint *memory = NULL;
    struct counterworks_error error;
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.replay = "multiplex";
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_KERNELS, &options);
    work_begin();
    counterworks_collect_start(session);
    session_check(counterworks_checkpoint_save(&memory, NULL, &error), &error);
    for (int i = 0; i < 4; i++) {
        session_check(counterworks_checkpoint_restore(memory, &error), &error);
        work_step();
    }
    counterworks_checkpoint_free(memory);
    session_close(session);
    work_print("checkpoint", work_end());
    return 0;
}
