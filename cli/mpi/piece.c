#include "cli/mpi/piece.h"

#include <string.h>

#include "base/search.h"
#include "cli/common/cli.h"
#include "eval/ranges/fold.h"
#include "view/metrics.h"
#include "view/source.h"
#include "view/tables.h"

enum { BATCH = 32 << 20 }; /* bytes of files that are joined, and beyond which one is read in parts */
static const uint64_t largest_capture = (uint64_t)1 << 40;

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* The file that has a range. */
static size_t file_of(const struct cw_mpi_job *j, uint64_t range)
{
    struct cw_search s = {0, j->list.count};
    while (s.low < s.high) /* the first that begins behind it */
        cw_search_narrow(&s, j->files[cw_search_middle(&s)].first <= range);
    return s.low ? s.low - 1 : 0;
}

/* Devices go by the numbers that they have in the whole. */
static enum cw_status number_devices(struct cw_mpi_piece *p, const struct cw_mpi_job *j, size_t first, size_t count,
                                     bool alone)
{
    struct cw_counter_data *d = &p->data;
    struct cw_device *devices = cw_arena_alloc(p->arena, d->device_count, sizeof *devices);
    uint32_t *here, *whole, index;
    size_t found;
    enum cw_status status =
        devices ? cw_mpi_map_devices(j, first, count, &here, &whole, &found, p->arena) : cw_error_nomem(j->err);
    if (status != CW_OK)
        return status;
    memcpy(devices, d->devices, d->device_count * sizeof *devices);
    for (size_t i = 0; i < found; i++)
        if (cw_device_find(d->devices, d->device_count, alone ? j->devices[j->files[first].devices + i].own : here[i],
                           &index))
            devices[index].index = whole[i];
    d->devices = devices;
    return CW_OK;
}

static enum cw_status open_small(struct cw_mpi_piece *p, const struct cw_mpi_job *j, size_t first, uint64_t at)
{
    uint64_t bytes = 0;
    size_t end = first;
    while (end < j->list.count && (end == first || (bytes < BATCH && j->files[end].first < j->end)))
        bytes += j->files[end++].bytes;
    enum cw_status status =
        cw_source_join(&p->capture, (const char *const *)j->list.paths + first, end - first, j->list.paths[first], j->err);
    if (status == CW_OK)
        status = cw_source_load(p->capture, j->err);
    if (status != CW_OK)
        return status;
    const uint64_t start = j->files[first].first, stop = start + p->capture->data.range_count;
    p->data = p->capture->data;
    p->at = at;
    p->from = at - start;
    p->count = at >= j->end ? 0 : (stop < j->end ? stop : j->end) - at;
    return number_devices(p, j, first, end - first, false);
}

static enum cw_status open_large(struct cw_mpi_maker *m, size_t index)
{
    struct counterworks_capture *made = cw_source_create();
    const struct cw_mpi_job *j = m->job;
    cw_mpi_maker_free(m);
    m->large.index = index + 1;
    m->large.capture = made;
    if (!made)
        return cw_error_nomem(j->err);
    made->name = made->source = j->list.paths[index];
    enum cw_status status = cw_input_open(&made->file, made->name, largest_capture, j->err);
    if (status == CW_OK)
        status = cw_counter_data_open(&made->data, &made->file, made->arena, j->err);
    return status == CW_OK ? cw_range_view_init(&m->large.view, &made->data, made->arena, j->err) : status;
}

static enum cw_status read_large(struct cw_mpi_piece *p, struct cw_mpi_maker *m, size_t index, uint64_t at)
{
    const struct cw_mpi_job *j = m->job;
    enum cw_status status = m->large.index == index + 1 ? CW_OK : open_large(m, index);
    if (status != CW_OK)
        return status;
    const uint64_t start = j->files[index].first, stop = start + m->large.capture->data.range_count;
    const uint64_t left = at >= j->end ? 0 : (stop < j->end ? stop : j->end) - at;
    p->capture = m->large.capture;
    p->at = at;
    p->count = left < m->large.view.room ? left : m->large.view.room;
    status = cw_range_view_load(&m->large.view, (uint32_t)(at - start), NULL, (uint32_t)p->count);
    p->data = m->large.view.data;
    return status == CW_OK ? number_devices(p, j, index, 1, true) : status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* All have to be of one plan; names of facts may differ. */
static enum cw_status check_plan(const struct cw_mpi_piece *p, struct cw_mpi_maker *m)
{
    struct cw_schema plan = p->data.schema;
    struct cw_writer bytes;
    struct cw_error *err = m->job->err;
    plan.fact_count = 0;
    if (plan.profiler != CW_PROFILER_RANGE)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a capture of samples, expected one of ranges",
                            p->capture->name);
    if (cw_fold_has(&p->data))
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "%s: found a capture that was multiplexed, of which launches are evaluated together: "
                            "metric-eval does that, in one process",
                            p->capture->name);
    cw_writer_init(&bytes);
    cw_schema_write(&plan, &bytes);
    const struct cw_likeness own = cw_likeness_of(bytes.data, bytes.size);
    const bool good = bytes.status == CW_OK;
    cw_writer_free(&bytes);
    if (!good)
        return cw_error_nomem(err);
    if (m->has_plan && cw_likeness_compare(&own, &m->plan) != 0)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found a capture of another plan than %s, expected the same",
                            p->capture->name, m->first);
    m->plan = own;
    return CW_OK;
}

static enum cw_status open_chip(struct cw_mpi_maker *m, const struct cw_mpi_piece *p)
{
    struct cw_cli_chip from = m->job->o->chip;
    struct cw_error *err = m->job->err;
    from.name = p->data.schema.chip;
    enum cw_status status = cw_cli_chip_open(&m->chip, &from, err);
    if (status == CW_OK)
        status = cw_cli_chip_add(m->chip, &from, err);
    if (status == CW_OK && (m->job->rank || m->job->o->quiet)) /* one process tells what is worth it */
        counterworks_chip_tell(m->chip, NULL, NULL);
    return status;
}

/* Names live as long as the job. */
static enum cw_status find_names(struct cw_mpi_maker *m, const struct cw_mpi_piece *p)
{
    const struct cw_mpi_options *o = m->job->o;
    const struct cw_schema *schema = &p->data.schema;
    struct cw_metric_list list = {0};
    struct counterworks_error error;
    enum cw_status status = CW_OK;
    if (o->sources.count)
        status = cw_metric_list_gather(&list, &o->sources, m->chip, m->job->arena, m->job->err);
    m->name_count = o->sources.count ? list.count : schema->metric_count;
    const char **names = cw_arena_alloc(m->job->arena, m->name_count, sizeof *names);
    for (size_t i = 0; i < m->name_count && status == CW_OK; i++)
        if (!names || !(names[i] = cw_arena_strdup(m->job->arena, o->sources.count ? list.names[i] : schema->metrics[i])))
            status = cw_error_nomem(m->job->err);
    cw_metric_list_free(&list);
    m->names = o->all ? NULL : names;
    m->has_names = true;
    if (status == CW_OK && !o->all && !m->name_count)
        status = cw_error_set(m->job->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                              p->capture->name);
    if (status == CW_OK && m->names) {
        counterworks_chip_add_legacy(m->chip, m->names, m->name_count, &error);
        status = cw_cli_take(&error, m->job->err);
    }
    return status;
}

static enum cw_status evaluate(struct cw_mpi_piece *p, struct cw_mpi_maker *m)
{
    const struct cw_mpi_job *j = m->job;
    const struct cw_eval_options usual = {0};
    const bool first = m->has_names;
    struct cw_notices notices = {.arena = p->arena};
    uint32_t *numbers = cw_arena_alloc(p->arena, p->data.range_count, sizeof *numbers);
    enum cw_status status = numbers ? CW_OK : cw_error_nomem(j->err);
    for (uint32_t i = 0; status == CW_OK && i < p->data.range_count; i++)
        numbers[i] = (uint32_t)(p->at - p->from + i);
    if (status == CW_OK && !m->has_names)
        status = find_names(m, p);
    if (status == CW_OK)
        status = cw_view_select(&p->result, p->capture, m->chip, m->names, m->name_count, &notices, p->arena, j->err);
    cw_lib_tell_notices(m->chip, &notices);
    p->result.data = &p->data;
    p->result.numbers = numbers;
    if (status == CW_OK)
        status = cw_result_make(&p->result, &usual, p->arena, j->err);
    if (status == CW_OK)
        status = cw_tables_make(&p->output, &p->result, first ? NULL : m->chip, p->arena, j->err);
    counterworks_chip_tell(m->chip, NULL, NULL);
    return status;
}

enum cw_status cw_mpi_piece_make(struct cw_mpi_piece *p, struct cw_mpi_maker *m, uint64_t at)
{
    const struct cw_mpi_job *j = m->job;
    const uint64_t within = at < j->range_count ? at : j->range_count - 1;
    const size_t file = file_of(j, within);
    *p = (struct cw_mpi_piece){.arena = cw_arena_create()};
    if (!p->arena)
        return cw_error_nomem(j->err);
    enum cw_status status =
        j->files[file].bytes > BATCH ? read_large(p, m, file, within) : open_small(p, j, file, within);
    if (status == CW_OK && at >= j->end)
        p->count = 0;
    if (status == CW_OK)
        status = check_plan(p, m);
    if (status == CW_OK && !m->chip)
        status = open_chip(m, p);
    return status == CW_OK ? evaluate(p, m) : status;
}

void cw_mpi_piece_free(struct cw_mpi_piece *p, struct cw_mpi_maker *m)
{
    if (p->capture != m->large.capture)
        counterworks_capture_close(p->capture);
    cw_arena_destroy(p->arena);
    *p = (struct cw_mpi_piece){0};
}

void cw_mpi_maker_free(struct cw_mpi_maker *m)
{
    if (m->large.index)
        cw_range_view_free(&m->large.view);
    counterworks_capture_close(m->large.capture);
    memset(&m->large, 0, sizeof m->large);
}
