#include "eval/sections.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "metricdb/data.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 1 << 20, SCHEMA = 1, MOST_SECTIONS = 256, MOST_PATTERNS = 1024 };

/* '*' stands for any text. If the text behind it does not match, it takes one character more. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *tried = NULL;
    while (*text)
        if (*pattern == '*') {
            star = pattern++;
            tried = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++tried;
        } else {
            return false;
        }
    return !pattern[strspn(pattern, "*")];
}

uint32_t cw_sections_find(const struct cw_sections *sections, const char *name)
{
    for (uint32_t i = 0; i < sections->count; i++)
        for (uint32_t k = 0; k < sections->items[i].pattern_count; k++)
            if (matches(sections->items[i].patterns[k], name))
                return i;
    return sections->count;
}

const char *cw_section_word(const struct cw_section *section, const char *name, double value)
{
    for (uint32_t i = 0; i < section->word_count; i++)
        for (uint32_t k = 0; strcmp(section->words[i].metric, name) == 0 && k < section->words[i].count; k++)
            if (value == k + 1)
                return section->words[i].texts[k];
    return NULL;
}

/* The texts of a sequence, at most MOST_PATTERNS. Messages call them by `what`. */
static const char *const *read_texts(struct cw_yaml_reader *in, const struct cw_yaml *node, const char *what,
                                     uint32_t *count)
{
    if (in->status != CW_OK || !cw_yaml_expect(in, node, CW_YAML_SEQUENCE, what))
        return NULL;
    if (node->count > MOST_PATTERNS) {
        cw_yaml_fail(in, node, "found %zu %s, expected at most %d", node->count, what, MOST_PATTERNS);
        return NULL;
    }
    const char **texts = cw_yaml_array(in, node->count, sizeof *texts);
    for (size_t i = 0; texts && i < node->count; i++)
        texts[(*count)++] = cw_yaml_text(in, &node->items[i]);
    return texts;
}

static void read_words(struct cw_yaml_reader *in, const struct cw_yaml *node, struct cw_section *section)
{
    if (!node || in->status != CW_OK || !cw_yaml_expect(in, node, CW_YAML_MAPPING, "words by metric"))
        return;
    struct cw_section_words *words = cw_yaml_array(in, node->count, sizeof *words);
    for (size_t i = 0; words && i < node->count; i++) {
        words[i].metric = cw_yaml_key_name(in, node, i);
        words[i].texts = read_texts(in, &node->items[i], "words", &words[i].count);
        section->word_count++;
    }
    section->words = words;
}

static void read_section(struct cw_yaml_reader *in, const struct cw_yaml *node, struct cw_section *section)
{
    static const char *const keys[] = {"title", "metrics", "shares", "words", NULL};
    cw_yaml_only(in, node, keys);
    section->title = cw_yaml_text(in, cw_yaml_get(in, node, "title", true));
    const struct cw_yaml *metrics = cw_yaml_get(in, node, "metrics", true);
    const struct cw_yaml *shares = cw_yaml_get(in, node, "shares", false);
    section->patterns = read_texts(in, metrics, "patterns of names", &section->pattern_count);
    read_words(in, cw_yaml_get(in, node, "words", false), section);
    if (in->status != CW_OK)
        return;
    const char *text = shares ? cw_yaml_text(in, shares) : "false";
    section->shares = strcmp(text, "true") == 0;
    if (!section->shares && strcmp(text, "false") != 0)
        cw_yaml_fail(in, shares, "found '%s', expected true or false", text);
    if (in->status != CW_OK || !section->shares)
        return;
    const char *star = section->pattern_count == 1 ? strchr(section->patterns[0], '*') : NULL;
    if (!star || strchr(star + 1, '*'))
        cw_yaml_fail(in, metrics, "found shares, expected one pattern with one * there");
}

enum cw_status cw_sections_parse(struct cw_sections *sections, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "sections", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    const struct cw_yaml *root = cw_yaml_load(&in, "a file of sections", keys, SCHEMA, data, size);
    const struct cw_yaml *list = root ? cw_yaml_get(&in, root, "sections", true) : NULL;
    *sections = (struct cw_sections){0};
    if (!list || !cw_yaml_expect(&in, list, CW_YAML_SEQUENCE, "sections"))
        return in.status;
    if (list->count > MOST_SECTIONS)
        return cw_yaml_fail(&in, list, "found %zu sections, expected at most %d", list->count, MOST_SECTIONS);
    struct cw_section *items = cw_yaml_array(&in, list->count, sizeof *items);
    for (size_t i = 0; items && in.status == CW_OK && i < list->count; i++)
        read_section(&in, &list->items[i], &items[i]);
    if (in.status == CW_OK)
        *sections = (struct cw_sections){(uint32_t)list->count, items};
    return in.status;
}

enum cw_status cw_sections_load(struct cw_sections *sections, const char *data, const char *name,
                                struct cw_arena *arena, struct cw_error *err)
{
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file;
    *sections = (struct cw_sections){0};
    enum cw_status status = cw_data_path(path, data, name, err);
    if (status != CW_OK || access(path, F_OK) != 0)
        return status;
    const char *source = cw_arena_strdup(arena, path);
    status = source ? cw_file_read(&file, path, LARGEST_FILE, err) : cw_error_nomem(err);
    if (status != CW_OK)
        return status;
    status = cw_sections_parse(sections, file.data, file.size, source, arena, err);
    cw_bytes_free(&file);
    return status;
}
