#include "metricdb/legacy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/suggest.h"
#include "metricdb/data.h"
#include "metricdb/term.h"
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

/* The next name of a metric in a formula, which is what has two underscores in it: no function or number has. Its
 * length, or 0 behind the last. */
static size_t next_metric(const char **at)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (const char *text = *at + strcspn(*at, of_names); *text; text += strcspn(text, of_names)) {
        const size_t length = strspn(text, of_names);
        const char *gap = strstr(text, "__");
        *at = text;
        if (gap && gap < text + length)
            return length;
        text += length;
    }
    return 0;
}

/* Whether a chip has a metric and knows its formula, in range profiling. */
static bool gives(const struct cw_chip *chip, const char *metric, size_t length, struct cw_error *why)
{
    const struct cw_needs needs = {.chip = chip, .listed = CW_OF_RANGES};
    char name[CW_METRIC_NAME_MAX];
    struct cw_metric m;
    if (length >= sizeof name)
        return cw_error_set(why, CW_ERR_INPUT, "found a name of %zu characters, expected less than %zu", length,
                            sizeof name) == CW_OK;
    memcpy(name, metric, length);
    name[length] = 0;
    return cw_metric_parse(&m, chip, name, why) == CW_OK && cw_metric_needs(&needs, &m, why) == CW_OK;
}

/* A chip that knows no formula for a name, or not all metrics that come closest. */
static void lack(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_chip *chip)
{
    const char **closest = cw_yaml_array(in, name->closest_count, sizeof(const char *));
    size_t count = 0, length;
    for (size_t i = 0; closest && i < name->closest_count; i++)
        if (gives(chip, name->closest[i], strlen(name->closest[i]), NULL))
            closest[count++] = name->closest[i];
    name->closest = closest;
    name->closest_count = count;
    if (!name->formula)
        return;
    const char *at = name->formula;
    while ((length = next_metric(&at)) && gives(chip, at, length, NULL))
        at += length;
    name->none = cw_arena_printf(in->arena, "%s has no %.*s", chip->name, (int)length, at);
    name->formula = name->unit = NULL;
    name->note = "";
    if (!name->none && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
}

/* Another value of the name, in place of that of `name`. */
static struct cw_legacy_name read_another(const struct cw_legacy_name *name, struct cw_yaml_reader *in,
                                          const struct cw_yaml *entry)
{
    static const char *const keys[] = {"unit", "formula", "none", "closest", "note", NULL};
    struct cw_legacy_name other = *name;
    cw_yaml_only(in, entry, keys);
    other.formula = other.unit = other.none = NULL;
    other.closest_count = 0;
    read_value(&other, in, entry);
    return other;
}

/* on: {GV100: {formula: ..., unit: ...}}: what replaces the entry's value there. All are checked, one is taken. Whether
 * the chip has one of its own. */
static bool read_on(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *on,
                    const struct cw_legacy *legacy)
{
    const struct cw_legacy_name base = *name;
    bool own = false;
    if (!on || !cw_yaml_expect(in, on, CW_YAML_MAPPING, "values on other chips"))
        return false;
    for (size_t i = 0; i < on->count && in->status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(on, i);
        if (place_in(legacy->chips, legacy->chip_count, key.text) == legacy->chip_count)
            cw_yaml_fail(in, &key, "found the chip %.40s, expected one of 'chips'", key.text);
        const struct cw_legacy_name there = read_another(&base, in, &on->items[i]);
        if (in->status == CW_OK && strcmp(key.text, legacy->chip) == 0) {
            *name = there;
            own = true;
        }
    }
    return own;
}

/* or: [{formula: ..., unit: ...}]: for chips that lack a metric of the formula, the first that they know. */
static void read_or(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *others,
                    const struct cw_chip *chip, bool own)
{
    if (in->status != CW_OK) /* the name is not whole */
        return;
    struct cw_legacy_name best = *name;
    bool known = !chip || own || cw_legacy_resolve(name, chip, in->source, NULL) == CW_OK;
    if (others && cw_yaml_expect(in, others, CW_YAML_SEQUENCE, "other values"))
        for (size_t i = 0; i < others->count && in->status == CW_OK; i++) {
            const struct cw_legacy_name other = read_another(name, in, &others->items[i]);
            if (in->status != CW_OK || known)
                continue;
            known = cw_legacy_resolve(&other, chip, in->source, NULL) == CW_OK;
            best = known ? other : best;
        }
    if (in->status == CW_OK && !known)
        lack(&best, in, chip);
    *name = best;
}

static void read_name(struct cw_legacy_name *name, struct cw_yaml_reader *in, const struct cw_yaml *section, size_t i,
                      const struct cw_legacy *legacy, const struct cw_chip *chip)
{
    static const char *const keys[] = {"scope",   "description", "documented", "unit", "formula", "none",
                                       "closest", "note",        "on",         "or",   NULL};
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
    const struct cw_legacy_name base = *name;
    bool own = read_on(name, in, cw_yaml_get(in, entry, "on", false), legacy);
    struct cw_legacy_name other = own ? base : *name;
    read_or(&other, in, cw_yaml_get(in, entry, "or", false), chip, own);
    if (!own)
        *name = other;
}

static void read_chips(struct cw_legacy *legacy, struct cw_yaml_reader *in, const struct cw_yaml *list,
                       const struct cw_chip *chip)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "chips"))
        return;
    if (!list->count)
        cw_yaml_fail(in, list, "found no chip, expected at least one");
    const char **chips = cw_yaml_array(in, list->count, sizeof *chips);
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++)
        chips[i] = cw_yaml_name(in, &list->items[i]);
    if (in->status != CW_OK)
        return;
    legacy->chips = chips;
    legacy->chip_count = list->count;
    legacy->chip = chip ? chip->name : chips[0];
}

enum cw_status cw_legacy_parse(const struct cw_legacy **out, const void *data, size_t size, const char *path,
                               const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
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
            read_name(name, &in, sections[kind], i, legacy, chip);
        }
        if (kind == CW_LEGACY_METRIC)
            legacy->metric_count = legacy->count;
    }
    legacy->names = names;
    *out = in.status == CW_OK ? legacy : NULL;
    return in.status;
}

enum cw_status cw_legacy_load(const struct cw_legacy **legacy, const char *data, const struct cw_chip *chip,
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
                        "found no CUPTI metric or event named '%.100s', counterworks legacy lists them%s", name,
                        cw_suggest_text(&near, text, sizeof text));
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static enum cw_status check_metric(const char *metric, size_t length, const struct cw_chip *chip, const char *path,
                                   unsigned line, unsigned column, struct cw_error *err)
{
    struct cw_error why = CW_ERROR_INIT;
    return gives(chip, metric, length, &why) ? CW_OK
                                             : cw_error_at(err, CW_ERR_INPUT, path, line, column, "%s", why.message);
}

static enum cw_status check_formula(const struct cw_legacy_name *name, const struct cw_chip *chip, const char *path,
                                    struct cw_error *err)
{
    enum cw_status status = CW_OK;
    const char *at = name->formula;
    for (size_t length; status == CW_OK && (length = next_metric(&at)); at += length)
        status = check_metric(at, length, chip, path, name->formula_line,
                              name->formula_column + (unsigned)(at - name->formula), err);
    return status;
}

enum cw_status cw_legacy_resolve(const struct cw_legacy_name *name, const struct cw_chip *chip, const char *path,
                                 struct cw_error *err)
{
    if (name->formula)
        return check_formula(name, chip, path, err);
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < name->closest_count && status == CW_OK; i++)
        status = check_metric(name->closest[i], strlen(name->closest[i]), chip, path, name->formula_line,
                              name->formula_column, err);
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
