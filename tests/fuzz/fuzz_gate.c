#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "eval/compare/gate.h"
#include "tests/fuzz/fuzz.h"

/* Rules that were read write to a text that reads and writes again to itself. */
static void check_round_trip(const struct cw_gate_rules *rules, struct cw_arena *arena)
{
    char *text[2] = {NULL, NULL};
    size_t size[2];
    struct cw_gate_rules again = *rules;
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text[i], &size[i]);
        CW_FUZZ_CHECK(out);
        CW_FUZZ_CHECK(cw_gate_write(out, &again, NULL) == CW_OK);
        fclose(out);
        if (i == 0 && cw_gate_parse(&again, text[0], size[0], "again", arena, NULL) != CW_OK)
            break; /* more values than a file may have */
    }
    CW_FUZZ_CHECK(!text[1] || (size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0));
    free(text[0]);
    free(text[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_gate_rules rules;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_gate_parse(&rules, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(status == CW_OK || err.line > 0);
    for (uint32_t i = 0; status == CW_OK && i < rules.metric_count; i++) {
        const struct cw_gate_metric *m = &rules.metrics[i];
        CW_FUZZ_CHECK(m->better < CW_BETTER__COUNT && m->noise >= 0 && m->floor >= 0);
        for (uint32_t k = 1; k < m->kernel_count; k++)
            CW_FUZZ_CHECK(strcmp(m->kernels[k - 1].label, m->kernels[k].label) < 0);
    }
    if (status == CW_OK)
        check_round_trip(&rules, arena);
    cw_arena_destroy(arena);
    return 0;
}
