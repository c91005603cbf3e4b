#include "agent/common/trace_window.h"

#include <inttypes.h>

void cw_trace_window_init(struct cw_trace_window *w, const struct cw_trace_window_options *options,
                          struct cw_filter *filter, uint64_t start_ns)
{
    *w = (struct cw_trace_window){.options = *options, .filter = filter, .start_ns = start_ns};
}

void cw_trace_window_range(struct cw_trace_window *w, bool opened)
{
    if (opened)
        w->ranges++;
    else if (w->ranges)
        w->ranges--;
}

void cw_trace_window_profiler(struct cw_trace_window *w, bool started)
{
    w->profiling = started;
}

void cw_trace_window_signal(struct cw_trace_window *w)
{
    w->toggled = !w->toggled;
}

void cw_trace_window_period(struct cw_trace_window *w, bool open)
{
    w->in_period = open;
}

void cw_trace_window_launch(struct cw_trace_window *w, const char *kernel)
{
    w->launching = cw_filter_kernel(w->filter, kernel);
    w->launches += w->launching;
}

void cw_trace_window_launched(struct cw_trace_window *w)
{
    w->launching = false;
}

static bool chooses_launches(const struct cw_filter_options *o)
{
    return o->kernel_count || o->excluded_count || cw_filter_counts(o);
}

/* Whether launches allow tracing: from the first launch behind the skipped ones to the return of the last wanted
 * one. */
static bool launches_agree(const struct cw_trace_window *w)
{
    const struct cw_filter_options *o = &w->filter->options;
    if (!chooses_launches(o))
        return true;
    const uint64_t wanted = w->launches > o->launch_skip ? w->launches - o->launch_skip : 0;
    return wanted && (wanted < o->launch_count || (wanted == o->launch_count && w->launching));
}

static bool time_agrees(const struct cw_trace_window_options *o, uint64_t since)
{
    if (since < o->delay_ns)
        return false;
    const uint64_t behind = since - o->delay_ns;
    if (o->duration_ns && behind >= o->duration_ns)
        return false;
    return !o->length_ns || (o->every_ns ? behind % o->every_ns : behind) < o->length_ns;
}

static uint64_t since(const struct cw_trace_window *w, uint64_t now_ns)
{
    return now_ns > w->start_ns ? now_ns - w->start_ns : 0;
}

bool cw_trace_window_is_open(const struct cw_trace_window *w, uint64_t now_ns)
{
    return time_agrees(&w->options, since(w, now_ns)) && (!w->filter->options.range || w->ranges) &&
           (!w->options.profiler || w->profiling) && (!w->options.toggled || w->toggled) &&
           (!w->options.periods || w->in_period) && launches_agree(w);
}

uint64_t cw_trace_window_next(const struct cw_trace_window *w, uint64_t now_ns)
{
    const struct cw_trace_window_options *o = &w->options;
    const uint64_t now = since(w, now_ns), behind = now < o->delay_ns ? 0 : now - o->delay_ns;
    uint64_t next = UINT64_MAX;
    if (now < o->delay_ns)
        return w->start_ns + o->delay_ns;
    if (o->duration_ns && behind >= o->duration_ns)
        return UINT64_MAX;
    if (o->duration_ns)
        next = o->duration_ns;
    if (o->length_ns) {
        const uint64_t from = o->every_ns ? behind - behind % o->every_ns : 0, close = from + o->length_ns;
        const uint64_t edge = behind < close ? close : o->every_ns ? from + o->every_ns : UINT64_MAX;
        next = edge < next ? edge : next;
    }
    return next == UINT64_MAX ? next : w->start_ns + o->delay_ns + next;
}

bool cw_trace_window_any(const struct cw_trace_window_options *o, const struct cw_filter_options *filter)
{
    return o->delay_ns || o->duration_ns || o->length_ns || o->profiler || o->toggled || o->periods || filter->range ||
           chooses_launches(filter);
}

static void put_time(struct cw_writer *out, const char *option, uint64_t ns)
{
    if (ns)
        cw_write_format(out, "%s--%s %gs", out->size ? " " : "", option, (double)ns * 1e-9);
}

static void put_word(struct cw_writer *out, const char *text)
{
    if (*text)
        cw_write_format(out, "%s%s", out->size ? " " : "", text);
}

/* `filter`: words of other options. */
static const char *make_text(const struct cw_trace_window_options *o, const char *filter, struct cw_arena *arena)
{
    struct cw_writer out;
    if (!filter)
        return NULL;
    cw_writer_init(&out);
    put_time(&out, "after", o->delay_ns);
    put_time(&out, "for", o->duration_ns);
    put_time(&out, "window", o->length_ns);
    put_time(&out, "every", o->every_ns);
    put_word(&out, filter);
    put_word(&out, o->profiler ? "--profiler-api" : "");
    put_word(&out, o->toggled ? "--toggle" : "");
    if (o->periods == CW_EVERY_PERIOD)
        put_word(&out, "--steady all");
    else if (o->periods)
        cw_write_format(&out, "%s--steady %" PRIu32, out.size ? " " : "", o->periods);
    const char *text =
        out.status == CW_OK ? cw_arena_strndup(arena, out.size ? (const char *)out.data : "", out.size) : NULL;
    cw_writer_free(&out);
    return text;
}

const char *cw_trace_window_text(const struct cw_trace_window_options *o, const struct cw_filter_options *filter,
                                 struct cw_arena *arena)
{
    struct cw_filter_options windows = *filter; /* the rest chooses among processes and GPUs */
    windows.devices = 0;
    windows.process = NULL;
    windows.only_program = false;
    return make_text(o, cw_filter_text(&windows, arena), arena);
}

const char *cw_trace_window_filter_text(const struct cw_trace_window_options *o, const struct cw_filter_options *filter,
                                        struct cw_arena *arena)
{
    return make_text(o, cw_filter_text(filter, arena), arena);
}

void cw_trace_window_write(struct cw_writer *out, const struct cw_trace_window_options *o)
{
    cw_write_u64(out, o->delay_ns);
    cw_write_u64(out, o->duration_ns);
    cw_write_u64(out, o->length_ns);
    cw_write_u64(out, o->every_ns);
    cw_write_u8(out, o->profiler);
    cw_write_u8(out, o->toggled);
    cw_write_u32(out, o->periods);
}

void cw_trace_window_read(struct cw_reader *in, struct cw_trace_window_options *o)
{
    o->delay_ns = cw_read_u64(in);
    o->duration_ns = cw_read_u64(in);
    o->length_ns = cw_read_u64(in);
    o->every_ns = cw_read_u64(in);
    o->profiler = cw_read_u8(in) != 0;
    o->toggled = cw_read_u8(in) != 0;
    o->periods = cw_read_u32(in);
}
