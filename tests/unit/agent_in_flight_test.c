/* Waiting for other threads' calls, by a clock that a wait moves on by a second. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stuck.h"
#include "tests/support/fake_profiler.h"

static bool met;

static bool condition(void)
{
    return met;
}

static void comes_to_be(void)
{
    met = true;
}

static uint64_t seconds(void)
{
    return fake_profiler.now_ns / 1000000000;
}

static void begin(void)
{
    fake_profiler_begin(NULL, 1, 1);
}

Test(in_flight, a_wait_ends_when_the_condition_holds)
{
    begin();
    fake_profiler.meanwhile = comes_to_be;
    cr_expect(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 1);
    cr_expect(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 1);
    fake_profiler_end();
}

Test(in_flight, what_was_waited_for_in_vain_is_waited_for_again_when_it_was_seen_to_hold)
{
    begin();
    cr_expect_not(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 2);
    cr_expect_not(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 2);
    met = true;
    cw_in_flight_look();
    met = false;
    cr_expect_not(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 4);
    fake_profiler.now_ns += 60000000000;
    cr_expect_not(cw_in_flight_wait(condition), "nor is it given up for ever");
    cr_expect_eq(seconds(), 66);
    fake_profiler_end();
}

static void capture_ends(void)
{
    cw_inject->over = true;
}

/* Launches that return behind it are not counted any more. */
Test(in_flight, a_wait_ends_with_the_capture)
{
    begin();
    fake_profiler.meanwhile = capture_ends;
    cr_expect_not(cw_in_flight_wait_for(condition, 60000000000));
    cr_expect_eq(seconds(), 1);
    fake_profiler_end();
}

Test(in_flight, a_wait_of_its_own_length_is_not_cut_by_one_in_vain)
{
    begin();
    cr_expect_not(cw_in_flight_wait(condition));
    cr_expect_eq(seconds(), 2);
    cr_expect_not(cw_in_flight_wait_for(condition, 10000000000));
    cr_expect_eq(seconds(), 12);
    fake_profiler.meanwhile = comes_to_be;
    cr_expect(cw_in_flight_wait_for(condition, 10000000000));
    cr_expect_eq(seconds(), 13);
    fake_profiler_end();
}

Test(in_flight, others_are_held_up_for_a_while)
{
    begin();
    cw_in_flight_gate();
    cr_expect_eq(seconds(), 0);
    cw_in_flight_hold();
    cw_in_flight_gate();
    cr_expect_eq(seconds(), 2);
    fake_profiler.meanwhile = cw_in_flight_release;
    cw_in_flight_gate();
    cr_expect_eq(seconds(), 3);
    fake_profiler_end();
}

static const char *look(uint64_t seconds_later)
{
    static char text[300];
    int said[2], before = dup(STDERR_FILENO);
    cr_assert(pipe2(said, O_NONBLOCK) == 0 && dup2(said[1], STDERR_FILENO) >= 0);
    cw_say_begin();
    cw_stuck_look(fake_profiler.now_ns + seconds_later * 1000000000);
    dup2(before, STDERR_FILENO);
    const ssize_t size = read(said[0], text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    close(said[0]);
    close(said[1]);
    close(before);
    return text;
}

Test(in_flight, launches_that_do_not_return_are_told_of_once)
{
    begin();
    cr_expect_str_empty(look(3600));
    cw_in_flight_launch_entered();
    cr_expect_str_empty(look(59));
    cw_in_flight_launch_left();
    cr_expect_str_empty(look(61));
    fake_profiler.now_ns += 1000000000;
    cw_in_flight_launch_entered();
    cw_in_flight_launch_entered();
    fake_profiler.now_ns += 30000000000;
    cw_in_flight_launch_left();
    cr_expect_str_empty(look(59), "another has returned meanwhile");
    cr_expect(strstr(look(61), "a launch has not returned for a minute"));
    cr_expect_str_empty(look(120));
    fake_profiler_end();
}

/* As a batch makes them again, while the program is in another call. */
Test(in_flight, launches_of_our_own_that_do_not_return_are_told_of)
{
    begin();
    cw_stuck_launch();
    fake_profiler.now_ns += 1000000000;
    cw_stuck_launch();
    cr_expect_str_empty(look(59));
    cw_stuck_launched();
    cr_expect_str_empty(look(61));
    cw_stuck_launch();
    cr_expect(strstr(look(61), "a launch has not returned for a minute"));
    fake_profiler_end();
}

Test(in_flight, all_is_anew_where_the_state_is)
{
    begin();
    cw_in_flight_hold();
    cw_in_flight_launch_entered();
    cr_expect_not(cw_in_flight_wait(cw_in_flight_no_launch));
    fake_profiler_end();
    begin();
    cr_expect(cw_in_flight_wait(cw_in_flight_no_launch), "no launch, nor a wait in vain for there to be none");
    cw_in_flight_gate();
    cr_expect_eq(seconds(), 0, "nobody holds others up");
    fake_profiler_end();
}
