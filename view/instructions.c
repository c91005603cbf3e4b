/* Views of captures of PC samples and SASS metrics. */
#include "view/instructions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "eval/output/stacks.h"
#include "eval/output/terminal.h"
#include "eval/samples/disassembly.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/selection.h"

struct instructions {
    struct cw_instructions in;
    struct cw_pc_data raw;
    struct cw_stacks_output stacks;
};

static const char legacy_reason[] = "legacy-reason";

static enum cw_status load(struct cw_instructions *in, struct cw_pc_data *raw,
                           const struct counterworks_request *request, struct counterworks_capture *capture,
                           struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err)
{
    const char *disassembler = request->disassembler;
    enum cw_status status = disassembler ? cw_disassembler_find(&disassembler, arena, err) : CW_OK;
    if (status == CW_OK)
        status = cw_input_load(&capture->file, err);
    if (status == CW_OK)
        status = cw_pc_data_read(raw, capture->file.bytes, (size_t)capture->file.size, capture->asked, arena, err);
    if (status == CW_OK && request->by && !cw_pc_data_use_legacy_reasons(raw, arena))
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_instructions_make(in, &capture->data, raw, capture->source, disassembler, arena, err);
    if (status == CW_OK && in->left.texts)
        cw_notice(notices, "%s: the text of the instructions of %" PRIu32 " module%s is left out: nvdisasm failed",
                  capture->asked, in->left.texts, in->left.texts == 1 ? "" : "s");
    if (status == CW_OK)
        cw_tell_unread(capture, in->left.names, in->left.modules, notices);
    return status;
}

enum cw_status cw_view_load_instructions(struct cw_instructions *in, struct cw_pc_data *raw, const char *disassembler,
                                         struct counterworks_capture *capture, struct cw_notices *notices,
                                         struct cw_arena *arena, struct cw_error *err)
{
    const struct counterworks_request request = {.disassembler = disassembler};
    return load(in, raw, &request, capture, notices, arena, err);
}

/* ---- machine code ----------------------------------------------------------------------------------------------- */

static enum cw_status render_code(FILE *out, const void *module, struct cw_error *err)
{
    const struct cw_module *m = module;
    (void)err; /* the file's errors are found when it is closed */
    fwrite(m->code, 1, m->size, out);
    return CW_OK;
}

static enum cw_status save_module(const struct cw_module *module, const char *folder, bool force, struct cw_error *err)
{
    static const struct cw_file_kind kind = {.name = "machine code",
                                             .binary = true,
                                             .heads = {"\x7f"
                                                       "ELF"}};
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%" PRIu64 ".cubin", folder, module->crc) >= sizeof path)
        return cw_error_set(err, CW_ERR_USAGE, "found the name of a folder with %zu bytes, expected fewer than %zu",
                            strlen(folder), sizeof path);
    CW_TRY(cw_file_may_replace(path, &kind, force, err));
    return cw_file_print(path, render_code, module, err);
}

enum cw_status cw_view_save_modules(struct counterworks_capture *capture, const char *folder, bool force,
                                    uint32_t *count, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pc_data raw;
    if (cw_kind_of(capture) != &cw_view_instructions)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found --cubin, expected it for PC samples and SASS metrics alone",
                            capture->asked);
    CW_TRY(cw_input_load(&capture->file, err));
    CW_TRY(cw_pc_data_read(&raw, capture->file.bytes, (size_t)capture->file.size, capture->asked, arena, err));
    if (!raw.module_count)
        return cw_error_set(err, CW_ERR_USAGE,
                            "%s: found no code in the capture, expected one without --code none and "
                            "merge --redact",
                            capture->asked);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
    for (*count = 0; *count < raw.module_count; ++*count)
        CW_TRY(save_module(&raw.modules[*count], folder, force, err));
    return CW_OK;
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

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
        status = load(&of->in, &of->raw, in->request, in->capture, in->notices, in->arena, in->err);
    if (status != CW_OK)
        return status;
    cw_output_instructions(&view->output, &of->in);
    if (in->request->form == COUNTERWORKS_STACKS) {
        char other[CW_NUMBER_SIZE], all[CW_NUMBER_SIZE];
        if (of->in.other)
            cw_notice(in->notices, "%s: %s of %s samples %s in no kernel of the program and left out",
                      in->capture->asked, cw_terminal_integer(of->in.other, other),
                      cw_terminal_integer(of->in.total, all), of->in.other == 1 ? "is" : "are");
        of->stacks = (struct cw_stacks_output){.source = in->capture->source, .samples = &of->in};
        view->content = &of->stacks;
        view->renders[CW_VIEW_FOLDED] = cw_folded_write;
        view->renders[CW_VIEW_SPEEDSCOPE] = cw_speedscope_write;
    }
    return CW_OK;
}

const struct cw_kind cw_view_instructions = {.check = check, .make = make};
