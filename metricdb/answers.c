#include "metricdb/answers.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "metricdb/data.h"
#include "metricdb/set.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 1 << 20, SCHEMA = 1, MOST_WORDS = 32 };

struct asking {
    struct cw_yaml_reader in;
    const struct cw_chip *chip;
    size_t count;
    struct cw_word words[MOST_WORDS];
    bool aside[MOST_WORDS]; /* words that an answer need not have */
};

/* Counts the question's words that a phrase has, if all words of the phrase are among them; else 0. *whole: the
 * question has no other word that matters. If it has one, only words that matter count. */
static size_t fit(const struct asking *a, const char *phrase, bool *whole)
{
    bool met[MOST_WORDS] = {false};
    size_t fitting = 0;
    for (struct cw_word word = cw_word_next(&phrase); word.length; word = cw_word_next(&phrase)) {
        size_t i = 0;
        while (i < a->count && !cw_word_alike(word, a->words[i]))
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

/* Reads the first alternative that the chip has. */
static bool read_metric(struct asking *a, const struct cw_yaml *node, struct cw_metric *metric)
{
    bool list = node->kind == CW_YAML_SEQUENCE;
    for (size_t i = 0; i < (list ? node->count : 1); i++) {
        const char *name = cw_yaml_text(&a->in, list ? &node->items[i] : node);
        if (a->in.status == CW_OK && cw_set_usable(a->chip, CW_OF_RANGES, name, NULL) &&
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

/* Marks the words that are in a list of the file. */
static void mark(struct asking *a, const struct cw_yaml *list)
{
    if (!list || !cw_yaml_expect(&a->in, list, CW_YAML_SEQUENCE, "words"))
        return;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = cw_yaml_text(&a->in, &list->items[i]);
        const struct cw_word word = cw_word_next(&text);
        for (size_t k = 0; k < a->count; k++)
            a->aside[k] = a->aside[k] || cw_word_alike(word, a->words[k]);
    }
}

/* Chooses the answers that fit most words; an answer that fits all words that matter comes before any that does not. */
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

/* Loads the file; NULL if the folder has none, and after a failure. */
static const struct cw_yaml *load(struct asking *a, struct cw_bytes *file, const char *data)
{
    static const char *const keys[] = {"schema", "small", "aside", "answers", NULL};
    char path[CW_DATA_PATH_MAX];
    *file = (struct cw_bytes){0};
    a->in.status = cw_data_path(path, data, "answers", a->in.err);
    if (a->in.status != CW_OK || access(path, F_OK) != 0)
        return NULL;
    a->in.source = cw_arena_strdup(a->in.arena, path);
    a->in.status = a->in.source ? cw_file_read(file, path, LARGEST_FILE, a->in.err) : cw_error_nomem(a->in.err);
    a->in.size = file->size;
    return a->in.status == CW_OK ? cw_yaml_load(&a->in, "answers", keys, SCHEMA, file->data, file->size) : NULL;
}

enum cw_status cw_answers_small(bool *small, const char *const *words, size_t count, const char *data,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct asking a = {.in = {.arena = arena, .err = err}};
    struct cw_bytes file;
    while (a.count < count && a.count < MOST_WORDS) {
        a.words[a.count] = (struct cw_word){words[a.count], strlen(words[a.count])};
        a.count++;
    }
    const struct cw_yaml *root = load(&a, &file, data);
    if (root)
        mark(&a, cw_yaml_get(&a.in, root, "small", false));
    for (size_t i = 0; i < count; i++)
        small[i] = i < a.count && a.aside[i];
    cw_bytes_free(&file);
    return a.in.status;
}

enum cw_status cw_answers_find(const struct cw_answer **answers, size_t *found, bool *whole, const char *asked,
                               const char *data, const struct cw_chip *chip, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct asking a = {.in = {.arena = arena, .err = err}, .chip = chip};
    struct cw_bytes file;
    struct cw_answer *room = cw_arena_alloc(arena, CW_ANSWERS_MAX, sizeof *room);
    *answers = room;
    *found = 0;
    *whole = false;
    if (!room)
        return cw_error_nomem(err);
    for (struct cw_word word = cw_word_next(&asked); word.length && a.count < MOST_WORDS; word = cw_word_next(&asked))
        a.words[a.count++] = word;
    const struct cw_yaml *root = load(&a, &file, data);
    if (root) {
        mark(&a, cw_yaml_get(&a.in, root, "small", false));
        mark(&a, cw_yaml_get(&a.in, root, "aside", true));
        choose(&a, cw_yaml_get(&a.in, root, "answers", true), room, found, whole);
        for (size_t i = 0; !*found && i < a.count && (*whole = a.aside[i]); i++)
            continue;
    }
    cw_bytes_free(&file);
    return a.in.status;
}
