#define _GNU_SOURCE
#include "cli/eval/native_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "host/nvperf/nvperf.h"

enum { LARGEST_IMAGE = 1 << 30 };

/* What the child leaves for its parent, in memory that both share. */
struct shared {
    struct cw_error err;
    bool done;
    double values[]; /* [range][metric] */
};

struct native {
    const struct cw_nvperf *library;
    const struct cw_result *result;
    const struct cw_eval_options *options;
    double *values;  /* [range][metric] */
    uint32_t ranges; /* evaluated so far */
};

static enum cw_status evaluate_ranges(struct native *n, struct cw_nvperf_evaluator *e, const char *path,
                                      struct cw_error *err)
{
    const struct cw_result *r = n->result;
    struct cw_nvperf_requests *requests = NULL;
    size_t ranges = 0;
    enum cw_status status = cw_nvperf_range_count(e, &ranges, err);
    if (status == CW_OK && (!ranges || ranges > r->row_count - n->ranges))
        status = cw_error_set(err, CW_ERR_INPUT, "%s: found %zu ranges, expected 1 to %u: the capture has %u", path,
                              ranges, (unsigned)(r->row_count - n->ranges), (unsigned)r->row_count);
    if (status == CW_OK)
        status = cw_nvperf_requests_create(&requests, e, r->names, r->metric_count, err);
    for (size_t i = 0; status == CW_OK && i < ranges; i++, n->ranges++)
        status = cw_nvperf_evaluate(e, requests, i, n->values + (size_t)n->ranges * r->metric_count, err);
    cw_nvperf_requests_destroy(requests);
    return status;
}

static enum cw_status evaluate_image(struct native *n, const char *path, struct cw_error *err)
{
    const bool sampled = n->result->data->schema.profiler == CW_PROFILER_PM;
    const enum cw_nvperf_activity activity = sampled ? CW_NVPERF_PM_SAMPLING : CW_NVPERF_PROFILER;
    struct cw_nvperf_evaluator *e = NULL;
    struct cw_bytes file = {0};
    enum cw_status status = cw_file_read(&file, path, LARGEST_IMAGE, err);
    if (status != CW_OK)
        return status;
    uint8_t *image = aligned_alloc(64, (file.size + 64) / 64 * 64);
    if (!image)
        status = cw_error_nomem(err);
    if (status == CW_OK) {
        memcpy(image, file.data, file.size);
        status = cw_nvperf_evaluator_create(&e, n->library, n->result->chip->name, activity, image, file.size, err);
    }
    if (status == CW_OK && (n->options->frame_ns != 0 || n->options->region_ns != 0))
        status = cw_nvperf_set_durations(e, n->options->frame_ns, n->options->region_ns, err);
    if (status == CW_OK)
        status = evaluate_ranges(n, e, path, err);
    cw_nvperf_evaluator_destroy(e);
    cw_bytes_free(&file);
    free(image);
    return status;
}

static enum cw_status evaluate(struct native *n, const char *path, struct cw_error *err)
{
    char name[4096];
    enum cw_status status = cw_nvperf_open(&n->library, NULL, err);
    for (unsigned k = 0; status == CW_OK && n->ranges < n->result->row_count; k++) {
        snprintf(name, sizeof name, k ? "%s.%u" : "%s", path, k);
        status = evaluate_image(n, name, err);
    }
    return status;
}

/* NVIDIA's library trusts the image: a damaged one can crash it. A child takes that risk. */
static enum cw_status evaluate_in_child(const char *path, const struct cw_result *r,
                                        const struct cw_eval_options *options, struct shared *shared,
                                        struct cw_error *err)
{
    int how = 0;
    pid_t pid = fork();
    if (pid == 0) {
        evaluate(&(struct native){.result = r, .options = options, .values = shared->values}, path, &shared->err);
        shared->done = true;
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &how, 0) != pid)
        return cw_error_set(err, CW_ERR_IO, "cannot start a process for NVIDIA's evaluator");
    if (!shared->done)
        return cw_error_set(err, CW_ERR_INPUT,
                            "%s: NVIDIA's host library could not read it (it stopped with signal %d); expected native "
                            "counter data of %s",
                            path, WIFSIGNALED(how) ? WTERMSIG(how) : 0, r->chip->name);
    if (shared->err.code != CW_OK)
        *err = shared->err;
    return shared->err.code;
}

enum cw_status cw_native_reference_load(struct cw_reference *reference, const char *path, const struct cw_result *r,
                                        const struct cw_eval_options *options, struct cw_arena *arena,
                                        struct cw_error *err)
{
    size_t count = (size_t)r->metric_count * r->row_count; /* as large as the result's own, which is in memory */
    size_t size = sizeof(struct shared) + count * sizeof(double);
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return cw_error_nomem(err);
    shared->err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = evaluate_in_child(path, r, options, shared, err);
    double *values = cw_arena_alloc(arena, count, sizeof *values);
    if (status == CW_OK && !values)
        status = cw_error_nomem(err);
    if (status == CW_OK)
        memcpy(values, shared->values, count * sizeof *values);
    *reference = (struct cw_reference){r->metric_count, r->row_count, r->names, values};
    munmap(shared, size);
    return status;
}
