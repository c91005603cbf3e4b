#define _GNU_SOURCE
#include "base/apart.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LEAST_WIDTH = 16, MOST_WIDTH = 400, WORD_MOST = 12, SECOND = 32 };

struct item {
    uint64_t shown; /* hash of the shortened name */
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

/* Offset of the first byte that differs in two names that read the same, plus one. 0: they read differently, or are
 * equal. */
static size_t find_difference(const struct item *a, const struct item *b)
{
    size_t i = 0;
    if (a->shown != b->shown)
        return 0;
    while (a->name[i] && a->name[i] == b->name[i])
        i++;
    return a->name[i] || b->name[i] ? i + !i : 0;
}

/* Packs two places where a name differs from others; `second` is 0 where one place is enough. */
static size_t both_places(size_t first, size_t second)
{
    return first | second << SECOND;
}

/* Gives each name that reads like a neighbour the place where the two differ, beside the place that it has already.
 * Returns whether any name got one. */
static bool part_alike(struct item *items, size_t count, size_t *found)
{
    bool any = false;
    qsort(items, count, sizeof *items, by_name);
    for (size_t i = 0; i < count; i++) {
        const size_t before = i ? find_difference(&items[i - 1], &items[i]) : 0;
        const size_t behind = i + 1 < count ? find_difference(&items[i], &items[i + 1]) : 0;
        size_t *at = &found[items[i].index], place = before > behind ? before : behind;
        if (*at && place && *at != place && !(*at >> SECOND))
            place = both_places(*at, place);
        *at = place ? place : *at;
        any = any || before || behind;
    }
    return any;
}

size_t *cw_find_alike(const char *const *names, size_t count, size_t width,
                      const char *(*shorten)(const char *name, size_t width, char text[CW_SHORT_SIZE]))
{
    enum { ROUNDS = 3 }; /* a place that tells a name from one neighbour may make it read like another */
    char text[CW_SHORT_SIZE];
    struct item *items = count ? calloc(count, sizeof *items) : NULL;
    size_t *found = items ? calloc(count, sizeof *found) : NULL;
    bool any = found;
    for (int round = 0; any && round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            shorten(names[i], width, text);
            items[i] = (struct item){hash(cw_show_apart(names[i], found[i], width, text)), names[i], i};
        }
        any = part_alike(items, count, found);
    }
    free(items);
    return found;
}

/* Moves the place back to the beginning of its word, if the room still reaches the difference. */
static size_t find_word(const char *name, size_t at, size_t room)
{
    if (at == 1)
        return 0;
    const size_t most = room < WORD_MOST + 5 ? room > 5 ? room - 5 : 0 : WORD_MOST;
    for (size_t back = 0; back < most && at > back; back++)
        if (strchr("_<>,. (:", name[at - back - 1]))
            return at - back;
    return cw_text_letter(name, at);
}

/* Writes the part of the name that begins at `at`, in `room` columns. */
static void put_place(const char *name, size_t at, size_t room, char text[CW_SHORT_SIZE])
{
    char behind[CW_SHORT_SIZE];
    cw_text_format(behind, sizeof behind, "%s", name + find_word(name, at, room));
    if (cw_text_columns(behind) > room)
        strcpy(behind + cw_text_head(behind, room - 2), "..");
    const size_t used = strlen(text); /* letters with many marks may take more bytes than there are */
    cw_text_format(text + used, CW_SHORT_SIZE - used, "%s", behind);
}

const char *cw_show_apart(const char *name, size_t at, size_t width, char text[CW_SHORT_SIZE])
{
    const size_t first = at & (((size_t)1 << SECOND) - 1), second = at >> SECOND;
    if (!at || width < LEAST_WIDTH || width > MOST_WIDTH)
        return text;
    const char *mark = strstr(text, "..");
    const size_t begun = mark ? cw_text_columns(text) - cw_text_columns(mark) : width;
    const size_t most = second ? width / 5 : 2 * width / 5, head = begun < most ? begun : most, room = width - head - 2;
    const size_t kept = cw_text_head(text, head); /* marks on a letter may fill the text */
    if (kept + sizeof ".." > CW_SHORT_SIZE)
        return text;
    strcpy(text + kept, "..");
    if (!second) {
        put_place(name, first, room, text);
        return text;
    }
    put_place(name, first < second ? first : second, room / 2, text);
    put_place(name, first < second ? second : first, room - room / 2, text);
    return text;
}

/* Checks that the parts of the text between the marks stand in the name in this order, the last one at its end. */
bool cw_is_shown_apart(const char *name, const char *shown, const char *text)
{
    char whole[CW_SHORT_SIZE];
    const char *mark = strstr(text, ".."), *at = whole;
    if (!mark || !mark[2] || strncmp(shown, text, (size_t)(mark - text)) != 0)
        return false;
    cw_text_format(whole, sizeof whole, "%s", name);
    for (const char *part = mark + 2, *next; (next = strstr(part, "..")); part = mark + 2) {
        const char *found = memmem(at, strlen(at), part, (size_t)(next - part));
        if (!found)
            return false;
        at = found + (next - part);
        mark = next;
        if (!next[2]) /* the end of the text is cut off */
            return true;
    }
    const size_t length = strlen(mark + 2), left = strlen(at);
    return left >= length && strcmp(at + left - length, mark + 2) == 0;
}
