#include "eval/hdf5.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "eval/hdf5_file.h"
#include "eval/json.h"

/* ---- what results have in common -------------------------------------------------------------------------------- */

static const char *device_attribute(const struct cw_result *r, const char *key)
{
    const char *value = r->data->device_count ? cw_device_attribute(&r->data->devices[0], key) : NULL;
    return value ? value : "";
}

void cw_hdf5_put_root(struct cw_hdf5 *f, const struct cw_result *r)
{
    char created[CW_TIME_SIZE];
    cw_hdf5_attribute(f, 0, "title", "GPU metrics");
    cw_hdf5_attribute(f, 0, "conventions", "counterworks-1");
    cw_hdf5_attribute(f, 0, "chip", r->data->schema.chip);
    cw_hdf5_attribute(f, 0, "device", device_attribute(r, "name"));
    cw_hdf5_attribute(f, 0, "simulated", device_attribute(r, "simulated"));
    cw_hdf5_attribute(f, 0, "tool_version", CW_VERSION);
    cw_hdf5_attribute(f, 0, "created", cw_result_created(r, created));
    cw_hdf5_attribute(f, 0, "source", r->source);
    cw_hdf5_attribute(f, 0, "complete", r->data->complete ? "yes" : "no");
}

void cw_hdf5_put_metrics(struct cw_hdf5 *f, cw_hdf5_object group, cw_hdf5_object axis, const struct cw_result *r,
                         const char *const *descriptions, const char **room)
{
    uint32_t n = r->metric_count;
    cw_hdf5_along(f, group, axis, "unit", CW_HDF5_TEXT, n, r->units);
    for (uint32_t i = 0; i < n; i++)
        room[i] = cw_result_type(r, i);
    cw_hdf5_along(f, group, axis, "type", CW_HDF5_TEXT, n, room);
    for (uint32_t i = 0; i < n; i++)
        room[i] = descriptions ? descriptions[i] : "";
    cw_hdf5_along(f, group, axis, "description", CW_HDF5_TEXT, n, room);
}

static void put_flags(struct cw_hdf5 *f, cw_hdf5_object status)
{
    int8_t values[CW_VALUE_STATUS_COUNT];
    char meanings[256] = "";
    for (int s = 0; s < CW_VALUE_STATUS_COUNT; s++) {
        values[s] = (int8_t)s;
        size_t used = strlen(meanings);
        snprintf(meanings + used, sizeof meanings - used, "%s%s", s ? " " : "",
                 cw_value_status_text((enum cw_value_status)s));
        for (char *c = meanings + used + (s != 0); *c; c++)
            *c = *c == ' ' ? '_' : *c;
    }
    cw_hdf5_attribute_i8(f, status, "flag_values", values, CW_VALUE_STATUS_COUNT);
    cw_hdf5_attribute(f, status, "flag_meanings", meanings);
}

void cw_hdf5_put_values(struct cw_hdf5 *f, cw_hdf5_object group, const cw_hdf5_object axes[2], const uint64_t dims[2],
                        const double *values, const int8_t *statuses, const char *coordinates)
{
    cw_hdf5_object both[] = {cw_hdf5_transposed(f, group, "value", CW_HDF5_F64, dims, values),
                             cw_hdf5_transposed(f, group, "status", CW_HDF5_I8, dims, statuses)};
    put_flags(f, both[1]);
    for (int k = 0; k < 2; k++) {
        cw_hdf5_attach(f, both[k], axes[0], 0);
        cw_hdf5_attach(f, both[k], axes[1], 1);
        cw_hdf5_attribute(f, both[k], "coordinates", coordinates);
        cw_hdf5_close(f, both[k]);
    }
}

/* ---- /range ----------------------------------------------------------------------------------------------------- */

/* A size in x, y and z for each range. */
static void put_sizes(struct cw_hdf5 *f, const struct cw_result *r, cw_hdf5_object group, cw_hdf5_object axis,
                      cw_hdf5_object xyz, bool block, uint32_t *room)
{
    const uint64_t dims[2] = {r->range_count, 3};
    for (uint32_t i = 0; i < r->range_count; i++)
        memcpy(&room[3 * (size_t)i], block ? cw_result_range(r, i)->block : cw_result_range(r, i)->grid,
               3 * sizeof *room);
    cw_hdf5_object dataset = cw_hdf5_dataset(f, group, block ? "block" : "grid", CW_HDF5_U32, 2, dims, room);
    cw_hdf5_attach(f, dataset, axis, 0);
    cw_hdf5_attach(f, dataset, xyz, 1);
    cw_hdf5_close(f, dataset);
}

static void put_range_attribute(struct cw_hdf5 *f, const struct cw_result *r, cw_hdf5_object group, cw_hdf5_object axis,
                                const char *name, const char *otherwise, const char **room)
{
    for (uint32_t i = 0; i < r->range_count; i++) {
        room[i] = cw_range_attribute(cw_result_range(r, i), name);
        room[i] = room[i] ? room[i] : otherwise;
    }
    cw_hdf5_along(f, group, axis, name, CW_HDF5_TEXT, r->range_count, room);
}

static void put_range_facts(struct cw_hdf5 *f, const struct cw_result *r, cw_hdf5_object group, cw_hdf5_object axis,
                            void *room)
{
    static const struct {
        const char *name;
        size_t member; /* of struct cw_range, a uint64_t */
    } numbers[] = {{"start_ns", offsetof(struct cw_range, start_ns)},
                   {"end_ns", offsetof(struct cw_range, end_ns)},
                   {"context", offsetof(struct cw_range, context)},
                   {"stream", offsetof(struct cw_range, stream)}};
    uint32_t n = r->range_count, *narrow = room;
    const char **texts = room;
    uint64_t *wide = room;
    for (uint32_t i = 0; i < n; i++)
        texts[i] = cw_result_range(r, i)->kernel;
    cw_hdf5_along(f, group, axis, "kernel", CW_HDF5_TEXT, n, texts);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (uint32_t i = 0; i < n; i++)
            memcpy(&wide[i], (const char *)cw_result_range(r, i) + numbers[k].member, sizeof *wide);
        cw_hdf5_along(f, group, axis, numbers[k].name, CW_HDF5_U64, n, wide);
    }
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_device(r, cw_result_range(r, i))->index;
    cw_hdf5_along(f, group, axis, "device", CW_HDF5_U32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_range(r, i)->process;
    cw_hdf5_along(f, group, axis, "process", CW_HDF5_U32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = cw_result_passes(r, cw_result_range(r, i));
    cw_hdf5_along(f, group, axis, "pass_count", CW_HDF5_U32, n, narrow);
    put_range_attribute(f, r, group, axis, "nvtx", "", texts);
    put_range_attribute(f, r, group, axis, "replay", "", texts);
    put_range_attribute(f, r, group, axis, "scope", "context", texts);
    put_range_attribute(f, r, group, axis, "rank", "", texts);
    static const char *const letters[] = {"x", "y", "z"};
    cw_hdf5_object xyz = cw_hdf5_scale(f, group, "xyz", CW_HDF5_TEXT, 3, letters);
    put_sizes(f, r, group, axis, xyz, false, narrow);
    put_sizes(f, r, group, axis, xyz, true, narrow);
    cw_hdf5_close(f, xyz);
}

static void put_range_group(struct cw_hdf5 *f, const struct cw_result *r, const char *const *descriptions, void *room)
{
    /* the other facts as coordinates of the values, by the convention that xarray follows */
    static const char coordinates[] =
        "kernel start_ns end_ns device process context stream pass_count nvtx replay rank unit type description";
    const uint64_t dims[2] = {r->range_count, r->metric_count};
    cw_hdf5_object group = cw_hdf5_group(f, "range"), axes[2];
    const char **texts = room;
    for (uint32_t i = 0; i < r->range_count; i++)
        texts[i] = cw_result_range(r, i)->name;
    axes[0] = cw_hdf5_scale(f, group, "name", CW_HDF5_TEXT, dims[0], texts);
    axes[1] = cw_hdf5_scale(f, group, "metric", CW_HDF5_TEXT, dims[1], r->names);
    put_range_facts(f, r, group, axes[0], room);
    cw_hdf5_put_metrics(f, group, axes[1], r, descriptions, texts);
    cw_hdf5_put_values(f, group, axes, dims, r->values, r->statuses, coordinates);
    cw_hdf5_close(f, axes[0]);
    cw_hdf5_close(f, axes[1]);
    cw_hdf5_close(f, group);
}

/* ---- /capture --------------------------------------------------------------------------------------------------- */

static void put_capture_group(struct cw_hdf5 *f, const struct cw_result *r, const char *manifest, void *room)
{
    uint32_t passes = r->data->schema.pass_count, *numbers = room;
    double *durations = room;
    const uint64_t dims[2] = {r->range_count, passes};
    cw_hdf5_object group = cw_hdf5_group(f, "capture");
    cw_hdf5_close(f, cw_hdf5_dataset(f, group, "manifest", CW_HDF5_TEXT, 0, NULL, &manifest));
    cw_hdf5_object range = cw_hdf5_scale(f, group, "range", CW_HDF5_U32, dims[0], r->ranges);
    for (uint32_t i = 0; i < passes; i++)
        numbers[i] = i;
    cw_hdf5_object pass = cw_hdf5_scale(f, group, "pass", CW_HDF5_U32, dims[1], numbers);
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t p = 0; p < passes; p++)
            durations[i * passes + p] = cw_result_range(r, (uint32_t)i)->durations[p];
    cw_hdf5_object duration = cw_hdf5_dataset(f, group, "duration_ns", CW_HDF5_F64, 2, dims, durations);
    cw_hdf5_attach(f, duration, range, 0);
    cw_hdf5_attach(f, duration, pass, 1);
    cw_hdf5_close(f, duration);
    cw_hdf5_close(f, pass);
    cw_hdf5_close(f, range);
    cw_hdf5_close(f, group);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Scratch for the largest column or table that is put together here. */
static void *make_room(const struct cw_result *r)
{
    size_t passes = r->data->schema.pass_count, cells;
    if (__builtin_mul_overflow(passes + 1, (size_t)r->range_count + 1, &cells) ||
        __builtin_add_overflow(cells, (size_t)r->metric_count + passes, &cells))
        return NULL;
    return calloc(cells + 2 * (size_t)r->range_count, sizeof(double)); /* sizes are three numbers of half that */
}

enum cw_status cw_hdf5_write(const struct cw_result *r, const char *const *descriptions, const char *path,
                             struct cw_error *err)
{
    struct cw_hdf5 *f = NULL;
    char *manifest = NULL;
    void *room = make_room(r);
    enum cw_status status = room ? cw_json_manifest(r, &manifest, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_hdf5_create(&f, path, err);
    if (status == CW_OK) {
        cw_hdf5_put_root(f, r);
        put_range_group(f, r, descriptions, room);
        put_capture_group(f, r, manifest, room);
        status = cw_hdf5_finish(f, true, err);
    }
    free(manifest);
    free(room);
    return status;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

enum cw_status cw_hdf5_write_records(const struct cw_result *capture, const char *group,
                                     const struct cw_records *tables, size_t count, const char *path,
                                     struct cw_error *err)
{
    struct cw_hdf5 *f = NULL;
    char *manifest = NULL;
    enum cw_status status = cw_json_manifest(capture, &manifest, err);
    if (status == CW_OK)
        status = cw_hdf5_create(&f, path, err);
    if (status == CW_OK) {
        cw_hdf5_put_root(f, capture);
        cw_hdf5_object place = cw_hdf5_group(f, group);
        for (size_t i = 0; i < count; i++)
            cw_hdf5_table(f, place, &tables[i]);
        cw_hdf5_close(f, place);
        place = cw_hdf5_group(f, "capture");
        cw_hdf5_close(f, cw_hdf5_dataset(f, place, "manifest", CW_HDF5_TEXT, 0, NULL, &manifest));
        cw_hdf5_close(f, place);
        status = cw_hdf5_finish(f, true, err);
    }
    free(manifest);
    return status;
}
