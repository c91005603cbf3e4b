/* Values as HDF5. */
#include "eval/output/output.h"
#include "lib/handles.h"
#include "view/metrics.h"
#include "view/tables.h"

enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    const struct cw_eval_options spans = cw_lib_spans(options);
    struct cw_result result = {.streamed = true};
    struct cw_output output;
    struct cw_arena *arena = cw_arena_create();
    struct cw_notices notices = {.arena = arena};
    enum cw_status status =
        arena ? cw_view_evaluate(&result, capture, NULL, chip, names, count, &spans, &notices, arena, &call.err)
              : cw_error_nomem(&call.err);
    cw_lib_tell_notices(chip, &notices);
    if (status == CW_OK)
        status = cw_tables_make(&output, &result, chip, arena, &call.err);
    pthread_mutex_lock(&cw_lib_hdf5);
    if (status == CW_OK)
        status = cw_hdf5_write(&output, path, &call.err);
    pthread_mutex_unlock(&cw_lib_hdf5);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
