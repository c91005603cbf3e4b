#include <stdlib.h>

#include "eval/hdf5.h"
#include "eval/json.h"
#include "eval/pm.h"

static void put_devices(struct cw_hdf5 *f, const struct cw_pm_result *r, cw_hdf5_object group, cw_hdf5_object axis,
                        uint32_t *room)
{
    for (uint32_t b = 0; b < r->pm->block_count; b++) {
        const struct cw_pm_block *block = &r->pm->blocks[b];
        for (uint32_t i = 0; i < block->count; i++)
            room[block->first + i] = r->base.data->devices[block->device].index;
    }
    cw_hdf5_along(f, group, axis, "device", CW_HDF5_U32, r->pm->sample_count, room);
}

/* Whether the times are the wall clock's, of every device. */
static const char *clock_name(const struct cw_pm_result *r)
{
    bool wall = true;
    for (uint32_t i = 0; i < r->base.data->device_count; i++)
        wall = wall && r->pm->correlated[i];
    return wall ? "CLOCK_REALTIME" : "GPU";
}

static void put_samples(struct cw_hdf5 *f, const struct cw_pm_result *r, const char *const *descriptions, void *room)
{
    static const char coordinates[] = "time_end device unit type description";
    const uint64_t dims[2] = {r->pm->sample_count, r->base.metric_count};
    cw_hdf5_object group = cw_hdf5_group(f, "pm"), axes[2];
    axes[0] = cw_hdf5_scale(f, group, "time_start", CW_HDF5_U64, dims[0], r->pm->start_ns);
    cw_hdf5_attribute(f, axes[0], "clock", clock_name(r));
    axes[1] = cw_hdf5_scale(f, group, "metric", CW_HDF5_TEXT, dims[1], r->base.names);
    cw_hdf5_along(f, group, axes[0], "time_end", CW_HDF5_U64, dims[0], r->pm->end_ns);
    put_devices(f, r, group, axes[0], room);
    cw_hdf5_put_metrics(f, group, axes[1], &r->base, descriptions, room);
    cw_hdf5_put_values(f, group, axes, dims, r->values, r->statuses, coordinates);
    cw_hdf5_close(f, axes[0]);
    cw_hdf5_close(f, axes[1]);
    cw_hdf5_close(f, group);
}

static void put_launches(struct cw_hdf5 *f, const struct cw_pm_data *pm, void *room)
{
    uint32_t n = pm->launch_count, *narrow = room;
    uint64_t *wide = room;
    const char **texts = room;
    cw_hdf5_object group = cw_hdf5_group(f, "launch");
    for (uint32_t i = 0; i < n; i++)
        wide[i] = pm->launches[i].start_ns;
    cw_hdf5_object axis = cw_hdf5_scale(f, group, "time_start", CW_HDF5_U64, n, wide);
    for (uint32_t i = 0; i < n; i++)
        wide[i] = pm->launches[i].end_ns;
    cw_hdf5_along(f, group, axis, "time_end", CW_HDF5_U64, n, wide);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = pm->names[pm->launches[i].name];
    cw_hdf5_along(f, group, axis, "kernel", CW_HDF5_TEXT, n, texts);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = pm->launches[i].device;
    cw_hdf5_along(f, group, axis, "device", CW_HDF5_U32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        narrow[i] = pm->launches[i].process;
    cw_hdf5_along(f, group, axis, "process", CW_HDF5_U32, n, narrow);
    for (uint32_t i = 0; i < n; i++)
        wide[i] = pm->launches[i].context;
    cw_hdf5_along(f, group, axis, "context", CW_HDF5_U64, n, wide);
    for (uint32_t i = 0; i < n; i++)
        wide[i] = pm->launches[i].stream;
    cw_hdf5_along(f, group, axis, "stream", CW_HDF5_U64, n, wide);
    cw_hdf5_close(f, axis);
    cw_hdf5_close(f, group);
}

static void put_capture(struct cw_hdf5 *f, const char *manifest)
{
    cw_hdf5_object group = cw_hdf5_group(f, "capture");
    cw_hdf5_close(f, cw_hdf5_dataset(f, group, "manifest", CW_HDF5_TEXT, 0, NULL, &manifest));
    cw_hdf5_close(f, group);
}

enum cw_status cw_pm_hdf5_write(const struct cw_pm_result *r, const char *const *descriptions, const char *path,
                                struct cw_error *err)
{
    struct cw_hdf5 *f = NULL;
    char *manifest = NULL;
    size_t cells = r->pm->sample_count > r->pm->launch_count ? r->pm->sample_count : r->pm->launch_count;
    void *room = calloc(cells + r->base.metric_count + 1, sizeof(uint64_t));
    enum cw_status status = room ? cw_json_manifest(&r->base, &manifest, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_hdf5_create(&f, path, err);
    if (status == CW_OK) {
        cw_hdf5_put_root(f, &r->base);
        put_samples(f, r, descriptions, room);
        put_launches(f, r->pm, room);
        put_capture(f, manifest);
        status = cw_hdf5_finish(f, true, err);
    }
    free(manifest);
    free(room);
    return status;
}
