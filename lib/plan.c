/* Plans. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "host/nvperf/lower.h"
#include "lib/handles.h"
#include "metricdb/term.h"
#include "view/metrics.h"

enum { MOST_NAMED = 8 };

/* Copies names into the plan's arena. */
static const char *const *copy_names(struct cw_arena *arena, const struct counterworks_names *from)
{
    const char **names = cw_arena_alloc(arena, from->count, sizeof *names);
    for (size_t i = 0; names && i < from->count; i++)
        if (!(names[i] = cw_arena_strdup(arena, from->names[i])))
            return NULL;
    return names;
}

/* Checks that metrics to keep together are in the plan. */
static enum cw_status check_together(const struct cw_plan_options *o, const struct counterworks_names *metrics,
                                     struct cw_error *err)
{
    for (size_t i = 0; i < o->together_count; i++)
        for (size_t k = 0; k < o->together[i].count; k++)
            if (!cw_view_has_name(metrics->names, metrics->count, o->together[i].items[k]))
                return cw_error_set(err, CW_ERR_USAGE,
                                    "found '%.200s' to be kept together, expected a metric of the plan",
                                    o->together[i].items[k]);
    return CW_OK;
}

static enum cw_status take_options(struct counterworks_plan *plan, const struct counterworks_plan_options *o,
                                   struct cw_error *err)
{
    struct cw_names *together = cw_arena_alloc(plan->arena, o->together_count, sizeof *together);
    if ((unsigned)o->profiler >= CW_PROFILER__PLANNED)
        return cw_error_set(err, CW_ERR_USAGE, "found the profiler %d, expected ranges or samples", (int)o->profiler);
    plan->options = (struct cw_plan_options){.profiler = (enum cw_profiler)o->profiler,
                                             .quick = o->prefer == COUNTERWORKS_TIME,
                                             .whole = o->prefer == COUNTERWORKS_WHOLE,
                                             .together_count = o->together_count,
                                             .together = together};
    for (size_t i = 0; together && i < o->together_count; i++) {
        together[i] = (struct cw_names){o->together[i].count, copy_names(plan->arena, &o->together[i])};
        if (!together[i].items)
            together = NULL;
    }
    return together ? CW_OK : cw_error_nomem(err);
}

/* ---- a plan of few passes --------------------------------------------------------------------------------------- */

/* "2 of 5 metrics: a, b" */
static void name_dropped(const struct counterworks_names *metrics, const bool *kept, char *text, size_t size)
{
    size_t dropped = 0, used = 0;
    for (size_t i = 0; i < metrics->count; i++)
        dropped += !kept[i];
    used = (size_t)snprintf(text, size, "%zu of %zu metrics:", dropped, metrics->count);
    for (size_t i = 0, named = 0; i < metrics->count && named <= MOST_NAMED && used < size; i++)
        if (!kept[i]) {
            used += (size_t)snprintf(text + used, size - used, "%s %s", named ? "," : "",
                                     named < MOST_NAMED ? metrics->names[i] : "...");
            named++;
        }
}

static enum cw_status make_of(struct counterworks_plan *plan, const struct counterworks_chip *chip,
                              const struct counterworks_names *metrics, struct cw_error *err)
{
    return cw_plan_make(&plan->plan, chip->chip, metrics->names, metrics->count, &plan->options, plan->arena, err);
}

/* Plans the metrics that fit into `most` passes, and lists the others; or refuses if any does not fit. */
static enum cw_status make_shorter(struct counterworks_plan *plan, const struct counterworks_chip *chip,
                                   const struct counterworks_names *metrics, uint32_t most, bool drop,
                                   struct cw_error *err)
{
    char text[700];
    size_t n = 0;
    bool *kept = cw_arena_alloc(plan->arena, metrics->count, sizeof *kept);
    const char **names = cw_arena_alloc(plan->arena, metrics->count, sizeof *names);
    CW_TRY(kept && names ? cw_plan_choose(kept, chip->chip, metrics->names, metrics->count, most, &plan->options, err)
                         : cw_error_nomem(err));
    name_dropped(metrics, kept, text, sizeof text);
    if (!drop)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found %" PRIu32 " passes, expected at most %" PRIu32 "; --drop would leave out %s",
                            plan->plan.image.pass_count, most, text);
    for (size_t i = 0; i < metrics->count; i++)
        if (kept[i])
            names[n++] = metrics->names[i];
    if (!n)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found no metric that fits %" PRIu32 " pass%s", most,
                            most == 1 ? "" : "es");
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "left out %s", text);
    cw_lib_tell(chip, &line);
    return make_of(plan, chip, &(struct counterworks_names){n, names}, err);
}

/* Gives up whole values first. */
static enum cw_status make_within(struct counterworks_plan *plan, const struct counterworks_chip *chip,
                                  const struct counterworks_names *metrics, uint32_t most, bool drop,
                                  struct cw_error *err)
{
    enum cw_status status = make_of(plan, chip, metrics, err);
    if (status == CW_OK && plan->options.whole && plan->plan.image.pass_count > most) {
        plan->options.whole = false;
        status = make_of(plan, chip, metrics, err);
    }
    bool fits = status != CW_OK || plan->plan.image.pass_count <= most;
    return fits ? status : make_shorter(plan, chip, metrics, most, drop, err);
}

struct placing {
    const struct cw_chip *chip;
    bool lacks; /* a counter that no domain collects */
};

static void see_domains(void *placing, uint32_t counter, unsigned rollups)
{
    struct placing *p = placing;
    (void)rollups;
    p->lacks = p->lacks || !cw_counter_has_domains(p->chip, counter);
}

/* Refuses metrics that CUPTI does not collect with the profiler. Planning reports unknown names and formulas. */
static enum cw_status leave_out_unlisted(struct counterworks_plan *plan, const struct counterworks_chip *chip,
                                         uint32_t listed, struct counterworks_names *metrics, struct cw_error *err)
{
    char text[700];
    size_t n = 0;
    bool *kept = cw_arena_alloc(plan->arena, metrics->count, sizeof *kept);
    const char **names = cw_arena_alloc(plan->arena, metrics->count, sizeof *names);
    struct placing placing = {.chip = chip->chip};
    const struct cw_needs needs = {.chip = chip->chip, .listed = listed, .add = see_domains, .context = &placing};
    struct cw_writer line;
    struct cw_metric m;
    if (!kept || !names)
        return cw_error_nomem(err);
    for (size_t i = 0; i < metrics->count; i++) {
        placing.lacks = false;
        kept[i] = cw_metric_parse(&m, chip->chip, metrics->names[i], NULL) != CW_OK ||
                  (cw_metric_needs(&needs, &m, NULL) != CW_ERR_USAGE && !placing.lacks);
        if (kept[i])
            names[n++] = metrics->names[i];
    }
    if (!n || n == metrics->count)
        return CW_OK;
    name_dropped(metrics, kept, text, sizeof text);
    cw_writer_init(&line);
    cw_write_format(&line, "left out %s, which CUPTI does not collect by %s", text,
                    listed == CW_OF_SAMPLES ? "sampling over time" : "range profiling");
    cw_lib_tell(chip, &line);
    *metrics = (struct counterworks_names){n, names};
    return CW_OK;
}

/* ---- NVIDIA's host library -------------------------------------------------------------------------------------- */

/* The library checks each pass; the plan splits passes that the library would split. Its config image for the resulting
 * passes goes into the plan's image. */
static enum cw_status prove_by(const struct cw_nvperf *library, struct counterworks_plan *plan, uint32_t *splits,
                               struct cw_error *err)
{
    struct cw_config_image *image = &plan->plan.image;
    enum cw_status status = cw_nvperf_repair(library, image, splits, plan->arena, err);
    if (status == CW_OK && *splits)
        status = cw_plan_explain(&plan->plan, plan->arena, err);
    if (status == CW_OK)
        status = cw_nvperf_lower(library, image, 0, &plan->native, err);
    image->native_library = "libnvperf_host";
    image->native = plan->native.data;
    image->native_size = plan->native.size;
    return status;
}

/* The process has one such library, which serves one thread at a time. */
static enum cw_status prove(struct counterworks_plan *plan, const struct counterworks_chip *chip, const char *path,
                            struct cw_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct cw_nvperf *library;
    struct cw_writer line;
    uint32_t splits = 0;
    pthread_mutex_lock(&lock);
    enum cw_status status = cw_nvperf_open(&library, path, path ? err : NULL);
    if (status == CW_OK)
        status = prove_by(library, plan, &splits, err);
    else if (!path)
        status = CW_OK;
    pthread_mutex_unlock(&lock);
    cw_writer_init(&line);
    cw_write_format(&line, "NVIDIA's library split %" PRIu32 " pass%s that the database's limits allow", splits,
                    splits == 1 ? "" : "es");
    if (splits)
        cw_lib_tell(chip, &line);
    cw_writer_free(&line);
    return status;
}

/* ---- plans ------------------------------------------------------------------------------------------------------ */

static void tell_no_limits(const struct counterworks_chip *chip)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "found no limits of sampling over time for this chip; planned by limits of range profiling, "
                           "which never allow more");
    cw_lib_tell(chip, &line);
}

static enum cw_status make(struct counterworks_plan *plan, const struct counterworks_chip *chip,
                           const struct counterworks_names *metrics, const struct counterworks_plan_options *o,
                           struct cw_error *err)
{
    bool samples = o->profiler == COUNTERWORKS_SAMPLES;
    uint32_t listed = samples ? CW_OF_SAMPLES : CW_OF_RANGES;
    struct counterworks_names wanted = *metrics;
    uint32_t most = samples ? 1 : o->most_passes ? o->most_passes : UINT32_MAX;
    enum cw_status status = take_options(plan, o, err);
    if (status == CW_OK)
        status = check_together(&plan->options, metrics, err);
    if (status == CW_OK)
        status = cw_chip_check_profiler(chip->chip, samples, err);
    if (status == CW_OK && o->drop)
        status = leave_out_unlisted(plan, chip, listed, &wanted, err);
    if (status == CW_OK && samples && !cw_chip_knows_pm(chip->chip))
        tell_no_limits(chip);
    if (status == CW_OK)
        status = make_within(plan, chip, &wanted, most, o->drop, err);
    if (status == CW_ERR_USAGE)
        cw_view_hint(err, chip, listed, metrics->names, metrics->count);
    if (status != CW_OK)
        cw_view_hint_listed(err, chip, listed, metrics->names, metrics->count);
    return status == CW_OK && o->native ? prove(plan, chip, o->native_library, err) : status;
}

enum counterworks_status counterworks_plan_make(struct counterworks_plan **plan, const struct counterworks_chip *chip,
                                                const char *const *names, size_t count,
                                                const struct counterworks_plan_options *options,
                                                struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_plan_options o = COUNTERWORKS_PLAN_OPTIONS;
    struct counterworks_plan *made = cw_lib_handle(sizeof *made);
    if (options) /* programs of earlier versions have a shorter struct */
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    enum cw_status status =
        made ? make(made, chip, &(struct counterworks_names){count, names}, &o, &call.err) : CW_ERR_NOMEM;
    if (status == CW_OK)
        made->chip = cw_lib_join(chip->share); /* the plan refers to the chip's names */
    else
        counterworks_plan_free(made);
    *plan = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

void counterworks_plan_free(struct counterworks_plan *plan)
{
    if (plan) {
        cw_lib_leave(plan->chip);
        cw_writer_free(&plan->native);
    }
    cw_lib_drop(plan);
}

uint32_t counterworks_plan_passes(const struct counterworks_plan *plan, uint32_t *bound)
{
    if (bound)
        *bound = plan->plan.bound;
    return plan->plan.image.pass_count;
}

size_t counterworks_plan_metric_count(const struct counterworks_plan *plan)
{
    return plan->plan.metric_count;
}

uint32_t counterworks_plan_metric(const struct counterworks_plan *plan, size_t index, const char **name,
                                  const uint32_t **passes, bool *whole)
{
    const struct cw_plan_metric *m = &plan->plan.metrics[index];
    if (name)
        *name = m->name;
    if (passes)
        *passes = m->passes;
    if (whole)
        *whole = m->whole;
    return m->pass_count;
}

enum counterworks_status counterworks_plan_save(const struct counterworks_plan *plan, const char *path,
                                                struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    struct cw_config_image check;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&plan->plan.image, &out);
    enum cw_status status = arena && out.status == CW_OK ? CW_OK : cw_error_nomem(&call.err);
    if (status == CW_OK) /* do not write a plan that a reader would refuse */
        status = cw_config_image_read(&check, out.data, out.size, path, arena, &call.err);
    if (status == CW_OK)
        status = cw_file_write(path, out.data, out.size, &call.err);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
