/* Writes the captures of the ranks of a job, from one real capture: make_ranks IN.cwd RANKS FOLDER [RANGES [SLOW]]
 *
 * FOLDER/run.N.cwd is rank N: the first RANGES ranges (default: all) of IN.cwd on a GPU of its own, eight on a host, with
 * values that differ a little from rank to rank where they would in a job: times, cycles and what is counted in them.
 * What a kernel does by its instructions (inst, thread_inst, bytes it asks for) is what IN.cwd has. The rank SLOW ran at
 * a clock that was 12 % lower. The writes are those of one process, so that it takes no longer than the disk. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/counter_data.h"
#include "tests/support/pairs.h"

enum { GPUS = 8, MOST_ATTRIBUTES = 128 };
static const double slow_clock = 0.88;

struct job {
    const struct cw_counter_data *data;
    const char *folder;
    uint32_t ranges;
    long slow;
    struct cw_value *values;
};

/* Between 0 and 1, the same for the same numbers. */
static double draw(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15 ^ b * 0xbf58476d1ce4e5b9 ^ c * 0x94d049bb133111eb;
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    return (double)(x >> 11) / 9007199254740992.0;
}

static bool is_work(const char *counter)
{
    return strstr(counter, "inst") || strstr(counter, "bytes") || strstr(counter, "launch") ||
           strstr(counter, "sectors") || strstr(counter, "requests");
}

static bool is_time(const char *counter)
{
    return strstr(counter, "time") != NULL;
}

/* What a counter of a range is multiplied by: the cycles that it took differ, and so does the time; the slow rank has the
 * cycles of others and more time. */
static double factor(const struct job *j, uint32_t rank, uint32_t range, const char *counter)
{
    const double cycles = 1 + 0.02 * draw(rank, range, 1);
    const double time = rank == j->slow ? cycles / slow_clock : cycles;
    return is_work(counter) ? 1 : is_time(counter) ? time : strstr(counter, "cycles") ? cycles
                                                          : 1 + 0.01 * draw(rank, range, 2);
}

static void write_device(const struct job *j, const struct cw_device *of, uint32_t rank, struct cw_writer *out)
{
    struct cw_pair pairs[MOST_ATTRIBUTES];
    struct cw_device device = *of;
    char host[32], pci[32];
    snprintf(host, sizeof host, "node%04u", rank / GPUS);
    snprintf(pci, sizeof pci, "0000:%02x:00.0", rank % GPUS + 1);
    const uint32_t count =
        replace_pair(pairs, MOST_ATTRIBUTES - 1, of->attributes, of->attribute_count, (struct cw_pair){"pci", pci});
    device.attribute_count = replace_pair(pairs, MOST_ATTRIBUTES, pairs, count, (struct cw_pair){"host", host});
    device.attributes = pairs;
    device.index = 0;
    cw_counter_data_write_device(&j->data->schema, &device, out);
}

static void write_clocks(const struct job *j, uint32_t rank, struct cw_writer *out)
{
    const uint32_t sm = (uint32_t)(1980 * (rank == j->slow ? slow_clock : 1));
    const uint64_t limits = rank == j->slow ? 0x40 : 0;
    const struct cw_gpu_clock readings[] = {{1700000000000000000, sm, 2619, limits},
                                            {1700000010000000000, sm, 2619, limits}};
    cw_gpu_clocks_write(&(struct cw_gpu_clocks){.device = 0, .count = 2, .readings = readings}, out);
}

static void write_range(const struct job *j, uint32_t rank, uint32_t i, struct cw_writer *out)
{
    const struct cw_counter_data *d = j->data;
    struct cw_range range = d->ranges[i];
    struct cw_pair pairs[MOST_ATTRIBUTES];
    double durations[4096], facts[CW_FACTS_MAX];
    char text[16];
    snprintf(text, sizeof text, "%u", rank);
    range.attribute_count = replace_pair(pairs, MOST_ATTRIBUTES, range.attributes, range.attribute_count,
                                         (struct cw_pair){"rank", text});
    range.attributes = pairs;
    range.device = 0;
    range.process = 1000 + rank;
    for (uint32_t p = 0; p < d->schema.pass_count; p++)
        durations[p] = range.durations[p] * factor(j, rank, i, "time");
    range.durations = durations;
    for (uint32_t f = 0; f < d->schema.fact_count; f++)
        facts[f] = d->facts[(size_t)f * d->range_count + i];
    range.facts = facts;
    for (uint32_t c = 0; c < cw_schema_columns(&d->schema); c++) {
        const size_t at = (size_t)c * d->range_count + i;
        const char *name = d->schema.counters[cw_schema_column_counter(&d->schema, c)].name;
        const double more = factor(j, rank, i, name);
        j->values[c] = (struct cw_value){.form = d->forms[at] > CW_FORM_UNAVAILABLE && d->forms[at] != CW_FORM_OVERFLOW
                                                     ? CW_FORM_ROLLUPS
                                                     : (enum cw_value_form)d->forms[at]};
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            j->values[c].rollup[r] = more == 1 ? d->rollups[r][at] : round(d->rollups[r][at] * more);
    }
    cw_counter_data_write_range(&d->schema, &range, j->values, out);
}

static bool write_rank(const struct job *j, uint32_t rank, struct cw_writer *out)
{
    char path[4096];
    out->size = 0;
    cw_schema_write_header(&j->data->schema, out);
    cw_schema_write(&j->data->schema, out);
    write_device(j, &j->data->devices[0], rank, out);
    for (uint32_t i = 0; i < j->ranges; i++)
        write_range(j, rank, i, out);
    write_clocks(j, rank, out);
    cw_counter_data_write_end(j->ranges, 0, CW_END_EXITED, 0, out);
    snprintf(path, sizeof path, "%s/run.%u.cwd", j->folder, rank);
    FILE *file = out->status == CW_OK ? fopen(path, "w") : NULL;
    const bool good = file && fwrite(out->data, 1, out->size, file) == out->size;
    return file && fclose(file) == 0 && good;
}

int main(int argc, char **argv)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_bytes in;
    struct cw_writer out;
    const uint32_t ranks = argc > 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!ranks || cw_file_read(&in, argv[1], 1 << 28, NULL) != CW_OK ||
        cw_counter_data_read(&data, in.data, in.size, argv[1], arena, NULL) != CW_OK || !data.range_count ||
        data.schema.pass_count > 4096) {
        fputs("usage: make_ranks IN.cwd RANKS FOLDER [RANGES [SLOW]]\n", stderr);
        return 2;
    }
    struct job job = {.data = &data, .folder = argv[3], .ranges = data.range_count, .slow = -1};
    const unsigned long wanted = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    job.ranges = wanted && wanted < job.ranges ? (uint32_t)wanted : job.ranges;
    job.slow = argc > 5 ? strtol(argv[5], NULL, 10) : -1;
    job.values = calloc(cw_schema_columns(&data.schema) + 1, sizeof *job.values);
    cw_writer_init(&out);
    bool good = job.values != NULL;
    for (uint32_t rank = 0; good && rank < ranks; rank++)
        good = write_rank(&job, rank, &out);
    cw_writer_free(&out);
    free(job.values);
    cw_bytes_free(&in);
    cw_arena_destroy(arena);
    if (!good)
        perror("make_ranks");
    return good ? 0 : 5;
}
