/* libcounterworks-hdf5: writes metrics of a capture as HDF5. It is a library of its own. */
#ifndef COUNTERWORKS_HDF5_H
#define COUNTERWORKS_HDF5_H

#include <counterworks/counterworks.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Evaluates metrics as counterworks_evaluate() does and writes them to `path`, with names, units, statuses and the
 * capture's data about its ranges or samples, as metric-eval -o does. `path` holds the old or the new file, never a
 * part. NULL names: every metric whose counters the capture has. Only one thread at a time may use HDF5. */
enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
