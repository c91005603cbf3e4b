#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "metricdb/chip_load.h"
#include "metricdb/chip_write.h"
#include "metricdb/compiled.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/small_chip.h"

enum { HEADER = 48, HASH_AT = 16, CHECKSUM_AT = 40 };

static struct cw_arena *arena;
static struct cw_writer form;

static void setup(void)
{
    arena = cw_arena_create();
    cw_writer_init(&form);
}

static void teardown(void)
{
    cw_writer_free(&form);
    cw_arena_destroy(arena);
}

TestSuite(compiled, .init = setup, .fini = teardown);

static const struct cw_chip *parsed(const char *data, size_t size, const char *path)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char text[1200];
    cr_assert_eq(cw_chip_parse(&chip, data, size, path, arena, &err), CW_OK, "%s",
                 cw_error_format(&err, text, sizeof text));
    return chip;
}

/* The small chip with limits, whose compiled form is in `form`. */
static const struct cw_chip *small(void)
{
    char *named = cw_text_with(cw_small_chip, "source:", "also: [TINIER, TINIEST]\nsource:");
    char *text = cw_text_with(named, "ratios:",
                              "  sm__both: {unit: sm, dim: warps, of: {sm__inst_executed: 0.5, sm__warps_launched: 3}, "
                              "confirmed: 2, raw: [0x22, 0x33]}\n"
                              "  sm__stalls: {unit: sm, dim: warps, pm_elapsed: sm__cycles_active, pm: also, raw: "
                              "[0x22]}\n  sm__loads: {unit: sm, dim: warps, pm: only, raw: [0x22]}\n"
                              "classes: {a: {domain: trace, raw: [0x22, 0x33]}}\n"
                              "limits: [{max: 1, each: [a]}, {max: 2, groups: [a, gpu_sm_a]}]\n"
                              "ratios:");
    const struct cw_chip *chip = parsed(text, strlen(text), "tiny.yaml");
    free(text);
    free(named);
    cr_assert_eq(cw_compiled_write(chip, &form, NULL), CW_OK);
    return chip;
}

static bool same_items(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static void expect_same_limits(const struct cw_limit *a, uint32_t a_count, const struct cw_limit *b, uint32_t b_count)
{
    cr_assert_eq(a_count, b_count);
    for (uint32_t i = 0; i < a_count; i++) {
        const struct cw_limit *x = &a[i], *y = &b[i];
        cr_assert(x->max == y->max && x->pm_max == y->pm_max && x->line == y->line && x->count == y->count, "limit %u",
                  i);
        cr_assert(same_items(x->members, y->members, x->count) && same_items(x->groups, y->groups, x->count));
    }
}

static void expect_same_lines(const struct cw_chip *a, const struct cw_chip *b)
{
    for (uint32_t i = 0; i < a->counter_count; i++)
        cr_assert_eq(a->counters[i].line, b->counters[i].line);
    for (uint32_t i = 0; i < a->ratio_count; i++)
        cr_assert_eq(a->ratios[i].line, b->ratios[i].line);
    for (uint32_t i = 0; i < a->throughput_count; i++)
        cr_assert_eq(a->throughputs[i].line, b->throughputs[i].line);
}

/* What a chip file says is what the writer writes, and limits. */
static void expect_same(const struct cw_chip *a, const struct cw_chip *b)
{
    static const char *const source[] = {NULL};
    struct cw_writer x, y;
    cw_writer_init(&x);
    cw_writer_init(&y);
    cw_chip_write(a, source, &x);
    cw_chip_write(b, source, &y);
    cr_assert(x.size > 100 && x.size == y.size && memcmp(x.data, y.data, x.size) == 0, "%s", a->path);
    cw_writer_free(&x);
    cw_writer_free(&y);
    cr_expect_str_eq(a->path, b->path);
    cr_expect(memcmp(a->hash, b->hash, sizeof a->hash) == 0);
    cr_assert_eq(a->name_slot_count, b->name_slot_count);
    cr_expect(same_items(a->name_slots, b->name_slots, a->name_slot_count));
    expect_same_limits(a->limits, a->limit_count, b->limits, b->limit_count);
    expect_same_limits(a->pm_limits, a->pm_limit_count, b->pm_limits, b->pm_limit_count);
    cr_expect_eq(a->limits == a->pm_limits, b->limits == b->pm_limits);
    expect_same_lines(a, b);
}

static const struct cw_chip *read_back(const struct cw_chip *chip)
{
    const struct cw_chip *again;
    struct cw_error err = CW_ERROR_INIT;
    char text[1200];
    cr_assert_eq(cw_compiled_read(&again, form.data, form.size, chip->hash, chip->path, arena, &err), CW_OK, "%s",
                 cw_error_format(&err, text, sizeof text));
    return again;
}

Test(compiled, small_chip_is_the_same)
{
    const struct cw_chip *chip = small();
    cr_assert(chip->limit_count == 2 && chip->also_count == 2 && chip->counters[5].terms.count == 2);
    expect_same(chip, read_back(chip));
}

Test(compiled, limits_of_sampling_may_be_others)
{
    char *text = cw_text_with(
        cw_small_chip,
        "ratios:", "limits: [{max: 1, pm: 3, each: [trace]}]\npm_limits: [{max: 2, each: [gpu_sm_a]}]\nratios:");
    const struct cw_chip *chip = parsed(text, strlen(text), "tiny.yaml");
    free(text);
    cr_assert_neq(chip->limits, chip->pm_limits);
    cr_assert_eq(cw_compiled_write(chip, &form, NULL), CW_OK);
    expect_same(chip, read_back(chip));
}

Test(compiled, every_shipped_chip_is_the_same, .timeout = 600)
{
    glob_t files;
    cr_assert_eq(glob(CW_SOURCE_DIR "/data/chips/*.yaml", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct cw_bytes file;
        cr_assert_eq(cw_file_read(&file, files.gl_pathv[i], 64 << 20, NULL), CW_OK);
        const struct cw_chip *chip = parsed((const char *)file.data, file.size, files.gl_pathv[i]);
        cr_assert_eq(cw_compiled_write(chip, &form, NULL), CW_OK);
        expect_same(chip, read_back(chip));
        cw_bytes_free(&file);
        teardown();
        setup();
    }
    globfree(&files);
}

Test(compiled, any_damage_is_seen)
{
    const struct cw_chip *chip = small(), *again;
    for (size_t i = 0; i < form.size; i++) {
        form.data[i] ^= 0x10;
        cr_expect_eq(cw_compiled_read(&again, form.data, form.size, chip->hash, "x", arena, NULL), CW_ERR_INPUT,
                     "byte %zu changed", i);
        form.data[i] ^= 0x10;
        cr_expect_eq(cw_compiled_read(&again, form.data, i, chip->hash, "x", arena, NULL), CW_ERR_INPUT,
                     "cut to %zu bytes", i);
    }
}

/* A payload whose checksum holds is read with the same care. */
Test(compiled, hostile_payloads_do_no_harm)
{
    static const uint8_t values[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff};
    const struct cw_chip *chip = small(), *again;
    size_t refused = 0, kept = 0;
    for (size_t i = HEADER; i < form.size; i++)
        for (size_t v = 0; v < sizeof values; v++) {
            uint8_t before = form.data[i];
            struct cw_error err = CW_ERROR_INIT;
            struct cw_arena *own = cw_arena_create();
            form.data[i] = values[v];
            cw_store_u64(form.data + CHECKSUM_AT, XXH3_64bits(form.data + HEADER, form.size - HEADER));
            enum cw_status status = cw_compiled_read(&again, form.data, form.size, chip->hash, "x", own, &err);
            cr_expect(status == CW_OK || (status == CW_ERR_INPUT && err.has_offset), "byte %zu", i);
            refused += status != CW_OK;
            if (status == CW_OK) {
                struct cw_writer text;
                static const char *const source[] = {NULL};
                cw_writer_init(&text);
                cw_chip_write(again, source, &text); /* follows every reference */
                cw_writer_free(&text);
                kept++;
            }
            cw_arena_destroy(own);
            form.data[i] = before;
        }
    cr_expect(refused > 100 && kept > 100, "refused %zu, kept %zu", refused, kept);
}

#define CHANGE(chip, member) (*(uint32_t *)(uintptr_t) & (chip)->member)
#define CHANGE_REAL(chip, member) (*(double *)(uintptr_t) & (chip)->member)

static void change(const struct cw_chip *chip, int flaw)
{
    switch (flaw) {
    case 0:
        CHANGE(chip, ratios[0].numerator) = CW_NONE;
        break;
    case 1:
        CHANGE(chip, ratios[0].denominator) = CW_NONE;
        break;
    case 2:
        CHANGE_REAL(chip, ratios[0].scale) = INFINITY;
        break;
    case 3:
        CHANGE_REAL(chip, ratios[0].max_rate) = -INFINITY;
        break;
    case 4:
        CHANGE(chip, counters[5].terms.items[0]) = 5;
        break;
    case 5:
        CHANGE_REAL(chip, counters[5].coefficients[1]) = 0;
        break;
    case 6:
        CHANGE_REAL(chip, counters[5].coefficients[1]) = NAN;
        break;
    case 7:
        CHANGE_REAL(chip, counters[5].per) = 0;
        break;
    case 8:
        CHANGE_REAL(chip, counters[0].peak) = INFINITY;
        break;
    case 9:
        CHANGE(chip, throughputs[1].throughputs.items[0]) = 1;
        break;
    case 10:
        CHANGE(chip, placements[1].raw) = 0;
        break;
    case 11:
        CHANGE(chip, raws[1].placement) = 0;
        break;
    case 12:
        CHANGE(chip, raws[2].placement_count) = 0;
        break;
    case 13:
        CHANGE(chip, limits[0].groups[1]) = chip->limits[0].count;
        break;
    case 14:
        *(uint64_t *)(uintptr_t)&chip->raws[0].id = 0;
        break;
    case 15:
        *(const char **)(uintptr_t)&chip->ratios[0].name = chip->counters[0].name;
        break;
    case 16:
        *(const char **)(uintptr_t)&chip->ratios[0].name = "a name";
        break;
    }
}

/* The payload holds together, but does not keep to what the loader of YAML makes sure of. */
Test(compiled, every_flaw_is_found)
{
    enum { FLAWS = 17 };
    for (int flaw = 0; flaw <= FLAWS; flaw++) {
        const struct cw_chip *chip = small(), *again;
        struct cw_error err = CW_ERROR_INIT;
        change(chip, flaw);
        cw_writer_free(&form);
        cw_writer_init(&form);
        cr_assert_eq(cw_compiled_write(chip, &form, NULL), CW_OK);
        enum cw_status status = cw_compiled_read(&again, form.data, form.size, chip->hash, "x", arena, &err);
        cr_expect_eq(status, flaw < FLAWS ? CW_ERR_INPUT : CW_OK, "flaw %d", flaw);
        cr_expect(status == CW_OK || strcmp(err.message, "found a compiled chip that is damaged") == 0);
        cw_writer_free(&form);
        cw_writer_init(&form);
    }
}

/* 2^28 equal values stand in seven bytes. */
Test(compiled, a_small_file_takes_little_memory)
{
    const struct cw_chip *chip = small(), *again;
    struct cw_limit *limit = (struct cw_limit *)(uintptr_t)&chip->limits[0];
    uint32_t *zeros = calloc(14 << 20, sizeof *zeros);
    limit->members = limit->groups = zeros;
    for (int fits = 0; fits < 2; fits++) {
        limit->count = fits ? 1 << 20 : 14 << 20;
        cw_writer_free(&form);
        cw_writer_init(&form);
        cr_assert_eq(cw_compiled_write(chip, &form, NULL), CW_OK);
        cr_expect_lt(form.size, 4096);
        cr_expect_eq(cw_compiled_read(&again, form.data, form.size, chip->hash, "x", arena, NULL),
                     fits ? CW_OK : CW_ERR_INPUT);
    }
    free(zeros);
}

Test(compiled, says_what_does_not_fit)
{
    const struct cw_chip *chip = small(), *again;
    struct cw_error text = CW_ERROR_INIT, layout = CW_ERROR_INIT, nothing = CW_ERROR_INIT;
    uint8_t other[16] = {0};
    cr_expect_eq(cw_compiled_read(&again, form.data, form.size, other, "x", arena, &text), CW_ERR_INPUT);
    cr_expect_str_eq(text.message, "found a compiled chip of another YAML text");
    form.data[8] ^= 1;
    cr_expect_eq(cw_compiled_read(&again, form.data, form.size, chip->hash, "x", arena, &layout), CW_ERR_INPUT);
    cr_expect_str_eq(layout.message, "found a compiled chip of another layout");
    cr_expect_eq(cw_compiled_read(&again, "schema: 1", 9, chip->hash, "x", arena, &nothing), CW_ERR_INPUT);
    cr_expect_str_eq(nothing.message, "found no compiled chip");
}

Test(compiled, no_memory_is_said)
{
    const struct cw_chip *chip = small(), *again;
    for (long n = 0;; n++) {
        struct cw_arena *own = cw_arena_create();
        cw_alloc_fail_after(n);
        enum cw_status status = cw_compiled_read(&again, form.data, form.size, chip->hash, "x", own, NULL);
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cw_arena_destroy(own);
        cr_expect_eq(status, failed ? CW_ERR_NOMEM : CW_OK, "allocation %ld", n);
        if (!failed)
            break;
    }
    for (long n = 0;; n++) {
        struct cw_writer out;
        cw_writer_init(&out);
        cw_alloc_fail_after(n);
        enum cw_status status = cw_compiled_write(chip, &out, NULL);
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cw_writer_free(&out);
        cr_expect_eq(status, failed ? CW_ERR_NOMEM : CW_OK, "allocation %ld", n);
        if (!failed)
            break;
    }
}

/* The folder beside the tests is the build's own; a name that no chip has is used there. */
Test(compiled, a_changed_text_is_parsed)
{
    char folder[CW_PATH_MAX], name[CW_PATH_MAX], file[3 * CW_PATH_MAX], yaml[] = "/tmp/cw_compiled_XXXXXX";
    const struct cw_chip *chip = small(), *again;
    cr_assert(cw_compiled_folder(folder));
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(folder, 0777);
    }
    mkdir(folder, 0777);
    cr_assert_geq(close(mkstemp(yaml)), 0);
    snprintf(file, sizeof file, "%s/%s", folder, cw_compiled_name(yaml, name));
    cr_expect_not(cw_compiled_load(&again, yaml, chip->hash, arena), "there is none yet");
    cr_assert_eq(cw_file_write(file, form.data, form.size, NULL), CW_OK);
    cr_expect(cw_compiled_load(&again, yaml, chip->hash, arena));
    cr_expect_str_eq(again->path, yaml);
    char *text = cw_text_with(cw_small_chip, "chip: TINY", "chip: OTHER");
    cr_assert_eq(cw_file_write(yaml, text, strlen(text), NULL), CW_OK);
    cr_assert_eq(cw_chip_load_file(&again, yaml, arena, NULL), CW_OK);
    cr_expect_str_eq(again->name, "OTHER");
    free(text);
    unlink(file);
    unlink(yaml);
}

Test(compiled, names_of_files)
{
    char name[CW_PATH_MAX];
    cr_expect_str_eq(cw_compiled_name("/a.b/gh100.yaml", name), "gh100.cwchip");
    cr_expect_str_eq(cw_compiled_name("x", name), "x.cwchip");
}

Test(compiled, columns_read_back)
{
    static const uint32_t columns[][8] = {{0},
                                          {7, 7, 7, 7, 7, 7, 7, 7},
                                          {5, 6, 7, 8, 9, 10, 11, 12},
                                          {CW_NONE, 0, CW_NONE, 0, 1, 2, 3, 4},
                                          {1, 5, 2, 2, 2, 2, 9, 8},
                                          {0x80000000, 0, 0x7fffffff, 3, 3, 3, 3, 3}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t count = 1; count <= 8; count++) {
            struct cw_writer out;
            uint32_t back[8] = {0};
            cw_writer_init(&out);
            cw_column_put(&out, columns[i], count);
            struct cw_column_reader in = {out.data, out.data + out.size, false};
            cw_column_get(&in, back, count, UINT64_MAX);
            cr_expect(!in.bad && in.at == in.end && same_items(back, columns[i], (uint32_t)count),
                      "column %zu, %zu values", i, count);
            cw_writer_free(&out);
        }
}

/* What neither repeats nor rises stands as words, where all of it fits them. */
Test(compiled, columns_of_words)
{
    enum { COUNT = 40 };
    static const uint32_t lasts[] = {UINT16_MAX, UINT16_MAX + 1};
    uint32_t values[COUNT], back[COUNT];
    for (size_t c = 0; c < sizeof lasts / sizeof *lasts; c++) {
        struct cw_writer out;
        for (uint32_t i = 0; i < COUNT; i++)
            values[i] = i * 9001 % UINT16_MAX;
        values[COUNT - 1] = lasts[c];
        cw_writer_init(&out);
        cw_column_put(&out, values, COUNT);
        if (lasts[c] <= UINT16_MAX)
            cr_expect_eq(out.size, 2 + 2 * COUNT, "%zu bytes", out.size);
        for (size_t cut = 0; cut <= out.size; cut++) {
            struct cw_column_reader in = {out.data, out.data + out.size - cut, false};
            cw_column_get(&in, back, COUNT, lasts[c] + UINT64_C(1));
            cr_expect_eq(in.bad, cut > 0, "%zu cut off", cut);
            cr_expect(cut || (in.at == in.end && same_items(back, values, COUNT)));
        }
        struct cw_column_reader in = {out.data, out.data + out.size, false};
        cw_column_get(&in, back, COUNT, lasts[c]);
        cr_expect(in.bad, "a value is not below the bound");
        cw_writer_free(&out);
    }
}
