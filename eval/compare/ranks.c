#define _GNU_SOURCE
#include "eval/compare/ranks.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shorten.h"
#include "eval/compare/compare.h"
#include "eval/quantile.h"

/* Whether a value stands apart: by 5 % of the median, and, of four ranks and more, by five times the usual distance
 * from it (1.4826 times the median distance, which is the standard deviation of a normal distribution). */
static bool is_outlier(double value, const struct cw_rank_spread *s)
{
    enum { FEW = 4 };
    static const double LEAST = 0.05, USUAL = 5 * 1.4826;
    const double off = fabs(value - s->median);
    return off > LEAST * fabs(s->median) && off > 0 && (s->count < FEW || off > USUAL * s->distance);
}

void cw_rank_spread_make(struct cw_rank_spread *s, const double *values, const uint32_t *rank, uint32_t count,
                         double *scratch)
{
    double sum = 0, squares = 0;
    uint32_t n = 0;
    *s = (struct cw_rank_spread){.least = NAN, .greatest = NAN};
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        scratch[n++] = values[i];
        sum += values[i];
        if (!(values[i] >= s->least))
            s->least = values[i], s->least_rank = rank[i];
        if (!(values[i] <= s->greatest))
            s->greatest = values[i], s->greatest_rank = rank[i];
    }
    s->count = n;
    /* NaN without a value, and so are the values computed from it; a sum of equal values is rounded */
    s->mean = fmax(s->least, fmin(s->greatest, sum / n));
    for (uint32_t i = 0; i < n; i++)
        squares += (scratch[i] - s->mean) * (scratch[i] - s->mean);
    s->deviation = cw_sample_deviation(squares, n);
    s->imbalance = s->mean > 0 ? s->greatest / s->mean - 1 : NAN;
    s->lower = s->median = s->upper = s->distance = NAN;
    if (!n)
        return;
    cw_values_sort(scratch, n);
    s->lower = cw_quantile(scratch, n, 0.25);
    s->median = cw_quantile(scratch, n, 0.5);
    s->upper = cw_quantile(scratch, n, 0.75);
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - s->median);
    cw_values_sort(scratch, n);
    s->distance = cw_quantile(scratch, n, 0.5);
    for (uint32_t i = 0; i < count; i++)
        s->outliers += isfinite(values[i]) && is_outlier(values[i], s);
}

/* ---- the ranks --------------------------------------------------------------------------------------------------- */

const char *const cw_rank_causes[CW_CAUSE__COUNT][3] = {
    [CW_CAUSE_CLOCK] = {"sm__cycles_elapsed.avg.per_second"},
    [CW_CAUSE_CYCLES] = {"sm__cycles_elapsed.max", "sm__cycles_active.max"},
    [CW_CAUSE_INSTRUCTIONS] = {"smsp__inst_executed.sum", "sm__inst_executed.sum"},
    [CW_CAUSE_BYTES] = {"dram__bytes.sum", "lts__t_bytes.sum"},
};

/* Parts of names of functions and NVTX ranges that exchange data with other ranks, in lower case and without '_', '-'
 * and spaces; and "mpi", where a word begins with it: "MPI_Wait" and "waitMPI", but not "compile". */
static const char *const waiting[] = {"nccl",     "rccl",      "nvshmem",  "allreduce", "reducescatter", "allgather",
                                      "alltoall", "broadcast", "sendrecv", "barrier",   "halo"};

static bool begins_mpi(const char *at, const char *name)
{
    if (strncasecmp(at, "mpi", 3) != 0)
        return false;
    if (at > name && at[-1] == 'P' && *at == 'M') /* PMPI_Wait */
        at--;
    return at == name || !isalpha((unsigned char)at[-1]) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
}

/* Copies a function's name with its namespaces and classes, without template arguments and parameters: these say what a
 * kernel is made of, not that it waits. */
static const char *without_arguments(const char *name, char out[CW_SHORT_SIZE])
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t size = 0, depth = 0;
    for (const char *at = name; *at && size < CW_SHORT_SIZE - 1; at++) {
        const bool hidden = strncmp(at, anonymous, sizeof anonymous - 1) == 0;
        if (hidden)
            at += sizeof anonymous - 2;
        else if (*at == '(' && !depth)
            break;
        depth += *at == '<';
        if (!hidden && !depth)
            out[size++] = *at;
        depth -= depth && *at == '>';
    }
    out[size] = 0;
    return out;
}

bool cw_rank_waits(const char *name)
{
    char plain[512];
    size_t size = 0;
    for (const char *at = name; *at && size < sizeof plain - 1; at++) {
        if (begins_mpi(at, name))
            return true;
        if (!strchr("_- ", *at))
            plain[size++] = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
    }
    plain[size] = 0;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        if (strstr(plain, waiting[i]))
            return true;
    return false;
}

struct cw_rank_gathering {
    struct cw_arena *arena;
    int fd; /* of the nameless file of values; -1 */
    char *buffer;
    size_t used;
    uint64_t written;
    struct cw_rank *ranks;
    struct cw_rank_kernel *kernels;
    struct cw_rank_row *rows;
    size_t rank_room, kernel_room, row_room;
    void *by_label, *by_number; /* trees of struct named */
    uint32_t batch_ranks;       /* ranks before this batch */
};

/* A kernel by its label, or a rank by its number, and its index. */
struct named {
    const char *label;
    uint32_t number, index;
};

enum { BUFFER = 1 << 20 };

/* ---- the file of values ------------------------------------------------------------------------------------------ */

static size_t record_size(const struct cw_ranks *r)
{
    return r->metric_count * (sizeof(double) + 1);
}

static enum cw_status flush_file(struct cw_rank_gathering *g, struct cw_error *err)
{
    for (size_t done = 0; done < g->used;) {
        const ssize_t n = pwrite(g->fd, g->buffer + done, g->used - done, (off_t)g->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return cw_error_set(err, CW_ERR_IO, "temporary file for the values of ranks: cannot write: %s",
                                n ? strerror(errno) : "no room");
        done += (size_t)n;
        g->written += (uint64_t)n;
    }
    g->used = 0;
    return CW_OK;
}

static enum cw_status put_bytes(struct cw_rank_gathering *g, const void *data, size_t size, struct cw_error *err)
{
    const char *from = data;
    while (size) {
        const size_t part = size < BUFFER - g->used ? size : BUFFER - g->used;
        memcpy(g->buffer + g->used, from, part);
        g->used += part;
        from += part;
        size -= part;
        if (g->used == BUFFER && flush_file(g, err) != CW_OK)
            return err->code;
    }
    return CW_OK;
}

static enum cw_status get_bytes(const struct cw_ranks *r, uint64_t at, void *data, size_t size, struct cw_error *err)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(r->gathering->fd, (char *)data + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return cw_error_set(err, CW_ERR_IO, "temporary file for the values of ranks: cannot read: %s",
                                n ? strerror(errno) : "it ends too early");
        done += (size_t)n;
    }
    return CW_OK;
}

enum cw_status cw_ranks_values(const struct cw_ranks *r, uint64_t row, double *values, int8_t *statuses,
                               struct cw_error *err)
{
    const uint64_t at = r->rows[row].place;
    CW_TRY(get_bytes(r, at, values, r->metric_count * sizeof *values, err));
    return get_bytes(r, at + r->metric_count * sizeof *values, statuses, r->metric_count, err);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

enum cw_status cw_ranks_begin(struct cw_ranks *r, enum cw_group_by by, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    *r = (struct cw_ranks){
        .by = by, .total = NAN, .gathering = arena ? cw_arena_alloc(arena, 1, sizeof *r->gathering) : NULL};
    if (!r->gathering) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    *r->gathering = (struct cw_rank_gathering){.arena = arena, .fd = -1, .buffer = cw_arena_alloc(arena, BUFFER, 1)};
    return r->gathering->buffer ? cw_file_open_nameless(&r->gathering->fd, err) : cw_error_nomem(err);
}

static void leave(void *node)
{
    (void)node;
}

void cw_ranks_finish(struct cw_ranks *r)
{
    struct cw_rank_gathering *g = r->gathering;
    if (!g)
        return;
    if (g->fd >= 0)
        close(g->fd);
    free(g->ranks);
    free(g->kernels);
    free(g->rows);
    tdestroy(g->by_label, leave);
    tdestroy(g->by_number, leave);
    cw_arena_destroy(g->arena);
    *r = (struct cw_ranks){0};
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->label, ((const struct named *)b)->label);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = ((const struct named *)a)->number, y = ((const struct named *)b)->number;
    return (x > y) - (x < y);
}

/* Makes room for one more item of a list. */
static bool grow(void *list, size_t *room, size_t count, size_t size)
{
    void **items = list;
    if (count < *room)
        return true;
    const size_t more = *room ? 2 * *room : 64;
    void *grown = reallocarray(*items, more, size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

/* The index of a name in a tree; adds a new one if it is not *found. CW_NO_GROUP when out of memory. */
static uint32_t find(struct cw_rank_gathering *g, void **tree, int (*compare)(const void *, const void *),
                     struct named key, bool *found)
{
    void *const *node = tfind(&key, tree, compare);
    *found = node != NULL;
    if (node)
        return ((const struct named *)*node)->index;
    struct named *kept = cw_arena_alloc(g->arena, 1, sizeof *kept);
    if (!kept)
        return CW_NO_GROUP;
    *kept = key;
    kept->label = key.label ? cw_arena_strdup(g->arena, key.label) : NULL;
    return (kept->label || !key.label) && tsearch(kept, tree, compare) ? key.index : CW_NO_GROUP;
}

static double clock_of(const struct cw_counter_data *data, uint32_t device)
{
    uint32_t first, readings = 0;
    const uint32_t count = cw_counter_data_clocks(data, device, &first);
    double sum = 0;
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t k = 0; k < data->clocks[i].count; k++) {
            sum += data->clocks[i].readings[k].sm_mhz;
            readings += data->clocks[i].readings[k].sm_mhz != 0;
        }
    return readings ? sum / readings : NAN;
}

static enum cw_status find_rank(struct cw_ranks *r, const struct cw_counter_data *data, const struct cw_range *range,
                                const char *text, uint32_t *index, struct cw_error *err)
{
    struct cw_rank_gathering *g = r->gathering;
    const uint32_t number = (uint32_t)strtoul(text, NULL, 10);
    bool found;
    *index = find(g, &g->by_number, by_number, (struct named){.number = number, .index = r->rank_count}, &found);
    if (found && *index < g->batch_ranks)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found rank %" PRIu32
                            " in captures far apart, expected each rank in one file: join its files by "
                            "\"metric-eval merge\"",
                            number);
    if (found)
        return CW_OK;
    if (*index == CW_NO_GROUP || !grow(&g->ranks, &g->rank_room, r->rank_count, sizeof *g->ranks))
        return cw_error_nomem(err);
    const struct cw_device *device = &data->devices[range->device];
    const char *host = cw_device_attribute(device, "host"), *pci = cw_device_attribute(device, "pci");
    struct cw_rank *rank = &g->ranks[r->rank_count++];
    *rank = (struct cw_rank){.number = number,
                             .host = cw_arena_strdup(g->arena, host ? host : ""),
                             .pci = cw_arena_strdup(g->arena, pci ? pci : ""),
                             .total = NAN,
                             .waits = NAN,
                             .clock = clock_of(data, range->device)};
    return rank->host && rank->pci ? CW_OK : cw_error_nomem(err);
}

static enum cw_status find_kernel(struct cw_ranks *r, const struct cw_groups *groups, uint32_t group, uint32_t *index,
                                  struct cw_error *err)
{
    struct cw_rank_gathering *g = r->gathering;
    const struct cw_range *range = cw_launch_of(&groups->data, group);
    struct cw_arena *arena = cw_arena_create();
    const char *label = arena ? cw_group_label(groups, group, 0, arena) : NULL;
    bool found = false;
    *index = label ? find(g, &g->by_label, by_label, (struct named){label, 0, r->kernel_count}, &found) : CW_NO_GROUP;
    cw_arena_destroy(arena);
    if (found)
        return CW_OK;
    if (*index == CW_NO_GROUP || !grow(&g->kernels, &g->kernel_room, r->kernel_count, sizeof *g->kernels))
        return cw_error_nomem(err);
    struct cw_rank_kernel *k = &g->kernels[r->kernel_count++];
    const char *name = groups->items[group].name, *kernel = r->by == CW_BY_KERNEL ? range->kernel : "";
    char function[CW_SHORT_SIZE];
    *k = (struct cw_rank_kernel){.name = cw_arena_strdup(g->arena, name),
                                 .kernel = cw_arena_strdup(g->arena, kernel),
                                 .total = NAN,
                                 .waits = cw_rank_waits(*kernel ? without_arguments(name, function) : name)};
    memcpy(k->grid, range->grid, sizeof k->grid);
    memcpy(k->block, range->block, sizeof k->block);
    return k->name && k->kernel ? CW_OK : cw_error_nomem(err);
}

static double value_of(const struct cw_result *result, uint32_t metric, uint32_t group)
{
    const size_t at = (size_t)metric * result->row_count + group;
    return metric == CW_NO_CAUSE || cw_value_is_doubtful(result->statuses[at]) ? NAN : result->values[at];
}

static enum cw_status put_values(struct cw_ranks *r, const struct cw_result *result, uint32_t group,
                                 struct cw_error *err)
{
    for (uint32_t m = 0; m < r->metric_count; m++)
        CW_TRY(put_bytes(r->gathering, &result->values[(size_t)m * result->row_count + group], sizeof(double), err));
    for (uint32_t m = 0; m < r->metric_count; m++)
        CW_TRY(put_bytes(r->gathering, &result->statuses[(size_t)m * result->row_count + group], 1, err));
    return CW_OK;
}

static enum cw_status add_group(struct cw_ranks *r, const struct cw_groups *groups, const struct cw_counter_data *data,
                                const struct cw_result *result, uint32_t group, const uint32_t cause[CW_CAUSE__COUNT],
                                struct cw_error *err)
{
    struct cw_rank_gathering *g = r->gathering;
    const struct cw_group *of = &groups->items[group];
    const struct cw_range *first = cw_launch_of(data, of->ranges[0]);
    const char *rank = cw_range_attribute(first, "rank");
    struct cw_rank_row row = {.launches = of->count,
                              .total = of->timed ? of->total : NAN,
                              .mean = of->timed ? of->mean : NAN,
                              .place = r->row_count * record_size(r)};
    if (!rank) {
        r->unranked += of->count;
        return CW_OK;
    }
    CW_TRY(find_rank(r, data, first, rank, &row.rank, err));
    CW_TRY(find_kernel(r, groups, group, &row.kernel, err));
    if (!grow(&g->rows, &g->row_room, r->row_count, sizeof *g->rows))
        return cw_error_nomem(err);
    for (int c = 0; c < CW_CAUSE__COUNT; c++)
        row.causes[c] = value_of(result, cause[c], group);
    g->rows[r->row_count++] = row;
    g->ranks[row.rank].launches += of->count;
    struct cw_rank *on = &g->ranks[row.rank];
    cw_group_add_time(of, &on->total);
    if (g->kernels[row.kernel].waits) {
        cw_group_add_time(of, &on->waits);
        on->waits_untimed = on->waits_untimed || !of->timed || cw_group_is_partly_timed(of);
    }
    g->kernels[row.kernel].launches += of->count;
    cw_group_add_time(of, &g->kernels[row.kernel].total);
    r->launches += of->count;
    r->untimed += of->count - of->timed;
    cw_group_add_time(of, &r->total);
    return put_values(r, result, group, err);
}

static enum cw_status keep_names(struct cw_ranks *r, const struct cw_result *result, struct cw_error *err)
{
    struct cw_arena *arena = r->gathering->arena;
    const char **names = cw_arena_alloc(arena, r->metric_count, sizeof *names);
    const char **units = cw_arena_alloc(arena, r->metric_count, sizeof *units);
    for (uint32_t m = 0; names && units && m < r->metric_count; m++)
        if (!(names[m] = cw_arena_strdup(arena, result->names[m])) ||
            !(units[m] = cw_arena_strdup(arena, result->units[m])))
            return cw_error_nomem(err);
    r->names = names;
    r->units = units;
    return names && units ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_ranks_add(struct cw_ranks *r, const struct cw_groups *groups, const struct cw_counter_data *data,
                            const struct cw_result *result, uint32_t asked, const uint32_t cause[CW_CAUSE__COUNT],
                            struct cw_error *err)
{
    if (!r->names) {
        r->metric_count = asked;
        CW_TRY(keep_names(r, result, err));
    }
    r->gathering->batch_ranks = r->rank_count;
    for (uint32_t k = 0; k < groups->count; k++)
        CW_TRY(add_group(r, groups, data, result, k, cause, err));
    return CW_OK;
}

/* ---- how ranks differ -------------------------------------------------------------------------------------------- */

static int rank_order(const void *a, const void *b, void *ranks)
{
    const struct cw_rank *list = ranks;
    const uint32_t x = list[*(const uint32_t *)a].number, y = list[*(const uint32_t *)b].number;
    return (x > y) - (x < y);
}

static int kernel_order(const void *a, const void *b, void *kernels)
{
    const struct cw_rank_kernel *list = kernels;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const double x = fmax(list[i].total, 0), y = fmax(list[k].total, 0); /* NaN: 0 */
    return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static int row_order(const void *a, const void *b)
{
    const struct cw_rank_row *x = a, *y = b;
    return x->kernel != y->kernel ? (x->kernel > y->kernel) - (x->kernel < y->kernel)
                                  : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts a list; new_index[] tells where each item went. */
static bool arrange(void *items, uint32_t count, size_t size, int (*order)(const void *, const void *, void *),
                    uint32_t *new_index, struct cw_arena *arena)
{
    uint32_t *sorted = cw_arena_alloc(arena, count, sizeof *sorted);
    char *copy = cw_arena_alloc(arena, count, size);
    if (!sorted || !copy)
        return false;
    memcpy(copy, items, count * size);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof *sorted, order, copy);
    for (uint32_t i = 0; i < count; i++) {
        memcpy((char *)items + i * size, copy + sorted[i] * size, size);
        new_index[sorted[i]] = i;
    }
    return true;
}

static enum cw_status sort(struct cw_ranks *r, struct cw_error *err)
{
    struct cw_rank_gathering *g = r->gathering;
    uint32_t *rank = cw_arena_alloc(g->arena, r->rank_count, sizeof *rank);
    uint32_t *kernel = cw_arena_alloc(g->arena, r->kernel_count, sizeof *kernel);
    if (!rank || !kernel || !arrange(g->ranks, r->rank_count, sizeof *g->ranks, rank_order, rank, g->arena) ||
        !arrange(g->kernels, r->kernel_count, sizeof *g->kernels, kernel_order, kernel, g->arena))
        return cw_error_nomem(err);
    for (uint64_t i = 0; i < r->row_count; i++) {
        g->rows[i].rank = rank[g->rows[i].rank];
        g->rows[i].kernel = kernel[g->rows[i].kernel];
    }
    qsort(g->rows, r->row_count, sizeof *g->rows, row_order);
    for (uint64_t i = 0; i < r->row_count; i++) {
        struct cw_rank_kernel *k = &g->kernels[g->rows[i].kernel];
        k->first = k->count++ ? k->first : (uint32_t)i;
    }
    r->ranks = g->ranks;
    r->kernels = g->kernels;
    r->rows = g->rows;
    return CW_OK;
}

/* Room for the values of one kernel on all ranks, for some metrics at a time. */
struct columns {
    double *values, *scratch;
    uint32_t *ranks;
    uint32_t *left_out; /* [metric] */
    int8_t *statuses;   /* the same: the gravest */
};

enum { AT_ONCE = 1 << 22 }; /* values: 32 MB */

/* Reads some values of one row, or all of it at once. */
static enum cw_status read_row(const struct cw_ranks *r, uint64_t place, uint32_t first, uint32_t count, double *values,
                               int8_t *statuses, struct cw_error *err)
{
    const size_t behind = r->metric_count * sizeof *values; /* the statuses are */
    if (count == r->metric_count)
        return get_bytes(r, place, values, record_size(r), err);
    CW_TRY(get_bytes(r, place + first * sizeof *values, values, count * sizeof *values, err));
    return get_bytes(r, place + behind + first, statuses, count, err);
}

/* Reads values[metric][row] of a kernel, of metrics from `first` on; NaN for values left out. */
static enum cw_status read_columns(const struct cw_ranks *r, const struct cw_rank_kernel *k, struct columns *c,
                                   uint32_t first, uint32_t count, struct cw_error *err)
{
    double *row = c->scratch;
    int8_t *statuses = (int8_t *)(row + count);
    memset(c->left_out, 0, count * sizeof *c->left_out);
    memset(c->statuses, CW_VALUE_OK, count);
    for (uint32_t i = 0; i < k->count; i++) {
        CW_TRY(read_row(r, r->rows[k->first + i].place, first, count, row, statuses, err));
        for (uint32_t m = 0; m < count; m++) {
            const bool doubtful = cw_value_is_doubtful(statuses[m]);
            c->values[(size_t)m * k->count + i] = doubtful ? NAN : row[m];
            c->left_out[m] += doubtful;
            if ((doubtful || isfinite(row[m])) && statuses[m] > c->statuses[m])
                c->statuses[m] = statuses[m];
        }
    }
    return CW_OK;
}

static enum cw_status compare_kernel(struct cw_ranks *r, struct cw_rank_kernel *k, struct cw_rank_spread *spreads,
                                     struct columns *c, struct cw_error *err)
{
    for (uint32_t i = 0; i < k->count; i++) {
        c->ranks[i] = r->rows[k->first + i].rank;
        c->values[i] = r->rows[k->first + i].mean;
    }
    cw_rank_spread_make(&k->time, c->values, c->ranks, k->count, c->scratch);
    const uint32_t at_once = AT_ONCE / k->count + 1;
    for (uint32_t m = 0, n; m < r->metric_count; m += n) {
        n = r->metric_count - m < at_once ? r->metric_count - m : at_once;
        CW_TRY(read_columns(r, k, c, m, n, err));
        for (uint32_t i = 0; i < n; i++) {
            cw_rank_spread_make(&spreads[m + i], c->values + (size_t)i * k->count, c->ranks, k->count, c->scratch);
            spreads[m + i].left_out = c->left_out[i];
            spreads[m + i].status = c->statuses[i];
        }
    }
    return CW_OK;
}

static enum cw_status compare_kernels(struct cw_ranks *r, struct cw_error *err)
{
    uint32_t wide = r->metric_count;
    for (uint32_t k = 0; k < r->kernel_count; k++)
        wide = r->kernels[k].count > wide ? r->kernels[k].count : wide;
    struct columns c = {.values = malloc((AT_ONCE + (size_t)wide) * sizeof *c.values),
                        .scratch = malloc((wide + (size_t)1) * (sizeof *c.scratch + 1)),
                        .ranks = malloc((wide + (size_t)1) * sizeof *c.ranks),
                        .left_out = malloc((r->metric_count + (size_t)1) * sizeof *c.left_out),
                        .statuses = malloc(r->metric_count + (size_t)1)};
    struct cw_rank_spread *spreads =
        cw_arena_alloc(r->gathering->arena, r->kernel_count, r->metric_count * sizeof *spreads);
    enum cw_status status =
        c.values && c.scratch && c.ranks && c.left_out && c.statuses && spreads ? CW_OK : cw_error_nomem(err);
    for (uint32_t k = 0; k < r->kernel_count && status == CW_OK; k++)
        status = compare_kernel(r, &r->gathering->kernels[k], spreads + (size_t)k * r->metric_count, &c, err);
    free(c.values);
    free(c.scratch);
    free(c.ranks);
    free(c.left_out);
    free(c.statuses);
    r->spreads = spreads;
    return status;
}

enum cw_status cw_ranks_compare(struct cw_ranks *r, struct cw_error *err)
{
    if (!r->rank_count)
        return cw_error_set(err, CW_ERR_INPUT,
                            "found no launch with a rank, expected captures of a parallel job: run capture-agent "
                            "under mpirun or srun");
    CW_TRY(flush_file(r->gathering, err));
    for (uint32_t i = 0; i < r->rank_count; i++) {
        struct cw_rank *rank = &r->gathering->ranks[i];
        if (isnan(rank->waits) && !isnan(rank->total) && !rank->waits_untimed)
            rank->waits = 0;
    }
    CW_TRY(sort(r, err));
    CW_TRY(compare_kernels(r, err));
    return cw_ranks_find_stragglers(r, r->gathering->arena, err);
}

/* ---- stragglers -------------------------------------------------------------------------------------------------- */

/* A cause is further than this from the median. */
static const double least_cause = 0.02, least_slower = 0.05;

struct finding {
    struct cw_ranks *ranks;
    double *values, *scratch; /* [rank] */
    uint32_t *index;
    struct cw_straggler *list;
    size_t room;
};

/* The spread of `values`. */
static struct cw_rank_spread spread(const struct finding *f, uint32_t count)
{
    struct cw_rank_spread s;
    cw_rank_spread_make(&s, f->values, f->index, count, f->scratch);
    return s;
}

/* Time is cycles over clock. Cycles go into work, by instructions or bytes, and the rest is waiting. */
static void find_causes(struct cw_straggler *s)
{
    const double clock = s->causes[CW_CAUSE_CLOCK], time = 1 + s->slower;
    const double cycles = isnan(s->causes[CW_CAUSE_CYCLES]) ? time * clock : s->causes[CW_CAUSE_CYCLES];
    const double instructions = s->causes[CW_CAUSE_INSTRUCTIONS], bytes = s->causes[CW_CAUSE_BYTES];
    const double work = fmax(instructions, bytes); /* NaN only if both are */
    s->causes[CW_CAUSE_CYCLES] = cycles;
    s->lower_clock = clock < 1 - least_cause;
    s->more_work = work > 1 + least_cause;
    s->more_cycles = cycles > 1 + least_cause && !isnan(work) && cycles / fmax(work, 1) > 1 + least_cause;
}

static bool add_straggler(struct finding *f, const struct cw_straggler *found)
{
    if (f->ranks->straggler_count == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        struct cw_straggler *grown = reallocarray(f->list, room, sizeof *grown);
        if (!grown)
            return false;
        f->list = grown;
        f->room = room;
    }
    f->list[f->ranks->straggler_count++] = *found;
    return true;
}

/* The usual values of a kernel's ranks. `whole_clock` is of the whole capture, for launches without their own. */
struct usual {
    double causes[CW_CAUSE__COUNT], whole_clock;
    struct cw_rank_spread time;
};

static struct usual find_usual(const struct finding *f, const struct cw_rank_kernel *k)
{
    const struct cw_ranks *r = f->ranks;
    const struct cw_rank_row *rows = &r->rows[k->first];
    struct usual usual = {.time = k->time};
    for (int c = 0; c < CW_CAUSE__COUNT; c++) {
        for (uint32_t i = 0; i < k->count; i++)
            f->values[i] = rows[i].causes[c];
        usual.causes[c] = spread(f, k->count).median;
    }
    for (uint32_t i = 0; i < k->count; i++)
        f->values[i] = r->ranks[rows[i].rank].clock;
    usual.whole_clock = spread(f, k->count).median;
    return usual;
}

static bool find_in_kernel(struct finding *f, const struct cw_rank_kernel *k)
{
    const struct cw_ranks *r = f->ranks;
    const struct usual usual = find_usual(f, k);
    bool good = true;
    for (uint32_t i = k->first; i < k->first + k->count && good; i++) {
        const struct cw_rank_row *row = &r->rows[i];
        struct cw_straggler s = {.row = i, .slower = row->mean / usual.time.median - 1};
        if (!(s.slower > least_slower) || !is_outlier(row->mean, &usual.time))
            continue;
        s.lost = s.slower * usual.time.median * (double)row->launches;
        for (int c = 0; c < CW_CAUSE__COUNT; c++)
            s.causes[c] = usual.causes[c] > 0 ? row->causes[c] / usual.causes[c] : NAN;
        if (isnan(s.causes[CW_CAUSE_CLOCK]) && usual.whole_clock > 0)
            s.causes[CW_CAUSE_CLOCK] = r->ranks[row->rank].clock / usual.whole_clock;
        find_causes(&s);
        good = add_straggler(f, &s);
    }
    return good;
}

static int most_lost_first(const void *a, const void *b)
{
    const struct cw_straggler *x = a, *y = b;
    return x->lost != y->lost ? (x->lost < y->lost) - (x->lost > y->lost) : (x->row > y->row) - (x->row < y->row);
}

static int slowest_first(const void *a, const void *b)
{
    const struct cw_waited_for *x = a, *y = b;
    return x->slower != y->slower ? (x->slower < y->slower) - (x->slower > y->slower)
                                  : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Finds the ranks that others wait for: the last to reach a common point waits least. A rank with launches there whose
 * time is not known may wait as long as the others. */
static bool find_waited_for(struct finding *f, struct cw_arena *arena)
{
    struct cw_ranks *r = f->ranks;
    struct cw_waited_for *list = cw_arena_alloc(arena, r->rank_count, sizeof *list);
    for (uint32_t i = 0; i < r->rank_count; i++)
        f->values[i] = r->ranks[i].waits_untimed ? NAN : r->ranks[i].waits;
    const struct cw_rank_spread in = spread(f, r->rank_count);
    for (uint32_t i = 0; i < r->rank_count; i++)
        f->values[i] = r->ranks[i].total - fmax(r->ranks[i].waits, 0); /* NaN: the total has none of it */
    const struct cw_rank_spread outside = spread(f, r->rank_count);
    for (uint32_t i = 0; list && i < r->rank_count && outside.median > 0 && in.median > 0; i++) {
        const struct cw_waited_for w = {i, f->values[i] / outside.median - 1, 1 - r->ranks[i].waits / in.median};
        if (!r->ranks[i].waits_untimed && w.slower > least_slower && w.shorter > least_slower &&
            is_outlier(f->values[i], &outside))
            list[r->waited_count++] = w;
    }
    if (list)
        qsort(list, r->waited_count, sizeof *list, slowest_first);
    r->waited = list;
    return list != NULL;
}

enum cw_status cw_ranks_find_stragglers(struct cw_ranks *r, struct cw_arena *arena, struct cw_error *err)
{
    size_t room = (size_t)r->rank_count + 1;
    for (uint32_t k = 0; k < r->kernel_count; k++) /* a rank on two models of GPUs has several rows */
        room = r->kernels[k].count > room ? r->kernels[k].count : room;
    struct finding f = {.ranks = r,
                        .values = malloc(room * sizeof *f.values),
                        .scratch = malloc(room * sizeof *f.scratch),
                        .index = calloc(room, sizeof *f.index)};
    bool good = f.values && f.scratch && f.index;
    for (uint32_t k = 0; good && k < r->kernel_count; k++)
        good = find_in_kernel(&f, &r->kernels[k]);
    good = good && find_waited_for(&f, arena);
    struct cw_straggler *list = good ? cw_arena_alloc(arena, r->straggler_count, sizeof *list) : NULL;
    if (list && r->straggler_count) {
        memcpy(list, f.list, r->straggler_count * sizeof *list);
        qsort(list, r->straggler_count, sizeof *list, most_lost_first);
    }
    r->stragglers = list;
    free(f.values);
    free(f.scratch);
    free(f.index);
    free(f.list);
    return list ? CW_OK : cw_error_nomem(err);
}
