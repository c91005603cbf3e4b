/* Views of captures of PC samples and SASS metrics. */
#include "view/instructions.h"

#include <inttypes.h>

#include "eval/output/stacks.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/selection.h"

struct instructions {
    struct cw_instructions in;
    struct cw_pc_data raw;
    struct cw_stacks_output stacks;
};

static const char legacy_reason[] = "legacy-reason";

static enum cw_status load(struct cw_instructions *in, struct cw_pc_data *raw, bool legacy,
                           struct counterworks_capture *capture, struct cw_notices *notices, struct cw_arena *arena,
                           struct cw_error *err)
{
    enum cw_status status = cw_input_load(&capture->file, err);
    if (status == CW_OK)
        status = cw_pc_data_read(raw, capture->file.bytes, (size_t)capture->file.size, capture->asked, arena, err);
    if (status == CW_OK && legacy && !cw_pc_data_use_legacy_reasons(raw, arena))
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_instructions_make(in, &capture->data, raw, capture->source, arena, err);
    if (status == CW_OK && (in->left.names || in->left.modules))
        cw_notice(notices,
                  "%s: %" PRIu32 " mangled names and the lines of %" PRIu32
                  " modules are left out: to read them takes more memory or time than their size allows",
                  capture->asked, in->left.names, in->left.modules);
    return status;
}

enum cw_status cw_view_load_instructions(struct cw_instructions *in, struct cw_pc_data *raw,
                                         struct counterworks_capture *capture, struct cw_notices *notices,
                                         struct cw_arena *arena, struct cw_error *err)
{
    return load(in, raw, false, capture, notices, arena, err);
}

/* The first member of the request that only ranges or metrics have. */
static const char *option_of_ranges(const struct counterworks_request *o)
{
    const char *option = cw_selection_option(o);
    return option             ? option
           : o->filters.count ? "--filter"
           : o->sort          ? "--sort"
           : o->every         ? "--all"
           : o->metrics.count ? "metrics"
                              : NULL;
}

static enum cw_status check(const struct cw_view_input *in)
{
    const enum cw_profiler profiler = in->capture->data.schema.profiler;
    const char *option = option_of_ranges(in->request);
    CW_TRY(cw_kind_check_form(in, 1 << COUNTERWORKS_LIST | 1 << COUNTERWORKS_TABLE |
                                      (profiler == CW_PROFILER_PC) << COUNTERWORKS_STACKS));
    if (in->request->by && profiler == CW_PROFILER_PC)
        CW_TRY(cw_view_check_by(in, (const char *const[]){legacy_reason}, 1));
    else if (in->request->by)
        option = "--by";
    if (option)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found %s, expected no such option for a capture of %s",
                            in->capture->asked, option, cw_profiler_texts[profiler]);
    return CW_OK;
}

static enum cw_status make(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct instructions *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    enum cw_status status = of ? CW_OK : cw_error_nomem(in->err);
    cw_tell_incomplete(in->capture, in->notices);
    if (status == CW_OK)
        status = load(&of->in, &of->raw, in->request->by, in->capture, in->notices, in->arena, in->err);
    if (status != CW_OK)
        return status;
    cw_output_instructions(&view->output, &of->in);
    if (in->request->form == COUNTERWORKS_STACKS) {
        of->stacks = (struct cw_stacks_output){.source = in->capture->source, .samples = &of->in};
        view->content = &of->stacks;
        view->renders[CW_VIEW_FOLDED] = cw_folded_write;
        view->renders[CW_VIEW_SPEEDSCOPE] = cw_speedscope_write;
    }
    return CW_OK;
}

const struct cw_kind cw_view_instructions = {.check = check, .make = make};
