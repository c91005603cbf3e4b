#include "metricdb/answers.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "metricdb/data.h"
#include "metricdb/set.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 1 << 20, SCHEMA = 1, MOST_WORDS = 32 };

struct word {
    const char *text;
    size_t length;
};

struct asking {
    struct cw_yaml_reader in;
    const struct cw_chip *chip;
    size_t count;
    struct word words[MOST_WORDS];
    bool aside[MOST_WORDS]; /* which of them need not be found */
};

/* The next word of a text, without the last letter of a plural; empty at its end. Words are letters and digits. */
static struct word next_word(const char **text)
{
    while (**text && !isalnum((unsigned char)**text))
        ++*text;
    struct word word = {*text, 0};
    while (isalnum((unsigned char)word.text[word.length]))
        word.length++;
    *text += word.length;
    bool plural =
        word.length > 3 && strchr("sS", word.text[word.length - 1]) && !strchr("sS", word.text[word.length - 2]);
    word.length -= plural;
    return word;
}

static bool same(struct word a, struct word b)
{
    return a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0;
}

/* How many of the words asked for a phrase has, all of its own among them, else 0. *whole: no other word matters; where
 * one does, only words that matter count. */
static size_t fit(const struct asking *a, const char *phrase, bool *whole)
{
    bool met[MOST_WORDS] = {false};
    size_t fitting = 0;
    for (struct word word = next_word(&phrase); word.length; word = next_word(&phrase)) {
        size_t i = 0;
        while (i < a->count && !same(word, a->words[i]))
            i++;
        if (i == a->count)
            return 0;
        fitting += !met[i];
        met[i] = true;
    }
    *whole = true;
    for (size_t i = 0; i < a->count; i++)
        *whole = *whole && (met[i] || a->aside[i]);
    for (size_t i = 0; i < a->count && !*whole; i++)
        fitting -= met[i] && a->aside[i];
    return fitting;
}

static size_t best_fit(struct asking *a, const struct cw_yaml *answer, bool *whole)
{
    const struct cw_yaml *asked = cw_yaml_get(&a->in, answer, "asked", true);
    size_t best = 0;
    *whole = false;
    if (!cw_yaml_expect(&a->in, asked, CW_YAML_SEQUENCE, "phrases"))
        return 0;
    for (size_t i = 0; i < asked->count; i++) {
        bool all = false;
        size_t fitting = fit(a, cw_yaml_text(&a->in, &asked->items[i]), &all);
        if (fitting && (all > *whole || (all == *whole && fitting > best))) {
            best = fitting;
            *whole = all;
        }
    }
    return best;
}

/* The first alternative that the chip has. */
static bool read_metric(struct asking *a, const struct cw_yaml *node, struct cw_metric *metric)
{
    bool list = node->kind == CW_YAML_SEQUENCE;
    for (size_t i = 0; i < (list ? node->count : 1); i++) {
        const char *name = cw_yaml_text(&a->in, list ? &node->items[i] : node);
        if (a->in.status == CW_OK && cw_set_usable(a->chip, name, NULL) &&
            cw_metric_parse(metric, a->chip, name, NULL) == CW_OK)
            return true;
    }
    return false;
}

static struct cw_answer read_answer(struct asking *a, const struct cw_yaml *node)
{
    struct cw_answer answer = {0};
    const struct cw_yaml *metrics = cw_yaml_get(&a->in, node, "metrics", false);
    const struct cw_yaml *sets = cw_yaml_get(&a->in, node, "sets", false);
    const struct cw_yaml *says = cw_yaml_get(&a->in, node, "says", false);
    if (metrics && cw_yaml_expect(&a->in, metrics, CW_YAML_SEQUENCE, "metrics")) {
        struct cw_metric *items = cw_yaml_array(&a->in, metrics->count, sizeof *items);
        for (size_t i = 0; items && i < metrics->count; i++)
            answer.metric_count += read_metric(a, &metrics->items[i], &items[answer.metric_count]);
        answer.metrics = items;
    }
    if (sets && cw_yaml_expect(&a->in, sets, CW_YAML_SEQUENCE, "sets")) {
        const char **names = cw_yaml_array(&a->in, sets->count, sizeof *names);
        for (size_t i = 0; names && i < sets->count; i++)
            names[answer.set_count++] = cw_yaml_text(&a->in, &sets->items[i]);
        answer.sets = names;
    }
    answer.says = says ? cw_yaml_text(&a->in, says) : NULL;
    return answer;
}

static void find_aside(struct asking *a, const struct cw_yaml *root)
{
    const struct cw_yaml *aside = cw_yaml_get(&a->in, root, "aside", true);
    if (!cw_yaml_expect(&a->in, aside, CW_YAML_SEQUENCE, "words"))
        return;
    for (size_t i = 0; i < aside->count; i++) {
        const char *text = cw_yaml_text(&a->in, &aside->items[i]);
        struct word word = next_word(&text);
        for (size_t k = 0; k < a->count; k++)
            a->aside[k] = a->aside[k] || same(word, a->words[k]);
    }
}

/* Takes those that fit most words; one that fits all that matter comes before any that does not. */
static void choose(struct asking *a, const struct cw_yaml *list, struct cw_answer *answers, size_t *found, bool *whole)
{
    size_t best = 0;
    if (!cw_yaml_expect(&a->in, list, CW_YAML_SEQUENCE, "answers"))
        return;
    for (size_t i = 0; i < list->count && a->in.status == CW_OK; i++) {
        bool all;
        size_t fitting = best_fit(a, &list->items[i], &all);
        if (!fitting || all < *whole || (all == *whole && fitting < best))
            continue;
        if (all > *whole || fitting > best)
            *found = 0;
        best = fitting;
        *whole = all;
        if (*found < CW_ANSWERS_MAX)
            answers[(*found)++] = read_answer(a, &list->items[i]);
    }
}

enum cw_status cw_answers_find(const struct cw_answer **answers, size_t *found, bool *whole, const char *asked,
                               const char *data, const struct cw_chip *chip, struct cw_arena *arena,
                               struct cw_error *err)
{
    static const char *const keys[] = {"schema", "aside", "answers", NULL};
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file = {0};
    struct cw_answer *room = cw_arena_alloc(arena, CW_ANSWERS_MAX, sizeof *room);
    *answers = room;
    *found = 0;
    *whole = false;
    enum cw_status status = room ? cw_data_path(path, data, "answers", err) : cw_error_nomem(err);
    if (status != CW_OK || access(path, F_OK) != 0)
        return status;
    status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status == CW_OK) {
        struct asking a = {.in = {.source = path, .arena = arena, .err = err, .size = file.size}, .chip = chip};
        for (struct word word = next_word(&asked); word.length && a.count < MOST_WORDS; word = next_word(&asked))
            a.words[a.count++] = word;
        const struct cw_yaml *root = cw_yaml_load(&a.in, "answers", keys, SCHEMA, file.data, file.size);
        if (root) {
            find_aside(&a, root);
            choose(&a, cw_yaml_get(&a.in, root, "answers", true), room, found, whole);
        }
        for (size_t i = 0; !*found && i < a.count && (*whole = a.aside[i]); i++)
            continue;
        status = a.in.status;
    }
    cw_bytes_free(&file);
    return status;
}
