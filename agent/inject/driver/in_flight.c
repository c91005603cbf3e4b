#include "agent/inject/driver/in_flight.h"

static const uint64_t patience_ns = 2000000000, retry_ns = 30000000000;
enum { MOST_CONDITIONS = 4 };

static uint32_t launches, holding; /* holding: threads */
static struct {                    /* waits that were in vain, and what they waited for has not been since */
    bool (*condition)(void);
    uint64_t since_ns;
} vain[MOST_CONDITIONS];
static uint32_t vain_count;

void cw_in_flight_hold(void)
{
    holding++;
}

void cw_in_flight_release(void)
{
    holding--;
}

void cw_in_flight_gate(void)
{
    for (uint64_t until = cw_inject_now_ns() + patience_ns; holding && !cw_inject.over && cw_inject_now_ns() < until;)
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

bool cw_in_flight_no_launch(void)
{
    return launches == 0;
}

void cw_in_flight_look(void)
{
    for (uint32_t i = vain_count; i-- > 0;)
        if (vain[i].condition() || cw_inject_now_ns() - vain[i].since_ns > retry_ns)
            vain[i] = vain[--vain_count];
}

static bool was_in_vain(bool (*condition)(void))
{
    for (uint32_t i = 0; i < vain_count; i++)
        if (vain[i].condition == condition)
            return true;
    return false;
}

bool cw_in_flight_wait(bool (*condition)(void))
{
    cw_in_flight_look();
    if (was_in_vain(condition))
        return false;
    cw_in_flight_hold();
    for (uint64_t until = cw_inject_now_ns() + patience_ns; !condition() && cw_inject_now_ns() < until;)
        cw_inject_wait();
    cw_in_flight_release();
    bool met = condition();
    if (!met && vain_count < MOST_CONDITIONS && !was_in_vain(condition)) {
        vain[vain_count].condition = condition;
        vain[vain_count++].since_ns = cw_inject_now_ns();
    }
    return met;
}
