#include "agent/backend/range_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/lacking.h"
#include "base/text.h"

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static enum cw_status find_beside(struct cw_range_capture *c, struct cw_error *err)
{
    const struct cw_config_image *plan = c->options->capture.plan;
    const char *id = cw_config_parameter(plan, CW_CONFIG_DEVICE_COUNTER);
    if (!c->options->for_context && !id)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found a plan for %s, for which no way to count the whole device is known, expected "
                            "--scope context",
                            plan->chip);
    if (c->options->for_device && id)
        c->beside = strtoull(id, NULL, 16);
    return CW_OK;
}

enum cw_status cw_range_capture_open(struct cw_range_capture *c, const struct cw_range_options *options,
                                     struct cw_error *err)
{
    *c = (struct cw_range_capture){.options = options,
                                   .arena = cw_arena_create(),
                                   .plan = *options->capture.plan,
                                   .one_pass = options->replay == CW_REPLAY_APPLICATION ||
                                               options->replay == CW_REPLAY_MULTIPLEX};
    enum cw_status status = c->arena ? find_beside(c, err) : cw_error_nomem(err);
    return status == CW_OK ? cw_filter_open(&c->filter, &options->filter, err) : status;
}

static bool is_patched(const struct cw_config_image *plan, const struct cw_placement *at)
{
    return strcmp(plan->domains[at->domain].name, "gpu_sass") == 0;
}

bool cw_range_capture_patches(const struct cw_config_image *plan)
{
    bool patches = false;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t i = 0; i < plan->passes[p].count && !patches; i++)
            patches = is_patched(plan, &plan->passes[p].placements[i]);
    return patches;
}

/* Marks columns of counters with a raw counter of the software domain. NULL when out of memory. */
static const bool *find_patched(const struct cw_range_capture *c)
{
    const struct cw_config_image *plan = &c->parts.plan;
    const struct cw_schema *schema = &c->parts.schema;
    bool *raws = cw_arena_alloc(c->arena, plan->raw_count, sizeof *raws);
    bool *patched = cw_arena_alloc(c->arena, cw_schema_columns(schema), sizeof *patched);
    if (!raws || !patched)
        return NULL;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t i = 0; i < plan->passes[p].count; i++) {
            const struct cw_placement *at = &plan->passes[p].placements[i];
            raws[at->raw] = raws[at->raw] || is_patched(plan, at);
        }
    for (uint32_t k = 0; k < cw_schema_columns(schema); k++) {
        const struct cw_config_counter *counter = &plan->counters[cw_schema_column_counter(schema, k)];
        for (uint32_t r = 0; r < counter->raw_count; r++)
            patched[k] = patched[k] || raws[counter->raws[r]];
    }
    return patched;
}

/* Puts parts with most counters first if parts take turns, for a program that launches a kernel only a few times. */
static int by_counters(const void *a, const void *b)
{
    const struct cw_part *x = a, *y = b;
    if (x->plan.counter_count != y->plan.counter_count)
        return x->plan.counter_count < y->plan.counter_count ? 1 : -1;
    return x->passes[0] < y->passes[0] ? -1 : 1;
}

enum cw_status cw_range_capture_divide(struct cw_range_capture *c, cw_parts_fits *fits, void *user,
                                       struct cw_error *err)
{
    /* CUPTI's kernel replay runs all passes of one config image at every launch; and native data must hold all counters
     * of a range. */
    bool one = c->options->replay == CW_REPLAY_KERNEL || c->options->keep_native;
    const struct cw_parts_rules rules = {.how = c->one_pass ? CW_PARTS_PASSES
                                                : one       ? CW_PARTS_ONE
                                                            : CW_PARTS_FEW,
                                         .fits = fits,
                                         .user = user};
    enum cw_status status = CW_OK;
    if (c->one_pass)
        status = cw_parts_complete(&c->plan, fits, user, &c->added, c->arena, err);
    if (status == CW_OK)
        status = cw_parts_make(&c->parts, &c->plan, &rules, c->arena, err);
    if (status != CW_OK)
        return status;
    if (c->options->replay == CW_REPLAY_MULTIPLEX)
        qsort(c->parts.items, c->parts.count, sizeof *c->parts.items, by_counters);
    c->added += c->parts.added;
    c->parts.schema.fact_names = cw_fact_names;
    c->parts.schema.fact_count = CW_FACT__COUNT;
    c->patched = find_patched(c);
    return c->patched ? CW_OK : cw_error_nomem(err);
}

/* Prints notices of added passes, and of counters that are left out if each part is one pass. */
static void tell_parts(const struct cw_range_capture *c)
{
    const struct cw_schema *schema = &c->parts.schema;
    uint32_t count = 0, first = 0;
    if (c->added)
        fprintf(stderr, "capture-agent: %u pass%s added for counters that the plan spreads over several\n", c->added,
                c->added > 1 ? "es" : "");
    for (uint32_t k = schema->counter_count; c->one_pass && k-- > 0;)
        if (!schema->counters[k].whole) {
            first = k;
            count++;
        }
    if (count)
        cw_text_print(stderr,
                      "capture-agent: no single pass holds %s%s; %s leaves such counters out (%u of %u), kernel replay "
                      "does not\n",
                      schema->counters[first].name, count > 1 ? " and others" : "",
                      c->options->replay == CW_REPLAY_MULTIPLEX ? "multiplexing" : "application replay", count,
                      schema->counter_count);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* Describes the filter, including multiplexing, for the file. NULL when out of memory. */
static const char *filter_text(const struct cw_range_capture *c)
{
    const struct cw_range_options *o = c->options;
    const char *text = cw_trace_window_filter_text(&o->when, &o->filter, c->arena);
    if (text && o->every > 1)
        text = cw_arena_printf(c->arena, "%s%s--every %" PRIu32, text, *text ? " " : "", o->every);
    if (text && o->slowdown)
        text = cw_arena_printf(c->arena, "%s%s--slowdown %g%%", text, *text ? " " : "", o->slowdown / 1000.0);
    return text;
}

enum seen { NOTHING, LACKING, THERE }; /* LACKING: unavailable in all ranges so far */

static void tell_lacking(struct cw_range_capture *c)
{
    const struct cw_schema *schema = &c->parts.schema;
    for (uint32_t gpu = 0; gpu < CW_MOST_DEVICES; gpu++) {
        for (uint32_t k = 0; c->seen[gpu] && k < schema->counter_count; k++)
            c->seen[gpu][k] = c->seen[gpu][k] == LACKING;
        if (c->seen[gpu])
            cw_lacking_tell(gpu, schema, c->seen[gpu]);
    }
}

enum cw_status cw_range_capture_run(struct cw_range_capture *c, const struct cw_program *program,
                                    struct cw_error *trouble, enum cw_status (*run)(void *user, struct cw_error *err),
                                    void *user, struct cw_error *err)
{
    uint32_t levels = c->options->levels;
    uint32_t count = c->options->replay == CW_REPLAY_APPLICATION ? c->parts.count * levels : 1;
    tell_parts(c);
    enum cw_status status = cw_range_output_open(&c->out, c->options->capture.output, c->options->capture.force,
                                                 &c->parts.schema, count, levels, err);
    c->out.filter = filter_text(c);
    if (status == CW_OK && !c->out.filter)
        status = cw_error_nomem(err);
    if (status != CW_OK)
        return status;
    c->out.clocks = c->clocks;
    c->out.steady = c->options->when.periods != 0;
    for (uint32_t i = 0; i < count && status == CW_OK && trouble->code == CW_OK; i++) {
        if (i && !cw_program_may_run_again(program))
            break;
        c->first = i / levels;
        c->level = 1 + i % levels;
        cw_range_output_begin(&c->out);
        status = run(user, err);
        if (status == CW_OK)
            cw_range_output_compare(&c->out);
    }
    if (status != CW_OK && trouble->code == CW_OK)
        *trouble = *err;
    if (trouble->code == CW_OK)
        cw_range_output_end(&c->out, program, trouble);
    else
        cw_range_output_flush(&c->out, NULL);
    if (trouble->code != CW_OK)
        *err = *trouble;
    tell_lacking(c);
    cw_range_output_report(&c->out);
    return err->code;
}

enum cw_status cw_range_capture_verdict(const struct cw_range_capture *c, const struct cw_program *program,
                                        enum cw_status status, int *exit_status, struct cw_error *err)
{
    const char *name = c->options->capture.argv[0];
    if (!program->over)
        return status;
    status = cw_program_verdict(program, name, c->options->capture.output, status, exit_status, err);
    if (status != CW_OK || c->out.ranges || *exit_status)
        return status;
    const struct cw_filter_options *f = &c->options->filter;
    bool chosen = c->options->user || f->kernel_count || f->excluded_count || f->range || f->process || f->devices ||
                  f->launch_skip || f->launch_count != UINT64_MAX || f->only_program ||
                  cw_trace_window_any(&c->options->when, f);
    const char *filter = cw_trace_window_filter_text(&c->options->when, f, c->arena);
    if (chosen && !c->out.dropped && filter && *filter)
        return cw_error_set(err, CW_ERR_APP, "%s launched nothing that %s takes, so nothing was captured", name,
                            filter);
    return cw_error_set(err, CW_ERR_APP,
                        c->out.dropped ? "%s launched nothing that could be collected, so nothing was captured"
                        : chosen       ? "%s launched nothing that was requested, so nothing was captured"
                                       : "%s launched no kernel, so nothing was captured",
                        name);
}

void cw_range_capture_close(struct cw_range_capture *c)
{
    cw_range_output_close(&c->out);
    cw_filter_close(&c->filter);
    cw_arena_destroy(c->arena);
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

void cw_range_capture_leave_out(const struct cw_range_capture *c, struct cw_value *values)
{
    for (uint32_t k = 0; k < cw_schema_columns(&c->parts.schema); k++)
        if (c->patched[k])
            values[k] = (struct cw_value){.form = CW_FORM_NOT_COLLECTED};
}

void cw_range_capture_see(struct cw_range_capture *c, uint32_t gpu, const struct cw_value *values)
{
    const struct cw_schema *schema = &c->parts.schema;
    if (gpu >= CW_MOST_DEVICES)
        return;
    if (!c->seen[gpu] && !(c->seen[gpu] = cw_arena_alloc(c->arena, schema->counter_count, 1)))
        return;
    for (uint32_t k = 0; k < cw_schema_columns(schema); k++) {
        uint8_t *seen = &c->seen[gpu][cw_schema_column_counter(schema, k)];
        if (values[k].form == CW_FORM_UNAVAILABLE)
            *seen = *seen == NOTHING ? LACKING : *seen;
        else if (values[k].form != CW_FORM_NOT_COLLECTED)
            *seen = THERE;
    }
}

static void add(struct cw_range_attributes *a, const char *key, const char *value)
{
    a->pairs[a->count++] = (struct cw_pair){key, value};
}

void cw_range_attributes_make(struct cw_range_attributes *a, const struct cw_launch *l)
{
    a->count = 0;
    add(a, "replay", cw_replay_names[l->replay]);
    if (l->once && *l->once)
        add(a, "once", l->once);
    if (l->cold)
        add(a, "cold", "yes");
    if (l->scope != CW_SCOPE_CONTEXT)
        add(a, "scope", cw_scope_names[l->scope]);
    if (l->nvtx && *l->nvtx)
        add(a, "nvtx", l->nvtx);
    snprintf(a->period, sizeof a->period, "%" PRIu32, l->period);
    if (l->period)
        add(a, "period", a->period);
    snprintf(a->graphs, sizeof a->graphs, "%" PRIu32, l->graphs);
    if (l->graphs)
        add(a, "graphs", a->graphs);
    snprintf(a->graph_kernel, sizeof a->graph_kernel, "%" PRIu32 " of %" PRIu32, l->graph_kernel, l->graph_kernels);
    if (l->graph_kernel)
        add(a, "graph_kernel", a->graph_kernel);
}
