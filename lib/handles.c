#include "lib/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip_load.h"

void *cw_lib_handle(size_t size)
{
    struct cw_arena **handle = calloc(1, size);
    if (handle)
        *handle = cw_arena_create();
    if (handle && *handle)
        return handle;
    free(handle);
    return NULL;
}

void cw_lib_drop(void *handle)
{
    struct cw_arena **arena = handle;
    if (handle)
        cw_arena_destroy(*arena);
    free(handle);
}

/* What the library does not do cannot fail in it. */
static enum counterworks_status status_of(enum cw_status status)
{
    return status == CW_ERR_NOMEM ? COUNTERWORKS_NOMEM : (enum counterworks_status)status;
}

enum counterworks_status cw_lib_finish(enum cw_status status, const struct cw_error *from,
                                       struct counterworks_error *error)
{
    if (!error)
        return status_of(status);
    *error = (struct counterworks_error){.status = status_of(status)};
    if (status == CW_OK)
        return COUNTERWORKS_OK;
    error->line = from->line;
    error->column = from->column;
    error->has_offset = from->has_offset;
    error->offset = from->offset;
    snprintf(error->source, sizeof error->source, "%s", from->source);
    snprintf(error->message, sizeof error->message, "%s", *from->message ? from->message : "out of memory");
    return error->status;
}

enum cw_status cw_lib_metrics(struct cw_metric **metrics, const struct cw_chip **chip,
                              const struct counterworks_capture *capture, const char *const *names, size_t count,
                              struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *schema = &capture->data.schema;
    if (schema->profiler >= CW_PROFILER__PLANNED)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found a capture of instructions, expected one of ranges or samples");
    *metrics = cw_arena_alloc(arena, count, sizeof **metrics);
    enum cw_status status = *metrics ? cw_chip_rename(chip, schema->chip, arena, err) : cw_error_nomem(err);
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = cw_metric_parse(&(*metrics)[i], *chip, names[i], err);
    return status;
}

struct cw_eval_options cw_lib_spans(const struct counterworks_evaluate_options *options)
{
    struct counterworks_evaluate_options o = COUNTERWORKS_EVALUATE_OPTIONS;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    return (struct cw_eval_options){o.frame_ns, o.region_ns};
}
