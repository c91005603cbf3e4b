#include "agent/inject/driver/stuck.h"

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/say.h"

static const uint64_t long_ns = 60000000000, look_ns = 5000000000;
static struct {
    atomic_bool watched, told; /* watched: a thread of ours looks; told: the message was printed */
} state CW_STATE;
#define self (&state)

void cw_stuck_look(uint64_t now_ns)
{
    const uint64_t since = cw_in_flight->since_ns;
    if (since && now_ns > since && now_ns - since > long_ns && !cw_inject->over && !atomic_exchange(&self->told, true))
        cw_say(
            "a launch has not returned for a minute: if its kernel waits for another, it never will, as launches are "
            "counted one after another; expected --replay batch or --ranges user for such a program");
}

void cw_stuck_launch(void)
{
    cw_in_flight->since_ns = cw_inject_now_ns();
}

void cw_stuck_launched(void)
{
    cw_in_flight->since_ns = cw_in_flight->launches ? cw_inject_now_ns() : 0;
}

static void *look(void *user)
{
    cw_inject_own_thread();
    while (!cw_inject->over && !self->told) {
        cw_inject_sleep(look_ns);
        cw_stuck_look(cw_inject_now_ns());
    }
    self->watched = false; /* another session may follow */
    return user;
}

void cw_stuck_watch(void)
{
    if (!self->told && !atomic_exchange(&self->watched, true) && !cw_inject_start_thread(look, NULL))
        self->watched = false;
}
