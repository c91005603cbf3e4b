/* What the examples share: a session where a file is named, and none where none is, for comparison. */
#ifndef SESSION_H
#define SESSION_H

#include <counterworks/collect.h>
#include <stdlib.h>

static inline void session_tell(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

static inline void session_check(enum counterworks_status status, const struct counterworks_error *error)
{
    if (status == COUNTERWORKS_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit((int)status);
}

static inline struct counterworks_collect *session_open(enum counterworks_collect_kind kind,
                                                        const struct counterworks_collect_options *options)
{
    struct counterworks_collect *session = NULL;
    struct counterworks_error error;
    if (options->output)
        session_check(counterworks_collect_open(&session, kind, options, &error), &error);
    return session;
}

static inline void session_close(struct counterworks_collect *session)
{
    struct counterworks_error error;
    session_check(counterworks_collect_close(session, session_tell, NULL, &error), &error);
}

#endif
