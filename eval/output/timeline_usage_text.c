#include "eval/output/timeline_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/terminal.h"

enum { RANGE_SIZE = 400 };

/* ---- busy and idle ---------------------------------------------------------------------------------------------- */

static void fill_device(struct cw_text_lines *l, uint32_t row)
{
    const struct cw_device_usage *d = &l->page->o->sections->usage.devices[row];
    cw_cell_percent(l, cw_part_of(d->busy, d->traced));
    cw_cell_percent(l, cw_part_of(d->idle, d->traced));
    cw_cell_percent(l, cw_part_of(d->work[CW_WORK_COMPUTE], d->traced));
    for (enum cw_gpu_work w = CW_WORK_COMMUNICATE; w < CW_WORK__COUNT; w++) {
        char all[CW_PERCENT_SIZE], alone[CW_PERCENT_SIZE], text[CW_CELL_SIZE];
        const double part = cw_part_of(d->work[w], d->traced);
        if (w == CW_WORK_COMMUNICATE && l->count == 4)
            continue;
        cw_terminal_percent(cw_part_of(d->alone[w], d->traced), alone);
        snprintf(text, sizeof text, "%s (%s)", cw_terminal_percent(part, all), alone);
        cw_cell_put(l, text, part);
    }
    cw_text_device_name(l->page, d->device, l->text, sizeof l->text);
}

void cw_text_put_devices(const struct cw_text_page *p)
{
    const struct cw_timeline_usage *u = &p->o->sections->usage;
    bool communicates = false;
    for (uint32_t i = 0; i < u->device_count; i++)
        communicates = communicates || u->devices[i].work[CW_WORK_COMMUNICATE] > 0;
    const uint32_t most = p->o->wide || u->device_count <= 8 ? u->device_count : 8;
    struct cw_text_lines l = {
        .columns = {"busy", "idle", "computes", communicates ? "NCCL (alone)" : "copies (alone)", "copies (alone)"},
        .count = communicates ? 5 : 4,
        .name = "GPU",
        .rows = most,
        .fill = fill_device,
        .names = CW_NAMES_WORDS};
    if (most < u->device_count)
        snprintf(l.left, sizeof l.left, "and %" PRIu32 " more GPUs", u->device_count - most);
    p->put(p, NULL, &l);
}

const char *const cw_timeline_cause_texts[CW_IDLE__COUNT] = {
    [CW_IDLE_OWN] = "the program did its own work, and called nothing of CUDA",
    [CW_IDLE_LAUNCH] = "a launch was on its way, from the call to its start on the GPU",
    [CW_IDLE_WAIT] = "the program waited in a synchronization, or in a copy",
    [CW_IDLE_MEMORY] = "memory was allocated or freed",
    [CW_IDLE_LOADING] = "modules were loaded, or code compiled",
    [CW_IDLE_CALL] = "the program was in other calls of CUDA",
    [CW_IDLE_TRACING] = "the trace itself was written",
    [CW_IDLE_QUEUED] = "the next was launched already: it waited for others, or came soon",
    [CW_IDLE_UNKNOWN] = "not known: what launched the next is not in the trace",
    [CW_IDLE_END] = "nothing more was launched",
};
const char *const cw_timeline_cause_names[CW_IDLE__COUNT] = {
    [CW_IDLE_OWN] = "own work",         [CW_IDLE_LAUNCH] = "launch",   [CW_IDLE_WAIT] = "waiting",
    [CW_IDLE_MEMORY] = "memory",        [CW_IDLE_LOADING] = "loading", [CW_IDLE_CALL] = "other calls",
    [CW_IDLE_TRACING] = "tracing",      [CW_IDLE_QUEUED] = "queued",   [CW_IDLE_UNKNOWN] = "not known",
    [CW_IDLE_END] = "nothing launched",
};

/* The sums of all devices, and the causes, the greatest first. */
struct idle {
    struct cw_device_usage sum;
    enum cw_idle_cause order[CW_IDLE__COUNT];
    uint32_t count;
};

static struct idle add_idle(const struct cw_timeline_usage *u)
{
    struct idle all = {.sum = cw_timeline_usage_sum(u)};
    const double *causes = all.sum.causes;
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        if (!(causes[c] >= 0.001 * all.sum.traced) || !(causes[c] > 0))
            continue;
        uint32_t at = all.count++;
        for (; at > 0 && causes[all.order[at - 1]] < causes[c]; at--)
            all.order[at] = all.order[at - 1];
        all.order[at] = c;
    }
    return all;
}

static void fill_cause(struct cw_text_lines *l, uint32_t row)
{
    const struct idle *all = l->content;
    const enum cw_idle_cause c = all->order[row];
    cw_cell_percent(l, cw_part_of(all->sum.causes[c], all->sum.traced));
    cw_cell_time(l, all->sum.causes[c]);
    cw_cell_count(l, all->sum.cause_gaps[c]);
    snprintf(l->text, sizeof l->text, "%s", cw_timeline_cause_texts[c]);
}

void cw_text_put_idle(const struct cw_text_page *p)
{
    const struct idle all = add_idle(&p->o->sections->usage);
    struct cw_text_lines l = {.columns = {"of time", "idle", "gaps"},
                              .count = 3,
                              .name = "while",
                              .rows = all.count,
                              .fill = fill_cause,
                              .names = CW_NAMES_WORDS,
                              .content = &all};
    char a[CW_NUMBER_SIZE], text[CW_TIME_TEXT_SIZE], title[160];
    double left = all.sum.idle;
    uint64_t gaps = all.sum.gaps;
    if (!all.count)
        return;
    snprintf(title, sizeof title, "Why %s idle: %s; %s gap%s by its main cause",
             p->o->sections->usage.device_count > 1 ? "GPUs were" : "the GPU was", cw_terminal_time(all.sum.idle, text),
             cw_terminal_integer(all.sum.gaps, a), all.sum.gaps == 1 ? "" : "s, each");
    for (uint32_t i = 0; i < all.count; i++) {
        left -= all.sum.causes[all.order[i]];
        gaps -= all.sum.cause_gaps[all.order[i]];
    }
    if (gaps)
        snprintf(l.left, sizeof l.left, "and %.20s for other causes, in %.20s gap%s",
                 cw_terminal_time(left > 0 ? left : 0, text), cw_terminal_integer(gaps, a), gaps == 1 ? "" : "s");
    if (p->o->sections->usage.some_left)
        strcpy(l.note, "There are so many gaps that not all were looked into.");
    p->put(p, title, &l);
}

/* The largest gaps of all devices. */
struct gaps {
    const struct cw_idle_gap *list[CW_IDLE_LARGEST];
    uint32_t devices[CW_IDLE_LARGEST];
    uint32_t count;
};

static double gap_length(const struct cw_idle_gap *gap)
{
    return (double)(gap->end - gap->start);
}

static void add_gaps(struct gaps *gaps, const struct cw_device_usage *d, uint32_t most)
{
    for (uint32_t i = 0; i < d->largest_count; i++) {
        const struct cw_idle_gap *gap = &d->largest[i];
        if (gaps->count == most && gap_length(gaps->list[most - 1]) >= gap_length(gap))
            break;
        uint32_t at = gaps->count < most ? gaps->count++ : most - 1;
        for (; at > 0 && gap_length(gaps->list[at - 1]) < gap_length(gap); at--) {
            gaps->list[at] = gaps->list[at - 1];
            gaps->devices[at] = gaps->devices[at - 1];
        }
        gaps->list[at] = gap;
        gaps->devices[at] = d->device;
    }
}

/* Names an item and its NVTX range: "softmax_kernel in step/forward". */
static void put_item(const struct cw_timeline *t, uint32_t item, char text[CW_SHORT_SIZE])
{
    char name[CW_SHORT_SIZE];
    if (item == CW_TIMELINE_NONE) {
        strcpy(text, "(the end)");
        return;
    }
    const struct cw_timeline_gpu *g = &t->gpu[item];
    if (g->kind == CW_TRACE_KERNEL)
        cw_shorten(g->name ? t->names[g->name].shown : CW_TEXT_NO_NAME, 40, name);
    else
        snprintf(name, sizeof name, "%s%s%.40s", cw_trace_kinds[g->kind].name, *t->names[g->name].text ? " " : "",
                 t->names[g->name].text);
    const size_t used = (size_t)snprintf(text, CW_SHORT_SIZE, "%.200s%s", name, g->path ? " in " : "");
    char path[CW_TIMELINE_NAME_SIZE] = "";
    if (g->path && !*cw_timeline_path_text(t, g->path, path))
        strcpy(path, CW_TEXT_NO_NAME);
    snprintf(text + used, RANGE_SIZE > used + 1 ? RANGE_SIZE - used : 1, "%s", path);
}

static void fill_gap(struct cw_text_lines *l, uint32_t row)
{
    const struct gaps *gaps = l->content;
    const struct cw_idle_gap *gap = gaps->list[row];
    const struct cw_timeline *t = l->page->t;
    enum cw_idle_cause mostly = 0;
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++)
        mostly = gap->causes[c] > gap->causes[mostly] ? c : mostly;
    cw_cell_time(l, (double)(gap->start - t->start));
    if (l->count == 4) {
        const uint32_t device = gaps->devices[row];
        cw_cell_count(l, device == CW_NO_TRACE_DEVICE ? 0 : t->data->devices[device].index);
    }
    cw_cell_time(l, gap_length(gap));
    cw_cell_put(l, cw_timeline_cause_names[mostly], NAN);
    put_item(t, gap->after, l->text);
}

void cw_text_put_gaps(const struct cw_text_page *p)
{
    enum { SHOWN = 5 };
    struct gaps gaps = {0};
    const struct cw_timeline_usage *u = &p->o->sections->usage;
    const bool several = u->device_count > 1;
    for (uint32_t i = 0; i < u->device_count; i++)
        add_gaps(&gaps, &u->devices[i], p->o->wide ? CW_IDLE_LARGEST : SHOWN);
    struct cw_text_lines l = {.columns = {"at", several ? "GPU" : "idle", several ? "idle" : "mostly", "mostly"},
                              .count = several ? 4 : 3,
                              .name = "then came",
                              .rows = gaps.count,
                              .fill = fill_gap,
                              .names = CW_NAMES_PATHS,
                              .content = &gaps};
    if (gaps.count)
        p->put(p, "Longest idle gaps", &l);
}
