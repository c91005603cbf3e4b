/* Finds the source lines of a rule's stalls. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/advice/advice.h"

struct finding_lines {
    bool made;
    size_t count;
    struct cw_advice_line *items;
};

struct sampling {
    const struct cw_rules *rules;
    const struct cw_pc_row **rows; /* by function, file and line, without the second rows of reasons "not issued" */
    size_t row_count;
    struct finding_lines *of_rules; /* [rule], for the function at hand */
    struct cw_arena *arena;
};

static int by_line(const void *a, const void *b)
{
    const struct cw_pc_row *x = *(const struct cw_pc_row *const *)a, *y = *(const struct cw_pc_row *const *)b;
    int order = strcmp(x->at.function, y->at.function);
    order = order ? order : strcmp(x->at.file, y->at.file);
    return order ? order : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

static bool is_meant(const struct cw_rule *rule, const char *reason)
{
    bool meant = !rule->stall_count;
    for (size_t i = 0; i < rule->stall_count && !meant; i++)
        meant = cw_stall_reason_is(reason, rule->stalls[i]);
    return meant;
}

/* Finds the rows of a function: they begin at *first; returns how many. */
static size_t find_function(const struct sampling *s, const char *function, size_t *first)
{
    struct cw_search search = {0, s->row_count};
    size_t count = 0;
    while (search.low < search.high)
        cw_search_narrow(&search, strcmp(s->rows[cw_search_middle(&search)]->at.function, function) < 0);
    *first = search.low;
    while (*first + count < s->row_count && strcmp(s->rows[*first + count]->at.function, function) == 0)
        count++;
    return count;
}

/* Keeps a line among those with the most samples, the largest first. */
static void keep_line(struct finding_lines *lines, const struct cw_advice_line *line)
{
    size_t at = lines->count;
    if (!line->samples || !*line->file)
        return;
    while (at && lines->items[at - 1].samples < line->samples)
        at--;
    if (at == CW_ADVICE_LINES)
        return;
    lines->count += lines->count < CW_ADVICE_LINES;
    memmove(&lines->items[at + 1], &lines->items[at], (lines->count - at - 1) * sizeof *line);
    lines->items[at] = *line;
}

static bool make_lines(const struct sampling *s, struct finding_lines *lines, const struct cw_rule *rule,
                       const struct cw_pc_row *const *rows, size_t count)
{
    struct cw_advice_line line = {.file = ""};
    uint64_t total = 0;
    *lines =
        (struct finding_lines){.made = true, .items = cw_arena_alloc(s->arena, CW_ADVICE_LINES, sizeof *lines->items)};
    for (size_t i = 0; i < count && lines->items; i++) {
        if (i && (rows[i]->at.line != line.line || strcmp(rows[i]->at.file, line.file) != 0)) {
            keep_line(lines, &line);
            line.samples = 0;
        }
        line.file = rows[i]->at.file;
        line.line = rows[i]->at.line;
        line.samples += is_meant(rule, rows[i]->reason) ? rows[i]->samples : 0;
        total += rows[i]->samples;
    }
    if (lines->items)
        keep_line(lines, &line);
    for (size_t i = 0; i < lines->count; i++)
        lines->items[i].share = (double)lines->items[i].samples / (double)total;
    return lines->items != NULL;
}

static bool add_to(const struct sampling *s, const struct cw_advice_kernel *kernel, const struct cw_pc_row *const *rows,
                   size_t count)
{
    struct cw_advice_finding *findings = (struct cw_advice_finding *)kernel->findings;
    for (size_t i = 0; i < kernel->finding_count; i++) {
        struct finding_lines *lines = &s->of_rules[findings[i].rule - s->rules->rules];
        if (!lines->made && !make_lines(s, lines, findings[i].rule, rows, count))
            return false;
        findings[i].lines = lines->items;
        findings[i].line_count = lines->count;
    }
    return true;
}

static int by_function(const void *a, const void *b)
{
    const struct cw_advice_kernel *x = *(const struct cw_advice_kernel *const *)a;
    const struct cw_advice_kernel *y = *(const struct cw_advice_kernel *const *)b;
    return strcmp(x->launch->kernel, y->launch->kernel);
}

enum cw_status cw_advice_add_lines(struct cw_advice *advice, const struct cw_instructions *samples,
                                   struct cw_arena *arena, struct cw_error *err)
{
    const size_t rules = advice->rules->rule_count, count = advice->kernel_count;
    struct sampling s = {.rules = advice->rules, .arena = arena};
    const struct cw_advice_kernel **order = cw_arena_alloc(arena, count, sizeof *order);
    s.rows = cw_arena_alloc(arena, samples->pc_count, sizeof *s.rows);
    s.of_rules = cw_arena_alloc(arena, rules, sizeof *s.of_rules);
    bool enough = order && s.rows && s.of_rules;
    for (size_t i = 0; enough && i < samples->pc_count; i++)
        if (!cw_stall_reason_is_twin(samples->pc[i].reason))
            s.rows[s.row_count++] = &samples->pc[i];
    for (size_t i = 0; enough && i < count; i++)
        order[i] = &advice->kernels[i];
    if (enough && s.row_count)
        qsort(s.rows, s.row_count, sizeof *s.rows, by_line);
    if (enough && count)
        qsort(order, count, sizeof *order, by_function);
    for (size_t i = 0, first = 0, found = 0; enough && i < count; i++) {
        if (!i || strcmp(order[i]->launch->kernel, order[i - 1]->launch->kernel) != 0) {
            memset(s.of_rules, 0, rules * sizeof *s.of_rules);
            found = find_function(&s, order[i]->launch->kernel, &first);
        }
        advice->sampled += found != 0;
        enough = !found || add_to(&s, order[i], s.rows + first, found);
    }
    return enough ? CW_OK : cw_error_nomem(err);
}
