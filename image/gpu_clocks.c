#include "image/gpu_clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/data_chunks.h"
#include "image/fields.h"

enum { READING_SIZE = 8 + 4 + 4 + 8 };

void cw_gpu_clocks_write(const struct cw_gpu_clocks *c, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_GPU_CLOCKS, CW_CHUNK_OPTIONAL);
    cw_write_u32(out, c->device);
    cw_write_u32(out, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        cw_write_u64(out, c->readings[i].wall_ns);
        cw_write_u32(out, c->readings[i].sm_mhz);
        cw_write_u32(out, c->readings[i].memory_mhz);
        cw_write_u64(out, c->readings[i].limits);
    }
    cw_chunk_end(out, start);
}

void cw_gpu_clocks_read(struct cw_gpu_clocks *c, struct cw_reader *in, struct cw_arena *arena)
{
    c->device = cw_read_u32(in);
    uint32_t count = cw_read_count(in, READING_SIZE, "readings");
    if (in->status == CW_OK && !count)
        cw_reader_fail_at(in, in->pos - 4, "found no reading of clocks, expected at least 1");
    struct cw_gpu_clock *readings = cw_field_array(in, arena, count, sizeof *readings);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        readings[i].wall_ns = cw_read_u64(in);
        readings[i].sm_mhz = cw_read_u32(in);
        readings[i].memory_mhz = cw_read_u32(in);
        readings[i].limits = cw_read_u64(in);
    }
    c->readings = readings;
    c->count = count;
}

static bool is_apart(uint32_t a, uint32_t b)
{
    const uint32_t least = a < b ? a : b, most = a < b ? b : a;
    return least && (uint64_t)(most - least) * 50 > most;
}

static bool are_apart(const struct cw_gpu_clock *a, const struct cw_gpu_clock *b)
{
    return is_apart(a->sm_mhz, b->sm_mhz) || is_apart(a->memory_mhz, b->memory_mhz);
}

bool cw_gpu_clocks_moved(const struct cw_gpu_clocks *c)
{
    return are_apart(&c->readings[0], &c->readings[c->count - 1]);
}

bool cw_gpu_clocks_differ(const struct cw_gpu_clocks *a, const struct cw_gpu_clocks *b)
{
    return are_apart(&a->readings[0], &b->readings[0]) ||
           are_apart(&a->readings[a->count - 1], &b->readings[b->count - 1]);
}

/* Names NVML's bits, except for two that are no limits: an idle GPU, and clocks set by a user. */
static void put_limits(uint64_t limits, char *text, size_t size)
{
    static const struct {
        uint64_t bits;
        const char *what;
    } all[] = {{0x4, "power"}, {0x8, "the hardware"}, {0x20 | 0x40, "heat"}, {0x80, "the power supply"}};
    size_t used = strlen(text), begun = used;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (limits & all[i].bits) {
            snprintf(text + used, size - used, "%s%s", used == begun ? "; kept down by " : ", ", all[i].what);
            used = strlen(text);
        }
}

static void put_clock(const struct cw_gpu_clock *clock, char *text, size_t size)
{
    char sm[32] = "", memory[32] = "";
    if (clock->sm_mhz)
        snprintf(sm, sizeof sm, "SM %" PRIu32 " MHz", clock->sm_mhz);
    if (clock->memory_mhz)
        snprintf(memory, sizeof memory, "memory %" PRIu32 " MHz", clock->memory_mhz);
    snprintf(text, size, "%s%s%s", *sm || *memory ? sm : "unknown", *sm && *memory ? ", " : "", memory);
}

const char *cw_gpu_clocks_text(const struct cw_gpu_clocks *c, char text[CW_GPU_CLOCKS_TEXT])
{
    const struct cw_gpu_clock *first = &c->readings[0], *last = &c->readings[c->count - 1];
    char at_first[80], at_last[80];
    uint64_t limits = 0;
    put_clock(first, at_first, sizeof at_first);
    put_clock(last, at_last, sizeof at_last);
    for (uint32_t i = 0; i < c->count; i++)
        limits |= c->readings[i].limits;
    if (cw_gpu_clocks_moved(c))
        snprintf(text, CW_GPU_CLOCKS_TEXT, "clocks moved from %s to %s", at_first, at_last);
    else
        snprintf(text, CW_GPU_CLOCKS_TEXT, "%s", at_last);
    put_limits(limits, text, CW_GPU_CLOCKS_TEXT);
    return text;
}
