#include "view/advice_tables.h"

#include "eval/output/advice.h"

struct kernel {
    const char *name, *function, *limiter, *confidence, *first;
    uint64_t launches, findings;
    double total, share;
    const uint32_t *grid, *block;
};

struct finding {
    uint32_t number, kernel; /* kernel: row of its table */
    const char *name, *rule, *title, *text, *fix, *confidence;
    double gain;
};

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

static const struct cw_output_column kernel_columns[] = {
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, name)},
    {"function", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, function)},
    {"launches", CW_CELL_U64, CW_TO_FILES, offsetof(struct kernel, launches)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct kernel, total), .units = "ns"},
    {"share", CW_CELL_F64, CW_TO_FILES, offsetof(struct kernel, share)},
    {"limiter", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, limiter)},
    {"confidence", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, confidence)},
    {"first_finding", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, first),
     .long_name = "the text of the finding that saves most"},
    {"findings", CW_CELL_U64, CW_TO_FILES, offsetof(struct kernel, findings)},
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct kernel, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct kernel, block), &xyz},
};

static const struct cw_output_column finding_columns[] = {
    {"finding", CW_CELL_U32, CW_TO_HDF5, offsetof(struct finding, number)},
    {"kernel_number", CW_CELL_U32, CW_TO_FILES, offsetof(struct finding, kernel),
     .long_name = "the row in the table of kernels"},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, name)},
    {"rule", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, rule)},
    {"gain", CW_CELL_F64, CW_TO_FILES, offsetof(struct finding, gain),
     .long_name = "the part of the kernel's time that would go; 0 of a note"},
    {"confidence", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, confidence)},
    {"title", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, title)},
    {"text", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, text)},
    {"fix", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, fix)},
};

/* The sentence of the first finding; "" where there is none, NULL when out of memory. */
static const char *first_text(const struct cw_advice_kernel *k, struct cw_arena *arena)
{
    const struct cw_advice_finding *first = cw_advice_first(k);
    return first ? cw_advice_text(first, arena) : "";
}

static struct kernel describe(const struct cw_advice *advice, const struct cw_advice_kernel *k, struct cw_arena *arena)
{
    return (struct kernel){.name = k->group->name,
                           .function = k->launch->kernel,
                           .limiter = k->limiter,
                           .confidence = cw_confidence_text(k->confidence),
                           .first = first_text(k, arena),
                           .launches = k->group->count,
                           .findings = k->finding_count,
                           .total = k->group->total,
                           .share = cw_group_share(advice->groups, k->group),
                           .grid = k->launch->grid,
                           .block = k->launch->block};
}

static bool add_findings(struct finding *list, uint32_t *count, uint32_t row, const struct cw_advice_kernel *k,
                         struct cw_arena *arena)
{
    bool good = true;
    for (size_t i = 0; good && i < k->finding_count; i++) {
        const struct cw_advice_finding *f = &k->findings[i];
        const char *text = cw_advice_text(f, arena);
        good = text;
        list[*count] = (struct finding){.number = *count,
                                        .kernel = row,
                                        .name = k->group->name,
                                        .rule = f->rule->id,
                                        .title = f->rule->title,
                                        .text = text,
                                        .fix = f->rule->fix,
                                        .confidence = cw_confidence_text(f->confidence),
                                        .gain = f->gain};
        ++*count;
    }
    return good;
}

enum cw_status cw_advice_tables(struct cw_output *output, const struct cw_advice *advice, struct cw_arena *arena,
                                struct cw_error *err)
{
    size_t all = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < advice->kernel_count; i++)
        all += advice->kernels[i].finding_count;
    struct kernel *kernels = cw_arena_alloc(arena, advice->kernel_count, sizeof *kernels);
    struct finding *findings = cw_arena_alloc(arena, all, sizeof *findings);
    bool good = kernels && findings;
    for (uint32_t i = 0; good && i < advice->kernel_count; i++) {
        const struct cw_advice_kernel *k = &advice->kernels[advice->longest[i]];
        kernels[i] = describe(advice, k, arena);
        good = kernels[i].first && add_findings(findings, &count, i, k, arena);
    }
    if (!good)
        return cw_error_nomem(err);
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(kernel_columns), .name = "kernels",      .group = "kernel", .record_size = sizeof *kernels,
        .row_count = advice->kernel_count, .row = cw_output_array, .content = kernels};
    output->tables[output->table_count++] = (struct cw_output_table){CW_OUTPUT_COLUMNS(finding_columns),
                                                                     .name = "findings",
                                                                     .group = "finding",
                                                                     .record_size = sizeof *findings,
                                                                     .row_count = count,
                                                                     .row = cw_output_array,
                                                                     .content = findings};
    return CW_OK;
}
