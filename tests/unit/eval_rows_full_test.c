/* One kernel in full, of launches that were multiplexed. */
#define _GNU_SOURCE
#include "tests/unit/eval_fold_sample.h"

#include <stdlib.h>

#include "eval/output/output.h"

TestSuite(eval_rows_full, .init = set_up, .fini = tear_down);

/* What is shown of ten launches of which so many were timed, and the first was counted. */
static char *text_of(uint32_t timed)
{
    static uint32_t first[] = {0};
    static const struct cw_sections none = {0};
    static struct cw_metric metric;
    struct cw_result result = {.chip = chip, .data = &groups.data, .metrics = &metric, .metric_count = 1};
    const struct cw_eval_options options = {0};
    const struct cw_terminal_style style = {0};
    char *text = NULL;
    size_t size;
    make_launches(10, 1);
    multiplex(1);
    for (uint32_t i = timed; i < 10; i++) {
        durations[i][0] = durations[i][1] = NAN;
        forget(TIME, i);
    }
    for (uint32_t i = 0; i < timed; i++) {
        durations[i][0] = 500 + i;
        forget(TIME, i);
    }
    group(CW_BY_KERNEL, NULL);
    cr_assert(cw_metric_parse(&metric, chip, "sm__inst.sum", &err) == CW_OK, "%s", err.message);
    cr_assert(cw_result_make(&result, &options, arena, &err) == CW_OK, "%s", err.message);
    const struct cw_output_rows rows = {
        .data = &data, .groups = &groups, .rows = first, .count = 1, .result = &result, .asked = 1, .sections = &none};
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && cw_ranges_print(&result, &rows, &style, out, &err) == CW_OK);
    fclose(out);
    return text;
}

Test(eval_rows_full, in_how_many_launches_the_time_is_known)
{
    char *text = text_of(1);
    cr_expect(strstr(text, "500 ns on average, timed in 1 of 10\n"), "%s", text);
    free(text);
    text = text_of(3);
    cr_expect(strstr(text, "501 ns on average, 500 ns to 502 ns, timed in 3 of 10\n"), "%s", text);
    free(text);
    text = text_of(10);
    cr_expect(strstr(text, " to ") && !strstr(text, "timed in"), "%s", text);
    free(text);
}
