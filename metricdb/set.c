#define _GNU_SOURCE
#include "metricdb/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/suggest.h"
#include "metricdb/data.h"
#include "metricdb/term.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 4 << 20, SCHEMA = 1 };

bool cw_set_usable(const struct cw_chip *chip, uint32_t listed, const char *name, struct cw_error *err)
{
    struct cw_metric metric;
    const struct cw_needs needs = {.chip = chip, .listed = chip->no_sampling ? 0 : listed};
    return cw_metric_parse(&metric, chip, name, err) == CW_OK && cw_metric_needs(&needs, &metric, err) == CW_OK;
}

/* Chooses an alternative; NULL if the chip has none of them. */
static const struct cw_yaml *choose(struct cw_yaml_reader *in, const struct cw_yaml *node, const struct cw_chip *chip,
                                    uint32_t listed, struct cw_set_entry *entry)
{
    bool list = node->kind == CW_YAML_SEQUENCE;
    size_t count = list ? node->count : 1;
    const char **names = cw_yaml_array(in, count, sizeof *names);
    const struct cw_yaml *chosen = NULL;
    if (!count)
        cw_yaml_fail(in, node, "found no alternative, expected at least one name");
    for (size_t i = 0; i < count && in->status == CW_OK; i++) {
        const struct cw_yaml *one = list ? &node->items[i] : node;
        const char *name = names[i] = cw_yaml_text(in, one);
        if (!chosen && in->status == CW_OK && (!chip || cw_set_usable(chip, listed, name, NULL)))
            chosen = one;
    }
    *entry = (struct cw_set_entry){count, names, chosen ? chosen->text : NULL};
    return chosen;
}

static void read_metrics(struct cw_set *set, struct cw_yaml_reader *in, const struct cw_yaml *list,
                         const struct cw_chip *chip)
{
    if (!cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "metrics"))
        return;
    const char **names = cw_yaml_array(in, list->count, sizeof(const char *));
    struct cw_set_missing *missing = cw_yaml_array(in, list->count, sizeof *missing);
    struct cw_set_entry *entries = cw_yaml_array(in, list->count, sizeof *entries);
    const struct cw_yaml **chosen = cw_yaml_array(in, list->count, sizeof(const struct cw_yaml *));
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++) {
        const struct cw_yaml *node = &list->items[i], *one = choose(in, node, chip, set->listed, &entries[i]);
        if (one) {
            chosen[set->metric_count] = one;
            names[set->metric_count++] = one->text;
        } else if (in->status == CW_OK) {
            const struct cw_yaml *first = node->kind == CW_YAML_SEQUENCE ? &node->items[0] : node;
            missing[set->missing_count++] = (struct cw_set_missing){first->text, first->line, first->column};
        }
    }
    if (in->status == CW_OK && !list->count)
        cw_yaml_fail(in, list, "found no metrics, expected at least one");
    cw_yaml_unique(in, chosen, set->metric_count, "metric"); /* plans and files have each metric once */
    set->metrics = names;
    set->missing = missing;
    set->entries = entries;
    set->entry_count = list->count;
    if (in->status != CW_OK)
        set->metric_count = set->missing_count = set->entry_count = 0;
}

static uint32_t read_listed(struct cw_yaml_reader *in, const struct cw_yaml *node)
{
    const char *text = node ? cw_yaml_text(in, node) : "range";
    const bool pm = strcmp(text, "pm") == 0;
    if (node && in->status == CW_OK && !pm && strcmp(text, "range") != 0)
        cw_yaml_fail(in, node, "found the profiler '%s', expected range or pm", text);
    return pm ? CW_OF_SAMPLES : CW_OF_RANGES;
}

static void read_sections(struct cw_set *set, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    if (!list || !cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "sections of Nsight Compute"))
        return;
    const char **names = cw_yaml_array(in, list->count, sizeof(const char *));
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++)
        names[i] = cw_yaml_text(in, &list->items[i]);
    set->sections = names;
    set->section_count = in->status == CW_OK ? list->count : 0;
}

enum cw_status cw_set_parse(struct cw_set *set, const void *data, size_t size, const char *path,
                            const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "set", "title", "ncu", "profiler", "metrics", NULL};
    *set = (struct cw_set){.name = "", .title = ""};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    const struct cw_yaml *root = cw_yaml_load(&in, "a set of metrics", keys, SCHEMA, data, size);
    set->name = cw_yaml_text(&in, cw_yaml_get(&in, root, "set", true));
    set->title = cw_yaml_text(&in, cw_yaml_get(&in, root, "title", true));
    read_sections(set, &in, cw_yaml_get(&in, root, "ncu", false));
    set->listed = read_listed(&in, cw_yaml_get(&in, root, "profiler", false));
    const struct cw_yaml *list = cw_yaml_get(&in, root, "metrics", true);
    read_metrics(set, &in, list, chip);
    struct cw_error why = CW_ERROR_INIT;
    if (in.status != CW_OK || set->metric_count)
        return in.status;
    cw_set_usable(chip, set->listed, set->missing[0].name, &why);
    return cw_error_at(err, CW_ERR_UNSUPPORTED, path, list->line, list->column,
                       "found no metric of the set that %s can give: %s", chip->name, why.message);
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return cw_file_is_standard(name) || strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
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

static enum cw_status path_of(char path[CW_DATA_PATH_MAX], const char *data, const char *name, struct cw_error *err)
{
    char file[80];
    snprintf(file, sizeof file, "sets/%.60s", name);
    return cw_data_path(path, data, file, err);
}

static enum cw_status is_shipped(bool *there, const char *data, const char *name, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    CW_TRY(path_of(path, data, name, err));
    *there = strlen(name) <= 60 && *name && !cw_data_lacks(path);
    return CW_OK;
}

static enum cw_status load_named(struct cw_set *set, const char *data, const char *name, const struct cw_chip *chip,
                                 struct cw_arena *arena, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    CW_TRY(path_of(path, data, name, err));
    CW_TRY(load_file(set, path, chip, arena, err));
    if (strcmp(set->name, name) != 0)
        return cw_error_at(err, CW_ERR_INPUT, path, 1, 1, "found the set %.60s, expected %s as the file is named",
                           set->name, name);
    return CW_OK;
}

/* What serves in place of sections and sets of Nsight Compute that no set stands for; NULL: nothing. */
static const char *instead_of(const char *name)
{
    static const struct {
        const char *name, *instead;
    } known[] = {
        {"SourceCounters", "counterworks pc and counterworks sass count for each instruction"},
        {"PmSampling_WarpStates", "counterworks sample takes the set pm-sampling"},
        {"WorkloadDistribution", ".min, .max and .avg of a counter are over its units"},
        {"Nvlink_Topology", "counterworks trace --kinds default,link has the links"},
        {"NumaAffinity", "nvidia-smi topo -m prints it"},
        {"detailed", "the set full has its sections"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].instead;
    return NULL;
}

/* Replaces the name of a section of Nsight Compute by the name of the set that has it. */
static enum cw_status find_section(const char **name, const char *data, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *known;
    struct cw_suggest near;
    struct cw_set set;
    size_t count;
    char text[512];
    cw_suggest_init(&near, *name);
    CW_TRY(cw_set_list(&known, &count, data, arena, err));
    for (size_t i = 0; i < count; i++) {
        CW_TRY(load_named(&set, data, known[i], NULL, arena, err));
        cw_suggest_offer(&near, set.name);
        for (size_t j = 0; j < set.section_count; j++) {
            if (strcasecmp(set.sections[j], set.name) != 0)
                cw_suggest_offer(&near, set.sections[j]);
            if (strcmp(set.sections[j], *name) == 0) {
                *name = set.name;
                return CW_OK;
            }
        }
    }
    if (instead_of(*name))
        return cw_error_set(err, CW_ERR_USAGE, "found no metric set for Nsight Compute's %s: %s", *name,
                            instead_of(*name));
    return cw_error_set(err, CW_ERR_USAGE, "found no metric set named '%.60s', counterworks sets lists them%s", *name,
                        cw_suggest_text(&near, text, sizeof text));
}

enum cw_status cw_set_load(struct cw_set *set, const char *data, const char *name, const struct cw_chip *chip,
                           struct cw_arena *arena, struct cw_error *err)
{
    bool there;
    if (is_path(name))
        return load_file(set, name, chip, arena, err);
    CW_TRY(is_shipped(&there, data, name, err));
    if (!there)
        CW_TRY(find_section(&name, data, arena, err));
    return load_named(set, data, name, chip, arena, err);
}

enum cw_status cw_set_list(const char *const **names, size_t *count, const char *data, struct cw_arena *arena,
                           struct cw_error *err)
{
    return cw_data_list(data, "sets", names, count, arena, err);
}
