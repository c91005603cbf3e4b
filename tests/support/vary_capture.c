/* vary_capture OUT SEED HALF COUNTER FACTOR KERNEL IN.cwd...: a run that might have been, of captures of ranges of one
 * plan. Of each kernel and shape its launches in all captures, less the first on each device, which warms up, are the
 * pool, or every second of them: HALF is 0, 1, or `all`; `same`: these launches, none drawn. Halves of fewer than 8
 * say little of one another: then all are the pool. As many as are in the
 * pool, divided by the number of captures, are drawn, the same one perhaps several times. Then the counter COUNTER (""
 * none) of the KERNEL-th kernel is multiplied by FACTOR; exit 3 where there is no such counter above 0. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/counter_data.h"

enum { LARGEST = 1 << 28, LEAST_HALF = 8 };

struct launch {
    const struct cw_counter_data *data;
    uint32_t range;
    size_t number;
};

static struct launch *launches;
static size_t launch_count;
static uint64_t state;

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1d >> 16) % below;
}

static void fail(const char *what)
{
    fprintf(stderr, "vary_capture: %s\n", what);
    exit(2);
}

static const struct cw_range *range_of(const struct launch *l)
{
    return &l->data->ranges[l->range];
}

static int by_kernel(const void *a, const void *b)
{
    const struct cw_range *x = range_of(a), *y = range_of(b);
    int order = strcmp(x->kernel[0] ? x->kernel : x->name, y->kernel[0] ? y->kernel : y->name);
    order = order ? order : memcmp(x->grid, y->grid, sizeof x->grid);
    return order ? order : memcmp(x->block, y->block, sizeof x->block);
}

/* By kernel, then as they came. */
static int in_order(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    const int order = by_kernel(a, b);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Whether it is the first of its kernel on its device in its capture, which warms up: launches[begin] is the first of
 * the kernel in all. */
static bool is_first(size_t begin, size_t i)
{
    for (size_t k = begin; k < i; k++)
        if (launches[k].data == launches[i].data && range_of(&launches[k])->device == range_of(&launches[i])->device)
            return false;
    return true;
}

/* Moves those that warm up to the begin of a kernel's launches, unless nothing else is there. Returns how many. */
static size_t set_first_apart(size_t begin, size_t end)
{
    struct launch *sorted = malloc((end - begin) * sizeof *sorted);
    size_t count = 0, others = 0;
    if (!sorted)
        fail("out of memory");
    for (size_t i = begin; i < end; i++)
        if (is_first(begin, i))
            sorted[count++] = launches[i];
    for (size_t i = begin; i < end; i++)
        if (!is_first(begin, i))
            sorted[count + others++] = launches[i];
    if (others > 1)
        memcpy(&launches[begin], sorted, (end - begin) * sizeof *sorted);
    free(sorted);
    return others > 1 ? count : 0;
}

static struct cw_counter_data *load(const char *path, struct cw_arena *arena)
{
    struct cw_counter_data *data = cw_arena_alloc(arena, 1, sizeof *data);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes file;
    if (!data || cw_file_read(&file, path, LARGEST, &err) != CW_OK ||
        cw_counter_data_read(data, file.data, file.size, path, arena, &err) != CW_OK)
        fail(err.message);
    cw_bytes_free(&file); /* samples stay in it, ranges do not */
    launches = realloc(launches, (launch_count + data->range_count + 1) * sizeof *launches);
    for (uint32_t i = 0; launches && i < data->range_count; i++) {
        launches[launch_count] = (struct launch){data, i, launch_count};
        launch_count++;
    }
    return data;
}

/* Returns whether a value changed. */
static bool put(const struct launch *l, const struct cw_schema *schema, const char *counter, double factor,
                struct cw_writer *out)
{
    const struct cw_counter_data *d = l->data;
    const uint32_t columns = cw_schema_columns(schema);
    struct cw_value *values = calloc(columns, sizeof *values);
    struct cw_range range = *range_of(l);
    const bool times = strcmp(counter, "gpu__time_duration") == 0; /* which time the passes as well */
    double *durations = calloc(schema->pass_count + (size_t)1, sizeof *durations);
    bool found = false;
    double facts[CW_FACTS_MAX];
    for (uint32_t f = 0; f < d->schema.fact_count; f++)
        facts[f] = d->facts[(size_t)f * d->range_count + l->range];
    range.facts = facts;
    for (uint32_t p = 0; durations && p < schema->pass_count; p++)
        durations[p] = range.durations[p] * (times ? factor : 1);
    range.durations = durations ? durations : range.durations;
    range.device = d->devices[range.device].index;
    for (uint32_t c = 0; values && c < columns; c++) {
        const size_t at = (size_t)c * d->range_count + l->range;
        const bool changed = strcmp(schema->counters[cw_schema_column_counter(schema, c)].name, counter) == 0;
        values[c].form = d->forms[at] == CW_FORM_INSTANCES ? CW_FORM_ROLLUPS : (enum cw_value_form)d->forms[at];
        found = found || (changed && d->rollups[CW_SUM][at] > 0);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            values[c].rollup[r] = d->rollups[r][at] * (changed ? factor : 1);
        if (values[c].form == CW_FORM_ZERO || values[c].form == CW_FORM_ONE)
            values[c].form = CW_FORM_ROLLUPS;
    }
    cw_counter_data_write_range(schema, &range, values, out);
    free(values);
    free(durations);
    return found;
}

static bool same_facts(const struct cw_schema *a, const struct cw_schema *b)
{
    bool same = a->fact_count == b->fact_count;
    for (uint32_t f = 0; same && f < a->fact_count; f++)
        same = strcmp(a->fact_names[f], b->fact_names[f]) == 0;
    return same;
}

int main(int argc, char **argv)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_counter_data *first = NULL;
    struct cw_writer out;
    struct cw_error err = CW_ERROR_INIT;
    uint64_t written = 0, kernels = 0;
    bool found = false;
    if (argc < 8)
        fail("usage: OUT SEED HALF COUNTER FACTOR KERNEL IN.cwd...");
    const char *half = argv[3], *counter = argv[4];
    const double factor = strtod(argv[5], NULL);
    const size_t files = (size_t)argc - 7;
    state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
    for (int i = 0; i < 16; i++)
        draw(2);
    for (int i = 7; i < argc; i++) {
        const struct cw_counter_data *d = load(argv[i], arena);
        first = first ? first : d;
        if (cw_schema_columns(&d->schema) != cw_schema_columns(&first->schema) ||
            !same_facts(&d->schema, &first->schema))
            fail("captures of several plans");
    }
    qsort(launches, launch_count, sizeof *launches, in_order);
    for (size_t i = 0; i < launch_count; i++)
        kernels += !i || by_kernel(&launches[i - 1], &launches[i]) != 0;
    cw_writer_init(&out);
    cw_schema_write_header(&first->schema, &out);
    cw_schema_write(&first->schema, &out);
    for (uint32_t i = 0; i < first->device_count; i++)
        cw_counter_data_write_device(&first->schema, &first->devices[i], &out);
    const uint64_t chosen = strtoull(argv[6], NULL, 10) % (kernels ? kernels : 1);
    uint64_t kernel = 0;
    for (size_t i = 0, end; i < launch_count; i = end, kernel++) {
        for (end = i; end < launch_count && by_kernel(&launches[i], &launches[end]) == 0;)
            end++;
        const bool same = strcmp(half, "same") == 0;
        const size_t first_drawn = i + (same ? 0 : set_first_apart(i, end));
        const size_t step = same || strcmp(half, "all") == 0 || end - first_drawn < 2 * LEAST_HALF ? 1 : 2;
        const size_t start = first_drawn + (step == 2 ? strtoull(half, NULL, 10) & 1 : 0);
        if (end <= start)
            fail("a kernel has too few launches for halves");
        const size_t pool = (end - start + step - 1) / step, wanted = same ? pool : pool / files ? pool / files : 1;
        for (size_t k = 0; k < wanted; k++, written++)
            found |= put(&launches[start + step * (same ? k : draw(pool))], &first->schema,
                         kernel == chosen ? counter : "", factor, &out);
    }
    cw_counter_data_write_end(written, 0, CW_END_EXITED, 0, &out);
    if (out.status != CW_OK || cw_file_write(argv[1], out.data, out.size, &err) != CW_OK)
        fail(err.message);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
    free(launches);
    return *counter && !found ? 3 : 0;
}
