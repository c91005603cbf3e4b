/* Finds out which counters of the plan this GPU has, and the interval, before the program begins. With a counter of a
 * missing or disabled unit, CUPTI 13.0 starts sampling but completes no sample of any counter. CUPTI's availability
 * names such counters; without it, trials of some units at a time find them. */
#include <stdlib.h>

#include "agent/backend/cupti/pm_process.h"
#include "agent/backend/lacking.h"
#include "agent/backend/pm_capture.h"

static uint32_t count_counters(void)
{
    return cw_pm_process.schema->counter_count;
}

static const char *name_of(uint32_t counter)
{
    return cw_pm_process.schema->counters[counter].name;
}

/* Makes the config image without missing counters. */
static void lower(void)
{
    struct cw_error err = CW_ERROR_INIT;
    if (!cw_lacking_any(cw_pm_process.lacks, count_counters()))
        return;
    if (cw_lacking_all(cw_pm_process.lacks, count_counters()))
        cw_pm_give_up(cw_lacking_everything(cw_pm_process.schema, cw_pm_process.lacks, &err), "%s", err.message);
    cw_pm_lower();
}

static void ask_availability(void)
{
    struct cw_availability *a = &cw_pm_process.availability;
    cw_availability_ask(a, cw_pm_process.device, cw_pm_process.schema->chip);
    for (uint32_t c = 0; c < count_counters(); c++)
        cw_pm_process.lacks[c] = cw_availability_lacks(a, CUPTI_PROFILER_TYPE_PM_SAMPLING, name_of(c));
    cw_availability_free(a);
    lower();
}

/* ---- trials ----------------------------------------------------------------------------------------------------- */

struct search {
    uint32_t *unit;   /* by counter: number of its unit, ascending from 0 */
    uint8_t *known;   /* by counter: missing, according to CUPTI's availability */
    uint8_t *missing; /* by unit: no sample with it is complete */
};

static size_t unit_length(const char *name)
{
    const char *end = strstr(name, "__");
    return end ? (size_t)(end - name) : strlen(name);
}

/* Numbers the units; returns their count. */
static uint32_t number_units(struct search *s)
{
    uint32_t units = 0;
    for (uint32_t c = 0; c < count_counters(); c++) {
        size_t length = unit_length(name_of(c));
        uint32_t i = 0;
        while (i < c && (unit_length(name_of(i)) != length || memcmp(name_of(i), name_of(c), length) != 0))
            i++;
        s->unit[c] = i < c ? s->unit[i] : units++;
    }
    return units;
}

/* Whether samples of these units alone are complete. */
static bool try_units(const struct search *s, uint32_t first, uint32_t end)
{
    for (uint32_t c = 0; c < count_counters(); c++)
        cw_pm_process.lacks[c] = s->known[c] || s->unit[c] < first || s->unit[c] >= end;
    if (cw_lacking_all(cw_pm_process.lacks, count_counters()))
        return true;
    lower();
    cw_pm_arm();
    bool complete = cw_pm_try().complete > 0;
    cw_pm_disarm();
    return complete;
}

static void find_missing(const struct search *s, uint32_t first, uint32_t end)
{
    if (try_units(s, first, end))
        return;
    uint32_t middle = first + (end - first) / 2;
    if (middle == first) {
        s->missing[first] = 1;
        return;
    }
    find_missing(s, first, middle);
    find_missing(s, middle, end);
}

/* Searches for missing units. The device is not armed before or after. */
static void search_units(void)
{
    size_t n = count_counters();
    struct search s = {calloc(n + 1, sizeof *s.unit), calloc(n + 1, 1), calloc(n + 1, 1)};
    cw_pm_need(s.unit && s.known && s.missing);
    memcpy(s.known, cw_pm_process.lacks, n);
    find_missing(&s, 0, number_units(&s));
    for (uint32_t c = 0; c < n; c++)
        cw_pm_process.lacks[c] = s.known[c] || s.missing[s.unit[c]];
    free(s.unit);
    free(s.known);
    free(s.missing);
    lower();
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Trials use a shorter interval if the requested one is long; a trial by the system clock measures that clock. */
static const uint64_t longest_trial = 10000000, short_trial = 1000000, trial_cycles = 100000;

/* Time of a sample in the trial; 0: unknown. */
static double sample_ns(const struct cw_pm_trial *trial)
{
    bool known = trial->complete > 1 && trial->last_ns > trial->first_ns;
    return known ? (double)(trial->last_ns - trial->first_ns) / (double)(trial->complete - 1) : 0;
}

/* Length of a sampling window. The window of a range is limited to the option or a number of samples. */
static uint64_t window_ns(void)
{
    enum { SAMPLES_OF_A_RANGE = 20000 };
    const struct cw_pm_options *o = cw_pm_process.options;
    double of_a_range = cw_pm_by_program(o) ? SAMPLES_OF_A_RANGE * cw_pm_process.sample_takes_ns : 0;
    return (uint64_t)(o->window_s > 0 ? o->window_s * 1e9 : of_a_range);
}

/* Sets the interval and its length in ns. With the clock as trigger, an interval in ns becomes the equal number of
 * cycles. */
static void set_interval(bool by_clock, const struct cw_pm_trial *trial)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool has_windows = o->window_s > 0 || cw_pm_by_program(o);
    double cycle_ns = sample_ns(trial) / (double)cw_pm_process.interval;
    if (cw_pm_process.cycles && (by_clock || has_windows) && cycle_ns <= 0)
        cw_pm_give_up(CW_ERR_DEVICE, "its system clock cannot be measured, for no sample came%s",
                      by_clock ? ": --interval takes cycles, too, such as 170000sys" : "");
    uint64_t cycles = by_clock ? (uint64_t)((double)o->interval / cycle_ns + 0.5) : o->interval;
    cw_pm_process.interval = cycles ? cycles : 1;
    cw_pm_process.sample_takes_ns = (double)cw_pm_process.interval * (cw_pm_process.cycles ? cycle_ns : 1);
    cw_pm_process.window_ns = window_ns();
}

/* Tries all counters: arms the device for a trial, possibly at another interval, then again if trial and sampling
 * differ. */
static void try_all(bool by_clock)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool own = by_clock || o->interval > longest_trial || (o->cycles && (o->window_s > 0 || cw_pm_by_program(o)));
    cw_pm_process.cycles = by_clock || o->cycles;
    cw_pm_process.interval = by_clock ? trial_cycles : o->interval > longest_trial ? short_trial : o->interval;
    cw_pm_process.sample_takes_ns = (double)cw_pm_process.interval;
    cw_pm_process.window_ns = own ? 0 : window_ns();
    cw_pm_arm();
    struct cw_pm_trial trial = cw_pm_try();
    bool missing = trial.begun && !trial.complete;
    if (!own && !missing)
        return;
    cw_pm_disarm();
    if (missing) {
        search_units();
        cw_pm_arm();
        trial = cw_pm_try();
        cw_pm_disarm();
    }
    set_interval(by_clock, &trial);
    cw_pm_arm();
}

void cw_pm_choose(void)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool by_clock = !o->cycles && !cw_pm_has_time_trigger(cw_pm_process.schema->chip);
    cw_pm_process.lacks = calloc((size_t)count_counters() + 1, 1);
    cw_pm_need(cw_pm_process.lacks);
    ask_availability();
    try_all(by_clock);
    if (by_clock)
        cw_pm_tell_cycles(cw_pm_process.device, o->interval, cw_pm_process.interval);
    cw_lacking_tell(cw_pm_process.device, cw_pm_process.schema, cw_pm_process.lacks);
}
