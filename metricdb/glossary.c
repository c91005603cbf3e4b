#define _GNU_SOURCE
#include "metricdb/glossary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "metricdb/data.h"
#include "metricdb/formula.h"
#include "metricdb/yaml.h"

/* ---- variants of names ------------------------------------------------------------------------------------------- */

/* Describes whole metrics: the base name, then a sentence about rollup and sub-metric. */

static const char *const rollup_texts[] = {"the sum over the unit's instances", "the average of the unit's instances",
                                           "the smallest of the unit's instances",
                                           "the largest of the unit's instances"};

/* Text behind the rollup, or around it (with %). */
static const char *const sub_texts[CW_SUB__COUNT] = {
    [CW_SUB_NONE] = "%.",
    [CW_SUB_PEAK] = "The rate for each cycle that the hardware can sustain; %.",
    [CW_SUB_PEAK_ACTIVE] = "The hardware's sustained peak in the unit's active cycles; %.",
    [CW_SUB_PEAK_ACTIVE_PER_SECOND] = ("The hardware's sustained peak in the unit's active cycles, for each second of "
                                       "the range; %."),
    [CW_SUB_PEAK_ELAPSED] = "The hardware's sustained peak in all cycles of the range; %.",
    [CW_SUB_PEAK_ELAPSED_PER_SECOND] = "The hardware's sustained peak in all cycles of the range, for each second; %.",
    [CW_SUB_PEAK_FRAME] = "The hardware's sustained peak in the user's frame; %.",
    [CW_SUB_PEAK_FRAME_PER_SECOND] = "The hardware's sustained peak in the user's frame, for each second; %.",
    [CW_SUB_PEAK_REGION] = "The hardware's sustained peak in the user's region; %.",
    [CW_SUB_PEAK_REGION_PER_SECOND] = "The hardware's sustained peak in the user's region, for each second; %.",
    [CW_SUB_PER_CYCLE_ACTIVE] = "For each active cycle of the unit; %.",
    [CW_SUB_PER_CYCLE_ELAPSED] = "For each cycle of the range, active or not; %.",
    [CW_SUB_PER_CYCLE_IN_FRAME] = "For each cycle of the user's frame; %.",
    [CW_SUB_PER_CYCLE_IN_REGION] = "For each cycle of the user's region; %.",
    [CW_SUB_PER_SECOND] = "For each second of the range; %.",
    [CW_SUB_PCT_ACTIVE] = "In percent of the hardware's sustained peak in the unit's active cycles; %.",
    [CW_SUB_PCT_ELAPSED] = "In percent of the hardware's sustained peak in all cycles of the range; %.",
    [CW_SUB_PCT_FRAME] = "In percent of the hardware's sustained peak in the user's frame; %.",
    [CW_SUB_PCT_REGION] = "In percent of the hardware's sustained peak in the user's region; %.",
    [CW_SUB_RATIO] = "As a plain ratio of sums over all instances.",
    [CW_SUB_RATIO_PCT] = "In percent, from sums over all instances.",
    [CW_SUB_RATIO_MAX_RATE] = "The largest value that the hardware allows.",
};

const char *cw_describe_variant(const struct cw_metric *metric, char *buffer, size_t size)
{
    const char *text = sub_texts[metric->sub], *hole = strchr(text, '%');
    snprintf(buffer, size, "%.*s%s%s", hole ? (int)(hole - text) : (int)strlen(text), text,
             hole ? rollup_texts[metric->rollup] : "", hole ? hole + 1 : "");
    if (size)
        buffer[0] = (char)toupper((unsigned char)buffer[0]);
    return buffer;
}

const char *cw_describe_metric(const struct cw_glossary *g, const struct cw_chip *chip, const struct cw_metric *metric,
                               char *buffer, size_t size)
{
    char variant[256];
    if (metric->type == CW_FORMULA) {
        const struct cw_formula *f = &chip->formulas->items[metric->base];
        snprintf(buffer, size, "%s%s%s", f->description, *f->description ? " = " : "= ", f->text);
        return buffer;
    }
    if (metric->type == CW_FACT) {
        snprintf(buffer, size, "%s", cw_metric_remark(chip, CW_FACT, metric->base));
        return buffer;
    }
    cw_describe(g, chip, metric->type, metric->base, buffer, size);
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, " %s", cw_describe_variant(metric, variant, sizeof variant));
    return buffer;
}

enum cw_status cw_describe_metrics(const char *const **texts, const char *data, const struct cw_chip *chip,
                                   const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                   struct cw_error *err)
{
    const struct cw_glossary *glossary;
    *texts = NULL;
    CW_TRY(cw_glossary_load_if_there(&glossary, data, NULL, arena, err));
    if (!glossary)
        return CW_OK;
    const char **list = cw_arena_alloc(arena, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        char text[CW_DESCRIPTION_MAX];
        list[i] = cw_arena_strdup(arena, cw_describe_metric(glossary, chip, &metrics[i], text, sizeof text));
        if (!list[i])
            list = NULL;
    }
    *texts = list;
    return list ? CW_OK : cw_error_nomem(err);
}

/* Sections of the file. The sections from OPERATIONS on follow the head of the sentence in this order. */
enum part {
    UNITS,
    PREFIXES,
    LEADS,
    HEADS,
    STAGES,
    OPERATIONS,
    MEMORY,
    PIPES,
    SOURCES,
    APERTURES,
    EVICTIONS,
    OUTCOMES,
    PER,
    NOTES,
    SAID,
    READINGS,
    PART_COUNT
};
static const char *const part_names[PART_COUNT + 1] = {
    "units",     "prefixes",  "leads",    "heads", "stages", "operations", "memory",   "pipes", "sources",
    "apertures", "evictions", "outcomes", "per",   "notes",  "said",       "readings", NULL};

enum { LARGEST_FILE = 4 << 20, SCHEMA = 1, MOST_PHRASES = 32 };

struct entry {
    const char *phrase, *text;
    size_t length;
    enum part part;
    unsigned line, column;
};

struct cw_glossary {
    size_t count;
    struct entry *entries; /* sorted by name space and phrase */
};

/* ---- loading ---------------------------------------------------------------------------------------------------- */

/* Name space of a section. Units, prefixes, people's words and readings have their own: "l1tex" is a unit and a
 * stage. */
static int space(enum part part)
{
    return part == UNITS ? 0 : part == PREFIXES ? 1 : part == SAID ? 3 : part == READINGS ? 4 : 2;
}

static int by_phrase(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (space(x->part) != space(y->part))
        return space(x->part) - space(y->part);
    int order = memcmp(x->phrase, y->phrase, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_phrase_and_line(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = by_phrase(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Looks a phrase up in the name space of `part`. */
static const struct entry *find(const struct cw_glossary *g, enum part part, const char *phrase, size_t length)
{
    const struct entry wanted = {.phrase = phrase, .length = length, .part = part};
    return g->count ? bsearch(&wanted, g->entries, g->count, sizeof wanted, by_phrase) : NULL;
}

static void load_part(struct cw_glossary *g, struct cw_yaml_reader *in, const struct cw_yaml *node, enum part part)
{
    for (size_t i = 0; node && i < node->count && in->status == CW_OK; i++) {
        const struct cw_yaml_key *key = &node->keys[i];
        g->entries[g->count++] = (struct entry){.phrase = key->text,
                                                .length = strlen(key->text),
                                                .text = cw_yaml_text(in, &node->items[i]),
                                                .part = part,
                                                .line = key->line,
                                                .column = key->column};
    }
}

static void refuse_repeats(const struct cw_glossary *g, struct cw_yaml_reader *in)
{
    for (size_t i = 1; i < g->count && in->status == CW_OK; i++) {
        const struct entry *a = &g->entries[i - 1], *b = &g->entries[i];
        if (by_phrase(a, b) == 0)
            cw_yaml_fail(in, &(struct cw_yaml){.line = b->line, .column = b->column},
                         "found '%s' a second time, first on line %u", b->phrase, a->line);
    }
}

static void load_parts(struct cw_glossary *g, struct cw_yaml_reader *in, const struct cw_yaml *root)
{
    const struct cw_yaml *parts[PART_COUNT];
    size_t total = 0;
    for (int p = 0; p < PART_COUNT; p++) {
        parts[p] = cw_yaml_get(in, root, part_names[p], false);
        if (parts[p] && parts[p]->kind == CW_YAML_SCALAR && !*parts[p]->text) /* "per:" without a value */
            parts[p] = NULL;
        if (parts[p] && cw_yaml_expect(in, parts[p], CW_YAML_MAPPING, part_names[p]))
            total += parts[p]->count;
    }
    g->entries = cw_yaml_array(in, total, sizeof *g->entries);
    if (!g->entries)
        return;
    for (int p = 0; p < PART_COUNT; p++)
        load_part(g, in, parts[p], (enum part)p);
    if (g->count)
        qsort(g->entries, g->count, sizeof *g->entries, by_phrase_and_line);
    refuse_repeats(g, in);
}

enum cw_status cw_glossary_parse(const struct cw_glossary **out, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err)
{
    const char *keys[PART_COUNT + 2] = {"schema"};
    memcpy(keys + 1, part_names, sizeof part_names);
    struct cw_glossary *g = cw_arena_alloc(arena, 1, sizeof *g);
    if (!g)
        return cw_error_nomem(err);
    struct cw_yaml *root;
    enum cw_status status = cw_yaml_parse(&root, data, size, path, arena, err);
    if (status != CW_OK)
        return status;
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    cw_yaml_schema(&in, root, SCHEMA);
    if (in.status == CW_OK)
        cw_yaml_only(&in, root, keys);
    load_parts(g, &in, root);
    *out = g;
    return in.status;
}

/* Keeps the entries ("  phrase: text" on a line of its own) whose phrase occurs in `name`. Replaces the others by empty
 * lines, so that line numbers stay. Returns the new size. */
static size_t keep_about(char *text, size_t size, const char *name)
{
    size_t kept = 0, name_length = strlen(name);
    for (size_t at = 0, next; at < size; at = next) {
        const char *end = memchr(text + at, '\n', size - at);
        next = end ? (size_t)(end - text) + 1 : size;
        size_t key = at + 2, length = 0;
        while (key + length < next && (isalnum((unsigned char)text[key + length]) || text[key + length] == '_'))
            length++;
        bool entry = next - at > 2 && memcmp(text + at, "  ", 2) == 0 && length && next - key - length > 2 &&
                     memcmp(text + key + length, ": ", 2) == 0;
        bool goes_on = size - next > 2 && memcmp(text + next, "   ", 3) == 0;
        if (entry && !goes_on && !memmem(name, name_length, text + key, length)) {
            text[kept++] = '\n';
            continue;
        }
        memmove(text + kept, text + at, next - at);
        kept += next - at;
    }
    return kept;
}

enum cw_status cw_glossary_load_about(const struct cw_glossary **glossary, const char *data, const char *name,
                                      struct cw_arena *arena, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file;
    enum cw_status status = cw_data_path(path, data, "glossary", err);
    if (status == CW_OK)
        status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status != CW_OK)
        return status;
    if (name)
        file.size = keep_about((char *)file.data, file.size, name);
    status = cw_glossary_parse(glossary, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_glossary_load_if_there(const struct cw_glossary **glossary, const char *data, const char *name,
                                         struct cw_arena *arena, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    *glossary = NULL;
    if (cw_data_path(path, data, "glossary", NULL) != CW_OK)
        return CW_OK;
    if (cw_data_lacks(path))
        return CW_OK;
    const enum cw_status status = cw_glossary_load_about(glossary, data, name, arena, err);
    if (status != CW_OK)
        *glossary = NULL;
    return status;
}

enum cw_status cw_glossary_load(const struct cw_glossary **glossary, struct cw_arena *arena, struct cw_error *err)
{
    return cw_glossary_load_about(glossary, NULL, NULL, arena, err);
}

/* ---- from names to phrases -------------------------------------------------------------------------------------- */

struct piece { /* a piece of a name; `entry` is NULL if the glossary lacks it */
    const struct entry *entry;
    const char *text;
    size_t length;
};

struct parsed {
    struct piece prefixes[4], unit, phrases[MOST_PHRASES];
    size_t prefix_count, phrase_count;
};

static const char *text_of(const struct cw_glossary *g, enum part part, const char *phrase)
{
    const struct entry *entry = find(g, part, phrase, strlen(phrase));
    return entry ? entry->text : NULL;
}

const char *cw_glossary_reading(const struct cw_glossary *g, const char *base)
{
    return text_of(g, READINGS, base);
}

const char *cw_glossary_unit(const struct cw_glossary *g, const char *name)
{
    return text_of(g, UNITS, name);
}

const char *cw_glossary_said(const struct cw_glossary *g, const char *word)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct entry *e = &g->entries[i];
        if (e->part == SAID &&
            cw_word_alike((struct cw_word){e->phrase, e->length}, (struct cw_word){word, strlen(word)}))
            return e->text;
    }
    return NULL;
}

static struct piece look_up(const struct cw_glossary *g, enum part part, const char *text, size_t length)
{
    return (struct piece){find(g, part, text, length), text, length};
}

/* Finds the longest phrase at `text`, else takes its first word. */
static struct piece next_phrase(const struct cw_glossary *g, const char *text)
{
    size_t length = strlen(text), word = strcspn(text, "_");
    for (size_t end = length; end > 0; end--)
        if (end == length || text[end] == '_') {
            struct piece piece = look_up(g, LEADS, text, end);
            if (piece.entry)
                return piece;
        }
    return (struct piece){NULL, text, word ? word : 1};
}

/* Parses a name. False without "__", or with more parts than any metric name has. */
static bool parse(struct parsed *out, const struct cw_glossary *g, const char *name)
{
    *out = (struct parsed){0};
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        if (out->prefix_count == sizeof out->prefixes / sizeof *out->prefixes)
            return false;
        out->prefixes[out->prefix_count++] = look_up(g, PREFIXES, name, (size_t)(dot - name));
    }
    const char *gap = strstr(name, "__");
    if (!gap || gap == name || !gap[2])
        return false;
    out->unit = look_up(g, UNITS, name, (size_t)(gap - name));
    for (const char *at = gap + 2; *at;) {
        if (out->phrase_count == MOST_PHRASES)
            return false;
        struct piece piece = next_phrase(g, at);
        out->phrases[out->phrase_count++] = piece;
        at += piece.length;
        at += *at == '_';
    }
    return true;
}

static bool known(const struct piece *piece, char *unknown)
{
    if (!piece->entry)
        snprintf(unknown, CW_METRIC_NAME_MAX, "%.*s", (int)piece->length, piece->text);
    return piece->entry;
}

bool cw_glossary_covers(const struct cw_glossary *g, const char *name, char *unknown)
{
    struct parsed parts;
    if (!parse(&parts, g, name)) {
        snprintf(unknown, CW_METRIC_NAME_MAX, "%s", name);
        return false;
    }
    for (size_t i = 0; i < parts.prefix_count; i++)
        if (!known(&parts.prefixes[i], unknown))
            return false;
    if (!known(&parts.unit, unknown))
        return false;
    for (size_t i = 0; i < parts.phrase_count; i++)
        if (!known(&parts.phrases[i], unknown))
            return false;
    return true;
}

/* ---- from phrases to sentences ---------------------------------------------------------------------------------- */

struct out {
    char *text;
    size_t size, used;
};

static void put_n(struct out *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length && out->used + 1 < out->size; i++)
        out->text[out->used++] = text[i];
    if (out->size)
        out->text[out->used] = 0;
}

static void put(struct out *out, const char *text)
{
    put_n(out, text, strlen(text));
}

/* Writes a text with the unit in place of "{unit}". */
static void put_filled(struct out *out, const char *text, const char *unit)
{
    static const char hole[] = "{unit}";
    for (const char *at; (at = strstr(text, hole)); text = at + sizeof hole - 1) {
        put_n(out, text, (size_t)(at - text));
        put(out, unit);
    }
    put(out, text);
}

static bool is_part(const struct parsed *parts, size_t i, enum part part)
{
    return parts->phrases[i].entry && parts->phrases[i].entry->part == part;
}

/* Whether a pipe is itself the unit, because its name stands before the counted thing: pipe_fma_cycles_active. */
static bool is_subunit(const struct parsed *parts, size_t i)
{
    bool head_after = false;
    for (size_t k = i + 1; k < parts->phrase_count && !head_after; k++)
        head_after = is_part(parts, k, HEADS);
    return head_after && is_part(parts, i, PIPES) && strncmp(parts->phrases[i].entry->text, "in ", 3) == 0;
}

/* Writes the unit: "the L1/texture cache of the SM". Stages stand before the unit in the order of the name. */
static void name_unit(struct out *out, const struct parsed *parts)
{
    for (size_t i = 0; i < parts->phrase_count; i++)
        if (is_part(parts, i, STAGES)) {
            put(out, parts->phrases[i].entry->text);
            put(out, " ");
        } else if (is_subunit(parts, i)) {
            put(out, parts->phrases[i].entry->text + 3);
            put(out, " of ");
        }
    if (parts->unit.entry)
        put(out, parts->unit.entry->text);
    else
        put_n(out, parts->unit.text, parts->unit.length);
}

/* Text of the last phrase of a part, or of the first. Last, because "average ... hit_rate" is a hit rate. */
static const char *text_in(const struct parsed *parts, enum part part, bool last)
{
    const char *text = NULL;
    for (size_t i = 0; i < parts->phrase_count && (last || !text); i++)
        if (is_part(parts, i, part))
            text = parts->phrases[i].entry->text;
    return text;
}

static bool ends_with(const struct out *out, const char *end)
{
    size_t length = strlen(end);
    return out->used >= length && memcmp(out->text + out->used - length, end, length) == 0;
}

static void put_head(struct out *out, const struct parsed *parts, enum cw_metric_type type, const char *unit)
{
    const char *lead = text_in(parts, LEADS, true), *head = text_in(parts, HEADS, false);
    if (!lead)
        lead = type == CW_RATIO ? "Average number of" : "Number of";
    put_filled(out, lead, unit);
    if (!head && strstr(lead, "{unit}"))
        return;
    put(out, " ");
    put_filled(out, head ? head : "{unit}", unit);
}

/* Writes operation and memory one after the other: "for loads in global memory". */
static void put_qualifiers(struct out *out, const struct parsed *parts)
{
    size_t start = out->used;
    for (int part = OPERATIONS; part < NOTES; part++) {
        bool operation_before = part == MEMORY && text_in(parts, OPERATIONS, true);
        for (size_t i = 0; i < parts->phrase_count; i++) {
            const struct entry *e = parts->phrases[i].entry;
            if (!e || (int)e->part != part || is_subunit(parts, i))
                continue;
            bool close = operation_before || (out->used == start && (part == PER || ends_with(out, " those")));
            put(out, close ? " " : ", ");
            put(out, e->text);
        }
    }
    for (size_t i = 0; i < parts->phrase_count; i++)
        if (!parts->phrases[i].entry) {
            put(out, ", \"");
            put_n(out, parts->phrases[i].text, parts->phrases[i].length);
            put(out, "\"");
        }
}

static void put_note(struct out *out, const char *text, size_t length, int *count)
{
    if (!length)
        return;
    put(out, (*count)++ ? ", " : " (");
    put_n(out, text, length);
}

static void put_notes(struct out *out, const struct parsed *parts)
{
    int count = 0;
    for (size_t i = 0; i < parts->phrase_count; i++) {
        const struct entry *e = parts->phrases[i].entry;
        if (is_part(parts, i, NOTES))
            put_note(out, e->text, strlen(e->text), &count);
    }
    for (size_t i = 0; i < parts->prefix_count; i++) {
        const struct piece *p = &parts->prefixes[i];
        const char *note = text_in(parts, NOTES, true); /* a name may say "variant for sampling" twice */
        if (p->entry && (!note || strcmp(p->entry->text, note) != 0))
            put_note(out, p->entry->text, strlen(p->entry->text), &count);
        else if (!p->entry)
            put_note(out, p->text, p->length, &count);
    }
    if (count)
        put(out, ")");
}

const char *cw_describe(const struct cw_glossary *g, const struct cw_chip *chip, enum cw_metric_type type,
                        uint32_t base, char *buffer, size_t size)
{
    struct out out = {buffer, size, 0};
    struct parsed parts;
    const char *name = cw_chip_base_name(chip, type, base);
    put(&out, "");
    if (!parse(&parts, g, name)) {
        put(&out, name);
        put(&out, ".");
        return buffer;
    }
    char unit[CW_METRIC_NAME_MAX];
    struct out unit_out = {unit, sizeof unit, 0};
    name_unit(&unit_out, &parts);
    put_head(&out, &parts, type, unit);
    put_qualifiers(&out, &parts);
    put_notes(&out, &parts);
    put(&out, ".");
    return buffer;
}
