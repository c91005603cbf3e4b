#define _GNU_SOURCE
#include "metricdb/chip_load.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "base/suggest.h"
#include "metricdb/chip_check.h"
#include "metricdb/chip_files.h"
#include "metricdb/compiled.h"
#include "metricdb/limits.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 64 << 20, SCHEMA = 1 };

struct load {
    struct cw_chip *chip;
    struct cw_yaml_reader in;
    /* sections with names that other sections refer to */
    const struct cw_yaml *counters, *throughputs, *unit_names, *domain_names;
    struct cw_unit *units;
    struct cw_counter *counter_list;
    struct cw_ratio *ratio_list;
    struct cw_throughput *throughput_list;
    bool lists_samples; /* some metric says whether PM sampling has it */
};

static bool ok(const struct load *l)
{
    return l->in.status == CW_OK;
}

static const struct cw_yaml *section(struct load *l, const struct cw_yaml *root, const char *key,
                                     enum cw_yaml_kind kind, bool required, uint32_t *count)
{
    static const struct cw_yaml empty;
    const struct cw_yaml *node = cw_yaml_get(&l->in, root, key, required);
    *count = 0;
    bool nothing = node && node->kind == CW_YAML_SCALAR && !*node->text; /* "ratios:" without a value */
    if (!node || nothing || !cw_yaml_expect(&l->in, node, kind, key))
        return &empty;
    *count = (uint32_t)node->count;
    return node;
}

/* ---- references ------------------------------------------------------------------------------------------------- */

/* Returns the index of the entry that a node names. CW_NONE after a failure, and for an unknown name if `expected` is
 * NULL. */
static uint32_t find_entry(struct load *l, const struct cw_yaml *section, const struct cw_yaml *node,
                           const char *expected)
{
    const char *name = cw_yaml_text(&l->in, node);
    size_t at = ok(l) && section ? cw_yaml_find(section, name) : SIZE_MAX;
    if (at == SIZE_MAX && expected && ok(l))
        cw_yaml_fail(&l->in, node, "found '%s', expected %s", name, expected);
    return at == SIZE_MAX ? CW_NONE : (uint32_t)at;
}

static uint32_t find_counter(struct load *l, const struct cw_yaml *node)
{
    uint32_t found = find_entry(l, l->counters, node, NULL);
    if (found != CW_NONE || !ok(l))
        return found;
    struct cw_suggest near;
    char text[512];
    cw_suggest_init(&near, node->text);
    for (uint32_t i = 0; i < l->chip->counter_count; i++)
        cw_suggest_offer(&near, l->counter_list[i].name);
    cw_yaml_fail(&l->in, node, "found '%s', expected the name of a counter%s", node->text,
                 cw_suggest_text(&near, text, sizeof text));
    return CW_NONE;
}

/* Loads the names of counters first, so that everything else can refer to them. */
static void load_counter_names(struct load *l)
{
    l->counter_list = cw_yaml_array(&l->in, l->chip->counter_count, sizeof *l->counter_list);
    for (uint32_t i = 0; ok(l) && i < l->chip->counter_count; i++) {
        l->counter_list[i].name = cw_yaml_key_name(&l->in, l->counters, i);
        l->counter_list[i].line = l->counters->keys[i].line;
    }
    l->chip->counters = l->counter_list;
}

static uint32_t find_unit(struct load *l, const struct cw_yaml *node)
{
    return find_entry(l, l->unit_names, node, "a unit of the 'units' section");
}

static uint32_t find_domain(struct load *l, const struct cw_yaml *node)
{
    return find_entry(l, l->domain_names, node, "a domain of the 'domains' section");
}

static uint32_t find_raw(struct load *l, const struct cw_yaml *node)
{
    uint64_t id = cw_yaml_integer(&l->in, node, UINT64_MAX);
    uint32_t index = ok(l) ? cw_chip_find_raw(l->chip, id) : CW_NONE;
    if (ok(l) && index == CW_NONE)
        cw_yaml_fail(&l->in, node, "found the raw counter '%s', expected one of the 'raw_counters' section",
                     node->text);
    return index;
}

static struct cw_list load_list(struct load *l, const struct cw_yaml *mapping, const char *key, bool required,
                                uint32_t (*find)(struct load *, const struct cw_yaml *))
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, required);
    struct cw_list list = {0};
    if (!node || !cw_yaml_expect(&l->in, node, CW_YAML_SEQUENCE, key))
        return list;
    uint32_t *items = cw_yaml_array(&l->in, node->count, sizeof *items);
    for (size_t i = 0; ok(l) && i < node->count; i++)
        items[i] = find(l, &node->items[i]);
    list.items = items;
    list.count = ok(l) ? (uint32_t)node->count : 0;
    return list;
}

static double optional_number(struct load *l, const struct cw_yaml *mapping, const char *key, double otherwise)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, false);
    return node ? cw_yaml_number(&l->in, node) : otherwise;
}

static uint32_t optional_count(struct load *l, const struct cw_yaml *mapping, const char *key, uint32_t otherwise)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, false);
    return node ? (uint32_t)cw_yaml_integer(&l->in, node, UINT32_MAX - 1) : otherwise;
}

static uint32_t optional_counter(struct load *l, const struct cw_yaml *mapping, const char *key, uint32_t otherwise)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, false);
    if (node && node->kind == CW_YAML_SCALAR && strcmp(node->text, "none") == 0)
        return CW_NONE;
    return node ? find_counter(l, node) : otherwise;
}

/* ---- sections --------------------------------------------------------------------------------------------------- */

/* Reads a line of text; YAML reads one with a colon as a mapping. */
static const char *read_line(struct cw_yaml_reader *in, const struct cw_yaml *node)
{
    if (node->kind != CW_YAML_MAPPING || node->count != 1)
        return cw_yaml_text(in, node);
    const char *line = cw_arena_printf(in->arena, "%s: %s", node->keys[0].text, cw_yaml_text(in, &node->items[0]));
    if (!line && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
    return line;
}

static const char *const *load_texts(struct load *l, const struct cw_yaml *root, const char *key, uint32_t *count,
                                     const char *(*read)(struct cw_yaml_reader *, const struct cw_yaml *))
{
    const struct cw_yaml *node = section(l, root, key, CW_YAML_SEQUENCE, false, count);
    const char **texts = cw_yaml_array(&l->in, *count, sizeof(const char *));
    for (uint32_t i = 0; ok(l) && i < *count; i++)
        texts[i] = read(&l->in, &node->items[i]);
    return texts;
}

static void load_units(struct load *l, const struct cw_yaml *node)
{
    static const char *const keys[] = {"instances", "active", "elapsed", NULL};
    l->unit_names = node;
    l->units = cw_yaml_array(&l->in, l->chip->unit_count, sizeof *l->units);
    for (uint32_t i = 0; ok(l) && i < l->chip->unit_count; i++) {
        const struct cw_yaml *item = &node->items[i];
        cw_yaml_only(&l->in, item, keys);
        l->units[i] = (struct cw_unit){.name = cw_yaml_key_name(&l->in, node, i),
                                       .instances = optional_count(l, item, "instances", 0),
                                       .active = optional_counter(l, item, "active", CW_NONE),
                                       .elapsed = optional_counter(l, item, "elapsed", CW_NONE)};
    }
    l->chip->units = l->units;
}

static void load_domains(struct load *l, const struct cw_yaml *node)
{
    struct cw_domain *domains = cw_yaml_array(&l->in, l->chip->domain_count, sizeof *domains);
    for (uint32_t i = 0; ok(l) && i < l->chip->domain_count; i++)
        domains[i] = (struct cw_domain){.name = cw_yaml_key_name(&l->in, node, i),
                                        .id = (uint32_t)cw_yaml_integer(&l->in, &node->items[i], UINT32_MAX)};
    l->domain_names = node;
    l->chip->domains = domains;
}

static void load_pass_costs(struct load *l, const struct cw_yaml *node)
{
    static const char *const keys[] = {"cost", "domains", NULL};
    if (l->chip->pass_cost_count > CW_MOST_PASS_COSTS)
        cw_yaml_fail(&l->in, node, "found %u pass costs, expected at most %d", l->chip->pass_cost_count,
                     CW_MOST_PASS_COSTS);
    struct cw_pass_cost *costs = cw_yaml_array(&l->in, l->chip->pass_cost_count, sizeof *costs);
    for (uint32_t i = 0; ok(l) && i < l->chip->pass_cost_count; i++) {
        const struct cw_yaml *item = &node->items[i];
        cw_yaml_only(&l->in, item, keys);
        const struct cw_yaml *cost = cw_yaml_get(&l->in, item, "cost", true);
        costs[i] = (struct cw_pass_cost){.cost = cost ? (uint32_t)cw_yaml_integer(&l->in, cost, UINT32_MAX) : 0,
                                         .domains = load_list(l, item, "domains", true, find_domain)};
    }
    l->chip->pass_costs = costs;
}

static void load_raws(struct load *l, const struct cw_yaml *node)
{
    uint32_t total = 0;
    for (uint32_t i = 0; ok(l) && i < l->chip->raw_count; i++)
        if (cw_yaml_expect(&l->in, &node->items[i], CW_YAML_SEQUENCE, "the domains of a raw counter"))
            total += (uint32_t)node->items[i].count;
    struct cw_raw_counter *raws = cw_yaml_array(&l->in, l->chip->raw_count, sizeof *raws);
    struct cw_chip_placement *placements = cw_yaml_array(&l->in, total, sizeof *placements);
    uint32_t n = 0;
    for (uint32_t i = 0; ok(l) && i < l->chip->raw_count; i++) {
        const struct cw_yaml key = cw_yaml_key(node, i);
        raws[i] = (struct cw_raw_counter){.id = cw_yaml_integer(&l->in, &key, UINT64_MAX),
                                          .placement = n,
                                          .placement_count = (uint32_t)node->items[i].count};
        if (ok(l) && (raws[i].id == 0 || (i && raws[i].id <= raws[i - 1].id)))
            cw_yaml_fail(&l->in, &key, "found the raw counter '%s', expected ids above 0 in ascending order", key.text);
        for (size_t k = 0; ok(l) && k < node->items[i].count; k++)
            placements[n++] = (struct cw_chip_placement){i, find_domain(l, &node->items[i].items[k])};
    }
    l->chip->raws = raws;
    l->chip->placements = placements;
    l->chip->placement_count = n;
}

/* pm: also, where CUPTI lists a metric for PM sampling as well, pm: only, where it does for that alone. */
static uint32_t load_listed(struct load *l, const struct cw_yaml *item)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, item, "pm", false);
    const char *text = node ? cw_yaml_text(&l->in, node) : "";
    bool only = strcmp(text, "only") == 0;
    if (!node || !ok(l))
        return CW_OF_RANGES;
    l->lists_samples = true;
    if (!only && strcmp(text, "also") != 0)
        cw_yaml_fail(&l->in, node, "found pm: %s, expected also or only", text);
    return only ? CW_OF_SAMPLES : CW_OF_BOTH;
}

/* of: {COUNTER: coefficient, ...}, per: N */
static void load_terms(struct load *l, const struct cw_yaml *item, struct cw_counter *c)
{
    const struct cw_yaml *of = cw_yaml_get(&l->in, item, "of", false);
    c->per = optional_number(l, item, "per", 1);
    c->confirmed = optional_count(l, item, "confirmed", 0);
    if (ok(l) && !(c->per > 0 && isfinite(c->per)))
        cw_yaml_fail(&l->in, item, "found per: %g for %s, expected a number above 0", c->per, c->name);
    if (!of || !cw_yaml_expect(&l->in, of, CW_YAML_MAPPING, "of"))
        return;
    uint32_t *items = cw_yaml_array(&l->in, of->count, sizeof *items);
    double *coefficients = cw_yaml_array(&l->in, of->count, sizeof *coefficients);
    for (size_t i = 0; ok(l) && i < of->count; i++) {
        const struct cw_yaml key = cw_yaml_key(of, i);
        items[i] = find_counter(l, &key);
        coefficients[i] = cw_yaml_number(&l->in, &of->items[i]);
        if (ok(l) && !(isfinite(coefficients[i]) && coefficients[i] != 0))
            cw_yaml_fail(&l->in, &of->items[i], "found the coefficient %g, expected a finite number other than 0",
                         coefficients[i]);
        if (ok(l) && cw_yaml_get(&l->in, &l->counters->items[items[i]], "of", false))
            cw_yaml_fail(&l->in, &key, "found %s, which is derived itself, expected a recorded counter", key.text);
    }
    c->terms = (struct cw_list){ok(l) ? (uint32_t)of->count : 0, items};
    c->coefficients = coefficients;
}

static void load_counters(struct load *l)
{
    static const char *const keys[] = {"unit",    "dim", "raw", "peak",      "instances", "active",
                                       "elapsed", "of",  "per", "confirmed", "pm",        "pm_active",
                                       "pm_elapsed", NULL};
    for (uint32_t i = 0; ok(l) && i < l->chip->counter_count; i++) {
        const struct cw_yaml *item = &l->counters->items[i];
        struct cw_counter *c = &l->counter_list[i];
        cw_yaml_only(&l->in, item, keys);
        c->unit = find_unit(l, cw_yaml_get(&l->in, item, "unit", true));
        if (!ok(l))
            return;
        const struct cw_unit *unit = &l->units[c->unit];
        c->dimension = cw_yaml_name(&l->in, cw_yaml_get(&l->in, item, "dim", true));
        c->raws = load_list(l, item, "raw", true, find_raw);
        c->peak = optional_number(l, item, "peak", NAN);
        c->instances = optional_count(l, item, "instances", unit->instances);
        c->active = optional_counter(l, item, "active", unit->active);
        c->elapsed = optional_counter(l, item, "elapsed", unit->elapsed);
        c->sampled_active = optional_counter(l, item, "pm_active", CW_NONE);
        c->sampled_elapsed = optional_counter(l, item, "pm_elapsed", CW_NONE);
        c->listed = load_listed(l, item);
        load_terms(l, item, c);
    }
}

static void load_ratios(struct load *l, const struct cw_yaml *node)
{
    static const char *const keys[] = {"unit",  "dim",      "raw",       "num", "den",
                                       "scale", "max_rate", "confirmed", "pm",  NULL};
    struct cw_ratio *ratios = cw_yaml_array(&l->in, l->chip->ratio_count, sizeof *ratios);
    for (uint32_t i = 0; ok(l) && i < l->chip->ratio_count; i++) {
        const struct cw_yaml *item = &node->items[i];
        cw_yaml_only(&l->in, item, keys);
        ratios[i] = (struct cw_ratio){.name = cw_yaml_key_name(&l->in, node, i),
                                      .line = node->keys[i].line,
                                      .unit = find_unit(l, cw_yaml_get(&l->in, item, "unit", true)),
                                      .dimension = cw_yaml_name(&l->in, cw_yaml_get(&l->in, item, "dim", true)),
                                      .numerator = optional_counter(l, item, "num", CW_NONE),
                                      .denominator = optional_counter(l, item, "den", CW_NONE),
                                      .scale = optional_number(l, item, "scale", 1),
                                      .max_rate = optional_number(l, item, "max_rate", NAN),
                                      .listed = load_listed(l, item),
                                      .confirmed = optional_count(l, item, "confirmed", 0),
                                      .raws = load_list(l, item, "raw", true, find_raw)};
        if (ok(l) && (ratios[i].numerator == CW_NONE) != (ratios[i].denominator == CW_NONE))
            cw_yaml_fail(&l->in, item, "found only one of 'num' and 'den' for %s, expected both or none",
                         ratios[i].name);
    }
    l->chip->ratios = l->ratio_list = ratios;
}

static uint32_t find_throughput(struct load *l, const struct cw_yaml *node)
{
    return find_entry(l, l->throughputs, node, "the name of a throughput");
}

static void load_throughputs(struct load *l)
{
    static const char *const keys[] = {"unit", "dim", "raw", "counters", "throughputs", "confirmed", "pm", NULL};
    struct cw_throughput *list = cw_yaml_array(&l->in, l->chip->throughput_count, sizeof *list);
    for (uint32_t i = 0; ok(l) && i < l->chip->throughput_count; i++) {
        const struct cw_yaml *item = &l->throughputs->items[i];
        cw_yaml_only(&l->in, item, keys);
        list[i] = (struct cw_throughput){.name = cw_yaml_key_name(&l->in, l->throughputs, i),
                                         .line = l->throughputs->keys[i].line,
                                         .unit = find_unit(l, cw_yaml_get(&l->in, item, "unit", true)),
                                         .dimension = cw_yaml_name(&l->in, cw_yaml_get(&l->in, item, "dim", true)),
                                         .counters = load_list(l, item, "counters", false, find_counter),
                                         .throughputs = load_list(l, item, "throughputs", false, find_throughput),
                                         .confirmed = optional_count(l, item, "confirmed", 0),
                                         .listed = load_listed(l, item),
                                         .raws = load_list(l, item, "raw", true, find_raw)};
    }
    l->chip->throughputs = l->throughput_list = list;
}

/* A file that says nothing of PM sampling has one list for both. */
static void settle_lists(struct load *l)
{
    const struct cw_chip *chip = l->chip;
    if (!ok(l) || l->lists_samples || chip->no_sampling)
        return;
    for (uint32_t i = 0; i < chip->counter_count; i++)
        l->counter_list[i].listed = CW_OF_BOTH;
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        l->ratio_list[i].listed = CW_OF_BOTH;
    for (uint32_t i = 0; i < chip->throughput_count; i++)
        l->throughput_list[i].listed = CW_OF_BOTH;
}

/* Reads `sampling: none`, or nothing. */
static bool has_no_sampling(struct load *l, const struct cw_yaml *node)
{
    const char *text = node ? cw_yaml_text(&l->in, node) : "";
    if (node && ok(l) && strcmp(text, "none") != 0)
        cw_yaml_fail(&l->in, node, "found sampling '%s', expected none, or no such line", text);
    return node != NULL;
}

static void load_root(struct load *l, const void *data, size_t size)
{
    static const char *const keys[] = {"schema",         "chip",   "also",      "source",     "time",
                                       "sampling",       "units",  "domains",   "pass_costs", "raw_counters",
                                       "classes",        "limits", "pm_limits", "counters",   "ratios",
                                       "throughputs",    "device_counter", NULL};
    struct cw_chip *chip = l->chip;
    const struct cw_yaml *root = cw_yaml_load(&l->in, "a chip file", keys, SCHEMA, data, size);
    if (!root)
        return;
    chip->name = cw_yaml_name(&l->in, cw_yaml_get(&l->in, root, "chip", true));
    chip->also = load_texts(l, root, "also", &chip->also_count, cw_yaml_name);
    chip->source = load_texts(l, root, "source", &chip->source_count, read_line);
    l->counters = section(l, root, "counters", CW_YAML_MAPPING, true, &chip->counter_count);
    load_counter_names(l);
    load_units(l, section(l, root, "units", CW_YAML_MAPPING, true, &chip->unit_count));
    load_domains(l, section(l, root, "domains", CW_YAML_MAPPING, true, &chip->domain_count));
    load_pass_costs(l, section(l, root, "pass_costs", CW_YAML_SEQUENCE, false, &chip->pass_cost_count));
    load_raws(l, section(l, root, "raw_counters", CW_YAML_MAPPING, true, &chip->raw_count));
    chip->no_sampling = has_no_sampling(l, cw_yaml_get(&l->in, root, "sampling", false));
    const struct cw_yaml *device_counter = cw_yaml_get(&l->in, root, "device_counter", false);
    chip->device_counter = device_counter && ok(l) ? find_raw(l, device_counter) : CW_NONE;
    if (ok(l))
        cw_limits_load(chip, NULL, &l->in, cw_yaml_get(&l->in, root, "classes", false),
                       cw_yaml_get(&l->in, root, "limits", false), cw_yaml_get(&l->in, root, "pm_limits", false));
    load_counters(l);
    chip->time = optional_counter(l, root, "time", CW_NONE);
    load_ratios(l, section(l, root, "ratios", CW_YAML_MAPPING, true, &chip->ratio_count));
    l->throughputs = section(l, root, "throughputs", CW_YAML_MAPPING, true, &chip->throughput_count);
    load_throughputs(l);
    settle_lists(l);
    if (ok(l))
        l->in.status = cw_chip_index_names(chip, l->in.arena, l->in.err);
    if (ok(l))
        l->in.status = cw_chip_check(chip, l->in.arena, l->in.err);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void set_canonical(uint8_t hash[16], XXH128_hash_t value)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, value);
    memcpy(hash, canonical.digest, sizeof canonical.digest);
}

static void hash_text(uint8_t hash[16], const void *data, size_t size)
{
    set_canonical(hash, XXH3_128bits(data, size));
}

/* Hashes a regular file without holding it in memory; false if it cannot be read that way. */
static bool hash_file(uint8_t hash[16], const char *path)
{
    XXH3_state_t state;
    uint8_t buffer[32 << 10];
    struct stat st;
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    XXH3_128bits_reset(&state);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            XXH3_128bits_update(&state, buffer, (size_t)n);
    if (fd >= 0)
        close(fd);
    set_canonical(hash, XXH3_128bits_digest(&state));
    return n == 0;
}

enum cw_status cw_chip_parse(const struct cw_chip **out, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct load l = {.in = {.source = path, .arena = arena, .err = err, .size = size}};
    l.chip = cw_yaml_array(&l.in, 1, sizeof *l.chip);
    char *kept = l.chip ? cw_arena_strdup(arena, path) : NULL;
    if (!kept)
        return cw_error_nomem(err);
    l.in.source = l.chip->path = kept;
    hash_text(l.chip->hash, data, size);
    load_root(&l, data, size);
    *out = l.chip;
    return l.in.status;
}

enum cw_status cw_chip_load_file(const struct cw_chip **chip, const char *path, struct cw_arena *arena,
                                 struct cw_error *err)
{
    struct cw_bytes file;
    uint8_t hash[16];
    if (hash_file(hash, path) && cw_compiled_load(chip, path, hash, arena))
        return CW_OK;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status != CW_OK)
        return status;
    status = cw_chip_parse(chip, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_chip_rename(const struct cw_chip **chip, const char *name, struct cw_arena *arena,
                              struct cw_error *err)
{
    const struct cw_chip *from = *chip;
    uint32_t i = 0;
    if (strcmp(from->name, name) == 0)
        return CW_OK;
    while (i < from->also_count && strcmp(from->also[i], name) != 0)
        i++;
    if (i == from->also_count)
        return cw_error_set(err, CW_ERR_INPUT, "found the chip %s in %s, expected %.60s", from->name, from->path, name);
    struct cw_chip *renamed = cw_arena_alloc(arena, 1, sizeof *renamed);
    const char **also = cw_arena_alloc(arena, from->also_count, sizeof *also);
    if (!renamed || !also)
        return cw_error_nomem(err);
    memcpy(also, from->also, from->also_count * sizeof *also);
    also[i] = from->name;
    *renamed = *from;
    renamed->name = from->also[i];
    renamed->also = also;
    *chip = renamed;
    return CW_OK;
}

enum cw_status cw_chip_load(const struct cw_chip **chip, const char *data, const char *name, struct cw_arena *arena,
                            struct cw_error *err)
{
    const char *path, *spelling;
    enum cw_status status = cw_chip_file_find(&path, &spelling, data, name, arena, err);
    if (status == CW_OK)
        status = cw_chip_load_file(chip, path, arena, err);
    return status == CW_OK ? cw_chip_rename(chip, spelling, arena, err) : status;
}
