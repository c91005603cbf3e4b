#include "base/shorten.h"

#include <ctype.h>
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

/* Recognizes "operator<", "operator()" and "operator->": their brackets open nothing. Returns the number of bytes to
 * skip. */
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

/* Finds the '(' of the function's own parameters: outside all brackets, behind a name, and not of an enclosing
 * function. NULL if there are none. */
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

/* Removes the parameters and the returned type, which ends at a blank. A text without parameters is no function, unless
 * its end is cut off. */
static void drop_signature(char *text, bool is_cut)
{
    char *end = find_parameters(text), *start = text;
    int depth = 0;
    if (end)
        *end = 0;
    else if (!is_cut)
        return;
    for (char *at = text; *at && (depth || !operator_at(at, text)); at++) {
        depth += opens(*at) ? 1 : closes(*at) && depth ? -1 : 0;
        if (!depth && *at == ' ' && at[1])
            start = at + 1;
    }
    memmove(text, start, strlen(start) + 1);
}

/* Removes namespaces: of each "a::b::c" the c stays. */
static void drop_namespaces(char *text)
{
    enum { DEPTH = 64 };
    char *to = text, *begins[DEPTH] = {text}; /* start of the name being copied, for each depth of brackets */
    int depth = 0;
    for (const char *at = text; *at;) {
        const size_t skip = operator_at(at, text), bytes = skip ? skip : 1;
        if (strncmp(at, "::", 2) == 0 && at[2]) {
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

/* Replaces a lambda by its enclosing function: of "f(int)::{lambda(float)#1}::operator()() const" the f stays. */
static void drop_lambdas(char *text)
{
    for (char *lambda; (lambda = strstr(text, "::{lambda"));) {
        char *from = lambda, *to = lambda;
        int depth = 0;
        while (from > text && (depth || !strchr("<,", from[-1]))) { /* to the first '(' of this argument */
            from--;
            depth += closes(*from) ? 1 : opens(*from) ? -1 : 0;
            lambda = *from == '(' && !depth && from > text && from[-1] != ' ' && from[-1] != ':' ? from : lambda;
        }
        for (depth = 0; *to && (depth || !strchr(",>", *to)); to++)
            depth += opens(*to) ? 1 : closes(*to) ? -1 : 0;
        memmove(lambda, to, strlen(to) + 1);
    }
}

static bool is_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* Finds the identifier among the template arguments that tells kernels of one name apart: the operation on each
 * element, called a functor or an operation, or the kernel that a lambda stood in. NULL: none. */
static const char *find_subject(const char *arguments, size_t *length)
{
    static const char *const parts[] = {"unctor", "ernel", "Op"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *at = strstr(arguments, parts[i]);
        if (!at)
            continue;
        *length = strlen(parts[i]);
        for (; at > arguments && is_word(at[-1]); at--)
            ++*length;
        while (is_word(at[*length]))
            ++*length;
        return at;
    }
    return NULL;
}

static void cut_middle(char *text, size_t width)
{
    char tail[CW_SHORT_SIZE];
    if (cw_text_columns(text) <= width)
        return;
    const size_t behind = width < 2 ? 0 : (width - 2) / 2, before = width < 2 ? 0 : width - 2 - behind;
    strcpy(tail, text + cw_text_tail(text, behind));
    strcpy(text + cw_text_head(text, before), width < 2 ? "." : "..");
    strcat(text, tail);
}

static void cut_end(char *text, size_t width)
{
    if (cw_text_columns(text) > width)
        strcpy(text + cw_text_head(text, width - 2), "..");
}

/* Removes the content of brackets, up to the closing bracket of the enclosing pair. */
static void drop_nested(char *text)
{
    char *to = text;
    int depth = 0;
    for (const char *at = text; *at && (depth || !closes(*at)); at++) {
        depth += opens(*at) ? 1 : 0;
        if (!depth)
            *to++ = *at;
        depth -= closes(*at) ? 1 : 0;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
}

/* "name<..Subject..>": the subject takes up to half of the width if name and subject are both too long. */
static void cut_around(char *text, size_t width, const char *subject, size_t length)
{
    char name[CW_SHORT_SIZE], behind[CW_SHORT_SIZE];
    const size_t own = strcspn(text, "<"), room = width - 2;
    memcpy(name, text, own);
    name[own] = 0;
    strcpy(behind, subject);
    drop_nested(behind);
    const size_t columns = cw_text_columns(name), wanted = length + 4, half = room / 2;
    const bool first = subject == text + own + 1;
    const size_t least = wanted < half ? wanted : half;
    if (columns + least > room)
        cut_end(name, room - least);
    const size_t left = room - cw_text_columns(name), marked = !first && left >= wanted ? 2 : 0;
    cut_end(behind, left - marked);
    strcpy(text, name);
    strcat(text, marked ? "<.." : "<");
    strcat(text, behind);
    strcat(text, ">");
}

/* Cuts the text to the width: within the template arguments, or else in the middle of the name. */
static void cut(char *text, size_t width)
{
    enum { WITH_SUBJECT = 20 };
    const size_t name = strcspn(text, "<");
    const size_t own = cw_text_columns(text) - cw_text_columns(text + name);
    size_t length;
    const char *subject = name && text[name] && width >= WITH_SUBJECT ? find_subject(text + name + 1, &length) : NULL;
    if (subject && own + 1 + (size_t)(subject - text - name) + length + 3 > width) {
        cut_around(text, width, subject, length);
    } else if (text[name] && own + 4 <= width) {
        strcpy(text + cw_text_head(text, width - 3), "..>");
    } else {
        if (name)
            text[name] = 0;
        cut_middle(text, width);
    }
}

const char *cw_shorten(const char *name, size_t width, char text[CW_SHORT_SIZE])
{
    enum { ROOM = CW_SHORT_SIZE - 8, LONGEST = 16 }; /* bytes of the longest escape of a character */
    const size_t used = cw_text_format(text, ROOM, "%s", name);
    if (!width || cw_text_columns(text) <= width)
        return text;
    drop_signature(text, used + LONGEST > ROOM);
    if (cw_text_columns(text) > width)
        drop_lambdas(text);
    if (cw_text_columns(text) > width)
        drop_namespaces(text);
    if (cw_text_columns(text) > width)
        cut(text, width);
    return text;
}

/* ---- families --------------------------------------------------------------------------------------------------- */

/* Finds the start of a function's template arguments, or the end of its name. */
static char *find_arguments(char *text)
{
    char *at = text;
    while (*at && *at != '<') {
        const size_t skip = operator_at(at, text);
        at += skip ? skip : 1;
    }
    return at;
}

/* Replaces a wrapper by its first template argument if that is a class (with capital letters or '_'): it alone says
 * which code runs. */
static void open_wrapper(char *text)
{
    static const char *const wrappers[] = {"Kernel", "Kernel2", "device_kernel", "_kernel_agent"};
    const char *const arguments = find_arguments(text);
    const size_t length = (size_t)(arguments - text);
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (*arguments != '<' || strlen(wrappers[i]) != length || strncmp(text, wrappers[i], length) != 0)
            continue;
        const char *own = arguments + 1;
        const size_t end = strcspn(own, "<>,( ");
        size_t letters = 0;
        while (letters < end && !isupper((unsigned char)own[letters]) && own[letters] != '_')
            letters++;
        if (letters < end && strncmp(own, "__", 2) != 0) {
            memmove(text, own, end);
            text[end] = 0;
        }
        return;
    }
}

/* Whether the text has a size: "tilesize64x128x32" has "64x128". */
static bool has_size(const char *text, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (text[i] == 'x' && isdigit((unsigned char)text[i - 1]) && isdigit((unsigned char)text[i + 1]))
            return true;
    return false;
}

/* Removes the parts of "a_b_64x128_c_0" from the first one with a size on, and numbers at the end. */
static void drop_sizes(char *text)
{
    size_t length = strlen(text);
    for (size_t i = 1; i < length; i++)
        if (text[i] == '_' && has_size(text + i + 1, strcspn(text + i + 1, "_")))
            length = i;
    for (size_t end = length; end > 1;) {
        while (end > 1 && isdigit((unsigned char)text[end - 1]))
            end--;
        if (end == length || end < 2 || text[end - 1] != '_')
            break;
        length = --end;
    }
    text[length] = 0;
}

const char *cw_shorten_to_family(const char *name, char text[CW_SHORT_SIZE])
{
    const size_t length = strlen(name), most = CW_SHORT_SIZE - 1;
    memcpy(text, name, length < most ? length : most);
    text[length < most ? length : most] = 0;
    drop_signature(text, length > most);
    drop_lambdas(text);
    drop_namespaces(text);
    open_wrapper(text);
    char *end = find_arguments(text);
    while (end > text && end[-1] == ' ')
        end--;
    *end = 0;
    drop_sizes(text);
    return *text ? text : strcpy(text, *name ? "?" : CW_TEXT_NO_NAME);
}

/* Length of "(unsigned int)" before a number, else 0. */
static size_t cast_length(const char *text)
{
    const size_t length = *text == '(' ? 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz ") : 0;
    const bool number =
        length > 1 && text[length] == ')' && (isdigit((unsigned char)text[length + 1]) || text[length + 1] == '-');
    return number ? length + 1 : 0;
}

const char *cw_shorten_to_spelling(const char *name, char text[CW_SHORT_SIZE])
{
    const size_t length = strlen(name), most = CW_SHORT_SIZE - 1;
    memcpy(text, name, length < most ? length : most);
    text[length < most ? length : most] = 0;
    drop_signature(text, length > most);
    char *to = text;
    for (const char *from = text; *from; from++) {
        from += cast_length(from);
        if (*from != ' ')
            *to++ = *from;
    }
    *to = 0;
    return text;
}
