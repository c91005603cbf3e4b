/* Plans. */
#include <string.h>

#include "lib/handles.h"

/* Of options that a program of an earlier library has, the rest are the usual ones. */
static struct cw_plan_options options_of(const struct counterworks_plan_options *from)
{
    struct counterworks_plan_options o = COUNTERWORKS_PLAN_OPTIONS;
    if (from)
        memcpy(&o, from, from->size < sizeof o ? from->size : sizeof o);
    return (struct cw_plan_options){.profiler = (enum cw_profiler)o.profiler,
                                    .quick = o.prefer == COUNTERWORKS_TIME,
                                    .whole = o.prefer == COUNTERWORKS_WHOLE};
}

enum counterworks_status counterworks_plan_make(struct counterworks_plan **plan, const struct counterworks_chip *chip,
                                                const char *const *names, size_t count,
                                                const struct counterworks_plan_options *options,
                                                struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_plan_options o = options_of(options);
    struct counterworks_plan *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? CW_OK : CW_ERR_NOMEM;
    if (status == CW_OK && o.profiler >= CW_PROFILER__PLANNED)
        status =
            cw_error_set(&call.err, CW_ERR_USAGE, "found the profiler %d, expected ranges or samples", (int)o.profiler);
    if (status == CW_OK)
        status = cw_plan_make(&made->plan, chip->chip, names, count, &o, made->arena, &call.err);
    if (status == CW_ERR_USAGE)
        cw_lib_hint(&call.err, chip, names, count);
    if (status == CW_OK && o.profiler == CW_PROFILER_PM && made->plan.image.pass_count > 1)
        status = cw_error_set(&call.err, CW_ERR_UNSUPPORTED,
                              "found metrics that need %u passes, expected the one of samples",
                              (unsigned)made->plan.image.pass_count);
    if (status != CW_OK)
        cw_lib_drop(made);
    else
        atomic_fetch_add(&(made->chip = chip->share)->users, 1); /* names of the chip's stand in the plan */
    *plan = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

void counterworks_plan_free(struct counterworks_plan *plan)
{
    if (plan)
        cw_lib_leave(plan->chip);
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
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&plan->plan.image, &out);
    enum cw_status status =
        out.status == CW_OK ? cw_file_write(path, out.data, out.size, &call.err) : cw_error_nomem(&call.err);
    cw_writer_free(&out);
    return cw_lib_finish(&call, status, error);
}
