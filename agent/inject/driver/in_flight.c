#include "agent/inject/driver/in_flight.h"

static const uint64_t patience_ns = 2000000000, retry_ns = 30000000000;
#define self cw_in_flight

void cw_in_flight_hold(void)
{
    self->holding++;
}

void cw_in_flight_release(void)
{
    self->holding--;
}

void cw_in_flight_gate(void)
{
    for (uint64_t until = cw_inject_now_ns() + patience_ns;
         self->holding && !cw_inject->over && cw_inject_now_ns() < until;)
        cw_inject_wait();
}

void cw_in_flight_launch_entered(void)
{
    if (!self->launches++)
        self->since_ns = cw_inject_now_ns();
    self->entered++;
}

void cw_in_flight_launch_left(void)
{
    self->launches -= self->launches > 0;
    self->since_ns = self->launches ? cw_inject_now_ns() : 0;
}

bool cw_in_flight_no_launch(void)
{
    return self->launches == 0;
}

void cw_in_flight_look(void)
{
    for (uint32_t i = self->vain_count; i-- > 0;)
        if (self->vain[i].condition() || cw_inject_now_ns() - self->vain[i].since_ns > retry_ns)
            self->vain[i] = self->vain[--self->vain_count];
}

static bool was_in_vain(bool (*condition)(void))
{
    for (uint32_t i = 0; i < self->vain_count; i++)
        if (self->vain[i].condition == condition)
            return true;
    return false;
}

bool cw_in_flight_wait_for(bool (*condition)(void), uint64_t ns)
{
    const uint64_t until = cw_inject_now_ns() + ns;
    cw_in_flight_hold();
    while (!condition() && !cw_inject->over && cw_inject_now_ns() < until)
        cw_inject_wait();
    cw_in_flight_release();
    return condition();
}

bool cw_in_flight_wait(bool (*condition)(void))
{
    cw_in_flight_look();
    if (was_in_vain(condition))
        return false;
    const bool met = cw_in_flight_wait_for(condition, patience_ns);
    if (!met && self->vain_count < CW_IN_FLIGHT_MOST_CONDITIONS && !was_in_vain(condition))
        self->vain[self->vain_count++] = (struct cw_in_vain){condition, cw_inject_now_ns()};
    return met;
}

void cw_in_flight_forget(void)
{
    self->launches = self->vain_count = 0;
    self->entered = 0;
    self->since_ns = 0;
}
