/* Writes captures of the ranks of a job that differ as runs do: ranks_of_runs RANKS FOLDER RUN.cwd RUN.cwd...
 *
 * The runs are captures of one plan with the same launches. What is equal in all of them is equal on all ranks. What is
 * not is drawn: the mean of the runs, and of what each differs by, a part that is drawn anew for each launch of each
 * rank. So it has the spread that the runs have, and what differs together differs together. Whole numbers stay whole,
 * and an average that is a sum by a number stays that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/counter_data.h"
#include "tests/support/pairs.h"

enum { MOST_RUNS = 16, MOST_PAIRS = 128 };

static struct cw_counter_data runs[MOST_RUNS];
static int run_count;
static uint64_t state = 88172645463325252;

static double draw(void)
{
    double sum = 0; /* twelve of them are about normal */
    for (int i = 0; i < 12; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum += (double)(state >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

/* A number of this launch, whose parts of the runs' differences are `parts`. */
static double mix(const double *of_runs, const double *parts)
{
    double mean = 0, more = 0;
    bool equal = true, whole = true;
    for (int r = 0; r < run_count; r++) {
        equal = equal && memcmp(&of_runs[r], &of_runs[0], sizeof *of_runs) == 0;
        whole = whole && of_runs[r] == floor(of_runs[r]);
        mean += of_runs[r] / run_count;
    }
    if (equal)
        return of_runs[0];
    for (int r = 0; r < run_count; r++)
        more += (of_runs[r] - mean) * parts[r];
    const double number = mean + more / sqrt(run_count - 1);
    return whole ? fabs(round(number)) : number;
}

static double mix_rollup(int rollup, size_t at, const double *parts)
{
    double of_runs[MOST_RUNS];
    for (int r = 0; r < run_count; r++)
        of_runs[r] = runs[r].rollups[rollup][at];
    return mix(of_runs, parts);
}

static struct cw_value mix_value(size_t at, const double *parts)
{
    const struct cw_counter_data *d = &runs[0];
    struct cw_value value = {.form = (enum cw_value_form)d->forms[at]};
    for (int r = 0; r < run_count; r++) /* rollups have what all shorter forms have */
        if (runs[r].forms[at] > CW_FORM_UNAVAILABLE)
            value.form = CW_FORM_ROLLUPS;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        value.rollup[r] = mix_rollup(r, at, parts);
    const double instances = round(d->rollups[CW_SUM][at] / d->rollups[CW_AVG][at]);
    if (d->rollups[CW_SUM][at] / instances == d->rollups[CW_AVG][at])
        value.rollup[CW_AVG] = value.rollup[CW_SUM] / instances;
    return value;
}

static void write_range(uint32_t rank, uint32_t i, struct cw_value *values, struct cw_writer *out)
{
    const struct cw_counter_data *d = &runs[0];
    struct cw_range range = d->ranges[i];
    struct cw_pair pairs[MOST_PAIRS];
    double parts[MOST_RUNS], durations[CW_PASSES_MAX], facts[CW_FACTS_MAX], of_runs[MOST_RUNS];
    char text[16];
    snprintf(text, sizeof text, "%u", rank);
    for (int r = 0; r < run_count; r++)
        parts[r] = draw();
    range.attribute_count = replace_pair(pairs, MOST_PAIRS, range.attributes, range.attribute_count,
                                         (struct cw_pair){"rank", text});
    range.attributes = pairs;
    range.device = 0;
    range.process = 1000 + rank;
    range.start_ns += (uint64_t)(1e6 * fabs(draw())); /* ranks begin some milliseconds apart */
    range.end_ns =
        range.start_ns + (uint64_t)((double)(d->ranges[i].end_ns - d->ranges[i].start_ns) * (1 + 0.05 * fabs(draw())));
    for (uint32_t p = 0; p < d->schema.pass_count; p++) {
        for (int r = 0; r < run_count; r++)
            of_runs[r] = runs[r].ranges[i].durations[p];
        durations[p] = mix(of_runs, parts);
    }
    range.durations = durations;
    for (uint32_t f = 0; f < d->schema.fact_count; f++)
        facts[f] = d->facts[(size_t)f * d->range_count + i];
    range.facts = facts;
    for (uint32_t c = 0; c < cw_schema_columns(&d->schema); c++)
        values[c] = mix_value((size_t)c * d->range_count + i, parts);
    cw_counter_data_write_range(&d->schema, &range, values, out);
}

static bool write_rank(const char *folder, uint32_t rank, struct cw_value *values, struct cw_writer *out)
{
    char path[4096], pci[32];
    struct cw_pair pairs[MOST_PAIRS];
    struct cw_device device = runs[0].devices[0];
    snprintf(pci, sizeof pci, "%04x:%02x:00.0", rank / 8, rank % 8 + 1);
    device.attribute_count = replace_pair(pairs, MOST_PAIRS, device.attributes, device.attribute_count,
                                          (struct cw_pair){"pci", pci});
    device.attributes = pairs;
    device.index = 0;
    out->size = 0;
    cw_schema_write_header(&runs[0].schema, out);
    cw_schema_write(&runs[0].schema, out);
    cw_counter_data_write_device(&runs[0].schema, &device, out);
    for (uint32_t i = 0; i < runs[0].range_count; i++)
        write_range(rank, i, values, out);
    cw_counter_data_write_end(runs[0].range_count, 0, CW_END_EXITED, 0, out);
    snprintf(path, sizeof path, "%s/run.%u.cwd", folder, rank);
    return out->status == CW_OK && cw_file_write(path, out->data, out->size, NULL) == CW_OK;
}

static bool read_runs(char *const *paths, int count, struct cw_arena *arena)
{
    struct cw_bytes in;
    for (run_count = 0; run_count < count; run_count++) {
        struct cw_counter_data *d = &runs[run_count];
        if (run_count == MOST_RUNS || cw_file_read(&in, paths[run_count], 1 << 28, NULL) != CW_OK ||
            cw_counter_data_read(d, in.data, in.size, paths[run_count], arena, NULL) != CW_OK || !d->range_count ||
            d->range_count != runs[0].range_count ||
            cw_schema_columns(&d->schema) != cw_schema_columns(&runs[0].schema) ||
            d->schema.pass_count != runs[0].schema.pass_count)
            return false;
    }
    return run_count > 1;
}

int main(int argc, char **argv)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_writer out;
    if (argc < 5 || !read_runs(argv + 3, argc - 3, arena)) {
        fputs("usage: ranks_of_runs RANKS FOLDER RUN.cwd RUN.cwd...\n", stderr);
        return 2;
    }
    const uint32_t ranks = (uint32_t)strtoul(argv[1], NULL, 10);
    struct cw_value *values = calloc(cw_schema_columns(&runs[0].schema) + 1, sizeof *values);
    bool good = values;
    cw_writer_init(&out);
    for (uint32_t rank = 0; good && rank < ranks; rank++)
        good = write_rank(argv[2], rank, values, &out);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
    free(values);
    if (!good)
        perror("ranks_of_runs");
    return good ? 0 : 5;
}
