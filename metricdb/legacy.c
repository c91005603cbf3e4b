#include "metricdb/legacy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/suggest.h"
#include "metricdb/data.h"
#include "metricdb/metric.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 4 << 20, SCHEMA = 1, MOST_CLOSEST = 2 };

static const char *const capabilities[CW_LEGACY_CAPABILITIES] = {"1.x", "2.x", "3.x", "5.x", "6.x", "7.0"};
static const char *const scopes[CW_LEGACY_SCOPE_COUNT] = {"", "single", "multi", "multi-some", "device", "listed"};
static const char *const kinds[CW_LEGACY_KIND_COUNT] = {"metric", "event"};

/* ---- loading ---------------------------------------------------------------------------------------------------- */

static struct cw_yaml place_of_key(const struct cw_yaml *mapping, size_t i)
{
    return (struct cw_yaml){.line = mapping->keys[i].line, .column = mapping->keys[i].column};
}

static const struct cw_yaml *read_head(struct cw_yaml_reader *in, const char *what, const char *const *keys,
                                       const void *data, size_t size)
{
    struct cw_yaml *root;
    in->status = cw_yaml_parse(&root, data, size, in->source, in->arena, in->err);
    if (in->status != CW_OK || !cw_yaml_expect(in, root, CW_YAML_MAPPING, what))
        return NULL;
    cw_yaml_schema(in, root, SCHEMA);
    cw_yaml_only(in, root, keys);
    return in->status == CW_OK ? root : NULL;
}

/* {multi: [5.x, 6.x], device: [7.0]} */
static void read_scope(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *node)
{
    if (!cw_yaml_expect(in, node, CW_YAML_MAPPING, "a scope"))
        return;
    for (size_t i = 0; i < node->count; i++) {
        const struct cw_yaml *list = &node->items[i], key = place_of_key(node, i);
        int scope = CW_LEGACY_SINGLE;
        while (scope < CW_LEGACY_SCOPE_COUNT && strcmp(node->keys[i].text, scopes[scope]) != 0)
            scope++;
        if (scope == CW_LEGACY_SCOPE_COUNT)
            cw_yaml_fail(in, &key, "found the scope '%.40s', expected single, multi, multi-some, device or listed",
                         node->keys[i].text);
        if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "capabilities"))
            return;
        for (size_t k = 0; k < list->count && in->status == CW_OK; k++) {
            const char *text = cw_yaml_text(in, &list->items[k]);
            size_t at = 0;
            while (at < CW_LEGACY_CAPABILITIES && strcmp(text, capabilities[at]) != 0)
                at++;
            if (at == CW_LEGACY_CAPABILITIES)
                cw_yaml_fail(in, &list->items[k],
                             "found the capability '%.40s', expected 1.x, 2.x, 3.x, 5.x, 6.x or 7.0", text);
            else if (name->scope[at] != CW_LEGACY_ABSENT)
                cw_yaml_fail(in, &list->items[k], "found the capability %s a second time", text);
            else
                name->scope[at] = (enum cw_legacy_scope)scope;
        }
    }
    size_t known = 0;
    for (size_t i = 0; i < CW_LEGACY_CAPABILITIES; i++)
        known += name->scope[i] != CW_LEGACY_ABSENT;
    if (!known)
        cw_yaml_fail(in, node, "found no capability, expected at least one");
}

static const char *filled(struct cw_yaml_reader *in, const struct cw_yaml *node, const char *what)
{
    const char *text = cw_yaml_text(in, node);
    if (node && in->status == CW_OK && !*text)
        cw_yaml_fail(in, node, "found an empty %s", what);
    return text;
}

static void read_closest(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "closest"))
        return;
    if (list->count > MOST_CLOSEST)
        cw_yaml_fail(in, list, "found %zu closest metrics, expected at most %d", list->count, MOST_CLOSEST);
    const char **names = cw_yaml_array(in, list->count, sizeof(const char *));
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++)
        names[i] = cw_yaml_name(in, &list->items[i]);
    name->closest = names;
    name->closest_count = list->count;
}

static void read_value(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *entry)
{
    const struct cw_yaml *formula = cw_yaml_get(in, entry, "formula", false);
    const struct cw_yaml *none = cw_yaml_get(in, entry, "none", false);
    const struct cw_yaml *unit = cw_yaml_get(in, entry, "unit", formula != NULL);
    const struct cw_yaml *closest = cw_yaml_get(in, entry, "closest", none != NULL);
    if (in->status != CW_OK)
        return;
    if (!formula == !none)
        cw_yaml_fail(in, entry, "found %s 'formula' and 'none', expected one of them", formula ? "both" : "neither");
    else if (formula && closest)
        cw_yaml_fail(in, closest, "found 'closest' beside a formula, expected it beside 'none'");
    else if (none && unit)
        cw_yaml_fail(in, unit, "found 'unit' without a formula");
    else if (formula) {
        name->formula = filled(in, formula, "formula");
        name->unit = filled(in, unit, "unit");
        name->formula_line = formula->line;
        name->formula_column = formula->column;
    } else {
        name->none = filled(in, none, "reason");
        name->formula_line = closest->line;
        name->formula_column = closest->column;
        read_closest(name, in, closest);
    }
}

static void read_name(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *section, size_t i)
{
    static const char *const keys[] = {"scope", "description", "documented", "unit", "formula",
                                       "none",  "closest",     "note",       NULL};
    const struct cw_yaml *entry = &section->items[i], key = place_of_key(section, i);
    name->name = cw_yaml_key_name(in, section, i);
    name->line = key.line;
    name->column = key.column;
    if (in->status == CW_OK && i && strcmp(section->keys[i - 1].text, name->name) > 0)
        cw_yaml_fail(in, &key, "found %s after %s, expected names in ascending order", name->name,
                     section->keys[i - 1].text);
    cw_yaml_only(in, entry, keys);
    read_scope(name, in, cw_yaml_get(in, entry, "scope", true));
    name->description = filled(in, cw_yaml_get(in, entry, "description", true), "description");
    name->documented = filled(in, cw_yaml_get(in, entry, "documented", false), "documented formula");
    name->note = filled(in, cw_yaml_get(in, entry, "note", false), "note");
    read_value(name, in, entry);
}

enum cw_status cw_legacy_parse(const struct cw_legacy **out, const void *data, size_t size, const char *path,
                               struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "chip", "metrics", "events", NULL};
    struct cw_yaml_reader in = {.source = cw_arena_strdup(arena, path), .arena = arena, .err = err};
    struct cw_legacy *legacy = cw_arena_alloc(arena, 1, sizeof *legacy);
    if (!legacy || !in.source)
        return cw_error_nomem(err);
    const struct cw_yaml *root = read_head(&in, "legacy names", keys, data, size), *sections[CW_LEGACY_KIND_COUNT];
    legacy->path = in.source;
    legacy->chip = cw_yaml_name(&in, cw_yaml_get(&in, root, "chip", root != NULL));
    sections[CW_LEGACY_METRIC] = cw_yaml_get(&in, root, "metrics", root != NULL);
    sections[CW_LEGACY_EVENT] = cw_yaml_get(&in, root, "events", root != NULL);
    size_t count = 0;
    for (int kind = 0; kind < CW_LEGACY_KIND_COUNT; kind++)
        if (cw_yaml_expect(&in, sections[kind], CW_YAML_MAPPING, "names"))
            count += sections[kind]->count;
    struct cw_legacy_name *names = cw_yaml_array(&in, count, sizeof *names);
    for (int kind = 0; kind < CW_LEGACY_KIND_COUNT && in.status == CW_OK; kind++) {
        for (size_t i = 0; i < sections[kind]->count && in.status == CW_OK; i++) {
            struct cw_legacy_name *name = &names[legacy->count++];
            name->kind = (enum cw_legacy_kind)kind;
            read_name(name, &in, sections[kind], i);
        }
        if (kind == CW_LEGACY_METRIC)
            legacy->metric_count = legacy->count;
    }
    legacy->names = names;
    *out = in.status == CW_OK ? legacy : NULL;
    return in.status;
}

static enum cw_status read_shipped(struct cw_bytes *file, char path[CW_PATH_MAX + 40], const char *data,
                                   const char *name, struct cw_error *err)
{
    char dir[CW_PATH_MAX];
    enum cw_status status = cw_data_dir(dir, data, err);
    if (status != CW_OK)
        return status;
    snprintf(path, CW_PATH_MAX + 40, "%s/legacy/%s.yaml", dir, name);
    return cw_file_read(file, path, LARGEST_FILE, err);
}

enum cw_status cw_legacy_load(const struct cw_legacy **legacy, const char *data, struct cw_arena *arena,
                              struct cw_error *err)
{
    char path[CW_PATH_MAX + 40];
    struct cw_bytes file = {0};
    enum cw_status status = read_shipped(&file, path, data, "cupti", err);
    if (status == CW_OK)
        status = cw_legacy_parse(legacy, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status;
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

const struct cw_legacy_name *cw_legacy_find_kind(const struct cw_legacy *legacy, enum cw_legacy_kind kind,
                                                 const char *name)
{
    size_t low = kind == CW_LEGACY_METRIC ? 0 : legacy->metric_count;
    size_t high = kind == CW_LEGACY_METRIC ? legacy->metric_count : legacy->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(legacy->names[middle].name, name);
        if (order == 0)
            return &legacy->names[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct cw_legacy_name *cw_legacy_find(const struct cw_legacy *legacy, const char *name)
{
    const struct cw_legacy_name *metric = cw_legacy_find_kind(legacy, CW_LEGACY_METRIC, name);
    return metric ? metric : cw_legacy_find_kind(legacy, CW_LEGACY_EVENT, name);
}

enum cw_status cw_legacy_get(const struct cw_legacy_name **found, const struct cw_legacy *legacy, const char *name,
                             struct cw_error *err)
{
    struct cw_suggest near;
    char text[512];
    *found = cw_legacy_find(legacy, name);
    if (*found)
        return CW_OK;
    cw_suggest_init(&near, name);
    for (uint32_t i = 0; i < legacy->count; i++) /* a name that is both is offered once */
        if (cw_legacy_find(legacy, legacy->names[i].name) == &legacy->names[i])
            cw_suggest_offer(&near, legacy->names[i].name);
    return cw_error_set(err, CW_ERR_USAGE,
                        "found no CUPTI metric or event named '%.100s', metric-query legacy lists them%s", name,
                        cw_suggest_text(&near, text, sizeof text));
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static enum cw_status check_metric(const char *metric, const struct cw_chip *chip, const char *path, unsigned line,
                                   unsigned column, struct cw_error *err)
{
    struct cw_metric m;
    struct cw_error why = CW_ERROR_INIT;
    return cw_metric_parse(&m, chip, metric, &why) == CW_OK
               ? CW_OK
               : cw_error_at(err, CW_ERR_INPUT, path, line, column, "%s", why.message);
}

/* The names of metrics in a formula are what has two underscores in it: no function or number has. */
static enum cw_status check_formula(const struct cw_legacy_name *name, const struct cw_chip *chip, const char *path,
                                    struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (const char *at = name->formula, *end; *at && status == CW_OK; at = end) {
        char metric[CW_METRIC_NAME_MAX];
        for (end = at; isalnum((unsigned char)*end) || *end == '_' || *end == '.';)
            end++;
        size_t length = (size_t)(end - at);
        unsigned column = name->formula_column + (unsigned)(at - name->formula);
        if (length >= sizeof metric)
            return cw_error_at(err, CW_ERR_INPUT, path, name->formula_line, column,
                               "found a name of %zu characters, expected less than %zu", length, sizeof metric);
        memcpy(metric, at, length);
        metric[length] = 0;
        if (strstr(metric, "__"))
            status = check_metric(metric, chip, path, name->formula_line, column, err);
        end += !length;
    }
    return status;
}

enum cw_status cw_legacy_resolve(const struct cw_legacy_name *name, const struct cw_chip *chip, const char *path,
                                 struct cw_error *err)
{
    if (name->formula)
        return check_formula(name, chip, path, err);
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < name->closest_count && status == CW_OK; i++)
        status = check_metric(name->closest[i], chip, path, name->formula_line, name->formula_column, err);
    return status;
}

enum cw_status cw_legacy_check(const struct cw_legacy *legacy, const struct cw_chip *chip, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < legacy->count && status == CW_OK; i++)
        status = cw_legacy_resolve(&legacy->names[i], chip, legacy->path, err);
    return status;
}

const char *cw_legacy_kind_text(enum cw_legacy_kind kind)
{
    return kinds[kind];
}

const char *cw_legacy_scope_text(enum cw_legacy_scope scope)
{
    return scopes[scope];
}

const char *cw_legacy_capability_text(size_t capability)
{
    return capabilities[capability];
}

size_t cw_legacy_capability(const char *text)
{
    for (size_t i = 0; i < CW_LEGACY_CAPABILITIES; i++) {
        const char *known = capabilities[i];
        if (strcmp(text, known) == 0)
            return i;
        /* 3.5 is one of 3.x */
        if (known[2] == 'x' && strncmp(text, known, 2) == 0 && isdigit((unsigned char)text[2]) && !text[3])
            return i;
    }
    return CW_LEGACY_CAPABILITIES;
}

/* ---- stall reasons ---------------------------------------------------------------------------------------------- */

static void read_reasons(struct cw_stall_reasons *reasons, struct cw_yaml_reader *in, const struct cw_yaml *node)
{
    size_t count = 0;
    if (!cw_yaml_expect(in, node, CW_YAML_MAPPING, "reasons"))
        return;
    for (size_t i = 0; i < node->count; i++)
        if (cw_yaml_expect(in, &node->items[i], CW_YAML_SEQUENCE, "reasons of PC sampling"))
            count += node->items[i].count;
    struct cw_stall_reason *items = cw_yaml_array(in, count, sizeof *items);
    const struct cw_yaml **nodes = cw_yaml_array(in, count, sizeof(const struct cw_yaml *));
    for (size_t i = 0; i < node->count && in->status == CW_OK; i++) {
        const char *activity = cw_yaml_key_name(in, node, i);
        for (size_t k = 0; k < node->items[i].count && in->status == CW_OK; k++) {
            const struct cw_yaml *item = &node->items[i].items[k];
            const char *name = cw_yaml_name(in, item);
            nodes[reasons->count] = item;
            items[reasons->count++] = (struct cw_stall_reason){activity, name};
        }
    }
    cw_yaml_unique(in, nodes, reasons->count, "reason");
    reasons->items = items;
}

enum cw_status cw_stall_reasons_parse(const struct cw_stall_reasons **out, const void *data, size_t size,
                                      const char *path, struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "prefixes", "not_issued", "reasons", NULL};
    static const char *const prefix_keys[] = {"activity", "pc_sampling", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    struct cw_stall_reasons *reasons = cw_arena_alloc(arena, 1, sizeof *reasons);
    if (!reasons)
        return cw_error_nomem(err);
    const struct cw_yaml *root = read_head(&in, "stall reasons", keys, data, size);
    const struct cw_yaml *prefixes = cw_yaml_get(&in, root, "prefixes", root != NULL);
    if (prefixes)
        cw_yaml_only(&in, prefixes, prefix_keys);
    reasons->activity_prefix = filled(&in, cw_yaml_get(&in, prefixes, "activity", true), "prefix");
    reasons->pc_sampling_prefix = filled(&in, cw_yaml_get(&in, prefixes, "pc_sampling", true), "prefix");
    reasons->not_issued = filled(&in, cw_yaml_get(&in, root, "not_issued", true), "ending");
    read_reasons(reasons, &in, cw_yaml_get(&in, root, "reasons", true));
    *out = in.status == CW_OK ? reasons : NULL;
    return in.status;
}

enum cw_status cw_stall_reasons_load(const struct cw_stall_reasons **reasons, struct cw_arena *arena,
                                     struct cw_error *err)
{
    char path[CW_PATH_MAX + 40];
    struct cw_bytes file = {0};
    enum cw_status status = read_shipped(&file, path, NULL, "stall_reasons", err);
    if (status == CW_OK)
        status = cw_stall_reasons_parse(reasons, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status;
}

const char *cw_stall_activity(const struct cw_stall_reasons *reasons, const char *pc_sampling)
{
    size_t prefix = strlen(reasons->pc_sampling_prefix);
    if (strncmp(pc_sampling, reasons->pc_sampling_prefix, prefix) == 0)
        pc_sampling += prefix;
    for (uint32_t i = 0; i < reasons->count; i++) {
        const struct cw_stall_reason *r = &reasons->items[i];
        size_t length = strlen(r->pc_sampling);
        if (strncmp(pc_sampling, r->pc_sampling, length) == 0 &&
            (!pc_sampling[length] || strcmp(pc_sampling + length, reasons->not_issued) == 0))
            return r->activity;
    }
    return NULL;
}
