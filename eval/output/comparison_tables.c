#include <math.h>
#include <string.h>

#include "eval/output/comparison.h"
#include "eval/status.h"

/* ---- groups of both sides ---------------------------------------------------------------------------------------- */

/* A match. Numbers of a missing group are NaN. */
struct matched {
    const char *name, *kernel, *match;
    double a_launches, b_launches, a_total, b_total, a_launch, b_launch, relative, change;
    uint32_t changed;
    const uint32_t *a_grid, *b_grid, *a_block, *b_block;
};

#define FILES(type, member) CW_TO_FILES, offsetof(type, member)
#define TREES(type, member) (CW_TO_JSON | CW_TO_HDF5), offsetof(type, member)

static const struct cw_output_column match_columns[] = {
    {"group", CW_CELL_TEXT, FILES(struct matched, name)},
    {"kernel", CW_CELL_TEXT, FILES(struct matched, kernel)},
    {"match", CW_CELL_TEXT, FILES(struct matched, match), .long_name = "shape, name (another shape), added or gone"},
    {"a_launches", CW_CELL_F64, FILES(struct matched, a_launches), .long_name = "in a mean run"},
    {"b_launches", CW_CELL_F64, FILES(struct matched, b_launches), .long_name = "in a mean run"},
    {"a_total_ns", CW_CELL_F64, FILES(struct matched, a_total), .units = "ns"},
    {"b_total_ns", CW_CELL_F64, FILES(struct matched, b_total), .units = "ns"},
    {"change_ns", CW_CELL_F64, FILES(struct matched, change), .units = "ns",
     .long_name = "of the total time, B less A; a missing group takes none"},
    {"a_launch_ns", CW_CELL_F64, FILES(struct matched, a_launch), .units = "ns"},
    {"b_launch_ns", CW_CELL_F64, FILES(struct matched, b_launch), .units = "ns"},
    {"relative", CW_CELL_F64, FILES(struct matched, relative),
     .long_name = "change of the time of a launch as a part of that in A"},
    {"changed", CW_CELL_U32, FILES(struct matched, changed), .long_name = "1: the time of a launch changed"},
    {"a_grid", CW_CELL_U32, TREES(struct matched, a_grid), &cw_output_xyz},
    {"a_block", CW_CELL_U32, TREES(struct matched, a_block), &cw_output_xyz},
    {"b_grid", CW_CELL_U32, TREES(struct matched, b_grid), &cw_output_xyz},
    {"b_block", CW_CELL_U32, TREES(struct matched, b_block), &cw_output_xyz},
};

static const char *match_word(const struct cw_match *m)
{
    return m->a == CW_NO_GROUP ? "added" : m->b == CW_NO_GROUP ? "gone" : m->reshaped ? "name" : "shape";
}

static const struct cw_group *named_group(const struct cw_comparison *c, const struct cw_match *m)
{
    return m->a != CW_NO_GROUP ? &c->a.groups.items[m->a] : &c->b.groups.items[m->b];
}

static const struct cw_range *named_launch(const struct cw_comparison *c, const struct cw_match *m)
{
    return m->a != CW_NO_GROUP ? cw_launch_of(&c->a.groups.data, m->a) : cw_launch_of(&c->b.groups.data, m->b);
}

static bool is_on_both(const struct cw_match *m)
{
    return m->a != CW_NO_GROUP && m->b != CW_NO_GROUP;
}

static struct matched describe(const struct cw_comparison *c, const struct cw_match *m)
{
    static const uint32_t none[3];
    const bool a = m->a != CW_NO_GROUP, b = m->b != CW_NO_GROUP;
    const struct cw_change time =
        a && b ? cw_compare_time(c, m) : (struct cw_change){.a = NAN, .b = NAN, .relative = NAN};
    const struct cw_range *x = a ? cw_launch_of(&c->a.groups.data, m->a) : NULL,
                          *y = b ? cw_launch_of(&c->b.groups.data, m->b) : NULL;
    return (struct matched){.name = named_group(c, m)->name,
                            .kernel = named_launch(c, m)->kernel,
                            .match = match_word(m),
                            .a_launches = a ? cw_side_launches(&c->a, m->a) : NAN,
                            .b_launches = b ? cw_side_launches(&c->b, m->b) : NAN,
                            .a_total = a ? c->a.groups.items[m->a].total : NAN,
                            .b_total = b ? c->b.groups.items[m->b].total : NAN,
                            .change = m->change,
                            .a_launch = a && !b ? c->a.groups.items[m->a].mean : time.a,
                            .b_launch = b && !a ? c->b.groups.items[m->b].mean : time.b,
                            .relative = cw_compare_part(time.a, time.b),
                            .changed = time.changed,
                            .a_grid = x ? x->grid : none,
                            .a_block = x ? x->block : none,
                            .b_grid = y ? y->grid : none,
                            .b_block = y ? y->block : none};
}

static bool add_matches(struct cw_output *output, const char *name, const char *group, const struct cw_comparison *c,
                        struct cw_arena *arena)
{
    struct matched *list = cw_arena_alloc(arena, c->match_count, sizeof *list);
    for (uint32_t i = 0; list && i < c->match_count; i++)
        list[i] = describe(c, &c->matches[i]);
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(match_columns), .name = name,           .group = group, .record_size = sizeof *list,
        .row_count = c->match_count,      .row = cw_output_array, .content = list};
    return list;
}

/* ---- their metrics ------------------------------------------------------------------------------------------------
 */

struct changed {
    uint64_t number; /* row of the groups' table */
    const char *name, *kernel, *metric, *unit, *a_status, *b_status;
    double a, b, relative, spread;
    uint32_t changed, judged;
};

static const struct cw_output_column change_columns[] = {
    {"group_number", CW_CELL_U64, FILES(struct changed, number), .long_name = "the row in the table of groups"},
    {"group", CW_CELL_TEXT, FILES(struct changed, name)},
    {"kernel", CW_CELL_TEXT, FILES(struct changed, kernel)},
    {"metric", CW_CELL_TEXT, FILES(struct changed, metric)},
    {"unit", CW_CELL_TEXT, FILES(struct changed, unit)},
    {"a", CW_CELL_F64, FILES(struct changed, a)},
    {"b", CW_CELL_F64, FILES(struct changed, b)},
    {"relative", CW_CELL_F64, FILES(struct changed, relative), .long_name = "change as a part of A: (b - a) / |a|"},
    {"spread", CW_CELL_F64, FILES(struct changed, spread), .long_name = "standard error of the change"},
    {"changed", CW_CELL_U32, FILES(struct changed, changed), .long_name = "1: by more than chance"},
    {"judged", CW_CELL_U32, FILES(struct changed, judged), .long_name = "0: nobody knows whether it changed"},
    {"a_status", CW_CELL_TEXT, FILES(struct changed, a_status)},
    {"b_status", CW_CELL_TEXT, FILES(struct changed, b_status)},
};

static const struct cw_output_column change_number = {"change", CW_CELL_U64, CW_TO_HDF5};

/* Changes are computed as their rows are read: there is one for each metric of each group. */
struct changes {
    const struct cw_comparison *of;
    const uint32_t *matches; /* the ones on both sides */
    struct changed row;
};

static struct cw_output_row change_row(const struct cw_output_table *table, uint64_t i)
{
    struct changes *all = table->content;
    const struct cw_comparison *c = all->of;
    const uint32_t metrics = c->a.means.metric_count, metric = (uint32_t)(i % metrics), at = all->matches[i / metrics];
    const struct cw_match *m = &c->matches[at];
    const struct cw_change change = cw_compare_metric(c, m, metric);
    all->row = (struct changed){.number = at,
                                .name = named_group(c, m)->name,
                                .kernel = named_launch(c, m)->kernel,
                                .metric = c->a.means.names[metric],
                                .unit = c->a.means.units[metric],
                                .a = change.a,
                                .b = change.b,
                                .relative = cw_compare_part(change.a, change.b),
                                .spread = change.spread,
                                .changed = change.changed,
                                .judged = !change.unjudged,
                                .a_status = cw_value_status_text(change.a_status),
                                .b_status = cw_value_status_text(change.b_status)};
    return (struct cw_output_row){.record = &all->row};
}

static bool add_changes(struct cw_output *output, const struct cw_comparison *c, struct cw_arena *arena)
{
    struct changes *all = cw_arena_alloc(arena, 1, sizeof *all);
    uint32_t *matches = cw_arena_alloc(arena, c->match_count, sizeof *matches), count = 0;
    if (!all || !matches)
        return false;
    for (uint32_t i = 0; i < c->match_count; i++)
        if (is_on_both(&c->matches[i]))
            matches[count++] = i;
    *all = (struct changes){.of = c, .matches = matches};
    output->tables[output->table_count++] =
        (struct cw_output_table){CW_OUTPUT_COLUMNS(change_columns),
                                 .name = "changes",
                                 .group = "change",
                                 .numbers = &change_number,
                                 .record_size = sizeof all->row,
                                 .row_count = (uint64_t)count * c->a.means.metric_count,
                                 .row = change_row,
                                 .content = all};
    return true;
}

enum cw_status cw_diff_tables(struct cw_output *output, const struct cw_diff_output *diff, struct cw_arena *arena,
                              struct cw_error *err)
{
    output->data = diff->of->a.data;
    output->source = diff->of->a_source;
    bool good = add_matches(output, "groups", "group", diff->of, arena);
    if (good && diff->ranges)
        good = add_matches(output, "nvtx", "nvtx", diff->ranges, arena);
    if (good && !diff->traces)
        good = add_changes(output, diff->of, arena);
    return good ? CW_OK : cw_error_nomem(err);
}

/* ---- gate -------------------------------------------------------------------------------------------------------- */

struct judged {
    const char *name, *kernel, *verdict;
    double shown;
    uint64_t findings;
    const uint32_t *grid, *block;
};

static const struct cw_output_column judged_columns[] = {
    {"group", CW_CELL_TEXT, FILES(struct judged, name)},
    {"kernel", CW_CELL_TEXT, FILES(struct judged, kernel)},
    {"verdict", CW_CELL_TEXT, FILES(struct judged, verdict)},
    {"slowdown_shown", CW_CELL_F64, FILES(struct judged, shown), .long_name = "the smallest slow-down that would show"},
    {"findings", CW_CELL_U64, FILES(struct judged, findings)},
    {"grid", CW_CELL_U32, TREES(struct judged, grid), &cw_output_xyz},
    {"block", CW_CELL_U32, TREES(struct judged, block), &cw_output_xyz},
};

struct found {
    uint64_t number; /* row of the groups' table */
    const char *name, *kernel, *metric, *verdict, *a_status, *b_status;
    double a, b, allowed;
};

static const struct cw_output_column found_columns[] = {
    {"group_number", CW_CELL_U64, FILES(struct found, number), .long_name = "the row in the table of groups"},
    {"group", CW_CELL_TEXT, FILES(struct found, name)},
    {"kernel", CW_CELL_TEXT, FILES(struct found, kernel)},
    {"metric", CW_CELL_TEXT, FILES(struct found, metric)},
    {"a", CW_CELL_F64, FILES(struct found, a)},
    {"b", CW_CELL_F64, FILES(struct found, b)},
    {"allowed", CW_CELL_F64, FILES(struct found, allowed), .long_name = "how far b may be from a"},
    {"verdict", CW_CELL_TEXT, FILES(struct found, verdict)},
    {"a_status", CW_CELL_TEXT, FILES(struct found, a_status)},
    {"b_status", CW_CELL_TEXT, FILES(struct found, b_status)},
};

static const struct cw_output_column finding_number = {"finding", CW_CELL_U64, CW_TO_HDF5};

static struct found describe_finding(const struct cw_judgement *j, const struct cw_gate_finding *f)
{
    const struct cw_match *m = &j->comparison->matches[f->match];
    return (struct found){.number = f->match,
                          .name = named_group(j->comparison, m)->name,
                          .kernel = named_launch(j->comparison, m)->kernel,
                          .metric = j->rules->metrics[f->metric].name,
                          .a = f->a,
                          .b = f->b,
                          .allowed = f->allowed,
                          .verdict = cw_verdict_names[f->verdict],
                          .a_status = cw_value_status_text((enum cw_value_status)f->a_status),
                          .b_status = cw_value_status_text((enum cw_value_status)f->b_status)};
}

enum cw_status cw_gate_tables(struct cw_output *output, const struct cw_judgement *j, struct cw_arena *arena,
                              struct cw_error *err)
{
    const struct cw_comparison *c = j->comparison;
    struct judged *groups = cw_arena_alloc(arena, c->match_count, sizeof *groups);
    struct found *findings = cw_arena_alloc(arena, j->finding_count, sizeof *findings);
    if (!groups || !findings)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < c->match_count; i++) {
        const struct cw_match *m = &c->matches[i];
        groups[i] = (struct judged){.name = named_group(c, m)->name,
                                    .kernel = named_launch(c, m)->kernel,
                                    .verdict = cw_verdict_names[j->verdicts[i]],
                                    .shown = j->shown[i],
                                    .grid = named_launch(c, m)->grid,
                                    .block = named_launch(c, m)->block};
    }
    for (uint32_t i = 0; i < j->finding_count; i++) {
        findings[i] = describe_finding(j, &j->findings[i]);
        groups[j->findings[i].match].findings++;
    }
    output->data = c->a.data;
    output->source = c->a_source;
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(judged_columns), .name = "groups",       .group = "group", .record_size = sizeof *groups,
        .row_count = c->match_count,       .row = cw_output_array, .content = groups};
    output->tables[output->table_count++] = (struct cw_output_table){CW_OUTPUT_COLUMNS(found_columns),
                                                                     .name = "findings",
                                                                     .group = "finding",
                                                                     .numbers = &finding_number,
                                                                     .record_size = sizeof *findings,
                                                                     .row_count = j->finding_count,
                                                                     .row = cw_output_array,
                                                                     .content = findings};
    return CW_OK;
}
