/* Messages of a profiled process, as its agent receives them. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <unistd.h>

#include "agent/common/effort.h"
#include "agent/session/session.h"
#include "tests/fuzz/fuzz.h"

/* The beginning of RANGES, which says the most. */
static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_launch launch;
    struct cw_effort effort;
    (void)user;
    (void)err;
    CW_FUZZ_CHECK(arena && p->program && p->device_count <= CW_MOST_DEVICES && type < CW_MESSAGE__END);
    cw_read_u32(in);
    cw_read_u32(in);
    cw_read_string(in, arena);
    cw_effort_read(in, &effort, arena);
    for (uint32_t left = cw_read_count(in, 4, "launches"); left && in->status == CW_OK; left--)
        cw_launch_read(in, &launch, arena);
    cw_arena_destroy(arena);
    return in->status;
}

static bool never(void *user)
{
    return user != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cw_session s;
    int ends[2];
    const int room = 1 << 20;
    cw_session_init(&s);
    s.chip = "GH100";
    s.take = take;
    CW_FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    (void)!send(ends[0], data, size, MSG_DONTWAIT | MSG_NOSIGNAL); /* as much as there is room for */
    close(ends[0]);
    s.processes[s.process_count++] = (struct cw_process){.fd = ends[1], .arena = cw_arena_create()};
    cw_message_begin(&s.processes[0].message);
    cw_session_serve_attached(&s, never);
    CW_FUZZ_CHECK(s.process_count == 0 && s.held == 0);
    cw_session_finish(&s);
    return 0;
}
