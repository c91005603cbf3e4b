/* Counters of ranges inside ranges: nested [RUN.cwd PLAN.cwc]. Each level is counted in passes of its own. */
#include "session.h"
#include "work.h"

int main(int argc, char **argv)
{
    static const char *const two_levels[] = {"--levels", "2"};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    int pass = 0;
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.replay = "user";
    options.arguments = two_levels;
    options.argument_count = 2;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_RANGES, &options);
    work_begin();
    counterworks_collect_start(session);
    while (counterworks_collect_pass(session, "step", &pass)) {
        counterworks_collect_push(session, "scale");
        work_scale();
        counterworks_collect_pop(session);
        counterworks_collect_push(session, "mix");
        work_mix();
        counterworks_collect_pop(session);
    }
    session_close(session);
    work_print("nested", work_end());
    return 0;
}
