#define _GNU_SOURCE
#include "eval/join/joined_samples.h"

#include <stdlib.h>
#include <string.h>

/* Launches of the trace by kernel. */
struct kernel {
    const char *function;
    double ns;
};

struct sampling {
    const struct cw_pc_row **rows; /* by function, line and reason */
    size_t row_count;
    struct kernel *kernels; /* by function, each once */
    size_t kernel_count;
    struct cw_joined_line *lines;
    size_t line_count;
};

static int by_function(const void *a, const void *b)
{
    return strcmp(((const struct kernel *)a)->function, ((const struct kernel *)b)->function);
}

static int by_line(const void *a, const void *b)
{
    const struct cw_pc_row *x = *(const struct cw_pc_row *const *)a, *y = *(const struct cw_pc_row *const *)b;
    int order = strcmp(x->at.function, y->at.function);
    order = order ? order : strcmp(x->at.file, y->at.file);
    order = order ? order : (x->at.line > y->at.line) - (x->at.line < y->at.line);
    return order ? order : strcmp(x->reason, y->reason);
}

/* The time of each kernel, of whatever shape: a shape's time first, for there are fewer shapes than launches. */
static bool sum_kernels(struct sampling *s, const struct cw_joined *j)
{
    const uint32_t shapes = j->join.shape_count;
    struct kernel *of = s->kernels = calloc((size_t)shapes + 1, sizeof *of);
    size_t count = 0, once = 0;
    for (uint32_t i = 0; of && i < j->count; i++) {
        of[j->join.a.shape[i]].function = j->traced.launches[i].kernel;
        of[j->join.a.shape[i]].ns += j->launches[i].ns;
    }
    for (uint32_t k = 0; of && k < shapes; k++)
        if (of[k].function)
            of[count++] = of[k];
    if (of)
        qsort(of, count, sizeof *of, by_function);
    for (size_t k = 0; of && k < count; k++) {
        if (once && strcmp(of[once - 1].function, of[k].function) == 0)
            of[once - 1].ns += of[k].ns;
        else
            of[once++] = of[k];
    }
    s->kernel_count = once;
    return of;
}

/* Keeps the hottest of a kernel's lines, which begin at `first`. */
static void keep(struct sampling *s, size_t first, const struct cw_joined_line *line)
{
    size_t at = s->line_count;
    if (!line->samples)
        return;
    while (at > first && s->lines[at - 1].samples < line->samples)
        at--;
    if (at - first == CW_JOINED_LINES)
        return;
    if (s->line_count - first < CW_JOINED_LINES)
        s->line_count++;
    memmove(&s->lines[at + 1], &s->lines[at], (s->line_count - at - 1) * sizeof *line);
    s->lines[at] = *line;
}

/* Rows of one function, `from` to `to`. */
static void take_function(struct sampling *s, size_t from, size_t to, double ns)
{
    const size_t first = s->line_count;
    const struct cw_place *at = &s->rows[from]->at;
    struct cw_joined_line line = {.function = at->function};
    uint64_t all = 0, reason = 0, most = 0;
    for (size_t i = from; i < to; i++) {
        const struct cw_pc_row *row = s->rows[i];
        const struct cw_pc_row *before = i > from ? s->rows[i - 1] : NULL;
        const bool again = before && before->at.line == row->at.line && strcmp(before->at.file, row->at.file) == 0;
        if (!again) {
            keep(s, first, &line);
            line = (struct cw_joined_line){at->function, at->name,    ns,           0, 0, 0,
                                           row->at.file, row->reason, row->at.line, 0};
            most = 0;
        }
        reason = again && strcmp(before->reason, row->reason) == 0 ? reason + row->samples : row->samples;
        if (reason > most) {
            most = reason;
            line.reason = row->reason;
        }
        line.samples += row->samples;
        all += row->samples;
    }
    keep(s, first, &line);
    for (size_t k = first; k < s->line_count; k++) {
        s->lines[k].all = all;
        s->lines[k].rank = (uint32_t)(k - first);
        s->lines[k].share = (double)s->lines[k].samples / (double)all;
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct cw_joined_line *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    const int order = strcmp(x->function, y->function);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

enum cw_status cw_joined_samples_make(struct cw_joined_samples *out, const struct cw_joined *joined,
                                      const struct cw_instructions *samples, struct cw_arena *arena,
                                      struct cw_error *err)
{
    struct sampling s = {.rows = malloc((samples->pc_count + 1) * sizeof *s.rows),
                         .lines = cw_arena_alloc(arena, samples->pc_count + 1, sizeof *s.lines)};
    const bool enough = sum_kernels(&s, joined) && s.rows && s.lines;
    *out = (struct cw_joined_samples){0};
    for (size_t i = 0; enough && i < samples->pc_count; i++)
        if (!cw_stall_reason_is_twin(samples->pc[i].reason)) {
            s.rows[s.row_count++] = &samples->pc[i];
            out->samples += samples->pc[i].samples;
        }
    if (enough)
        qsort(s.rows, s.row_count, sizeof *s.rows, by_line);
    for (size_t i = 0, end; enough && i < s.row_count; i = end) {
        const struct kernel wanted = {.function = s.rows[i]->at.function};
        const struct kernel *k = bsearch(&wanted, s.kernels, s.kernel_count, sizeof wanted, by_function);
        for (end = i; end < s.row_count && strcmp(s.rows[end]->at.function, wanted.function) == 0; end++)
            out->elsewhere += k ? 0 : s.rows[end]->samples;
        if (k)
            take_function(&s, i, end, k->ns);
    }
    if (enough)
        qsort(s.lines, s.line_count, sizeof *s.lines, longest_first);
    out->lines = s.lines;
    out->count = s.line_count;
    free(s.rows);
    free(s.kernels);
    return enough ? CW_OK : cw_error_nomem(err);
}
