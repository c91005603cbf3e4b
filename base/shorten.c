#include "base/shorten.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '{' || c == '[';
}

static bool closes(char c)
{
    return c == '>' || c == ')' || c == '}' || c == ']';
}

/* "operator<", "operator()" and "operator->" are names, in which nothing opens. Returns how many bytes to skip. */
static size_t operator_at(const char *text, const char *start)
{
    static const char word[] = "operator";
    const bool begins =
        text == start || !strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", text[-1]);
    if (!begins || strncmp(text, word, sizeof word - 1) != 0)
        return 0;
    const char *sign = text + sizeof word - 1;
    const size_t signs = strncmp(sign, "()", 2) == 0 ? 2 : strspn(sign, "<>-=!+*/&|^~%,[]");
    return sizeof word - 1 + signs;
}

/* Where the parameters begin: a '(' that stands in nothing else, behind a name, and not those of a function around this
 * one. NULL where there are none. */
static char *find_parameters(char *text)
{
    char *found = NULL;
    int depth = 0;
    for (char *at = text; *at; at++) {
        const size_t skip = operator_at(at, text);
        if (skip) {
            at += skip - 1;
        } else if (opens(*at)) {
            if (*at == '(' && !depth && !found && at > text && at[-1] != ' ' && at[-1] != ':')
                found = at;
            depth++;
        } else if (closes(*at) && depth && !--depth && strncmp(at + 1, "::", 2) == 0) {
            found = NULL;
        }
    }
    return found;
}

/* Without the parameters, and without the returned type, which a blank ends. What has no parameters is no function. */
static void drop_signature(char *text)
{
    char *end = find_parameters(text), *start = text;
    int depth = 0;
    if (!end)
        return;
    *end = 0;
    for (char *at = text; *at && (depth || !operator_at(at, text)); at++) {
        depth += opens(*at) ? 1 : closes(*at) && depth ? -1 : 0;
        if (!depth && *at == ' ' && at[1])
            start = at + 1;
    }
    memmove(text, start, strlen(start) + 1);
}

/* Without namespaces: of each "a::b::c" the c stays. */
static void drop_namespaces(char *text)
{
    enum { DEPTH = 64 };
    char *to = text, *begins[DEPTH] = {text}; /* where the name that is being copied begins, in each bracket */
    int depth = 0;
    for (const char *at = text; *at;) {
        const size_t skip = operator_at(at, text), bytes = skip ? skip : 1;
        if (strncmp(at, "::", 2) == 0) {
            to = begins[depth];
            at += 2;
            continue;
        }
        memmove(to, at, bytes);
        to += bytes;
        if (!skip && opens(*at) && depth + 1 < DEPTH)
            begins[++depth] = to;
        else if (!skip && closes(*at) && depth)
            depth--;
        else if (!skip && strchr(" ,&*", *at))
            begins[depth] = to;
        at += bytes;
    }
    *to = 0;
}

/* Bytes of the first so many columns of escaped text. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t i = 0;
    for (size_t seen = 0; text[i]; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && seen++ == columns)
            break;
    return i;
}

/* Cut to the width: within the template arguments, or else in the middle of the name. */
static void cut(char *text, size_t width)
{
    char tail[CW_SHORT_SIZE];
    const size_t name = strcspn(text, "<");
    const size_t own = cw_text_columns(text) - cw_text_columns(text + name);
    if (text[name] && own + 4 <= width) {
        strcpy(text + bytes_of(text, width - 3), "..>");
        return;
    }
    if (name)
        text[name] = 0;
    const size_t all = cw_text_columns(text);
    if (all <= width)
        return;
    const size_t behind = width < 2 ? 0 : (width - 2) / 2, before = width < 2 ? 0 : width - 2 - behind;
    strcpy(tail, text + bytes_of(text, all - behind));
    strcpy(text + bytes_of(text, before), width < 2 ? "." : "..");
    strcat(text, tail);
}

const char *cw_shorten(const char *name, size_t width, char text[CW_SHORT_SIZE])
{
    cw_text_format(text, CW_SHORT_SIZE - 8, "%s", name);
    if (!width || cw_text_columns(text) <= width)
        return text;
    drop_signature(text);
    if (cw_text_columns(text) > width)
        drop_namespaces(text);
    if (cw_text_columns(text) > width)
        cut(text, width);
    return text;
}
