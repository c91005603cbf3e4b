#include "agent/inject/in_flight.h"

static const uint64_t patience_ns = 2000000000;
static uint32_t launches, waiting; /* waiting: threads */
static bool in_vain;

void cw_in_flight_gate(void)
{
    for (uint64_t until = cw_inject_now_ns() + patience_ns; waiting && cw_inject_now_ns() < until;)
        cw_inject_wait();
}

void cw_in_flight_launch_entered(void)
{
    launches++;
}

void cw_in_flight_launch_left(void)
{
    launches -= launches > 0;
}

uint32_t cw_in_flight_launches(void)
{
    return launches;
}

bool cw_in_flight_wait(bool (*quiet)(void))
{
    in_vain = in_vain && !quiet();
    if (in_vain)
        return false;
    waiting++;
    for (uint64_t until = cw_inject_now_ns() + patience_ns; !quiet() && cw_inject_now_ns() < until;)
        cw_inject_wait();
    waiting--;
    in_vain = !quiet();
    return !in_vain;
}
