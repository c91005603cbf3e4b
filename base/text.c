#define _GNU_SOURCE
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "base/utf8.h"

enum { ESCAPE_SIZE = 16, NUMBER_SIZE = 512, HELD_SIZE = 1024 };

/* Target of text: a buffer that ends in NUL, or a stream through a buffer, so that a message is a single write. */
struct sink {
    FILE *file; /* NULL: the buffer */
    char *buffer;
    size_t size, used;
    bool full;
};

static void flush(struct sink *to)
{
    fwrite_unlocked(to->buffer, 1, to->used, to->file);
    to->used = 0;
}

static void put_to_file(struct sink *to, const char *bytes, size_t n)
{
    if (n > to->size - to->used)
        flush(to);
    if (n > to->size) {
        fwrite_unlocked(bytes, 1, n, to->file);
        return;
    }
    memcpy(to->buffer + to->used, bytes, n);
    to->used += n;
}

static void put_bytes(struct sink *to, const char *bytes, size_t n)
{
    if (to->file) {
        put_to_file(to, bytes, n);
        return;
    }
    size_t room = to->full || !to->size ? 0 : to->size - 1 - to->used;
    to->full = to->full || n > room;
    n = n < room ? n : room;
    memcpy(to->buffer + to->used, bytes, n);
    to->used += n;
}

/* Puts all bytes or none; once bytes did not fit, nothing more is put. */
static void put_whole(struct sink *to, const char *bytes, size_t n)
{
    if (!to->file && to->used + n >= to->size)
        to->full = true;
    put_bytes(to, bytes, n);
}

/* ---- characters ------------------------------------------------------------------------------------------------- */

static uint32_t decode(const uint8_t *s, size_t length)
{
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

/* Control characters, and invisible ones that change the text: line separators, direction, marks. */
static bool is_unseen(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                  {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                  {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    bool found = false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !found; i++)
        found = c >= ranges[i].from && c <= ranges[i].to;
    return found;
}

/* One character, or one byte that is not part of any. */
struct character {
    size_t length; /* bytes in the text */
    uint32_t code;
    bool valid, unseen;
};

static struct character next_character(const char *text, size_t n)
{
    size_t length = cw_utf8_length(text, n);
    if (!length) /* a NUL ends no text here */
        return (struct character){1, (uint8_t)*text, !*text, true};
    uint32_t code = decode((const uint8_t *)text, length);
    return (struct character){length, code, true, is_unseen(code)};
}

/* Number of bytes that need no escape in any kind of text. */
static size_t plain_span(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

/* Puts the bytes that need no escape and reads the first character that may need one; false at the end of the text. */
static bool put_plain(struct sink *to, const char **text, size_t *n, struct character *c)
{
    size_t plain = plain_span(*text, *n);
    put_bytes(to, *text, plain);
    *text += plain;
    *n -= plain;
    if (*n)
        *c = next_character(*text, *n);
    return *n;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static size_t escape_for_line(const struct character *c, char text[ESCAPE_SIZE])
{
    static const char letters[] = "abtnvfr"; /* for codes 7 to 13 */
    const char *format = !c->valid || c->code < 0x80 ? "\\x%02" PRIx32
                         : c->code > 0xffff          ? "\\U%08" PRIx32
                                                     : "\\u%04" PRIx32;
    if (c->valid && c->code >= '\a' && c->code <= '\r')
        return (size_t)snprintf(text, ESCAPE_SIZE, "\\%c", letters[c->code - '\a']);
    return (size_t)snprintf(text, ESCAPE_SIZE, format, c->code);
}

static void put_line(struct sink *to, const char *text, size_t n)
{
    for (struct character c; put_plain(to, &text, &n, &c); text += c.length, n -= c.length) {
        char escape[ESCAPE_SIZE];
        if (c.unseen)
            put_whole(to, escape, escape_for_line(&c, escape));
        else
            put_whole(to, text, c.length);
    }
}

static locale_t letters; /* 0: the machine lacks it, and each character counts as one column */

static void find_letters(void)
{
    letters = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Columns of a character that is seen. The program's own locale may be "C", where wcwidth() knows ASCII alone. */
static size_t columns_of_letter(uint32_t code)
{
    enum { FIRST_MARK = 0x300 }; /* characters below have one column */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (code < FIRST_MARK)
        return 1;
    pthread_once(&once, find_letters);
    if (!letters)
        return 1;
    const locale_t before = uselocale(letters);
    const int columns = wcwidth((wchar_t)code);
    uselocale(before);
    return columns < 0 ? 1 : (size_t)columns;
}

static size_t columns_of_one(const struct character *c)
{
    char escape[ESCAPE_SIZE];
    return c->unseen ? escape_for_line(c, escape) : columns_of_letter(c->code);
}

static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;
    for (;;) {
        size_t plain = plain_span(text, n);
        columns += plain;
        text += plain;
        n -= plain;
        if (!n)
            return columns;
        struct character c = next_character(text, n);
        columns += columns_of_one(&c);
        text += c.length;
        n -= c.length;
    }
}

size_t cw_text_head(const char *text, size_t columns)
{
    const size_t n = strlen(text);
    size_t at = 0;
    while (at < n) {
        const struct character c = next_character(text + at, n - at);
        const size_t own = columns_of_one(&c);
        if (own > columns)
            break;
        columns -= own;
        at += c.length;
    }
    return at;
}

size_t cw_text_tail(const char *text, size_t columns)
{
    const size_t n = strlen(text);
    size_t at = 0, left = columns_of(text, n);
    while (at < n) {
        const struct character c = next_character(text + at, n - at);
        const size_t own = columns_of_one(&c);
        if (left <= columns && (own || !at))
            break;
        left -= own;
        at += c.length;
    }
    return at;
}

size_t cw_text_letter(const char *text, size_t at)
{
    const size_t n = strlen(text);
    for (; at > 0; at--) {
        const struct character c = next_character(text + at, n - at);
        if (c.valid && columns_of_one(&c))
            break;
    }
    return at;
}

bool cw_text_ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

size_t cw_text_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

/* Whether a spreadsheet would read the cell as a formula; some also accept the wide forms of the signs. */
static bool is_formula(const char *text)
{
    static const char *const begins[] = {"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"};
    bool found = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !found; i++)
        found = strncmp(text, begins[i], strlen(begins[i])) == 0;
    return found;
}

static void put_cell(struct sink *to, const char *text)
{
    bool formula = is_formula(text);
    if (!formula && !text[strcspn(text, ",;\"\r\n")]) {
        put_line(to, text, strlen(text));
        return;
    }
    put_bytes(to, formula ? "\"'" : "\"", formula ? 2 : 1);
    for (size_t n; *text; text += n) {
        n = strcspn(text, "\"");
        n += text[n] == '"';
        put_line(to, text, n);
        if (text[n - 1] == '"')
            put_bytes(to, "\"", 1);
    }
    put_bytes(to, "\"", 1);
}

/* ---- stacks and labels ------------------------------------------------------------------------------------------ */

static void put_frame(struct sink *to, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == ';')) {
        n = strcspn(text, ";");
        put_line(to, text, n);
        if (text[n] == ';')
            put_bytes(to, "\\x3b", 4);
    }
}

static void put_label(struct sink *to, const char *text)
{
    size_t n = strlen(text);
    put_bytes(to, "\"", 1);
    for (struct character c; put_plain(to, &text, &n, &c); text += c.length, n -= c.length) {
        char escape[ESCAPE_SIZE];
        if (c.unseen) {
            put_bytes(to, "\\", 1);
            put_bytes(to, escape, escape_for_line(&c, escape));
        } else {
            if (*text == '"' || *text == '\\')
                put_bytes(to, "\\", 1);
            put_bytes(to, text, c.length);
        }
    }
    put_bytes(to, "\"", 1);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static size_t escape_for_json(const struct character *c, char text[ESCAPE_SIZE])
{
    uint32_t code = c->valid ? c->code : 0xfffd;
    if (code <= 0xffff)
        return (size_t)snprintf(text, ESCAPE_SIZE, "\\u%04" PRIx32, code);
    code -= 0x10000;
    return (size_t)snprintf(text, ESCAPE_SIZE, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (code >> 10),
                            0xdc00 + (code & 0x3ff));
}

/* `made`: the text is JSON already; its quotes, backslashes and ends of lines stay. */
static void put_json(struct sink *to, const char *text, size_t n, bool made)
{
    for (struct character c; put_plain(to, &text, &n, &c); text += c.length, n -= c.length) {
        char escape[ESCAPE_SIZE];
        if (c.unseen && !(made && c.code == '\n'))
            put_bytes(to, escape, escape_for_json(&c, escape));
        else {
            if (!made && (*text == '"' || *text == '\\'))
                put_bytes(to, "\\", 1);
            put_bytes(to, text, c.length);
        }
    }
}

static void put_json_string(struct sink *to, const char *text, size_t n)
{
    put_bytes(to, "\"", 1);
    put_json(to, text, n, false);
    put_bytes(to, "\"", 1);
}

int cw_text_put_json(const char *json, size_t size, void *out)
{
    char held[HELD_SIZE];
    struct sink to = {.file = out, .buffer = held, .size = sizeof held};
    put_json(&to, json, size, true);
    flush(&to);
    return ferror(to.file) ? -1 : 0;
}

void cw_text_put(FILE *out, enum cw_text_kind kind, const char *text)
{
    char held[HELD_SIZE];
    struct sink to = {.file = out, .buffer = held, .size = sizeof held};
    switch (kind) {
    case CW_TEXT_LINE:
        put_line(&to, text, strlen(text));
        break;
    case CW_TEXT_CELL:
        put_cell(&to, text);
        break;
    case CW_TEXT_FRAME:
        put_frame(&to, text);
        break;
    case CW_TEXT_LABEL:
        put_label(&to, text);
        break;
    case CW_TEXT_JSON:
        put_json_string(&to, text, strlen(text));
        break;
    }
    flush(&to);
}

/* ---- words of commands ------------------------------------------------------------------------------------------ */

bool cw_text_is_plain_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    return *word && !word[strspn(word, plain)];
}

static bool has_unseen(const char *text)
{
    bool found = false;
    for (size_t n = strlen(text); n && !found;) {
        const struct character c = next_character(text, n);
        found = c.unseen;
        text += c.length;
        n -= c.length;
    }
    return found;
}

static void put_word(struct sink *to, const char *word)
{
    const bool escaped = has_unseen(word);
    put_bytes(to, "$'", escaped ? 2 : 0);
    put_bytes(to, "'", !escaped);
    for (size_t n = strlen(word); n;) {
        const struct character c = next_character(word, n);
        char octal[ESCAPE_SIZE];
        if (c.unseen && c.valid && c.code >= '\a' && c.code <= '\r')
            put_bytes(to, octal, escape_for_line(&c, octal));
        else if (c.unseen)
            for (size_t i = 0; i < c.length; i++)
                put_bytes(to, octal, (size_t)snprintf(octal, sizeof octal, "\\%03o", (uint8_t)word[i]));
        else if (*word == '\'')
            put_bytes(to, escaped ? "\\'" : "'\\''", escaped ? 2 : 4);
        else {
            put_bytes(to, "\\", escaped && *word == '\\');
            put_bytes(to, word, c.length);
        }
        word += c.length;
        n -= c.length;
    }
    put_bytes(to, "'", 1);
}

char *cw_text_quote(const char *word)
{
    enum { MOST_OF_BYTE = 4 }; /* \ooo, and a quote outside of quotes */
    if (cw_text_is_plain_word(word))
        return strdup(word);
    const size_t size = MOST_OF_BYTE * strlen(word) + sizeof "$''";
    struct sink to = {.buffer = malloc(size), .size = size};
    if (to.buffer) {
        put_word(&to, word);
        to.buffer[to.used] = 0;
    }
    return to.buffer;
}

/* ---- paragraphs ------------------------------------------------------------------------------------------------- */

void cw_text_put_words(FILE *out, const char *text, size_t length, unsigned column, unsigned width)
{
    char held[HELD_SIZE];
    struct sink to = {.file = out, .buffer = held, .size = sizeof held};
    const char *end = text + length, *space;
    for (size_t at = column, n; text < end; text += n + (space != NULL)) {
        space = memchr(text, ' ', (size_t)(end - text));
        n = (size_t)((space ? space : end) - text);
        if (!n)
            continue;
        const size_t columns = columns_of(text, n), gap = at > column;
        const bool next = gap && width && at + gap + columns > width;
        put_bytes(&to, "\n", next);
        for (size_t i = 0; i < (next ? column : gap); i++)
            put_bytes(&to, " ", 1);
        put_line(&to, text, n);
        at = (next ? column : at + gap) + columns;
    }
    flush(&to);
}

unsigned cw_text_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

FILE *cw_text_wrap_begin(struct cw_text_wrap *wrap, FILE *out)
{
    *wrap = (struct cw_text_wrap){.out = out, .to = out, .width = cw_text_width(fileno(out))};
    FILE *held = wrap->width ? open_memstream(&wrap->text, &wrap->size) : NULL;
    wrap->to = held ? held : out;
    return wrap->to;
}

static size_t widest_word(const char *text, size_t length)
{
    size_t widest = 0;
    for (size_t i = 0, n; i < length; i += n + 1) {
        const char *end = memchr(text + i, ' ', length - i);
        n = end ? (size_t)(end - (text + i)) : length - i;
        widest = columns_of(text + i, n) > widest ? columns_of(text + i, n) : widest;
    }
    return widest;
}

/* The column where further parts of a long line begin. */
static unsigned hang_of(const char *line, size_t length, unsigned width)
{
    enum { DEEPER = 4 };
    size_t lead = 0, part = 0;
    while (lead < length && line[lead] == ' ')
        lead++;
    for (size_t i = lead + 2; i < length && columns_of(line, i) <= width / 2; i++)
        if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
            part = i;
    const size_t column = columns_of(line, part);
    return part && column + widest_word(line + part, length - part) <= width ? (unsigned)column
                                                                             : (unsigned)lead + DEEPER;
}

/* Prints a line that is too long: up to its hanging part as it stands, then word by word. */
static void put_broken(FILE *out, const char *line, size_t length, unsigned width)
{
    const unsigned hang = hang_of(line, length, width);
    unsigned at = 0;
    for (size_t i = 0, n; i < length; i += n) {
        size_t blanks = 0;
        while (i + blanks < length && line[i + blanks] == ' ')
            blanks++;
        const char *word = line + i + blanks, *end = memchr(word, ' ', length - i - blanks);
        n = end ? (size_t)(end - (line + i)) : length - i;
        const unsigned columns = (unsigned)columns_of(word, n - blanks);
        const bool next = at > hang && at + blanks + columns > width;
        fprintf(out, "%s%*s", next ? "\n" : "", next ? (int)hang : (int)blanks, "");
        fwrite(word, 1, n - blanks, out);
        at = (next ? hang : at + (unsigned)blanks) + columns;
    }
}

void cw_text_wrap_end(struct cw_text_wrap *wrap)
{
    if (wrap->to == wrap->out)
        return;
    const bool whole = fclose(wrap->to) == 0;
    for (const char *line = wrap->text, *end; whole && *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        const size_t length = (size_t)(end - line);
        if (columns_of(line, length) > wrap->width)
            put_broken(wrap->out, line, length, wrap->width);
        else
            fwrite(line, 1, length, wrap->out);
        fputs(*end ? "\n" : "", wrap->out);
    }
    free(wrap->text);
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

struct arguments {
    va_list list;
};

/* "%-*.3lld" */
struct conversion {
    char flags[8];
    int width, precision; /* precision -1: none */
    char length, kind;    /* length 'L' for ll, 0 for none */
};

static int read_count(const char **at, struct arguments *args)
{
    int n = 0;
    if (**at == '*') {
        ++*at;
        return va_arg(args->list, int);
    }
    while (**at >= '0' && **at <= '9')
        n = 10 * n + *(*at)++ - '0';
    return n;
}

static struct conversion read_conversion(const char **at, struct arguments *args)
{
    struct conversion c = {.precision = -1};
    size_t flags = strspn(*at, "-+ #0");
    assert(flags + 1 < sizeof c.flags);
    memcpy(c.flags, *at, flags);
    *at += flags;
    c.width = read_count(at, args);
    if (c.width < 0) {
        c.flags[flags] = '-';
        c.width = -c.width;
    }
    if (**at == '.') {
        ++*at;
        c.precision = read_count(at, args);
    }
    if (**at && strchr("lzjt", **at)) {
        c.length = (*at)[0] == 'l' && (*at)[1] == 'l' ? 'L' : **at;
        *at += c.length == 'L' ? 2 : 1;
    }
    c.kind = *(*at)++;
    return c;
}

static intmax_t next_signed(const struct conversion *c, struct arguments *args)
{
    switch (c->length) {
    case 'l':
        return va_arg(args->list, long);
    case 'L':
        return va_arg(args->list, long long);
    case 'z':
        return (intmax_t)va_arg(args->list, size_t);
    case 'j':
        return va_arg(args->list, intmax_t);
    case 't':
        return va_arg(args->list, ptrdiff_t);
    default:
        return va_arg(args->list, int);
    }
}

static uintmax_t next_unsigned(const struct conversion *c, struct arguments *args)
{
    return c->length ? (uintmax_t)next_signed(c, args) : va_arg(args->list, unsigned);
}

static void put_number(struct sink *to, const struct conversion *c, struct arguments *args)
{
    char format[24], text[NUMBER_SIZE];
    bool whole = strchr("diuoxX", c->kind), with_sign = c->kind == 'd' || c->kind == 'i';
    snprintf(format, sizeof format, "%%%s*.*%s%c", c->flags, whole ? "j" : "", c->kind);
    int n = with_sign ? snprintf(text, sizeof text, format, c->width, c->precision, next_signed(c, args))
            : whole   ? snprintf(text, sizeof text, format, c->width, c->precision, next_unsigned(c, args))
                      : snprintf(text, sizeof text, format, c->width, c->precision, va_arg(args->list, double));
    put_bytes(to, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_spaces(struct sink *to, size_t n)
{
    while (n-- > 0)
        put_bytes(to, " ", 1);
}

/* Number of bytes that a precision keeps, without an incomplete character at the end. */
static size_t cut(const char *text, int precision)
{
    if (precision < 0)
        return strlen(text);
    size_t n = strnlen(text, (size_t)precision), tail = 1;
    while (n == (size_t)precision && tail <= n && tail < 4 && ((uint8_t)text[n - tail] & 0xc0) == 0x80)
        tail++;
    uint8_t lead = tail <= n ? (uint8_t)text[n - tail] : 0;
    bool part = n == (size_t)precision && lead >= 0xc2 && lead < 0xf5 && !cw_utf8_length(text + n - tail, tail);
    return part ? n - tail : n;
}

static void put_text(struct sink *to, const struct conversion *c, const char *text)
{
    size_t n = cut(text, c->precision), columns = c->width ? columns_of(text, n) : 0, width = (size_t)c->width;
    bool left = strchr(c->flags, '-');
    if (!left && columns < width)
        put_spaces(to, width - columns);
    put_line(to, text, n);
    if (left && columns < width)
        put_spaces(to, width - columns);
}

static void put_conversion(struct sink *to, const struct conversion *c, struct arguments *args)
{
    char one[2] = "";
    const char *text;
    switch (c->kind) {
    case '%':
        put_bytes(to, "%", 1);
        return;
    case 'c':
        one[0] = (char)va_arg(args->list, int);
        put_text(to, c, one);
        return;
    case 's':
        text = va_arg(args->list, const char *);
        put_text(to, c, text ? text : "(null)");
        return;
    default:
        assert(strchr("diuoxXeEfFgGaA", c->kind));
        put_number(to, c, args);
    }
}

static void put_format(struct sink *to, const char *format, struct arguments *args)
{
    while (*format) {
        size_t own = strcspn(format, "%");
        if (to->file)
            put_bytes(to, format, own);
        else
            put_line(to, format, own);
        format += own;
        if (!*format)
            return;
        format++;
        struct conversion c = read_conversion(&format, args);
        put_conversion(to, &c, args);
    }
}

size_t cw_text_json(char *buffer, size_t size, const char *text, size_t most)
{
    const size_t limit = most < size ? most : size;
    struct sink to = {.buffer = buffer, .size = size};
    if (strnlen(text, limit) == size)
        return 0;
    put_json_string(&to, text, cut(text, (int)limit));
    return to.full ? 0 : to.used;
}

void cw_text_print(FILE *out, const char *format, ...)
{
    char held[HELD_SIZE];
    struct sink to = {.file = out, .buffer = held, .size = sizeof held};
    struct arguments args;
    va_start(args.list, format);
    put_format(&to, format, &args);
    va_end(args.list);
    flush(&to);
}

size_t cw_text_vformat(char *buffer, size_t size, const char *format, va_list list)
{
    struct sink to = {.buffer = buffer, .size = size};
    struct arguments args;
    va_copy(args.list, list);
    put_format(&to, format, &args);
    va_end(args.list);
    if (size)
        buffer[to.used] = 0;
    return to.used;
}

size_t cw_text_format(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t used = cw_text_vformat(buffer, size, format, args);
    va_end(args);
    return used;
}
