/* A capture in a file, which is read in pieces: what it holds is what the same bytes hold in memory. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/pm_view.h"
#include "image/range_view.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/chunk_edit.h"

struct both {
    struct cw_counter_data in_memory, in_file;
    struct cw_input input;
    struct cw_arena *arena;
    struct cw_error err;
};

static bool are_alike(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Range `i` of the view is range `k`. */
static void compare_range(const struct both *b, const struct cw_range_view *view, uint32_t i, uint32_t k)
{
    const struct cw_range *found = &view->ranges[i], *expected = &b->in_memory.ranges[k];
    const uint32_t of_view = view->data.range_count, of_all = b->in_memory.range_count;
    CW_FUZZ_CHECK(strcmp(found->name, expected->name) == 0 && found->device == expected->device);
    CW_FUZZ_CHECK(found->start_ns == expected->start_ns && found->attribute_count == expected->attribute_count);
    CW_FUZZ_CHECK(are_alike(found->durations, expected->durations, b->in_memory.schema.pass_count));
    for (uint32_t c = 0; c < cw_schema_columns(&b->in_memory.schema); c++) {
        const size_t at = (size_t)c * of_view + i, from = (size_t)c * of_all + k;
        CW_FUZZ_CHECK(view->data.forms[at] == b->in_memory.forms[from]);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            CW_FUZZ_CHECK(are_alike(&view->data.rollups[r][at], &b->in_memory.rollups[r][from], 1));
    }
}

static void compare_ranges(struct both *b)
{
    struct cw_range_view view;
    const uint32_t count = b->in_file.range_count;
    CW_FUZZ_CHECK(count == b->in_memory.range_count);
    CW_FUZZ_CHECK(cw_range_view_init(&view, &b->in_file, b->arena, &b->err) == CW_OK);
    for (uint32_t first = 0, n; first < count; first += n) {
        n = count - first < view.room ? count - first : view.room;
        CW_FUZZ_CHECK(cw_range_view_load(&view, first, NULL, n) == CW_OK);
        for (uint32_t i = 0; i < n; i++)
            compare_range(b, &view, i, first + i);
    }
    for (uint32_t i = count < 100 ? count : 100; i--;) { /* the last of them first */
        CW_FUZZ_CHECK(cw_range_view_load(&view, 0, &i, 1) == CW_OK);
        compare_range(b, &view, 0, i);
    }
    cw_range_view_free(&view);
}

static void compare_samples(struct both *b)
{
    struct cw_pm_view file, memory;
    CW_FUZZ_CHECK(b->in_file.pm.block_count == b->in_memory.pm.block_count);
    CW_FUZZ_CHECK(cw_pm_view_init(&file, &b->in_file, b->arena, &b->err) == CW_OK);
    CW_FUZZ_CHECK(cw_pm_view_init(&memory, &b->in_memory, b->arena, &b->err) == CW_OK);
    const uint32_t counters = b->in_memory.schema.counter_count;
    for (uint32_t k = 0; k < b->in_file.pm.block_count; k++)
        for (uint32_t first = 0, n; first < b->in_file.pm.blocks[k].count; first += n) {
            n = cw_pm_view_load(&file, &b->in_file, k, first);
            CW_FUZZ_CHECK(n && n == cw_pm_view_load(&memory, &b->in_memory, k, first));
            CW_FUZZ_CHECK(memcmp(file.start_ns, memory.start_ns, n * sizeof *file.start_ns) == 0);
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                CW_FUZZ_CHECK(are_alike(file.data.rollups[r], memory.data.rollups[r], (size_t)n * counters));
        }
    cw_pm_view_free(&file);
    cw_pm_view_free(&memory);
}

/* Ranges of some ranks, of which those of packed chunks alone are read; an input may have so odd a record that what is
 * left of it does not read. */
static void read_ranks(struct both *b)
{
    struct cw_counter_data some;
    struct cw_range_view view;
    struct cw_error err = CW_ERROR_INIT;
    if (cw_counter_data_open_ranks(&some, &b->input, "1,3-4", b->arena, &err) != CW_OK)
        return;
    CW_FUZZ_CHECK(some.range_count <= b->in_memory.range_count);
    CW_FUZZ_CHECK(cw_range_view_init(&view, &some, b->arena, &err) == CW_OK);
    for (uint32_t first = 0, n; first < some.range_count; first += n) {
        n = some.range_count - first < view.room ? some.range_count - first : view.room;
        CW_FUZZ_CHECK(cw_range_view_load(&view, first, NULL, n) == CW_OK);
    }
    cw_range_view_free(&view);
}

static void compare(const uint8_t *bytes, size_t size)
{
    struct both b = {.arena = cw_arena_create(), .err = CW_ERROR_INIT};
    char path[64];
    const int fd = memfd_create("capture", MFD_CLOEXEC);
    CW_FUZZ_CHECK(b.arena && fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct cw_error err = CW_ERROR_INIT;
    const enum cw_status expected = cw_counter_data_read(&b.in_memory, bytes, size, path, b.arena, &err);
    CW_FUZZ_CHECK(cw_input_open(&b.input, path, SIZE_MAX, &b.err) == CW_OK && !b.input.bytes == !!size);
    const enum cw_status status = cw_counter_data_open(&b.in_file, &b.input, b.arena, &b.err);
    CW_FUZZ_CHECK(status == expected && strcmp(b.err.message, err.message) == 0);
    if (status == CW_OK) {
        CW_FUZZ_CHECK(b.in_file.complete == b.in_memory.complete);
        CW_FUZZ_CHECK(b.in_file.damage.bytes <= size && b.in_file.damage.bytes == b.in_memory.damage.bytes);
        compare_ranges(&b);
        compare_samples(&b);
        read_ranks(&b);
    }
    cw_input_close(&b.input);
    close(fd);
    cw_arena_destroy(b.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    compare(bytes, size);
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    memcpy(fixed, bytes, size);
    cw_edit_fix_checksums(fixed, size);
    compare(fixed, size);
    for (size_t at = size / 3; at < size; at += size / 3 + 1) /* damage in the middle, behind which all is well */
        fixed[at] ^= 0x5a;
    compare(fixed, size);
    free(fixed);
    return 0;
}
