#include "metricdb/metric.h"
#include "metricdb/node.h"
#include "metricdb/term.h"
#include "tests/fuzz/small.h"

/* What a metric needs does not change, or it is refused. */
static void check_chip(const struct cw_chip *chip, const struct cw_chip *before)
{
    for (uint32_t c = 0; c < chip->counter_count; c++) {
        const struct cw_metric sum = {.type = CW_COUNTER, .base = c};
        enum cw_status status = cw_metric_needs(&(struct cw_needs){.chip = chip}, &sum, NULL);
        CW_FUZZ_CHECK(status == (chip->lacks->counters[c] ? CW_ERR_UNSUPPORTED : CW_OK));
        CW_FUZZ_CHECK(cw_metric_needs(&(struct cw_needs){.chip = before}, &sum, NULL) == CW_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip = cw_fuzz_small_chip(), *before = chip;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_node node;
    const char *name;
    enum cw_status status = cw_node_parse(&node, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK((status == CW_OK || status == CW_ERR_INPUT) && status == err.code);
    CW_FUZZ_CHECK(status == CW_OK ? node.count > 0 : err.line > 0 && err.column > 0);
    if (status == CW_OK) {
        status = cw_node_chip(&name, &node, NULL);
        CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_USAGE);
        if (cw_node_apply(&chip, &node, arena, NULL) == CW_OK)
            check_chip(chip, before);
        else
            CW_FUZZ_CHECK(chip == before);
    }
    cw_arena_destroy(arena);
    return 0;
}
