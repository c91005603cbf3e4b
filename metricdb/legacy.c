#include "metricdb/legacy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/suggest.h"
#include "metricdb/data.h"
#include "metricdb/metric.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 4 << 20, SCHEMA = 1, MOST_CLOSEST = 2 };

static const char *const capabilities[CW_LEGACY_CAPABILITIES] = {"1.x", "2.x", "3.x", "5.x", "6.x", "7.0", "7.2"};
static const char *const scopes[CW_LEGACY_SCOPE_COUNT] = {"", "single", "multi", "multi-some", "device", "listed"};
static const char *const kinds[CW_LEGACY_KIND_COUNT] = {"metric", "event"};

/* ---- loading ---------------------------------------------------------------------------------------------------- */

/* Index of a text in a list, or `count`. */
static size_t place_in(const char *const *list, size_t count, const char *text)
{
    size_t i = 0;
    while (i < count && strcmp(list[i], text) != 0)
        i++;
    return i;
}

/* {multi: [5.x, 6.x], device: [7.0]} */
static void read_scope(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *node)
{
    if (!cw_yaml_expect(in, node, CW_YAML_MAPPING, "a scope"))
        return;
    for (size_t i = 0; i < node->count; i++) {
        const struct cw_yaml *list = &node->items[i], key = cw_yaml_key(node, i);
        size_t scope = *key.text ? place_in(scopes, CW_LEGACY_SCOPE_COUNT, key.text) : CW_LEGACY_SCOPE_COUNT;
        if (scope == CW_LEGACY_SCOPE_COUNT)
            cw_yaml_fail(in, &key, "found the scope '%.40s', expected single, multi, multi-some, device or listed",
                         key.text);
        if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "capabilities"))
            return;
        for (size_t k = 0; k < list->count && in->status == CW_OK; k++) {
            const char *text = cw_yaml_text(in, &list->items[k]);
            size_t at = place_in(capabilities, CW_LEGACY_CAPABILITIES, text);
            if (at == CW_LEGACY_CAPABILITIES)
                cw_yaml_fail(in, &list->items[k],
                             "found the capability '%.40s', expected 1.x, 2.x, 3.x, 5.x, 6.x, 7.0 or 7.2", text);
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
    name->note = filled(in, cw_yaml_get(in, entry, "note", false), "note");
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

/* on: {GV100: {formula: ..., unit: ...}}: values that replace the entry's on other chips. Checks all of them and takes
 * one. */
static void read_other_chips(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *on,
                             const struct cw_legacy *legacy)
{
    static const char *const keys[] = {"unit", "formula", "none", "closest", "note", NULL};
    if (!on || !cw_yaml_expect(in, on, CW_YAML_MAPPING, "values on other chips"))
        return;
    for (size_t i = 0; i < on->count && in->status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(on, i);
        struct cw_legacy_name there = *name;
        if (place_in(legacy->chips, legacy->chip_count, key.text) == legacy->chip_count)
            cw_yaml_fail(in, &key, "found the chip %.40s, expected one of 'chips'", key.text);
        cw_yaml_only(in, &on->items[i], keys);
        there.formula = there.unit = there.none = NULL;
        there.closest_count = 0;
        read_value(&there, in, &on->items[i]);
        if (in->status == CW_OK && strcmp(key.text, legacy->chip) == 0)
            *name = there;
    }
}

static void read_name(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *section, size_t i,
                      const struct cw_legacy *legacy)
{
    static const char *const keys[] = {"scope", "description", "documented", "unit", "formula",
                                       "none",  "closest",     "note",       "on",   NULL};
    const struct cw_yaml *entry = &section->items[i], key = cw_yaml_key(section, i);
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
    read_value(name, in, entry);
    read_other_chips(name, in, cw_yaml_get(in, entry, "on", false), legacy);
}

static void read_chips(struct cw_legacy *legacy, struct cw_yaml_reader *in, const struct cw_yaml *list,
                       const char *chip)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "chips"))
        return;
    if (!list->count)
        cw_yaml_fail(in, list, "found no chip, expected at least one");
    const char **chips = cw_yaml_array(in, list->count, sizeof *chips), *text = "";
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++) {
        chips[i] = cw_yaml_name(in, &list->items[i]);
        text = cw_arena_printf(in->arena, "%s%s%s", text, i ? " or " : "", chips[i]);
        if (!text)
            in->status = cw_error_nomem(in->err);
    }
    if (in->status != CW_OK)
        return;
    legacy->chips_text = text;
    legacy->chips = chips;
    legacy->chip_count = list->count;
    size_t at = chip ? place_in(chips, list->count, chip) : 0;
    legacy->chip = at < list->count ? chips[at] : chips[0];
}

enum cw_status cw_legacy_parse(const struct cw_legacy **out, const void *data, size_t size, const char *path,
                               const char *chip, struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "chips", "metrics", "events", NULL};
    struct cw_yaml_reader in = {.source = cw_arena_strdup(arena, path), .arena = arena, .err = err};
    struct cw_legacy *legacy = cw_arena_alloc(arena, 1, sizeof *legacy);
    if (!legacy || !in.source)
        return cw_error_nomem(err);
    const struct cw_yaml *root = cw_yaml_load(&in, "legacy names", keys, SCHEMA, data, size);
    legacy->path = in.source;
    read_chips(legacy, &in, cw_yaml_get(&in, root, "chips", true), chip);
    const struct cw_yaml *const sections[CW_LEGACY_KIND_COUNT] = {
        [CW_LEGACY_METRIC] = cw_yaml_get(&in, root, "metrics", true),
        [CW_LEGACY_EVENT] = cw_yaml_get(&in, root, "events", true)};
    size_t count = 0;
    for (int kind = 0; kind < CW_LEGACY_KIND_COUNT; kind++)
        if (cw_yaml_expect(&in, sections[kind], CW_YAML_MAPPING, "names"))
            count += sections[kind]->count;
    struct cw_legacy_name *names = cw_yaml_array(&in, count, sizeof *names);
    for (int kind = 0; kind < CW_LEGACY_KIND_COUNT && in.status == CW_OK; kind++) {
        for (size_t i = 0; i < sections[kind]->count && in.status == CW_OK; i++) {
            struct cw_legacy_name *name = &names[legacy->count++];
            name->kind = (enum cw_legacy_kind)kind;
            read_name(name, &in, sections[kind], i, legacy);
        }
        if (kind == CW_LEGACY_METRIC)
            legacy->metric_count = legacy->count;
    }
    legacy->names = names;
    *out = in.status == CW_OK ? legacy : NULL;
    return in.status;
}

enum cw_status cw_legacy_load(const struct cw_legacy **legacy, const char *data, const char *chip,
                              struct cw_arena *arena, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file = {0};
    enum cw_status status = cw_data_path(path, data, "legacy/cupti", err);
    if (status == CW_OK)
        status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status == CW_OK)
        status = cw_legacy_parse(legacy, file.data, file.size, path, chip, arena, err);
    cw_bytes_free(&file);
    return status;
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static int by_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct cw_legacy_name *)entry)->name);
}

const struct cw_legacy_name *cw_legacy_find_kind(const struct cw_legacy *legacy, enum cw_legacy_kind kind,
                                                 const char *name)
{
    bool metric = kind == CW_LEGACY_METRIC;
    uint32_t first = metric ? 0 : legacy->metric_count, count = metric ? legacy->metric_count : legacy->count - first;
    return count ? bsearch(name, legacy->names + first, count, sizeof *legacy->names, by_name) : NULL;
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
    for (uint32_t i = 0; i < legacy->count; i++) /* a name of both kinds is suggested once */
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

/* Checks the metrics of a formula. A name with two underscores is a metric: no function or number has them. */
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
        /* 3.5 counts as 3.x */
        if (known[2] == 'x' && strncmp(text, known, 2) == 0 && isdigit((unsigned char)text[2]) && !text[3])
            return i;
    }
    return CW_LEGACY_CAPABILITIES;
}
