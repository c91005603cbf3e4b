#include "tests/support/small_chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tests pin lines and columns of this text. */
const char cw_small_chip[] =
    /*  1 */
    "schema: 1\n"
    /*  2 */ "chip: TINY\n"
    /*  3 */ "source:\n"
    /*  4 */ "  - written by hand\n"
    /*  5 */ "time: gpu__time_duration\n"
    /*  6 */ "units:\n"
    /*  7 */ "  gpu: {instances: 1, active: sm__cycles_active, elapsed: sm__cycles_elapsed}\n"
    /*  8 */ "  sm: {instances: 4, active: sm__cycles_active, elapsed: sm__cycles_elapsed}\n"
    /*  9 */ "domains:\n"
    /* 10 */ "  trace: 1\n"
    /* 11 */ "  gpu_sm_a: 32\n"
    /* 12 */ "raw_counters:\n"
    /* 13 */ "  0x0000000000000011: [gpu_sm_a]\n"
    /* 14 */ "  0x0000000000000022: [gpu_sm_a, trace]\n"
    /* 15 */ "  0x0000000000000033: [trace]\n"
    /* 16 */ "counters:\n"
    /* 17 */ "  gpu__time_duration: {unit: gpu, dim: nanoseconds, peak: 1, raw: [0x33]}\n"
    /* 18 */ "  sm__cycles_active: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}\n"
    /* 19 */ "  sm__cycles_elapsed: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}\n"
    /* 20 */ "  sm__inst_executed: {unit: sm, dim: instructions, peak: 4, raw: [0x22]}\n"
    /* 21 */ "  sm__warps_launched: {unit: sm, dim: warps, peak: 1, instances: 2, active: none, raw: [0x22, 0x33]}\n"
    /* 22 */ "ratios:\n"
    /* 23 */ "  sm__average_inst_executed_per_warp: {unit: sm, dim: instructions/warps, num: sm__inst_executed, den: "
    "sm__warps_launched, scale: 2, max_rate: 8, confirmed: 3, raw: [0x22, 0x33]}\n"
    /* 24 */ "throughputs:\n"
    /* 25 */ "  sm__throughput: {unit: sm, dim: percent, counters: [sm__inst_executed, sm__cycles_active], raw: [0x11, "
    "0x22]}\n"
    /* 26 */ "  gpu__throughput: {unit: gpu, dim: percent, throughputs: [sm__throughput], raw: [0x11, 0x22]}\n";

char *cw_text_with(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at) {
        fprintf(stderr, "the text has no '%s'\n", from);
        abort();
    }
    char *out = malloc(strlen(text) + strlen(to) + 1);
    if (!out)
        abort();
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), to);
    strcat(out, at + strlen(from));
    return out;
}
