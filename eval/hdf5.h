/* HDF5 of a result: opens with h5py, h5netcdf, netCDF4 and xarray with named coordinates. */
#ifndef CW_EVAL_HDF5_H
#define CW_EVAL_HDF5_H

#include "eval/records.h"
#include "eval/hdf5_file.h"
#include "eval/result.h"

/* Writes `path` (beside it first, then renamed, so that it holds the old or the new file and never a part).
 *
 *     /                attributes title, conventions "counterworks-1", chip, device, tool_version, created, source,
 *                      complete and simulated ("yes" or "no")
 *     /range/name      [name] string, dimension scale; kernel, start_ns, end_ns, device, process, context,
 *                      stream, pass_count, nvtx, replay, scope, rank [name]; grid and block [name, xyz]
 *     /range/metric    [metric] string, dimension scale; unit, type, description [metric]
 *     /range/value     [name, metric] float64; /range/status int8, attributes flag_values and flag_meanings
 *     /capture/manifest     string, JSON
 *     /capture/duration_ns  [range, pass] float64, NaN where a pass was not timed, with the scales range and pass
 *
 * The same result gives the same bytes. `descriptions` has one text for each metric, or is NULL. */
enum cw_status cw_hdf5_write(const struct cw_result *result, const char *const *descriptions, const char *path,
                             struct cw_error *err);

/* The same for tables of records, of a capture of which only `data` and `source` are used:
 *
 *     /                     as above
 *     /GROUP/TABLE          [record] a compound, for each table
 *     /capture/manifest     as above */
enum cw_status cw_hdf5_write_records(const struct cw_result *capture, const char *group,
                                     const struct cw_records *tables, size_t count, const char *path,
                                     struct cw_error *err);

/* ---- what other layouts have in common with this ----------------------------------------------------------------- */

/* The attributes of the file. */
void cw_hdf5_put_root(struct cw_hdf5 *file, const struct cw_result *result);
/* unit, type and description along the axis of metrics; `room` is for a text each. */
void cw_hdf5_put_metrics(struct cw_hdf5 *file, cw_hdf5_object group, cw_hdf5_object axis,
                         const struct cw_result *result, const char *const *descriptions, const char **room);
/* value and status with their axes, from columns: values[metric * dims[0] + i]. */
void cw_hdf5_put_values(struct cw_hdf5 *file, cw_hdf5_object group, const cw_hdf5_object axes[2],
                        const uint64_t dims[2], const double *values, const int8_t *statuses, const char *coordinates);

#endif
