#include "metricdb/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/yaml.h"

/* Files are JSON, which YAML includes. */
enum { LARGEST_FILE = 4 << 20, SCHEMA = 1, MOST_GPUS = 64, MOST_LACKS = 256 };

static void read_lacks(struct cw_node_gpu *gpu, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    if (!list || !cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "what a GPU lacks"))
        return;
    if (list->count > MOST_LACKS)
        cw_yaml_fail(in, list, "found %zu units, expected at most %d", list->count, MOST_LACKS);
    const char **names = cw_yaml_array(in, list->count, sizeof *names);
    for (size_t i = 0; in->status == CW_OK && i < list->count; i++)
        names[i] = cw_yaml_name(in, &list->items[i]);
    gpu->lacks = names;
    gpu->lack_count = in->status == CW_OK ? list->count : 0;
}

static void read_does(struct cw_node_gpu *gpu, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "what a GPU does"))
        return;
    for (size_t i = 0; in->status == CW_OK && i < list->count; i++) {
        const char *what = cw_yaml_text(in, &list->items[i]);
        gpu->does_range = gpu->does_range || strcmp(what, "range") == 0;
        gpu->does_pm = gpu->does_pm || strcmp(what, "pm") == 0;
    }
}

/* Checks the attributes, which are for people and later readers of the file. */
static void check_attributes(struct cw_yaml_reader *in, const struct cw_yaml *mapping)
{
    if (!mapping || !cw_yaml_expect(in, mapping, CW_YAML_MAPPING, "attributes"))
        return;
    for (size_t i = 0; in->status == CW_OK && i < mapping->count; i++)
        cw_yaml_text(in, &mapping->items[i]);
}

static void read_gpu(struct cw_node_gpu *gpu, struct cw_yaml_reader *in, const struct cw_yaml *item)
{
    static const char *const keys[] = {"device", "chip", "attributes", "does", "lacks", NULL};
    cw_yaml_only(in, item, keys);
    const struct cw_yaml *number = cw_yaml_get(in, item, "device", true), *does = cw_yaml_get(in, item, "does", true);
    gpu->number = number ? (uint32_t)cw_yaml_integer(in, number, UINT32_MAX) : 0;
    gpu->chip = cw_yaml_name(in, cw_yaml_get(in, item, "chip", true));
    if (in->status != CW_OK)
        return;
    read_does(gpu, in, does);
    read_lacks(gpu, in, cw_yaml_get(in, item, "lacks", false));
    check_attributes(in, cw_yaml_get(in, item, "attributes", false));
}

enum cw_status cw_node_parse(struct cw_node *node, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "devices", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    *node = (struct cw_node){.path = path};
    const struct cw_yaml *root = cw_yaml_load(&in, "facts of a node's GPUs", keys, SCHEMA, data, size);
    const struct cw_yaml *list = cw_yaml_get(&in, root, "devices", true);
    if (!list || !cw_yaml_expect(&in, list, CW_YAML_SEQUENCE, "devices"))
        return in.status;
    if (!list->count || list->count > MOST_GPUS)
        return cw_yaml_fail(&in, list, "found %zu devices, expected 1 to %d", list->count, MOST_GPUS);
    struct cw_node_gpu *gpus = cw_yaml_array(&in, list->count, sizeof *gpus);
    for (size_t i = 0; in.status == CW_OK && i < list->count; i++)
        read_gpu(&gpus[i], &in, &list->items[i]);
    node->gpus = gpus;
    node->count = in.status == CW_OK ? list->count : 0;
    return in.status;
}

enum cw_status cw_node_load(struct cw_node *node, const char *path, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status == CW_OK)
        status = cw_node_parse(node, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_node_chip(const char **name, const struct cw_node *node, struct cw_error *err)
{
    *name = node->gpus[0].chip;
    for (size_t i = 1; i < node->count; i++)
        if (strcmp(node->gpus[i].chip, *name) != 0)
            return cw_error_set(err, CW_ERR_USAGE, "%s: found GPUs of the chips %s and %s, expected --chip with one",
                                node->path, *name, node->gpus[i].chip);
    return CW_OK;
}

/* ---- common lacks of all GPUs of a chip ------------------------------------------------------------------------- */

static bool is_of(const char *counter, const char *unit)
{
    const char *end = strstr(counter, "__"), *start = end;
    while (start && start > counter && start[-1] != '.')
        start--;
    return end && strlen(unit) == (size_t)(end - start) && memcmp(start, unit, (size_t)(end - start)) == 0;
}

static bool gpu_lacks(const struct cw_node_gpu *gpu, const char *unit)
{
    for (size_t i = 0; i < gpu->lack_count; i++)
        if (strcmp(gpu->lacks[i], unit) == 0)
            return true;
    return false;
}

static bool all_lack(const struct cw_node *node, const char *chip, const char *unit)
{
    for (size_t i = 0; i < node->count; i++)
        if (strcmp(node->gpus[i].chip, chip) == 0 && !gpu_lacks(&node->gpus[i], unit))
            return false;
    return true;
}

static void mark(bool *lacking, const struct cw_chip *chip, const char *unit)
{
    for (uint32_t c = 0; c < chip->counter_count; c++)
        lacking[c] = lacking[c] || is_of(chip->counters[c].name, unit);
}

enum cw_status cw_node_apply(const struct cw_chip **chip, const struct cw_node *node, struct cw_arena *arena,
                             struct cw_error *err)
{
    const char *name = (*chip)->name;
    const struct cw_node_gpu *first = NULL;
    struct cw_chip *made = cw_arena_alloc(arena, 1, sizeof *made);
    struct cw_chip_lacks *lacks = cw_arena_alloc(arena, 1, sizeof *lacks);
    bool *counters = cw_arena_alloc(arena, (*chip)->counter_count, sizeof *counters);
    if (!made || !lacks || !counters || !(lacks->where = cw_arena_strdup(arena, node->path)))
        return cw_error_nomem(err);
    lacks->range = lacks->pm = true;
    for (size_t i = 0; i < node->count; i++)
        if (strcmp(node->gpus[i].chip, name) == 0) {
            first = first ? first : &node->gpus[i];
            lacks->range = lacks->range && !node->gpus[i].does_range;
            lacks->pm = lacks->pm && !node->gpus[i].does_pm;
        }
    if (!first)
        return cw_error_set(err, CW_ERR_USAGE, "%s: found no GPU with the chip %s, expected one; the first has %s",
                            node->path, name, node->gpus[0].chip);
    for (size_t i = 0; i < first->lack_count; i++)
        if (all_lack(node, name, first->lacks[i]))
            mark(counters, *chip, first->lacks[i]);
    lacks->counters = counters;
    *made = **chip;
    made->lacks = lacks;
    *chip = made;
    return CW_OK;
}
