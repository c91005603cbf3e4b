#define _GNU_SOURCE
#include "agent/common/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/utf8.h"

enum cw_status cw_filter_open(struct cw_filter *f, const struct cw_filter_options *options, struct cw_error *err)
{
    const char *texts[CW_FILTER_REGEXES] = {options->kernel, options->range, options->process};
    static const char *const names[CW_FILTER_REGEXES] = {"--kernel", "--range", "--process"};
    *f = (struct cw_filter){.options = *options};
    for (int i = 0; i < CW_FILTER_REGEXES; i++) {
        if (texts[i] && !cw_utf8_holds(texts[i], strlen(texts[i])))
            return cw_error_set(err, CW_ERR_USAGE, "found %s with bytes that are no UTF-8, expected UTF-8", names[i]);
        int failed = texts[i] ? regcomp(&f->regex[i], texts[i], REG_EXTENDED | REG_NOSUB) : 0;
        if (failed) {
            char reason[200];
            regerror(failed, &f->regex[i], reason, sizeof reason);
            return cw_error_set(err, CW_ERR_USAGE, "found %s '%s', expected a regular expression: %s", names[i],
                                texts[i], reason);
        }
        f->used[i] = texts[i] != NULL;
    }
    return CW_OK;
}

void cw_filter_close(struct cw_filter *f)
{
    for (int i = 0; i < CW_FILTER_REGEXES; i++)
        if (f->used[i])
            regfree(&f->regex[i]);
    free(f->last_kernel);
    *f = (struct cw_filter){0};
}

static bool matches(const struct cw_filter *f, enum cw_filter_regex which, const char *text)
{
    return !f->used[which] || regexec(&f->regex[which], text, 0, NULL, 0) == 0;
}

bool cw_filter_process(const struct cw_filter *f, const char *name, bool is_program)
{
    return (is_program || !f->options.only_program) && matches(f, CW_FILTER_PROCESS, name);
}

bool cw_filter_device(const struct cw_filter *f, uint32_t device)
{
    return !f->options.devices || (device < 64 && (f->options.devices >> device & 1));
}

bool cw_filter_range(const struct cw_filter *f, const char *name)
{
    return matches(f, CW_FILTER_RANGE, name);
}

static bool kernel_matches(struct cw_filter *f, const char *kernel)
{
    if (!f->used[CW_FILTER_KERNEL])
        return true;
    if (f->last_kernel && strcmp(f->last_kernel, kernel) == 0)
        return f->last_matches;
    char *readable = cw_demangle(kernel);
    f->last_matches = matches(f, CW_FILTER_KERNEL, kernel) || (readable && matches(f, CW_FILTER_KERNEL, readable));
    free(readable);
    free(f->last_kernel);
    f->last_kernel = strdup(kernel);
    return f->last_matches;
}

bool cw_filter_launch(struct cw_filter *f, const char *kernel, bool in_range)
{
    if ((f->used[CW_FILTER_RANGE] && !in_range) || !kernel_matches(f, kernel))
        return false;
    uint64_t number = f->launches++;
    return number >= f->options.launch_skip && number - f->options.launch_skip < f->options.launch_count;
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

/* Processes and devices are the agent's to choose. */
void cw_filter_write(struct cw_writer *out, const struct cw_filter_options *o)
{
    write_text(out, o->kernel);
    write_text(out, o->range);
    cw_write_u64(out, o->launch_skip);
    cw_write_u64(out, o->launch_count);
}

void cw_filter_read(struct cw_reader *in, struct cw_filter_options *o, struct cw_arena *arena)
{
    *o = (struct cw_filter_options){.kernel = read_text(in, arena)};
    o->range = read_text(in, arena);
    o->launch_skip = cw_read_u64(in);
    o->launch_count = cw_read_u64(in);
}
