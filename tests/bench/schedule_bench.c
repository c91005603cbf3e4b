/* Our scheduler beside NVIDIA's, on random and natural metric sets: passes and time.
 *
 *     schedule_bench [CHIP.yaml [SETS [SEED]]]
 *
 * Needs NVIDIA's host library, no GPU. First the default, the fewest passes in which every ratio that fits a pass is
 * whole, then the fewest passes; "refused" counts passes of the default that the library does not take as one. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/nvperf/nvperf.h"
#include "host/schedule.h"
#include "metricdb/chip_load.h"

struct bench {
    const struct cw_chip *chip;
    struct cw_nvperf_scheduler *theirs;
    uint64_t random;
    struct cw_nvperf_placement *placements;
    uint32_t *raws, raw_count;
    bool *seen, *collectable; /* by raw counter */
};

struct ours {
    uint32_t passes, more, whole; /* more: sets with more than theirs; whole: ratios that have a common pass */
    double time, most;
};

struct row {
    uint32_t sets, theirs;
    struct ours whole, fewest;
    uint32_t groups, refused; /* ratios; passes that NVIDIA's library does not take as one */
    double their_time;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t draw(struct bench *b, uint32_t n)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((b->random >> 33) % n);
}

static void die(const struct cw_error *err)
{
    char text[1200];
    fprintf(stderr, "schedule_bench: %s\n", cw_error_format(err, text, sizeof text));
    exit((int)err->code);
}

/* ---- sets ------------------------------------------------------------------------------------------------------- */

static uint32_t metric_count(const struct cw_chip *chip)
{
    return chip->counter_count + chip->ratio_count + chip->throughput_count;
}

static const struct cw_list *metric(const struct cw_chip *chip, uint32_t n, uint32_t *unit)
{
    if (n < chip->counter_count) {
        *unit = chip->counters[n].unit;
        return &chip->counters[n].raws;
    }
    n -= chip->counter_count;
    if (n < chip->ratio_count) {
        *unit = chip->ratios[n].unit;
        return &chip->ratios[n].raws;
    }
    *unit = chip->throughputs[n - chip->ratio_count].unit;
    return &chip->throughputs[n - chip->ratio_count].raws;
}

static void begin(struct bench *b)
{
    b->raw_count = 0;
    memset(b->seen, 0, b->chip->raw_count * sizeof *b->seen);
}

/* Some counters of some chips need two passes alone: no plan can have them. */
static void find_collectable(struct bench *b)
{
    const struct cw_chip *chip = b->chip;
    bool *never = calloc(chip->placement_count + 1u, sizeof *never);
    for (uint32_t i = 0; never && i < chip->limit_count; i++)
        for (uint32_t k = 0; k < chip->limits[i].count && !chip->limits[i].max; k++)
            never[chip->limits[i].members[k]] = true;
    for (uint32_t i = 0; never && i < chip->placement_count; i++)
        b->collectable[chip->placements[i].raw] |= !never[i];
    free(never);
}

static void add(struct bench *b, const struct cw_list *raws)
{
    for (uint32_t k = 0; k < raws->count; k++)
        if (!b->seen[raws->items[k]] && b->collectable[raws->items[k]]) {
            b->seen[raws->items[k]] = true;
            b->raws[b->raw_count++] = raws->items[k];
        }
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

static size_t their_passes(struct bench *b, size_t count)
{
    struct cw_error err = CW_ERROR_INIT;
    size_t passes = 0;
    if (cw_nvperf_pass_count(b->theirs, b->placements, count, true, &passes, &err) != CW_OK)
        die(&err);
    return passes;
}

static uint32_t refused(struct bench *b, const struct cw_schedule *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->pass_count; k++) {
        for (uint32_t i = 0; i < s->passes[k].count; i++) {
            const struct cw_chip_placement *p = &b->chip->placements[s->passes[k].placements[i]];
            b->placements[i] = (struct cw_nvperf_placement){b->chip->raws[p->raw].id, b->chip->domains[p->domain].id};
        }
        n += their_passes(b, s->passes[k].count) != 1;
    }
    return n;
}

/* The raw counters of each ratio that was asked for. */
static size_t list_ratios(const struct bench *b, struct cw_list *groups)
{
    size_t count = 0;
    for (uint32_t r = 0; r < b->chip->ratio_count; r++) {
        const struct cw_list *raws = &b->chip->ratios[r].raws;
        bool asked = raws->count > 1;
        for (uint32_t k = 0; k < raws->count && asked; k++)
            asked = b->seen[raws->items[k]];
        if (asked)
            groups[count++] = *raws;
    }
    return count;
}

static uint32_t count_whole(struct bench *b, const struct cw_schedule *s, const struct cw_list *groups, size_t count)
{
    uint8_t *has = calloc(b->chip->raw_count + 1u, 1), *whole = calloc(count + 1, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; has && whole && k < s->pass_count; k++) {
        memset(has, 0, b->chip->raw_count);
        for (uint32_t i = 0; i < s->passes[k].count; i++)
            has[b->chip->placements[s->passes[k].placements[i]].raw] = 1;
        for (size_t g = 0; g < count; g++) {
            bool all = true;
            for (uint32_t i = 0; i < groups[g].count && all; i++)
                all = has[groups[g].items[i]];
            n += all && !whole[g];
            whole[g] |= all;
        }
    }
    free(has);
    free(whole);
    return n;
}

static void schedule(struct bench *b, struct cw_schedule *s, const struct cw_list *groups, size_t count, size_t ratios,
                     unsigned flags, uint32_t theirs, struct ours *ours, struct cw_arena *arena)
{
    const struct cw_schedule_task task = {b->chip, CW_PROFILER_RANGE, count, groups, flags};
    struct cw_error err = CW_ERROR_INIT;
    double start = now();
    if (cw_schedule_make(s, &task, arena, &err) != CW_OK)
        die(&err);
    double time = now() - start;
    ours->passes += s->pass_count;
    ours->more += s->pass_count > theirs;
    ours->whole += count_whole(b, s, groups, ratios);
    ours->time += time;
    ours->most = time > ours->most ? time : ours->most;
}

/* The groups are the ratios among what is asked for, then each raw counter. */
static void measure(struct bench *b, struct row *row)
{
    struct cw_schedule fewest, whole;
    struct cw_arena *arena = cw_arena_create();
    struct cw_list *groups = arena ? cw_arena_alloc(arena, b->chip->ratio_count + b->raw_count, sizeof *groups) : NULL;
    if (!groups || !b->raw_count) {
        cw_arena_destroy(arena);
        return;
    }
    size_t ratios = list_ratios(b, groups), count = ratios;
    for (uint32_t k = 0; k < b->raw_count; k++) {
        b->placements[k] = (struct cw_nvperf_placement){b->chip->raws[b->raws[k]].id, 0};
        groups[count++] = (struct cw_list){1, &b->raws[k]};
    }
    double start = now();
    uint32_t theirs = (uint32_t)their_passes(b, b->raw_count);
    row->their_time += now() - start;
    row->sets++;
    row->theirs += theirs;
    row->groups += (uint32_t)ratios;
    schedule(b, &whole, groups, count, ratios, CW_SCHEDULE_WHOLE, theirs, &row->whole, arena);
    schedule(b, &fewest, groups, count, ratios, 0, theirs, &row->fewest, arena);
    row->refused += refused(b, &whole);
    cw_arena_destroy(arena);
}

static void print_ours(const struct ours *o, const struct row *r)
{
    printf(" | %6u %.3f %4u %5u/%-5u %7.2f %7.2f", o->passes, o->passes / (r->theirs ? (double)r->theirs : 1), o->more,
           o->whole, r->groups, 1e3 * o->time / (r->sets ? r->sets : 1), 1e3 * o->most);
}

static void print(const char *name, const struct row *r)
{
    printf("%-16s %5u %6u %8.2f", name, r->sets, r->theirs, 1e3 * r->their_time / (r->sets ? r->sets : 1));
    print_ours(&r->whole, r);
    print_ours(&r->fewest, r);
    printf(" | %7u\n", r->refused);
}

static void random_rows(struct bench *b, uint32_t sets)
{
    static const uint32_t sizes[] = {5, 20, 80, 300};
    uint32_t unit;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct row row = {0};
        char name[32];
        for (uint32_t k = 0; k < sets; k++) {
            begin(b);
            for (uint32_t i = 0; i < sizes[s]; i++)
                add(b, metric(b->chip, draw(b, metric_count(b->chip)), &unit));
            measure(b, &row);
        }
        snprintf(name, sizeof name, "random %u", sizes[s]);
        print(name, &row);
    }
}

static void natural_rows(struct bench *b)
{
    const struct cw_chip *chip = b->chip;
    struct row units = {0}, ratios = {0}, throughputs = {0}, all[3] = {{0}};
    uint32_t unit, n = metric_count(chip);
    for (uint32_t u = 0; u < chip->unit_count; u++) {
        begin(b);
        for (uint32_t i = 0; i < n; i++) {
            const struct cw_list *raws = metric(chip, i, &unit);
            if (unit == u)
                add(b, raws);
        }
        measure(b, &units);
    }
    for (uint32_t i = chip->counter_count; i < n; i++) {
        begin(b);
        add(b, metric(chip, i, &unit));
        measure(b, i < chip->counter_count + chip->ratio_count ? &ratios : &throughputs);
    }
    for (int what = 0; what < 3; what++) {
        begin(b);
        for (uint32_t i = chip->counter_count; what < 2 && i < n; i++)
            if ((i < chip->counter_count + chip->ratio_count) == (what == 0))
                add(b, metric(chip, i, &unit));
        for (uint32_t i = 0; what == 2 && i < chip->raw_count; i++)
            add(b, &(struct cw_list){1, &i});
        measure(b, &all[what]);
    }
    print("each unit", &units);
    print("each ratio", &ratios);
    print("each throughput", &throughputs);
    print("all ratios", &all[0]);
    print("all throughputs", &all[1]);
    print("all raw counters", &all[2]);
}

int main(int argc, char **argv)
{
    struct cw_error err = CW_ERROR_INIT;
    struct bench b = {.random = argc > 3 ? strtoull(argv[3], NULL, 0) : 1};
    const struct cw_nvperf *library;
    struct cw_arena *arena = cw_arena_create();
    double start = now();
    if (!arena || cw_chip_load_file(&b.chip, argc > 1 ? argv[1] : CW_SOURCE_DIR "/data/chips/gh100.yaml", arena, &err))
        die(&err);
    printf("%s: %" PRIu32 " raw counters, %" PRIu32 " limits, loaded in %.1f ms\n", b.chip->name, b.chip->raw_count,
           b.chip->limit_count, 1e3 * (now() - start));
    if (cw_nvperf_open(&library, NULL, &err) ||
        cw_nvperf_scheduler_create(&b.theirs, library, b.chip->name, CW_NVPERF_PROFILER, &err))
        die(&err);
    b.placements = cw_arena_alloc(arena, b.chip->raw_count, sizeof *b.placements);
    b.raws = cw_arena_alloc(arena, b.chip->raw_count, sizeof *b.raws);
    b.seen = cw_arena_alloc(arena, b.chip->raw_count, sizeof *b.seen);
    b.collectable = cw_arena_alloc(arena, b.chip->raw_count, sizeof *b.collectable);
    if (!b.placements || !b.raws || !b.seen || !b.collectable)
        return CW_ERR_NOMEM;
    find_collectable(&b);
    printf("%-16s %5s %6s %8s | %6s %5s %4s %-11s %7s %7s | %6s %5s %4s %-11s %7s %7s | %7s\n", "", "sets", "theirs",
           "ms", "ours", "ratio", "more", "whole", "ms", "most", "passes", "ratio", "more", "whole", "ms", "most",
           "refused");
    random_rows(&b, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 75);
    natural_rows(&b);
    cw_nvperf_scheduler_destroy(b.theirs);
    cw_arena_destroy(arena);
    return 0;
}
