#include "base/apart.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LEAST_WIDTH = 16, MOST_WIDTH = 400, WORD_MOST = 12 };

struct item {
    uint64_t shown; /* a hash of how it reads */
    const char *name;
    size_t index;
};

static int by_name(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    const int order = (a->shown > b->shown) - (a->shown < b->shown);
    return order ? order : strcmp(a->name, b->name);
}

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* Where two names that read the same differ; 0: they read otherwise, or are the same. */
static size_t find_difference(const struct item *a, const struct item *b)
{
    size_t i = 0;
    if (a->shown != b->shown)
        return 0;
    while (a->name[i] && a->name[i] == b->name[i])
        i++;
    return a->name[i] || b->name[i] ? i : 0;
}

size_t *cw_find_alike(const char *const *names, size_t count, size_t width,
                      const char *(*shorten)(const char *name, size_t width, char text[CW_SHORT_SIZE]))
{
    char text[CW_SHORT_SIZE];
    struct item *items = count ? calloc(count, sizeof *items) : NULL;
    size_t *found = items ? calloc(count, sizeof *found) : NULL;
    for (size_t i = 0; found && i < count; i++)
        items[i] = (struct item){hash(shorten(names[i], width, text)), names[i], i};
    if (found)
        qsort(items, count, sizeof *items, by_name);
    for (size_t i = 1; found && i < count; i++) {
        const size_t at = find_difference(&items[i - 1], &items[i]);
        size_t *first = &found[items[i - 1].index];
        *first = at > *first ? at : *first;
        found[items[i].index] = at;
    }
    free(items);
    return found;
}

/* From the beginning of the word. */
static size_t find_word(const char *name, size_t at)
{
    for (size_t back = 0; back < WORD_MOST && at > back; back++)
        if (strchr("_<>,. (:", name[at - back - 1]))
            return at - back;
    while (at > 0 && ((unsigned char)name[at] & 0xc0) == 0x80) /* not within a character */
        at--;
    return at;
}

static size_t bytes_of(const char *text, size_t columns)
{
    const char *at = text;
    for (; *at && columns; columns--)
        for (at++; ((unsigned char)*at & 0xc0) == 0x80;)
            at++;
    return (size_t)(at - text);
}

const char *cw_show_apart(const char *name, size_t at, size_t width, char text[CW_SHORT_SIZE])
{
    char behind[CW_SHORT_SIZE];
    if (!at || width < LEAST_WIDTH || width > MOST_WIDTH)
        return text;
    const char *mark = strstr(text, "..");
    const size_t begun = mark ? cw_text_columns(text) - cw_text_columns(mark) : width;
    const size_t head = begun < 2 * width / 5 ? begun : 2 * width / 5, room = width - head - 2;
    cw_text_format(behind, sizeof behind, "%s", name + find_word(name, at));
    if (cw_text_columns(behind) > room)
        strcpy(behind + bytes_of(behind, room - 2), "..");
    strcpy(text + bytes_of(text, head), "..");
    strcat(text, behind);
    return text;
}

bool cw_is_shown_apart(const char *name, const char *shown, const char *text)
{
    char whole[CW_SHORT_SIZE], tail[CW_SHORT_SIZE];
    const char *mark = strstr(text, "..");
    if (!mark || !mark[2] || strncmp(shown, text, (size_t)(mark - text)) != 0)
        return false;
    const size_t length = (size_t)snprintf(tail, sizeof tail, "%s", mark + 2);
    cw_text_format(whole, sizeof whole, "%s", name);
    if (length >= sizeof tail)
        return false;
    if (length > 2 && strcmp(tail + length - 2, "..") == 0) { /* its end is cut off */
        tail[length - 2] = 0;
        return strstr(whole, tail) != NULL;
    }
    const size_t all = strlen(whole);
    return all > length && strcmp(whole + all - length, tail) == 0;
}
