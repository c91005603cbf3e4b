#define _GNU_SOURCE
#include "agent/common/filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/pattern.h"
#include "base/text.h"
#include "base/utf8.h"

/* Whether a text that is no expression may be a name with parameters, such as "k<void (*)(int)>(int)". */
static bool may_be_name(const char *text)
{
    return (isalpha((unsigned char)*text) || *text == '_') && text[strlen(text) - 1] == ')';
}

static enum cw_status compile(struct cw_filter_regexes *to, const char *option, const char *const *texts, size_t count,
                              struct cw_error *err)
{
    char why[CW_PATTERN_WHY_SIZE];
    for (size_t i = 0; i < count; i++, to->count++) {
        if (!*texts[i]) /* it would match everything: probably an unset shell variable */
            return cw_error_set(err, CW_ERR_USAGE, "found %s '', expected a regular expression", option);
        if (strncmp(texts[i], "regex:", 6) == 0) /* as Nsight Compute spells it */
            return cw_error_set(err, CW_ERR_USAGE, "found %s '%s', expected the expression alone: %s '%s'", option,
                                texts[i], option, texts[i] + 6);
        if (!cw_utf8_holds(texts[i], strlen(texts[i])))
            return cw_error_set(err, CW_ERR_USAGE, "found %s with bytes that are no UTF-8, expected UTF-8", option);
        to->is_name[i] = !cw_pattern_compile(&to->list[i], texts[i], 0, why);
        if (to->is_name[i] && !may_be_name(texts[i]))
            return cw_error_set(err, CW_ERR_USAGE, "found %s '%.200s', expected a regular expression: %s", option,
                                texts[i], why);
    }
    return CW_OK;
}

enum cw_status cw_filter_open(struct cw_filter *f, const struct cw_filter_options *o, struct cw_error *err)
{
    *f = (struct cw_filter){.options = *o};
    CW_TRY(compile(&f->kernels, "--kernel", o->kernels, o->kernel_count, err));
    CW_TRY(compile(&f->excluded, "--exclude", o->excluded, o->excluded_count, err));
    CW_TRY(compile(&f->ranges, "--range", &o->range, o->range != NULL, err));
    return compile(&f->processes, "--process", &o->process, o->process != NULL, err);
}

static void free_regexes(struct cw_filter_regexes *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->is_name[i])
            regfree(&r->list[i]);
}

void cw_filter_close(struct cw_filter *f)
{
    free_regexes(&f->kernels);
    free_regexes(&f->excluded);
    free_regexes(&f->ranges);
    free_regexes(&f->processes);
    free(f->last_kernel);
    *f = (struct cw_filter){0};
}

/* Whether a name is one of the texts, or one of them matches it as an expression. */
static bool any_matches(const struct cw_filter_regexes *r, const char *const *texts, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < r->count && !found; i++)
        found = strcmp(texts[i], name) == 0 || (!r->is_name[i] && regexec(&r->list[i], name, 0, NULL, 0) == 0);
    return found;
}

static bool is_among(const struct cw_filter_regexes *r, const char *const *texts, const char *name)
{
    return !r->count || any_matches(r, texts, name);
}

bool cw_filter_process(const struct cw_filter *f, const char *name, bool is_program)
{
    return (is_program || !f->options.only_program) && is_among(&f->processes, &f->options.process, name);
}

bool cw_filter_device(const struct cw_filter *f, uint32_t device)
{
    return !f->options.devices || (device < 64 && (f->options.devices >> device & 1));
}

bool cw_filter_range(const struct cw_filter *f, const char *name)
{
    return is_among(&f->ranges, &f->options.range, name);
}

bool cw_filter_kernel(struct cw_filter *f, const char *kernel)
{
    if (!f->kernels.count && !f->excluded.count)
        return true;
    if (f->last_kernel && strcmp(f->last_kernel, kernel) == 0)
        return f->last_matches;
    char *readable = cw_demangle(kernel);
    const char *other = readable ? readable : kernel;
    const struct cw_filter_options *o = &f->options;
    f->last_matches = (is_among(&f->kernels, o->kernels, kernel) || is_among(&f->kernels, o->kernels, other)) &&
                      !any_matches(&f->excluded, o->excluded, kernel) && !any_matches(&f->excluded, o->excluded, other);
    free(readable);
    free(f->last_kernel);
    f->last_kernel = strdup(kernel);
    return f->last_matches;
}

bool cw_filter_is_done(const struct cw_filter *f)
{
    return f->launches >= f->options.launch_skip && f->launches - f->options.launch_skip >= f->options.launch_count;
}

bool cw_filter_count(struct cw_filter *f)
{
    const bool done = cw_filter_is_done(f);
    return f->launches++ >= f->options.launch_skip && !done;
}

bool cw_filter_launch(struct cw_filter *f, const char *kernel, bool in_range)
{
    return (!f->ranges.count || in_range) && cw_filter_kernel(f, kernel) && cw_filter_count(f);
}

/* The last pattern of a list that matches; NULL if none does. */
static const char *last_match(const char *list, const char *name)
{
    const char *last = NULL;
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        const bool leaves_out = *at == '-';
        char pattern[256];
        snprintf(pattern, sizeof pattern, "%.*s", (int)(length - leaves_out), at + leaves_out);
        if (fnmatch(pattern, name, 0) == 0)
            last = at;
        at += length + (at[length] == ',');
    }
    return last;
}

bool cw_filter_name_is_listed(const char *list, const char *name)
{
    const char *last = last_match(list, name);
    return last ? *last != '-' : *list == '-';
}

bool cw_filter_names_driver_call(const char *list, const char *name)
{
    const char *last = last_match(list, name);
    return last && strncmp(last, "cu", 2) == 0 && strncmp(last, "cuda", 4) != 0;
}

bool cw_filter_counts(const struct cw_filter_options *o)
{
    return o->launch_skip || o->launch_count != UINT64_MAX;
}

static void put_option(struct cw_writer *out, const char *option, const char *text)
{
    char *word = cw_text_quote(text);
    if (!word)
        out->status = CW_ERR_NOMEM;
    cw_write_format(out, "%s--%s %s", out->size ? " " : "", option, word ? word : "");
    free(word);
}

static void put_number(struct cw_writer *out, const char *option, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    put_option(out, option, text);
}

static void put_devices(struct cw_writer *out, uint64_t devices)
{
    char list[64 * 3] = "";
    size_t used = 0;
    for (unsigned i = 0; i < 64; i++)
        if (devices >> i & 1)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%u", used ? "," : "", i);
    put_option(out, "device", list);
}

const char *cw_filter_text(const struct cw_filter_options *o, struct cw_arena *arena)
{
    struct cw_writer out;
    cw_writer_init(&out);
    for (size_t i = 0; i < o->kernel_count; i++)
        put_option(&out, "kernel", o->kernels[i]);
    for (size_t i = 0; i < o->excluded_count; i++)
        put_option(&out, "exclude", o->excluded[i]);
    if (o->launch_skip)
        put_number(&out, "launch-skip", o->launch_skip);
    if (o->launch_count != UINT64_MAX)
        put_number(&out, "launch-count", o->launch_count);
    if (o->range)
        put_option(&out, "range", o->range);
    if (o->devices)
        put_devices(&out, o->devices);
    if (o->process)
        put_option(&out, "process", o->process);
    if (o->only_program)
        put_option(&out, "follow-children", "no");
    const char *text =
        out.status == CW_OK ? cw_arena_strndup(arena, out.size ? (const char *)out.data : "", out.size) : NULL;
    cw_writer_free(&out);
    return text;
}

static void write_text(struct cw_writer *out, const char *text)
{
    cw_write_u8(out, text != NULL);
    cw_write_string(out, text ? text : "");
}

static const char *read_text(struct cw_reader *in, struct cw_arena *arena)
{
    bool present = cw_read_u8(in);
    const char *text = cw_read_string(in, arena);
    return present ? text : NULL;
}

static void write_list(struct cw_writer *out, const char *const *texts, size_t count)
{
    cw_write_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        cw_write_string(out, texts[i]);
}

static size_t read_list(struct cw_reader *in, const char **texts, struct cw_arena *arena)
{
    const uint32_t count = cw_read_count_up_to(in, 4, CW_FILTER_MOST, "expressions");
    for (uint32_t i = 0; i < count; i++)
        texts[i] = cw_read_string(in, arena);
    return count;
}

/* Leaves out processes and devices, which the agent chooses. */
void cw_filter_write(struct cw_writer *out, const struct cw_filter_options *o)
{
    write_list(out, o->kernels, o->kernel_count);
    write_list(out, o->excluded, o->excluded_count);
    write_text(out, o->range);
    cw_write_u64(out, o->launch_skip);
    cw_write_u64(out, o->launch_count);
}

void cw_filter_read(struct cw_reader *in, struct cw_filter_options *o, struct cw_arena *arena)
{
    *o = (struct cw_filter_options){0};
    o->kernel_count = read_list(in, o->kernels, arena);
    o->excluded_count = read_list(in, o->excluded, arena);
    o->range = read_text(in, arena);
    o->launch_skip = cw_read_u64(in);
    o->launch_count = cw_read_u64(in);
}
