/* Writes the seeds of the fuzz targets config_image, counter_data, capture_file and pc_data: make_image_seeds
 * CORPUS_FOLDER */
#include <stdio.h>

#include "base/file.h"
#include "image/data_chunks.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

static int save(const char *folder, const char *target, const char *name, struct cw_writer *out)
{
    char path[4096], text[1200];
    struct cw_error err = CW_ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    enum cw_status status = out->status != CW_OK ? out->status : cw_file_write(path, out->data, out->size, &err);
    if (status != CW_OK)
        fprintf(stderr, "make_image_seeds: %s\n", cw_error_format(&err, text, sizeof text));
    cw_writer_free(out);
    return status;
}

static int save_plan(const char *folder, const char *name, struct cw_config_image image)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&image, &out);
    return save(folder, "config_image", name, &out);
}

static int save_data(const char *folder, const char *name, bool complete, size_t cut)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sample_data(&out, complete);
    out.size -= cut < out.size ? cut : out.size;
    return save(folder, "counter_data", name, &out);
}

/* What a capture of the plan begins with. */
static int save_meanings(const char *folder)
{
    struct cw_config_image image = cw_sample_plan_meanings();
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_prefix(&image, &out);
    return save_plan(folder, "seed-meanings", image) || save(folder, "counter_data", "seed-meanings", &out);
}

static int save_made(const char *folder, const char *target, const char *name, void (*make)(struct cw_writer *))
{
    struct cw_writer out;
    cw_writer_init(&out);
    make(&out);
    return save(folder, target, name, &out);
}

/* A byte of the values of a range is another. */
static void make_damaged(struct cw_writer *out)
{
    struct cw_edit_chunk chunk;
    cw_sample_repeats(out);
    if (cw_edit_find(out->data, out->size, 4, &chunk))
        out->data[chunk.offset + CW_CHUNK_HEADER_SIZE + chunk.size / 2] ^= 1;
}

/* Heads in the middle of it that each claim the rest. */
static void make_heads(struct cw_writer *out)
{
    enum { HEADS = 200 };
    struct cw_writer whole;
    struct cw_edit_chunk chunk;
    cw_writer_init(&whole);
    cw_sample_facts(&whole);
    if (cw_edit_find(whole.data, whole.size, 4, &chunk)) {
        cw_write_bytes(out, whole.data, chunk.offset);
        for (size_t i = 0; i < HEADS; i++) {
            const size_t start = cw_chunk_begin(out, CW_CHUNK_RANGE, 0);
            cw_store_u64(out->data + start + 8, (HEADS - 1 - i) * CW_CHUNK_HEADER_SIZE);
        }
        cw_write_bytes(out, whole.data + chunk.offset, whole.size - chunk.offset);
    }
    cw_writer_free(&whole);
}

/* Packed: what many captures of the sample have in common. */
static int save_packed(const char *folder, const char *target, const char *name, void (*make)(struct cw_writer *))
{
    enum { MANY = 12 };
    struct cw_merge_input inputs[MANY];
    struct cw_writer one, out;
    cw_writer_init(&one);
    cw_writer_init(&out);
    make(&one);
    for (int i = 0; i < MANY; i++)
        inputs[i] = (struct cw_merge_input){"sample", one.data, one.size};
    const enum cw_status status = cw_merge_sparse(&out, inputs, MANY, NULL);
    cw_writer_free(&one);
    return status != CW_OK || save(folder, target, name, &out);
}

/* The sample with facts, whose first range is of a rank. */
static void make_ranked(struct cw_writer *out, uint32_t rank)
{
    enum { FIRST_RANGE = 4 }; /* behind SCHM, FNAM and two DEVC */
    char text[12];
    struct cw_writer plain, about;
    cw_writer_init(&plain);
    cw_writer_init(&about);
    cw_sample_facts(&plain);
    snprintf(text, sizeof text, "%u", (unsigned)rank);
    cw_write_u32(&about, 1);
    cw_write_string(&about, "rank");
    cw_write_string(&about, text);
    cw_edit_insert(out, &plain, FIRST_RANGE, "RATT", 1, about.data, about.size);
    cw_writer_free(&plain);
    cw_writer_free(&about);
}

/* Packed: twelve ranks of a job. */
static void make_packed_ranks(struct cw_writer *out)
{
    enum { RANKS = 12 };
    struct cw_writer ranks[RANKS];
    struct cw_merge_input inputs[RANKS];
    for (uint32_t i = 0; i < RANKS; i++) {
        cw_writer_init(&ranks[i]);
        make_ranked(&ranks[i], i);
        inputs[i] = (struct cw_merge_input){"rank", ranks[i].data, ranks[i].size};
    }
    if (cw_merge_sparse(out, inputs, RANKS, NULL) != CW_OK)
        out->status = CW_ERR_INPUT;
    for (uint32_t i = 0; i < RANKS; i++)
        cw_writer_free(&ranks[i]);
}

static int save_captures(const char *folder)
{
    static const char *const target = "capture_file";
    return save_made(folder, target, "seed-repeats", cw_sample_repeats) ||
           save_made(folder, target, "seed-facts", cw_sample_facts) ||
           save_made(folder, target, "seed-windows", cw_sample_windows) ||
           save_made(folder, target, "seed-damaged", make_damaged) ||
           save_made(folder, target, "seed-heads", make_heads) ||
           save_made(folder, target, "seed-packed-ranks", make_packed_ranks) ||
           save_packed(folder, target, "seed-packed-repeats", cw_sample_repeats);
}

/* Clocks of its first device, and a launch whose times were not collected. */
static int save_clocks(const char *folder)
{
    static const char *const name = "gemm";
    static const struct cw_gpu_clock readings[] = {{1000, 1980, 2619, 0}, {2000, 1755, 2619, 4}};
    const struct cw_gpu_clocks clocks = {0, 2, readings};
    const struct cw_kernel_launch launches[] = {{.context = 1}, {.context = 1, .start_ns = 400, .end_ns = 500}};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sample_pm(&out, 2, false);
    cw_pm_write_launches(4242, 0, &name, 1, launches, 2, &out);
    cw_gpu_clocks_write(&clocks, &out);
    return save(folder, "counter_data", "seed-clocks", &out);
}

static int save_samples(const char *folder, const char *name, int clocks, bool complete)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sample_pm(&out, clocks, complete);
    return save(folder, "counter_data", name, &out);
}

static int save_with_optional(const char *folder)
{
    struct cw_config_image image = cw_sample_plan();
    struct cw_writer plain, out;
    cw_writer_init(&plain);
    cw_writer_init(&out);
    cw_config_image_write(&image, &plain);
    cw_edit_insert(&out, &plain, 3, "XTRA", 1, "later", 5);
    cw_writer_free(&plain);
    return save(folder, "config_image", "seed-optional", &out);
}

static int save_pc(const char *folder, const char *name, enum cw_profiler profiler)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sample_pc_data(&out, profiler, NULL, 0);
    return save(folder, "pc_data", name, &out);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_image_seeds CORPUS_FOLDER\n");
        return CW_ERR_USAGE;
    }
    const char *folder = argv[1];
    bool failed = save_plan(folder, "seed-empty", cw_sample_plan_empty()) ||
                  save_plan(folder, "seed-plan", cw_sample_plan()) ||
                  save_plan(folder, "seed-native", cw_sample_plan_native()) || save_with_optional(folder) ||
                  save_data(folder, "seed-complete", true, 0) || save_data(folder, "seed-incomplete", false, 0) ||
                  save_data(folder, "seed-cut", false, 9) || save_pc(folder, "seed-pc", CW_PROFILER_PC) ||
                  save_pc(folder, "seed-sass", CW_PROFILER_SASS) || save_samples(folder, "seed-pm", 2, true) ||
                  save_samples(folder, "seed-pm-uncorrelated", 0, false) ||
                  save_made(folder, "counter_data", "seed-repeats", cw_sample_repeats) ||
                  save_made(folder, "counter_data", "seed-facts", cw_sample_facts) ||
                  save_made(folder, "counter_data", "seed-windows", cw_sample_windows) || save_captures(folder) ||
                  save_meanings(folder) || save_clocks(folder) ||
                  save_packed(folder, "counter_data", "seed-packed-repeats", cw_sample_repeats) ||
                  save_packed(folder, "counter_data", "seed-packed-facts", cw_sample_facts);
    return failed ? CW_ERR_IO : CW_OK;
}
