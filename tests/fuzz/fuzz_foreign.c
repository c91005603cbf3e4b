/* Files of other profilers: what is made of one is a capture that reads. */
#include <string.h>

#include "foreign/foreign.h"
#include "image/trace_data.h"
#include "image/counter_data.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "tests/fuzz/fuzz.h"

enum cw_status __real_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err);
enum cw_status __wrap_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err);
enum cw_status __real_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err);
enum cw_status __wrap_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err);

/* Chips that inputs name: to find and load them took 80 % of the time. */
static struct {
    const char *name, *path, *spelling;
    const struct cw_chip *chip; /* NULL: is not loaded yet */
} kept[64];
enum { MOST_KEPT = sizeof kept / sizeof *kept, MOST_LOADED = 8 /* of 30 MB each */ };
static struct cw_arena *of_kept;
static int loaded;

/* Place of the name, or where it may be kept, or MOST_KEPT. */
static size_t place_of(const char *name)
{
    size_t at = 0;
    of_kept = of_kept ? of_kept : cw_arena_create();
    while (at < MOST_KEPT && kept[at].name && strcmp(kept[at].name, name) != 0)
        at++;
    return at;
}

static enum cw_status keep(size_t at, const char *data, const char *name, struct cw_arena *arena, struct cw_error *err)
{
    const char *path, *spelling;
    CW_TRY(__real_cw_chip_file_find(&path, &spelling, data, name, arena, err));
    kept[at].path = cw_arena_strdup(of_kept, path);
    kept[at].spelling = cw_arena_strdup(of_kept, spelling);
    kept[at].name = cw_arena_strdup(of_kept, name);
    return CW_OK;
}

enum cw_status __wrap_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err)
{
    const size_t at = place_of(name);
    if (at == MOST_KEPT)
        return __real_cw_chip_file_find(path, spelling, data, name, arena, err);
    if (!kept[at].name)
        CW_TRY(keep(at, data, name, arena, err));
    *path = kept[at].path;
    *spelling = kept[at].spelling;
    return CW_OK;
}

enum cw_status __wrap_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err)
{
    const size_t at = place_of(name);
    if (at == MOST_KEPT || (!kept[at].chip && loaded == MOST_LOADED))
        return __real_cw_chip_load(chip, data, name, arena, err);
    if (!kept[at].name)
        CW_TRY(keep(at, data, name, arena, err));
    const bool first = !kept[at].chip;
    const enum cw_status status = first ? __real_cw_chip_load(&kept[at].chip, data, name, of_kept, err) : CW_OK;
    loaded += first && status == CW_OK;
    *chip = kept[at].chip;
    return status;
}

static void read_rows(const struct cw_counter_data *data, const struct cw_input *input, struct cw_arena *arena)
{
    struct cw_trace trace;
    struct cw_trace_rows rows;
    struct cw_trace_buffer buffer = {0};
    CW_FUZZ_CHECK(cw_trace_open(&trace, data->devices, data->device_count, input, "fuzz", arena, NULL) == CW_OK);
    for (size_t i = 0; i < trace.block_count; i++)
        CW_FUZZ_CHECK(cw_trace_read_rows(&rows, &trace, i, &buffer, NULL) == CW_OK);
    cw_trace_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_input input = cw_input_of(bytes, size, "fuzz");
    struct cw_counter_data data;
    struct cw_error err = CW_ERROR_INIT;
    char notice[CW_FOREIGN_NOTICE_SIZE];
    const enum cw_foreign kind = cw_foreign_kind(bytes, size);
    const enum cw_status status = cw_foreign_convert(&input, notice, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT || status == CW_ERR_UNSUPPORTED);
    CW_FUZZ_CHECK(status == err.code);
    if (status == CW_OK && kind != CW_FOREIGN_NONE && size >= 8) {
        CW_FUZZ_CHECK(cw_counter_data_open(&data, &input, arena, &err) == CW_OK);
        CW_FUZZ_CHECK(!data.damage.places);
        if (data.schema.profiler == CW_PROFILER_TRACE)
            read_rows(&data, &input, arena);
    }
    cw_input_close(&input);
    cw_arena_destroy(arena);
    return 0;
}
