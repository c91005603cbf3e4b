#include "view/kind.h"

const struct cw_kind *cw_kind_of(const struct counterworks_capture *capture)
{
    static const struct cw_kind *const kinds[CW_PROFILER__COUNT] = {[CW_PROFILER_RANGE] = &cw_view_ranges,
                                                                    [CW_PROFILER_PM] = &cw_view_samples,
                                                                    [CW_PROFILER_PC] = &cw_view_instructions,
                                                                    [CW_PROFILER_SASS] = &cw_view_instructions,
                                                                    [CW_PROFILER_TRACE] = &cw_view_trace};
    return kinds[capture->data.schema.profiler];
}

enum cw_status cw_kind_check_form(const struct cw_view_input *in, unsigned forms)
{
    const enum counterworks_form form = in->request->form;
    const char *asked = in->capture->asked;
    const bool has = forms & 1U << form;
    if (!has && form == COUNTERWORKS_TIMELINE)
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "%s: found no trace, expected a capture of capture-agent trace or pm", asked);
    if (!has)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found a capture of another kind, expected one of %s", asked,
                            form == COUNTERWORKS_STACKS ? "ranges or PC samples" : "ranges");
    if (in->request->kinds)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found --kind, expected it of a trace alone", asked);
    return CW_OK;
}

/* Checks the members of the request that the capture refuses. */
static enum cw_status check(const struct cw_view_input *in)
{
    const struct cw_kind *kind = cw_kind_of(in->capture);
    if (in->request->disassembler && kind != &cw_view_instructions)
        return cw_error_set(in->err, CW_ERR_USAGE,
                            "%s: found --disassemble, expected it for PC samples and SASS metrics alone",
                            in->capture->asked);
    return kind->check(in);
}

enum cw_status cw_view_make(struct counterworks_view *view, const struct cw_view_input *in)
{
    *view = (struct counterworks_view){.arena = in->arena};
    CW_TRY(check(in));
    return cw_kind_of(in->capture)->make(view, in);
}
