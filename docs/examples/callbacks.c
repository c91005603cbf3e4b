/* A function that sees each launch: callbacks [RUN.cwd PLAN.cwc]. It opens a range around each launch of one kernel,
 * and counts them all. Without a session there are no calls. */
#include "session.h"
#include <string.h>
#include "work.h"

struct seen {
    struct counterworks_collect *session;
    int launches, refused;
};

static void launched(void *user, const struct counterworks_collect_launch *launch)
{
    struct seen *seen = user;
    const bool wanted = launch->kernel && strstr(launch->kernel, "mix");
    if (!launch->returned && wanted)
        counterworks_collect_push(seen->session, "mix from inside");
    if (!launch->returned)
        return;
    if (wanted)
        counterworks_collect_pop(seen->session);
    seen->launches++;
    seen->refused += launch->result != 0;
}

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    struct seen seen = {0};
    options.output = argc > 1 ? argv[1] : NULL;
    options.plan = argc > 2 ? argv[2] : NULL;
    options.on_launch = launched;
    options.user = &seen;
    seen.session = session_open(COUNTERWORKS_COLLECT_RANGES, &options);
    work_begin();
    counterworks_collect_start(seen.session);
    work_step();
    counterworks_collect_stop(seen.session);
    session_close(seen.session);
    if (seen.session)
        fprintf(stderr, "%d launches, %d refused\n", seen.launches, seen.refused);
    work_print("callbacks", work_end());
    return 0;
}
