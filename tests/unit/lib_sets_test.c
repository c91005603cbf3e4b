#define _GNU_SOURCE
/* Every shipped set on every chip, planned for ranges and for samples. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/counterworks/counterworks.h"
#include "metricdb/chip_files.h"

enum { MOST_NAMES = 512 };

struct names {
    size_t count;
    char *items[MOST_NAMES];
};

static struct counterworks *data;
static struct counterworks_error error;
static struct names sets;

static bool take_name(void *user, const char *name)
{
    struct names *names = user;
    cr_assert_lt(names->count, MOST_NAMES);
    names->items[names->count++] = strdup(name);
    return true;
}

static bool take_set(void *user, const char *name, const char *title, size_t metrics)
{
    (void)title, (void)metrics;
    return take_name(user, name);
}

static void free_names(struct names *names)
{
    while (names->count)
        free(names->items[--names->count]);
}

/* Sets for sampling are planned for it whole, in the one pass that there is, and others for ranges. */
static bool is_for_samples(const char *set)
{
    return strncmp(set, "pm-", 3) == 0;
}

static void expect_reason(const char *chip, const char *set, enum counterworks_profiler profiler)
{
    const char *text = error.message;
    bool known = strstr(text, "expected at most 1; --drop would leave out") ||
                 strstr(text, ", which CUPTI does not sample over time, expected") ||
                 strstr(text, ", which CUPTI samples over time alone, expected") ||
                 strstr(text, "no sampling over time on") || strstr(text, "no domain collects a raw counter");
    cr_expect(known && !strchr(text, '\n'), "%s %s %d: %s", chip, set, (int)profiler, text);
}

static void plan(const struct counterworks_chip *chip, const char *name, const char *set,
                 enum counterworks_profiler profiler)
{
    struct counterworks_plan_options options = COUNTERWORKS_PLAN_OPTIONS;
    struct counterworks_plan *made;
    struct names metrics = {0};
    options.profiler = profiler;
    if (counterworks_set_metrics(chip, set, take_name, &metrics, &error) == COUNTERWORKS_OK) {
        counterworks_plan_make(&made, chip, (const char *const *)metrics.items, metrics.count, &options, &error);
        if (!made)
            expect_reason(name, set, profiler);
        bool may_fail = !made && (strstr(error.message, "no sampling over time") || strstr(error.message, "no domain"));
        bool must_fit = is_for_samples(set) == (profiler == COUNTERWORKS_SAMPLES);
        cr_expect(made || may_fail || !must_fit, "%s %s %d: %s", name, set, (int)profiler, error.message);
        cr_expect(!made || counterworks_plan_metric_count(made) == metrics.count);
        counterworks_plan_free(made);
    } else {
        cr_expect(strstr(error.message, set), "%s %s: %s", name, set, error.message);
    }
    free_names(&metrics);
}

#ifdef CW_SANITIZE
enum { EVERY = 5 }; /* the same code on fewer chips: sanitizers take ten times as long */
#else
enum { EVERY = 1 };
#endif

Test(lib_sets, each_set_plans_on_each_chip_or_says_in_a_line_why_not, .timeout = 600)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip_file *files;
    size_t count;
    cr_assert_eq(counterworks_open(&data, NULL, &error), COUNTERWORKS_OK);
    cr_assert_eq(counterworks_set_each(data, take_set, &sets, &error), COUNTERWORKS_OK);
    cr_assert_geq(sets.count, 17);
    cr_assert_eq(cw_chip_files(&files, &count, NULL, arena, NULL), CW_OK);
    cr_assert_geq(count, 14);
    for (size_t i = 0; i < count; i += EVERY) {
        struct counterworks_chip *chip;
        cr_assert_eq(counterworks_chip_open_file(&chip, data, files[i].path, &error), COUNTERWORKS_OK, "%s",
                     error.message);
        for (size_t k = 0; k < sets.count; k++) {
            plan(chip, files[i].names[0], sets.items[k], COUNTERWORKS_RANGES);
            plan(chip, files[i].names[0], sets.items[k], COUNTERWORKS_SAMPLES);
        }
        counterworks_chip_close(chip);
    }
    free_names(&sets);
    counterworks_close(data);
    cw_arena_destroy(arena);
}
