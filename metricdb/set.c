#define _GNU_SOURCE
#include "metricdb/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/file.h"
#include "host/base/suggest.h"
#include "metricdb/data.h"
#include "metricdb/metric.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 4 << 20, SCHEMA = 1 };

static void check_metric(struct cw_yaml_reader *in, const struct cw_yaml *node, const struct cw_chip *chip)
{
    struct cw_metric metric;
    struct cw_error why = CW_ERROR_INIT;
    if (cw_metric_parse(&metric, chip, node->text, &why) != CW_OK)
        cw_yaml_fail(in, node, "%s", why.message);
}

static int by_text(const void *a, const void *b)
{
    const struct cw_yaml *const *x = a, *const *y = b;
    int order = strcmp((*x)->text, (*y)->text);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Plans and files hold each metric once. */
static void refuse_repeats(struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    if (in->status != CW_OK || list->count < 2)
        return;
    const struct cw_yaml **sorted = malloc(list->count * sizeof(const struct cw_yaml *));
    if (!sorted) {
        in->status = cw_error_nomem(in->err);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    qsort(sorted, list->count, sizeof *sorted, by_text);
    for (size_t i = 1; i < list->count && in->status == CW_OK; i++)
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            cw_yaml_fail(in, sorted[i], "found the metric %s a second time, first on line %u", sorted[i]->text,
                         sorted[i - 1]->line);
    free(sorted);
}

static void read_metrics(struct cw_set *set, struct cw_yaml_reader *in, const struct cw_yaml *list,
                         const struct cw_chip *chip)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "metrics"))
        return;
    const char **names = cw_arena_alloc(in->arena, list->count, sizeof(const char *));
    if (!names)
        in->status = cw_error_nomem(in->err);
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++) {
        names[i] = cw_yaml_text(in, &list->items[i]);
        if (chip && in->status == CW_OK)
            check_metric(in, &list->items[i], chip);
    }
    if (in->status == CW_OK && !list->count)
        cw_yaml_fail(in, list, "found no metrics, expected at least one");
    refuse_repeats(in, list);
    set->metrics = names;
    set->metric_count = in->status == CW_OK ? list->count : 0;
}

enum cw_status cw_set_parse(struct cw_set *set, const void *data, size_t size, const char *path,
                            const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "set", "title", "metrics", NULL};
    *set = (struct cw_set){.name = "", .title = ""};
    struct cw_yaml *root;
    enum cw_status status = cw_yaml_parse(&root, data, size, path, arena, err);
    if (status != CW_OK)
        return status;
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    cw_yaml_expect(&in, root, CW_YAML_MAPPING, "a set of metrics");
    const struct cw_yaml *schema = cw_yaml_get(&in, root, "schema", true);
    uint64_t version = cw_yaml_integer(&in, schema, UINT32_MAX);
    if (in.status == CW_OK && version != SCHEMA)
        cw_yaml_fail(&in, schema, "found schema %llu, expected schema %d", (unsigned long long)version, SCHEMA);
    if (in.status == CW_OK)
        cw_yaml_only(&in, root, keys);
    set->name = cw_yaml_text(&in, cw_yaml_get(&in, root, "set", true));
    set->title = cw_yaml_text(&in, cw_yaml_get(&in, root, "title", true));
    read_metrics(set, &in, cw_yaml_get(&in, root, "metrics", true), chip);
    return in.status;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

static enum cw_status unknown_set(const char *name, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *known;
    size_t count;
    enum cw_status status = cw_set_list(&known, &count, arena, err);
    if (status != CW_OK)
        return status;
    struct cw_suggest near;
    char text[512];
    cw_suggest_init(&near, name);
    for (size_t i = 0; i < count; i++)
        cw_suggest_offer(&near, known[i]);
    return cw_error_set(err, CW_ERR_USAGE, "found no metric set named '%.60s', metric-query sets lists them%s", name,
                        cw_suggest_text(&near, text, sizeof text));
}

static enum cw_status load_file(struct cw_set *set, const char *path, const struct cw_chip *chip,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status != CW_OK)
        return status;
    status = cw_set_parse(set, file.data, file.size, path, chip, arena, err);
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_set_load(struct cw_set *set, const char *name, const struct cw_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    if (is_path(name))
        return load_file(set, name, chip, arena, err);
    char dir[CW_PATH_MAX], path[CW_PATH_MAX + 80];
    enum cw_status status = cw_data_dir(dir, err);
    if (status != CW_OK)
        return status;
    snprintf(path, sizeof path, "%s/sets/%.60s.yaml", dir, name);
    FILE *probe = strlen(name) <= 60 && *name ? fopen(path, "re") : NULL;
    if (!probe)
        return unknown_set(name, arena, err);
    fclose(probe);
    status = load_file(set, path, chip, arena, err);
    if (status == CW_OK && strcmp(set->name, name) != 0)
        return cw_error_at(err, CW_ERR_INPUT, path, 1, 1, "found the set %.60s, expected %s as the file is named",
                           set->name, name);
    return status;
}

enum cw_status cw_set_list(const char *const **names, size_t *count, struct cw_arena *arena, struct cw_error *err)
{
    return cw_data_list("sets", names, count, arena, err);
}
