#include "base/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct cw_word cw_word_next(const char **text)
{
    while (**text && !isalnum((unsigned char)**text))
        ++*text;
    struct cw_word word = {*text, 0};
    while (isalnum((unsigned char)word.text[word.length]))
        word.length++;
    *text += word.length;
    return word;
}

bool cw_word_same(struct cw_word a, struct cw_word b)
{
    return a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0;
}

static bool ends_with(struct cw_word word, const char *ending)
{
    const size_t length = strlen(ending);
    return word.length > length && strncasecmp(word.text + word.length - length, ending, length) == 0;
}

static bool has_vowel(struct cw_word word)
{
    for (size_t i = 0; i < word.length; i++)
        if (strchr("aeiouyAEIOUY", word.text[i]))
            return true;
    return false;
}

/* Stems a word: removes the longest ending that leaves enough letters. "-ion" counts behind s or t alone, "-ss" and
 * "-eed" are no endings, and "hitting" loses one t as well. */
static struct cw_word stem(struct cw_word word)
{
    static const struct {
        const char *text;
        size_t least;
    } endings[] = {{"encies", 4}, {"ancies", 4}, {"ences", 4}, {"ency", 4}, {"ancy", 4}, {"ence", 4}, {"ents", 4},
                   {"ings", 3},   {"ions", 3},   {"ent", 4},   {"ing", 3},  {"ion", 3},  {"ies", 3},  {"ied", 3},
                   {"ers", 4},    {"er", 4},     {"ed", 3},    {"es", 3},   {"e", 3},    {"s", 3},    {"y", 4}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *ending = endings[i].text;
        const struct cw_word left = {word.text, word.length - strlen(ending)};
        if (!ends_with(word, ending) || left.length < endings[i].least || !has_vowel(left))
            continue;
        const char last = (char)tolower((unsigned char)left.text[left.length - 1]);
        if ((strncmp(ending, "ion", 3) == 0 && !strchr("st", last)) || (*ending == 's' && last == 's') ||
            (strcmp(ending, "ed") == 0 && last == 'e'))
            continue;
        const bool twice = tolower((unsigned char)left.text[left.length - 2]) == last;
        const bool of_verb = strcmp(ending, "ing") == 0 || strcmp(ending, "ed") == 0;
        return (struct cw_word){left.text, left.length - (of_verb && twice && !strchr("aeiouslz", last))};
    }
    return word;
}

bool cw_word_alike(struct cw_word a, struct cw_word b)
{
    const bool begin = a.length && b.length && tolower((unsigned char)*a.text) == tolower((unsigned char)*b.text);
    return begin && cw_word_same(stem(a), stem(b));
}
