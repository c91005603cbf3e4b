#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/compare/gate.h"
#include "metricdb/yaml.h"

enum { SCHEMA = 1 };

const char cw_gate_time[] = "time", cw_gate_launches[] = "launches";

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct cw_gate_kernel *)a)->label, ((const struct cw_gate_kernel *)b)->label);
}

static const char unknown[] = "unknown";

/* A number of 0 or more, or of a noise also unknown (INFINITY); 0 where there is none. */
static double read_limit(struct cw_yaml_reader *in, const struct cw_yaml *mapping, const char *key, bool required)
{
    const struct cw_yaml *node = cw_yaml_get(in, mapping, key, required);
    if (node && strcmp(key, "noise") == 0 && node->kind == CW_YAML_SCALAR && strcmp(node->text, unknown) == 0)
        return INFINITY;
    const double value = node ? cw_yaml_number(in, node) : 0;
    if (in->status == CW_OK && !(value >= 0 && value < 1e300))
        cw_yaml_fail(in, node, "found %s '%s', expected a number of 0 or more", key, node->text);
    return value;
}

static void read_kernels(struct cw_gate_metric *metric, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    static const char *const keys[] = {"kernel", "noise", "floor", NULL};
    if (!list || !cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "kernels"))
        return;
    struct cw_gate_kernel *kernels = cw_yaml_array(in, list->count, sizeof *kernels);
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++) {
        cw_yaml_only(in, &list->items[i], keys);
        kernels[i].label = cw_yaml_text(in, cw_yaml_get(in, &list->items[i], "kernel", true));
        kernels[i].noise = read_limit(in, &list->items[i], "noise", true);
        const bool own = cw_yaml_get(in, &list->items[i], "floor", false);
        kernels[i].floor = own ? read_limit(in, &list->items[i], "floor", true) : metric->floor;
    }
    if (in->status != CW_OK)
        return;
    qsort(kernels, list->count, sizeof *kernels, by_label);
    for (size_t i = 1; i < list->count && in->status == CW_OK; i++)
        if (by_label(&kernels[i - 1], &kernels[i]) == 0)
            cw_yaml_fail(in, list, "found the kernel '%.200s' twice, expected it once", kernels[i].label);
    metric->kernels = kernels;
    metric->kernel_count = (uint32_t)list->count;
}

static void read_metric(struct cw_gate_metric *metric, struct cw_yaml_reader *in, const struct cw_yaml *mapping,
                        size_t i)
{
    static const char *const keys[] = {"better", "noise", "floor", "kernels", NULL};
    const struct cw_yaml *of = &mapping->items[i];
    metric->name = cw_yaml_key_name(in, mapping, i);
    cw_yaml_only(in, of, keys);
    const struct cw_yaml *better = cw_yaml_get(in, of, "better", true);
    const char *word = cw_yaml_text(in, better);
    while (in->status == CW_OK && metric->better < CW_BETTER__COUNT && strcmp(cw_better_names[metric->better], word))
        metric->better++;
    if (metric->better == CW_BETTER__COUNT)
        cw_yaml_fail(in, better, "found better '%.40s', expected less, more or unknown", word);
    metric->noise = read_limit(in, of, "noise", true);
    metric->floor = read_limit(in, of, "floor", false);
    read_kernels(metric, in, cw_yaml_get(in, of, "kernels", false));
}

enum cw_status cw_gate_parse(struct cw_gate_rules *rules, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "chip", "device", "runs", "metrics", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    const struct cw_yaml *root = cw_yaml_load(&in, "a file of rules for gate", keys, SCHEMA, data, size);
    *rules = (struct cw_gate_rules){.chip = cw_yaml_text(&in, cw_yaml_get(&in, root, "chip", true)), .device = ""};
    const struct cw_yaml *device = cw_yaml_get(&in, root, "device", false);
    const struct cw_yaml *runs = cw_yaml_get(&in, root, "runs", false);
    const struct cw_yaml *list = cw_yaml_get(&in, root, "metrics", true);
    rules->device = device ? cw_yaml_text(&in, device) : "";
    rules->runs = runs ? (uint32_t)cw_yaml_integer(&in, runs, UINT32_MAX) : 0;
    if (!cw_yaml_expect(&in, list, CW_YAML_MAPPING, "metrics"))
        return in.status;
    struct cw_gate_metric *metrics = cw_yaml_array(&in, list->count, sizeof *metrics);
    for (size_t i = 0; i < list->count && in.status == CW_OK; i++)
        read_metric(&metrics[i], &in, list, i);
    rules->metrics = metrics;
    rules->metric_count = in.status == CW_OK ? (uint32_t)list->count : 0;
    return in.status;
}

static void put_limit(FILE *out, const char *before, double limit, const char *behind)
{
    fputs(before, out);
    if (isinf(limit))
        fputs(unknown, out);
    else
        cw_text_print(out, "%.3g", limit);
    fputs(behind, out);
}

enum cw_status cw_gate_write(FILE *out, const void *data, struct cw_error *err)
{
    const struct cw_gate_rules *rules = data;
    (void)err;
    cw_text_print(
        out,
        "# How far two runs may be from each other: metric-eval gate A.cwd B.cwd --rules THIS\n"
        "# |b - a| <= noise * max(|a|, |b|) + floor; a noise of 0: equal; unknown: not judged, for too little is\n"
        "# known of a value that was the same in all runs though it is no exact count\n"
        "schema: 1\nchip: %s\ndevice: ",
        rules->chip);
    cw_text_put(out, CW_TEXT_JSON, rules->device);
    cw_text_print(out, "\nruns: %" PRIu32 "\nmetrics:\n", rules->runs);
    for (uint32_t i = 0; i < rules->metric_count; i++) {
        const struct cw_gate_metric *m = &rules->metrics[i];
        cw_text_print(out, "  %s:\n    better: %s\n", m->name, cw_better_names[m->better]);
        put_limit(out, "    noise: ", m->noise, "\n");
        if (m->floor > 0)
            put_limit(out, "    floor: ", m->floor, "\n");
        if (m->kernel_count)
            fputs("    kernels:\n", out);
        for (uint32_t k = 0; k < m->kernel_count; k++) {
            fputs("      - {kernel: ", out);
            cw_text_put(out, CW_TEXT_JSON, m->kernels[k].label);
            put_limit(out, ", noise: ", m->kernels[k].noise, "");
            if (m->kernels[k].floor != m->floor)
                put_limit(out, ", floor: ", m->kernels[k].floor, "");
            fputs("}\n", out);
        }
    }
    return CW_OK;
}
