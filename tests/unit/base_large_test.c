/* Arrays in files and in memory. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/large.h"

enum { COUNT = 2 * CW_LARGE_BYTES / sizeof(uint64_t), PAGE = 512 };

static struct cw_large large;

static void tear_down(void)
{
    cw_large_free_all(&large);
    cr_expect(!large.in_files && !large.in_memory);
}

TestSuite(large, .fini = tear_down);

/* MB of files that are in the memory of this process. */
static long kept(void)
{
    long pages = -1;
    FILE *file = fopen("/proc/self/statm", "re");
    cr_assert(file && fscanf(file, "%*d %*d %ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void fill(uint64_t *array)
{
    for (size_t i = 0; i < COUNT; i += PAGE)
        array[i] = i + 1;
}

static void expect_filled(const uint64_t *array)
{
    for (size_t i = 0; i < COUNT; i += PAGE)
        cr_assert(array[i] == i + 1 && array[i + 1] == 0, "item %zu", i);
}

Test(large, an_array_in_a_file_stays_as_it_is)
{
    const long before = kept();
    uint64_t *array = cw_large_alloc(&large, COUNT, sizeof *array);
    cr_assert(array && large.in_files && !large.in_memory);
    fill(array);
    cr_expect(kept() - before > 100, "%ld MB", kept() - before);
    cw_large_let_go(&large);
    cr_expect(kept() - before < 10, "%ld MB", kept() - before);
    expect_filled(array);
}

/* Three of them are more than is kept. */
Test(large, some_is_kept_while_arrays_are_gone_through)
{
    uint64_t *arrays[3];
    long most = 0;
    for (int a = 0; a < 3; a++) {
        arrays[a] = cw_large_alloc(&large, COUNT, sizeof **arrays);
        cr_assert(arrays[a]);
        for (size_t i = 0; i < COUNT; i++, cw_large_step(&large)) {
            arrays[a][i] = i + 1;
            most = i % (1 << 18) == 0 && kept() > most ? kept() : most;
        }
    }
    cr_expect(most > 100 && most < (long)(CW_LARGE_KEPT >> 20) + 64, "%ld MB", most);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < COUNT; i++, cw_large_step(&large))
            cr_assert(arrays[a][i] == i + 1);
    cw_large_free(&large, arrays[1]);
    cr_expect(arrays[0][COUNT - 1] == COUNT && arrays[2][COUNT - 1] == COUNT);
}

Test(large, small_arrays_are_in_memory)
{
    uint64_t *array = cw_large_alloc(&large, 100, sizeof *array), *none = cw_large_alloc(&large, 0, 8);
    cr_assert(array && none && !large.in_files);
    for (size_t i = 0; i < 100; i++)
        cr_expect(array[i] == 0);
    cw_large_free(&large, array);
    cw_large_free(&large, NULL);
    cr_expect(!cw_large_alloc(&large, SIZE_MAX / 4, 8));
}

Test(large, without_a_file_it_is_memory)
{
    cr_assert(setenv("TMPDIR", "/nonexistent", 1) == 0);
    uint64_t *array = cw_large_alloc(&large, COUNT, sizeof *array);
    cr_assert(array && !large.in_files && large.in_memory);
    fill(array);
    cw_large_let_go(&large);
    expect_filled(array);
}

/* A file beyond the limit would end the process by a signal. */
Test(large, a_limit_of_files_is_kept)
{
    const struct rlimit most = {1 << 20, 1 << 20};
    cr_assert(setrlimit(RLIMIT_FSIZE, &most) == 0);
    uint64_t *array = cw_large_alloc(&large, COUNT, sizeof *array);
    cr_assert(array && !large.in_files && large.in_memory);
}
