/* Converts NVIDIA's native counter data into ours, on any machine with their host library. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/command/command.h"
#include "agent/output/collector.h"
#include "base/suggest.h"
#include "base/usage.h"
#include "host/nvperf/lower.h"

enum { LARGEST_IMAGE = 1 << 30 };

struct decode_options {
    bool force, quiet;
    const char *native, *output, *chip;
    const char *metrics; /* wanted counters, comma-separated; a metric's name stands for its counter. NULL: all */
};

struct decoding {
    const struct decode_options *options;
    const struct cw_nvperf *library;
    struct cw_arena *arena;
    enum cw_nvperf_activity activity; /* kind of measurement in the image */
    uint8_t *image;                   /* aligned as the library wants it */
    size_t size;
    struct cw_schema_counter *counters;
    uint32_t count;
};

static enum cw_status read_image(struct decoding *d, struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, d->options->native, LARGEST_IMAGE, err);
    if (status != CW_OK)
        return status;
    d->size = file.size;
    d->image = aligned_alloc(64, (file.size + 64) / 64 * 64);
    if (d->image)
        memcpy(d->image, file.data, file.size);
    cw_bytes_free(&file);
    return d->image ? CW_OK : cw_error_nomem(err);
}

/* Finds the counter for a wanted name: the name itself, or the longest counter name that it continues with a dot. */
static uint32_t find_counter(const struct decoding *d, const char *name, size_t length)
{
    uint32_t best = d->count;
    size_t longest = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        size_t n = strlen(d->counters[i].name);
        if (n <= length && n >= longest && strncmp(d->counters[i].name, name, n) == 0 &&
            (n == length || name[n] == '.')) {
            best = i;
            longest = n;
        }
    }
    return best;
}

static enum cw_status keep_wanted(struct decoding *d, struct cw_error *err)
{
    const char *text = d->options->metrics;
    uint8_t *wanted = cw_arena_alloc(d->arena, d->count, 1);
    if (!wanted)
        return cw_error_nomem(err);
    for (size_t length; *(text += strspn(text, ", ")); text += length) {
        length = strcspn(text, ", ");
        uint32_t i = find_counter(d, text, length);
        if (i == d->count) {
            char name[256], near_text[400];
            struct cw_suggest near;
            snprintf(name, sizeof name, "%.*s", (int)length, text);
            cw_suggest_init(&near, name);
            for (uint32_t k = 0; k < d->count; k++)
                cw_suggest_offer(&near, d->counters[k].name);
            return cw_error_set(err, CW_ERR_USAGE, "found '%s', expected the name of a counter%s", name,
                                cw_suggest_text(&near, near_text, sizeof near_text));
        }
        wanted[i] = 1;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (wanted[i])
            d->counters[kept++] = d->counters[i];
    d->count = kept;
    return CW_OK;
}

/* NVIDIA's evaluator of ranges refuses samples, and the other way round. */
static void find_activity(struct decoding *d)
{
    struct cw_nvperf_evaluator *e = NULL;
    if (cw_nvperf_evaluator_create(&e, d->library, d->options->chip, CW_NVPERF_PM_SAMPLING, d->image, d->size, NULL) ==
        CW_OK)
        d->activity = CW_NVPERF_PM_SAMPLING;
    cw_nvperf_evaluator_destroy(e);
}

static enum cw_status list_counters(struct decoding *d, struct cw_error *err)
{
    struct cw_nvperf_evaluator *e;
    enum cw_status status = cw_nvperf_evaluator_create(&e, d->library, d->options->chip, d->activity, NULL, 0, err);
    if (status != CW_OK)
        return status;
    d->count = (uint32_t)cw_nvperf_metric_count(e, CW_NVPERF_COUNTER);
    d->counters = cw_arena_alloc(d->arena, d->count, sizeof *d->counters);
    bool room = d->counters != NULL;
    for (uint32_t i = 0; room && i < d->count; i++) {
        d->counters[i] = (struct cw_schema_counter){
            .name = cw_arena_strdup(d->arena, cw_nvperf_metric_name(e, CW_NVPERF_COUNTER, i)), .whole = true};
        room = d->counters[i].name != NULL;
    }
    cw_nvperf_evaluator_destroy(e);
    if (!room)
        return cw_error_nomem(err);
    return d->options->metrics ? keep_wanted(d, err) : CW_OK;
}

static enum cw_status write_ranges(struct cw_collector *out, struct cw_nvperf_decoder *decoder, struct cw_value *values,
                                   struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < cw_nvperf_decoder_ranges(decoder); i++) {
        char name[32];
        snprintf(name, sizeof name, "range %zu", i);
        struct cw_range range = {.name = name, .kernel = ""};
        status = cw_nvperf_decode_range(decoder, i, values, err);
        if (status == CW_OK)
            status = cw_collector_range(out, &range, values, err);
    }
    return status;
}

/* The host library does not give the times of samples: each begins where the one before ends. */
static enum cw_status write_samples(struct cw_collector *out, struct cw_nvperf_decoder *decoder,
                                    struct cw_value *values, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < cw_nvperf_decoder_ranges(decoder); i++) {
        status = cw_nvperf_decode_range(decoder, i, values, err);
        if (status == CW_OK)
            status = cw_collector_sample(out, i, i + 1, values, err);
    }
    return status;
}

static enum cw_status write_file(struct decoding *d, struct cw_nvperf_decoder *decoder, struct cw_error *err)
{
    struct cw_schema schema = {.chip = d->options->chip,
                               .profiler = d->activity == CW_NVPERF_PROFILER ? CW_PROFILER_RANGE : CW_PROFILER_PM,
                               .producer = "counterworks " CW_VERSION,
                               .counter_count = d->count,
                               .counters = d->counters};
    const struct cw_pair attributes[] = {
        {"name", "unknown"}, {"chip", d->options->chip}, {"backend", "decode"}, {"simulated", "no"}};
    struct cw_device device = {.attribute_count = sizeof attributes / sizeof *attributes, .attributes = attributes};
    struct cw_device_facts *facts = cw_arena_alloc(d->arena, d->count, sizeof *facts);
    struct cw_value *values = cw_arena_alloc(d->arena, d->count, sizeof *values);
    struct cw_collector out = {.fd = -1};
    enum cw_status status = facts && values ? cw_nvperf_decode_facts(decoder, facts, err) : cw_error_nomem(err);
    device.facts = facts;
    if (status == CW_OK)
        status = cw_collector_open(&out, d->options->output, d->options->force, &schema, err);
    if (status == CW_OK)
        status = cw_collector_device(&out, &device, err);
    if (status == CW_OK)
        status = (d->activity == CW_NVPERF_PROFILER ? write_ranges : write_samples)(&out, decoder, values, err);
    if (status == CW_OK)
        status = cw_collector_end(&out, CW_END_NO_PROGRAM, 0, err);
    cw_collector_close(&out);
    return status;
}

static enum cw_status decode(const struct decode_options *options, struct cw_error *err)
{
    struct decoding d = {.options = options, .arena = cw_arena_create()};
    struct cw_nvperf_decoder *decoder = NULL;
    enum cw_status status = d.arena ? cw_nvperf_open(&d.library, NULL, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = read_image(&d, err);
    if (status == CW_OK)
        find_activity(&d);
    if (status == CW_OK)
        status = list_counters(&d, err);
    if (status == CW_OK)
        status = cw_nvperf_decoder_create(&decoder, d.library, options->chip, d.activity, d.image, d.size, d.counters,
                                          d.count, err);
    if (status == CW_OK)
        status = write_file(&d, decoder, err);
    cw_nvperf_decoder_destroy(decoder);
    free(d.image);
    cw_arena_destroy(d.arena);
    return status;
}

/* Decodes in a child process: NVIDIA's library trusts the image, and a damaged one can crash it. */
static enum cw_status decode_in_child(const struct decode_options *options, struct cw_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        struct cw_error mine = CW_ERROR_INIT;
        decode(options, &mine);
        _exit(write(ends[1], &mine, sizeof mine) != (ssize_t)sizeof mine);
    }
    close(ends[1]);
    struct cw_error told = CW_ERROR_INIT;
    ssize_t n = pid > 0 ? read(ends[0], &told, sizeof told) : 0;
    close(ends[0]);
    int how = 0;
    if (pid > 0)
        waitpid(pid, &how, 0);
    if (n != (ssize_t)sizeof told)
        return cw_error_set(err, CW_ERR_INPUT,
                            "%s: NVIDIA's host library could not read it (it stopped with signal %d); expected native "
                            "counter data of %s",
                            options->native, WIFSIGNALED(how) ? WTERMSIG(how) : 0, options->chip);
    if (told.code != CW_OK && err)
        *err = told;
    return told.code;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void check_arguments(void *options, struct argp_state *state)
{
    const struct decode_options *o = options;
    if (!o->native || !o->output)
        cw_usage_error(state, "--native FILE and -o RUN.cwd are required");
}

static const struct cw_option decode_arguments[] = {
    {"native", 0, "FILE", "NVIDIA's counter data (range --keep-native)", CW_OPTION_TEXT(struct decode_options, native)},
    {"metrics", 'm', "A,B,...", "the counters to take (default: every one)",
     CW_OPTION_TEXT(struct decode_options, metrics)},
    {"chip", 0, "NAME", "its chip (default: GH100)", CW_OPTION_TEXT(struct decode_options, chip)},
    {"output", 'o', "RUN.cwd", "the file for the counter data", CW_OPTION_TEXT(struct decode_options, output)},
    {"force", 0, NULL, "replace a file of the output's name, even if it is no capture",
     CW_OPTION_FLAG(struct decode_options, force)},
    {"quiet", 'q', NULL, "changes nothing: there are no notices", CW_OPTION_FLAG(struct decode_options, quiet)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

int cw_decode_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        decode_arguments, "",
        "Turns NVIDIA's counter data into counter data that metric-eval reads. Needs their "
        "host library, but no GPU.\v"
        "Example:\n  $0 --native run.cd -o run.cwd"};
    struct decode_options options = {.chip = "GH100"};
    cw_usage_read(&usage, argc, argv, &options);
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_file_keep(options.output, options.native, "native data", &err);
    if (status == CW_OK)
        status = cw_file_may_replace(options.output, &cw_file_capture, options.force, &err);
    if (status == CW_OK)
        status = decode_in_child(&options, &err);
    return status == CW_OK ? 0 : cw_usage_fail(&err);
}
