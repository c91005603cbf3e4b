/* Hints for metrics that a chip does not have. */
#include <string.h>

#include "base/text.h"
#include "view/metrics.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/metric.h"
#include "metricdb/term.h"

enum { MOST_ALIKE = 3, MOST_CHIPS_TOLD = 6 };

/* Returns the length of the chip's base name that the name begins with; 0 for none. */
static size_t base_length(const struct cw_chip *chip, const char *name)
{
    enum cw_metric_type type;
    uint32_t index;
    size_t end = strlen(name);
    while (end > 0 && !((!name[end] || name[end] == '.') && cw_chip_find(chip, name, end, &type, &index)))
        end--;
    return end;
}

static bool knows_base(const struct cw_chip *chip, const char *name)
{
    return base_length(chip, name) > 0;
}

static void add_chips(struct cw_error *err, const struct counterworks_chip *of, const struct cw_chip *chip,
                      const char *name, struct cw_arena *arena)
{
    const struct cw_chip_file *files;
    size_t count, told = 0, more = 0, length = strlen(err->message);
    const char *begin = length && err->message[length - 1] == '?' ? " It is a metric of " : "; it is a metric of ";
    if (cw_chip_files(&files, &count, of->folder, arena, NULL) != CW_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct cw_chip *other;
        if (strcmp(files[i].path, chip->path) == 0 || cw_chip_load_file(&other, files[i].path, arena, NULL) != CW_OK ||
            !knows_base(other, name))
            continue;
        for (uint32_t k = 0; k < files[i].name_count; k++)
            if (told < MOST_CHIPS_TOLD)
                cw_error_add(err, "%s%s", told++ ? ", " : begin, files[i].names[k]);
            else
                more++;
    }
    if (more)
        cw_error_add(err, " and %zu more", more);
}

/* Whether `a` abbreviates the word, as "exec" does "executed" and "thruput" "throughput": the same first letter, and
 * all letters in order. */
static bool abbreviates(const char *a, size_t length, const char *word, size_t of)
{
    enum { LEAST = 3 };
    size_t found = 0;
    if (length < LEAST || length >= of || a[0] != word[0])
        return false;
    for (size_t i = 0; i < of && found < length; i++)
        found += a[found] == word[i];
    return found == length;
}

/* Rates the similarity of two words: 4 equal, 3 one abbreviates the other, else 0. */
static int compare_words(const char *a, size_t n, const char *b, size_t m)
{
    return n == m && strncmp(a, b, n) == 0 ? 4 : abbreviates(a, n, b, m) || abbreviates(b, m, a, n) ? 3 : 0;
}

static int find_word(const char *word, size_t length, const char *name)
{
    int best = 0;
    for (const char *at = name; *at; at += *at == '_') {
        const size_t n = strcspn(at, "_");
        const int score = compare_words(word, length, at, n);
        best = score > best ? score : best;
        at += n;
    }
    return best;
}

/* TPC.TriageCompute.sm__cycles_active is sm__cycles_active. */
static const char *without_prefix(const char *name)
{
    const char *gap = strstr(name, "__"), *from = gap;
    while (from && from > name && from[-1] != '.')
        from--;
    return from ? from : name;
}

/* Rates the similarity of two base names: 2 points for each word in common, less 2 a word. The name of a unit may begin
 * with another's, as "dramc" with "dram", for a point. Names of other units get 0. */
static int likeness(const char *a, const char *b, bool *shares)
{
    a = without_prefix(a);
    b = without_prefix(b);
    const char *of_a = strstr(a, "__"), *of_b = strstr(b, "__");
    *shares = false;
    if (!of_a || !of_b)
        return 0;
    const size_t first = (size_t)(of_a - a), second = (size_t)(of_b - b);
    int score = 0;
    if (strncmp(a, b, first < second ? first : second) != 0)
        return 0;
    for (const char *word = of_a + 2; *word && *word != '.'; word += *word == '_') {
        const size_t length = strcspn(word, "_.");
        const int found = find_word(word, length, of_b + 2);
        *shares |= found > 0;
        score += found - 1;
        word += length;
    }
    for (const char *word = of_b + 2; *word; word += *word == '_') {
        word += strcspn(word, "_");
        score--;
    }
    return 2 * score - (first != second);
}

/* Whether a plan or a capture gives the metric. */
static bool is_given(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, uint32_t listed)
{
    const struct cw_needs needs = {.chip = chip, .listed = listed == CW_OF_BOTH ? 0 : listed};
    const struct cw_metric m = cw_metric_usual(chip, type, base);
    return cw_metric_needs(&needs, &m, NULL) == CW_OK;
}

/* Finds the most similar names. `close`: names with more in common than not; else names with a word in common. */
static size_t find_alike(const char *best[MOST_ALIKE], const struct cw_chip *chip, uint32_t listed, const char *name,
                         bool close)
{
    int scores[MOST_ALIKE];
    size_t count = 0;
    bool shares;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            const char *candidate = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            int score = likeness(name, candidate, &shares);
            if (!(close ? score > 0 : shares) || strncmp(candidate, name, strlen(candidate)) == 0 ||
                !cw_chip_lists(chip, (enum cw_metric_type)t, i, listed) ||
                (count == MOST_ALIKE && score <= scores[count - 1]) ||
                !is_given(chip, (enum cw_metric_type)t, i, listed))
                continue;
            score -= without_prefix(candidate) != candidate; /* prefers the plain name, which is better known */
            size_t at = count < MOST_ALIKE ? count++ : count - 1;
            for (; at > 0 && scores[at - 1] < score; at--) {
                scores[at] = scores[at - 1];
                best[at] = best[at - 1];
            }
            scores[at] = score;
            best[at] = candidate;
        }
    return count;
}

static void add_alike(struct cw_error *err, const struct cw_chip *chip, uint32_t listed, const char *name)
{
    const char *best[MOST_ALIKE];
    size_t count = find_alike(best, chip, listed, name, true);
    if (!count)
        count = find_alike(best, chip, listed, name, false);
    for (size_t i = 0; i < count; i++)
        cw_error_add(err, "%s%s", i ? ", " : "; the most alike here: ", best[i]);
}

void cw_view_hint(struct cw_error *err, const struct counterworks_chip *of, uint32_t listed, const char *const *names,
                  size_t count)
{
    const struct cw_chip *chip = of->chip;
    struct cw_metric m;
    size_t i = 0;
    if (err->code != CW_ERR_USAGE)
        return;
    while (i < count && (knows_base(chip, names[i]) || cw_metric_parse(&m, chip, names[i], NULL) == CW_OK))
        i++;
    if (i == count || !strstr(err->message, names[i]))
        return;
    struct cw_arena *arena = cw_arena_create();
    if (!strstr(err->message, "; did you mean "))
        add_alike(err, chip, listed, names[i]);
    if (arena)
        add_chips(err, of, chip, names[i], arena);
    cw_arena_destroy(arena);
}

static bool is_told(const char *message, const char *name, size_t length)
{
    for (; length && (message = strchr(message, *name)); message++)
        if (strncmp(message, name, length) == 0)
            return true;
    return false;
}

void cw_view_hint_listed(struct cw_error *err, const struct counterworks_chip *of, uint32_t listed,
                         const char *const *names, size_t count)
{
    size_t i = 0;
    const bool passes = count == 1 && strstr(err->message, " passes, expected at most "); /* of this metric */
    if (!passes && !strstr(err->message, ", which CUPTI ") &&
        !strstr(err->message, "the database knows no formula for "))
        return;
    while (i < count && !is_told(err->message, names[i], base_length(of->chip, names[i])))
        i++;
    if (i < count)
        add_alike(err, of->chip, listed, names[i]);
}
