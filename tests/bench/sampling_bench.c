/* How many raw counters the one pass of PM sampling holds, by our limits and by NVIDIA's scheduler.
 *
 *     sampling_bench CHIP.yaml [RUNS]
 *
 * Each run draws 600 raw counters and takes one after another as long as they fit one pass: by the limits of range
 * profiling, by those of PM sampling, and as NVIDIA's host library says. It is also asked about our passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/nvperf/nvperf.h"
#include "host/schedule.h"
#include "metricdb/chip_load.h"

enum { DRAWN = 600 };
enum who { RANGE, PM, LIBRARY, WHO };

struct pass {
    uint32_t count, raws[DRAWN]; /* ascending */
    struct cw_nvperf_placement placements[DRAWN];
};

static uint32_t draw(uint32_t n)
{
    static uint64_t random = 88172645463325252u;
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random >> 33) % n);
}

static bool fits_ours(const struct cw_chip *chip, struct pass *pass, enum who who)
{
    struct cw_schedule schedule;
    struct cw_arena *arena = cw_arena_create();
    const struct cw_list group = {pass->count, pass->raws};
    const struct cw_schedule_task task = {
        .chip = chip, .profiler = who == PM ? CW_PROFILER_PM : CW_PROFILER_RANGE, .group_count = 1, .groups = &group};
    bool fits = arena && cw_schedule_make(&schedule, &task, arena, NULL) == CW_OK && schedule.pass_count == 1;
    for (uint32_t i = 0; fits && i < pass->count; i++) {
        const struct cw_chip_placement *at = &chip->placements[schedule.passes[0].placements[i]];
        pass->placements[i] = (struct cw_nvperf_placement){chip->raws[at->raw].id, chip->domains[at->domain].id};
    }
    cw_arena_destroy(arena);
    return fits;
}

static bool fits_library(const struct cw_chip *chip, struct pass *pass, struct cw_nvperf_scheduler *scheduler)
{
    bool fits = false;
    for (uint32_t i = 0; i < pass->count; i++)
        pass->placements[i] = (struct cw_nvperf_placement){chip->raws[pass->raws[i]].id, 0};
    return cw_nvperf_fits(scheduler, pass->placements, pass->count, &fits, NULL) == CW_OK && fits;
}

/* Adds a raw counter; false where it is there already. */
static bool insert(struct pass *pass, uint32_t raw)
{
    uint32_t at = pass->count;
    for (uint32_t i = 0; i < pass->count; i++)
        if (pass->raws[i] == raw)
            return false;
    for (; at && pass->raws[at - 1] > raw; at--)
        pass->raws[at] = pass->raws[at - 1];
    pass->raws[at] = raw;
    pass->count++;
    return true;
}

/* Patched code has a pass of its own, in which anything fits. */
static bool is_sampled(const struct cw_chip *chip, uint32_t raw)
{
    const struct cw_raw_counter *r = &chip->raws[raw];
    return r->placement_count && strcmp(chip->domains[chip->placements[r->placement].domain].name, "gpu_sass") != 0;
}

static void fill(struct pass *best, const struct cw_chip *chip, const uint32_t *drawn, enum who who,
                 struct cw_nvperf_scheduler *scheduler)
{
    best->count = 0;
    for (int i = 0; i < DRAWN; i++) {
        struct pass pass = *best;
        if (is_sampled(chip, drawn[i]) && insert(&pass, drawn[i]) &&
            (who == LIBRARY ? fits_library(chip, &pass, scheduler) : fits_ours(chip, &pass, who)))
            *best = pass;
    }
}

int main(int argc, char **argv)
{
    const struct cw_nvperf *library;
    const struct cw_chip *chip;
    struct cw_nvperf_scheduler *scheduler = NULL;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_arena *arena = cw_arena_create();
    int runs = argc > 2 ? atoi(argv[2]) : 10, accepted = 0;
    uint64_t counts[WHO] = {0};
    if (argc < 2 || runs < 1 || !arena) {
        fprintf(stderr, "usage: sampling_bench CHIP.yaml [RUNS]\n");
        return 2;
    }
    if (cw_nvperf_open(&library, NULL, &err) != CW_OK || cw_chip_load_file(&chip, argv[1], arena, &err) != CW_OK ||
        cw_nvperf_scheduler_create(&scheduler, library, chip->name, CW_NVPERF_PM_SAMPLING, &err) != CW_OK) {
        fprintf(stderr, "sampling_bench: %s\n", err.message);
        return 1;
    }
    for (int r = 0; r < runs; r++) {
        static struct pass pass;
        uint32_t drawn[DRAWN];
        for (int i = 0; i < DRAWN; i++)
            drawn[i] = draw(chip->raw_count);
        for (enum who who = RANGE; who < WHO; who++) {
            bool fits = false;
            fill(&pass, chip, drawn, who, scheduler);
            counts[who] += pass.count;
            if (who == PM && cw_nvperf_fits(scheduler, pass.placements, pass.count, &fits, &err) == CW_OK)
                accepted += fits;
        }
    }
    printf("| %s | %.1f | %.1f | %.1f | %d of %d |\n", chip->name, (double)counts[RANGE] / runs,
           (double)counts[PM] / runs, (double)counts[LIBRARY] / runs, accepted, runs);
    cw_nvperf_scheduler_destroy(scheduler);
    cw_arena_destroy(arena);
    return 0;
}
