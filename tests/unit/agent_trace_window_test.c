#include <criterion/criterion.h>

#include "agent/common/trace_window.h"

enum { START = 1000 };
static struct cw_trace_window window;
static struct cw_trace_window_options options;
static struct cw_filter_options filter_options;
static struct cw_filter filter;
static struct cw_error err;

static void make(void)
{
    cr_assert(cw_filter_open(&filter, &filter_options, &err) == CW_OK);
    cw_trace_window_init(&window, &options, &filter, START);
}

static void set_up(void)
{
    filter_options = (struct cw_filter_options){.launch_count = UINT64_MAX};
    options = (struct cw_trace_window_options){0};
}

static void tear_down(void)
{
    cw_filter_close(&filter);
}

TestSuite(trace_window, .init = set_up, .fini = tear_down);

Test(trace_window, is_open_without_conditions)
{
    make();
    cr_expect(!cw_trace_window_any(&options, &filter_options));
    cr_expect(cw_trace_window_is_open(&window, 0) && cw_trace_window_is_open(&window, UINT64_MAX));
    cr_expect(cw_trace_window_next(&window, START) == UINT64_MAX);
}

Test(trace_window, opens_after_a_delay_for_a_duration)
{
    options = (struct cw_trace_window_options){.delay_ns = 100, .duration_ns = 50};
    make();
    cr_expect(cw_trace_window_any(&options, &filter_options));
    cr_expect(!cw_trace_window_is_open(&window, 0) && cw_trace_window_next(&window, 0) == START + 100);
    cr_expect(!cw_trace_window_is_open(&window, START + 99));
    cr_expect(cw_trace_window_is_open(&window, START + 100) &&
              cw_trace_window_next(&window, START + 100) == START + 150);
    cr_expect(cw_trace_window_is_open(&window, START + 149));
    cr_expect(!cw_trace_window_is_open(&window, START + 150));
    cr_expect(cw_trace_window_next(&window, START + 150) == UINT64_MAX);
}

Test(trace_window, opens_again_and_again)
{
    options = (struct cw_trace_window_options){.delay_ns = 10, .length_ns = 5, .every_ns = 20, .duration_ns = 42};
    make();
    const struct {
        uint64_t at;
        bool open;
        uint64_t next;
    } cases[] = {{0, false, 10},
                 {10, true, 15},
                 {14, true, 15},
                 {15, false, 30},
                 {30, true, 35},
                 {50, true, 52},
                 {52, false, UINT64_MAX - START}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(cw_trace_window_is_open(&window, START + cases[i].at) == cases[i].open, "at %d", (int)cases[i].at);
        cr_expect(cw_trace_window_next(&window, START + cases[i].at) == START + cases[i].next, "at %d",
                  (int)cases[i].at);
    }
}

Test(trace_window, needs_all_that_was_asked_for)
{
    filter_options.range = "^step";
    options = (struct cw_trace_window_options){.profiler = true, .toggled = true};
    make();
    cr_expect(!cw_trace_window_is_open(&window, START));
    cw_trace_window_range(&window, true);
    cw_trace_window_profiler(&window, true);
    cr_expect(!cw_trace_window_is_open(&window, START));
    cw_trace_window_signal(&window);
    cr_expect(cw_trace_window_is_open(&window, START));
    cw_trace_window_range(&window, true);
    cw_trace_window_range(&window, false);
    cr_expect(cw_trace_window_is_open(&window, START));
    cw_trace_window_signal(&window);
    cr_expect(!cw_trace_window_is_open(&window, START));
    cw_trace_window_signal(&window);
    cw_trace_window_range(&window, false);
    cw_trace_window_range(&window, false); /* one too many */
    cr_expect(!cw_trace_window_is_open(&window, START));
    cw_trace_window_range(&window, true);
    cr_expect(cw_trace_window_is_open(&window, START));
    cw_trace_window_profiler(&window, false);
    cr_expect(!cw_trace_window_is_open(&window, START));
}

static bool open_around(const char *kernel)
{
    cw_trace_window_launch(&window, kernel);
    const bool open = cw_trace_window_is_open(&window, START);
    cw_trace_window_launched(&window);
    return open;
}

Test(trace_window, begins_and_ends_with_launches)
{
    filter_options =
        (struct cw_filter_options){.kernels = {"gemm"}, .kernel_count = 1, .launch_skip = 1, .launch_count = 2};
    make();
    cr_expect(!open_around("other") && !open_around("gemm"));
    cr_expect(!cw_trace_window_is_open(&window, START));
    cr_expect(open_around("gemm") && cw_trace_window_is_open(&window, START));
    cr_expect(open_around("other"), "what runs between belongs to it");
    cr_expect(open_around("gemm") && !cw_trace_window_is_open(&window, START));
    cr_expect(!open_around("other") && !open_around("gemm"));
}

Test(trace_window, options_cross_a_socket)
{
    const struct cw_trace_window_options sent = {1, 2, 3, 4, true, false};
    struct cw_trace_window_options got = {0};
    struct cw_writer out;
    struct cw_reader in;
    cw_writer_init(&out);
    cw_trace_window_write(&out, &sent);
    cw_reader_init(&in, out.data, out.size, "message", 0, &err);
    cw_trace_window_read(&in, &got);
    cr_expect(cw_reader_finish(&in, "options") == CW_OK);
    cr_expect(got.delay_ns == 1 && got.duration_ns == 2 && got.length_ns == 3 && got.every_ns == 4 && got.profiler &&
              !got.toggled);
    cw_writer_free(&out);
}
