#define _GNU_SOURCE
#include "eval/samples/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/elide.h"
#include "eval/samples/confined.h"
#include "eval/samples/disassembly.h"
#include "eval/samples/lines.h"
#include "eval/samples/texts.h"

/* If a child ends before its work does, another takes the rest, at most so many times. */
enum { MOST_CHILDREN = 4, MEMORY_AT_LEAST = 64 << 20, MEMORY_FACTOR = 64, TIME_AT_LEAST = 500, BYTES_A_MS = 10000 };
enum { TEXT_TIME = 60000 }; /* ms for the texts of all modules: nvdisasm takes seconds for a large one */

/* Pieces of work, one after another. A child answers each; the answers before its end count. */
struct work {
    size_t count, done, bytes; /* bytes: of the input */
    uint32_t *left;            /* counts pieces that were left out */
    cw_confined_work *send;    /* all pieces from `done` on */
    bool (*take)(void *work, struct cw_reader *in,
                 struct cw_arena *arena); /* false unless the next answer is complete */
};

static enum cw_status do_confined(struct work *w, struct cw_arena *arena)
{
    const uint64_t ms = TIME_AT_LEAST + (uint64_t)w->bytes / BYTES_A_MS;
    const size_t memory = MEMORY_AT_LEAST + MEMORY_FACTOR * w->bytes;
    uint32_t time = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
    enum cw_status status = CW_OK;
    for (int i = 0; i < MOST_CHILDREN && w->done < w->count && status == CW_OK; i++) {
        struct cw_writer sent;
        struct cw_reader in;
        cw_writer_init(&sent);
        cw_confined_run(memory, &time, w->send, w, &sent);
        cw_reader_quiet(&in, sent.data, sent.size);
        while (w->done < w->count && w->take(w, &in, arena))
            w->done++;
        status = in.status == CW_ERR_NOMEM ? CW_ERR_NOMEM : sent.status;
        cw_writer_free(&sent);
        *w->left += w->done < w->count; /* the piece at which it ended */
        w->done += w->done < w->count;
    }
    *w->left += (uint32_t)(w->count - w->done);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

enum answer { AS_IT_IS, READABLE, LEFT };

struct names {
    struct work work;
    const char **mangled, **readable;
};

/* Readable names are longer than mangled ones, up to a limit. */
static bool fits(const char *readable, const char *mangled)
{
    size_t length = strlen(readable);
    return length <= 1024 || length / 16 <= strlen(mangled);
}

static void send_names(void *context, int to)
{
    const struct names *n = context;
    struct cw_writer out;
    cw_writer_init(&out);
    for (size_t i = n->work.done; i < n->work.count; i++) {
        char *text;
        enum cw_status status = cw_demangle_into(&text, n->mangled[i]);
        enum answer answer = text && fits(text, n->mangled[i]) ? READABLE
                             : text || status == CW_ERR_NOMEM  ? LEFT
                                                               : AS_IT_IS;
        cw_write_u8(&out, (uint8_t)answer);
        if (answer == READABLE)
            cw_write_string(&out, text);
        free(text);
        cw_confined_send(&out, to);
    }
    cw_writer_free(&out);
}

static bool take_name(void *work, struct cw_reader *in, struct cw_arena *arena)
{
    struct names *n = work;
    enum answer answer = (enum answer)cw_read_u8(in);
    const char *text = answer == READABLE ? cw_read_string(in, arena) : NULL;
    if (in->status != CW_OK)
        return false;
    if (text)
        n->readable[n->work.done] = text;
    *n->work.left += answer == LEFT;
    return true;
}

static int by_function(const void *left, const void *right)
{
    const struct cw_place *a = *(struct cw_place *const *)left, *b = *(struct cw_place *const *)right;
    return cw_text_compare(a->function, b->function);
}

static bool is_mangled(const char *name)
{
    return strncmp(name, "_Z", 2) == 0;
}

/* Rows repeat names: shortens each function's once. Places of a function follow one another. */
static bool elide_names(struct cw_place **places, size_t count, struct cw_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = places[i]->name;
        if (i && places[i - 1]->function == places[i]->function) {
            places[i]->name = places[i - 1]->name;
        } else if (strnlen(name, CW_ELIDED_SIZE) == CW_ELIDED_SIZE) {
            char text[CW_ELIDED_SIZE];
            places[i]->name = cw_arena_strdup(arena, cw_elide(name, text, sizeof text));
        }
        if (!places[i]->name)
            return false;
    }
    return true;
}

static enum cw_status name_places(struct cw_place **places, size_t count, struct cw_places_left *left,
                                  struct cw_arena *arena)
{
    struct names n = {.work = {.left = &left->names, .send = send_names, .take = take_name},
                      .mangled = calloc(count + 1, sizeof *n.mangled),
                      .readable = calloc(count + 1, sizeof *n.readable)};
    enum cw_status status = n.mangled && n.readable ? CW_OK : CW_ERR_NOMEM;
    if (count)
        qsort(places, count, sizeof *places, by_function);
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        const char *function = places[i]->name = places[i]->function;
        if (is_mangled(function) && (!n.work.count || n.mangled[n.work.count - 1] != function)) {
            n.readable[n.work.count] = n.mangled[n.work.count] = function;
            n.work.count++;
            n.work.bytes += strlen(function);
        }
    }
    if (status == CW_OK)
        status = do_confined(&n.work, arena);
    for (size_t i = 0, k = 0; i < count && status == CW_OK; i++) {
        while (k < n.work.count && n.mangled[k] != places[i]->function && is_mangled(places[i]->function))
            k++;
        if (is_mangled(places[i]->function))
            places[i]->name = n.readable[k];
    }
    if (status == CW_OK && !elide_names(places, count, arena))
        status = CW_ERR_NOMEM;
    free(n.mangled);
    free(n.readable);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

struct group { /* the places of a module */
    const struct cw_module *module;
    struct cw_place **places;
    size_t count;
};

struct groups {
    struct work work;
    struct group *items;
    bool ptx; /* wanted */
};

/* Sends the line of each place, 0 unknown, and the number of its file, or of its text for PTX, from 0. The first use of
 * a number sends the file's name, or the text, too. */
static void write_lines(const struct group *g, const struct cw_lines *lines, uint32_t *numbers, struct cw_writer *out)
{
    const uint32_t texts = cw_lines_text_count(lines);
    uint32_t sent = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct cw_line found = {0};
        cw_lines_find(lines, g->places[i]->function, g->places[i]->offset, &found);
        if (texts && found.line > texts)
            found.line = 0;
        cw_write_u32(out, found.line);
        if (!found.line)
            continue;
        uint32_t *number = &numbers[texts ? found.line - 1 : found.number];
        const bool is_new = !*number;
        if (is_new)
            *number = ++sent;
        cw_write_u32(out, *number - 1);
        if (is_new)
            cw_write_string(out, texts ? cw_lines_text(lines, found.line) : found.file);
    }
}

static void send_group(const struct group *g, enum cw_lines_of of, struct cw_writer *out)
{
    const struct cw_lines *lines = NULL;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? cw_lines_read(&lines, of, g->module->code, g->module->size, arena) : CW_ERR_NOMEM;
    const uint32_t texts = cw_lines_text_count(lines), files = cw_lines_file_count(lines);
    uint32_t *numbers = calloc((size_t)(texts > files ? texts : files) + 1, sizeof *numbers);
    cw_write_u8(out, status == CW_OK && numbers ? READABLE : LEFT);
    if (status == CW_OK && numbers)
        write_lines(g, lines, numbers, out);
    free(numbers);
    cw_arena_destroy(arena);
}

static void send_lines(void *context, int to)
{
    const struct groups *all = context;
    struct cw_writer out;
    cw_writer_init(&out);
    for (size_t i = all->work.done; i < all->work.count; i++) {
        const struct group *g = &all->items[i];
        send_group(g, CW_LINES_SOURCE, &out);
        if (all->ptx)
            send_group(g, CW_LINES_PTX, &out);
        cw_confined_send(&out, to);
    }
    cw_writer_free(&out);
}

/* Takes a line and its text, which is one of `texts` or the next of them. *line is 0 if there is none. */
static const char *take_line(uint32_t *line, const char **texts, uint32_t *text_count, struct cw_reader *in,
                             struct cw_arena *arena)
{
    *line = cw_read_u32(in);
    const uint32_t number = *line ? cw_read_count_up_to(in, 0, *text_count, "files") : 0;
    if (*line && in->status == CW_OK && number == *text_count)
        texts[(*text_count)++] = cw_read_string(in, arena);
    if (in->status != CW_OK)
        *line = 0;
    return *line ? texts[number] : "";
}

/* Takes the lines of a group's places. *left: the module was left out. */
static void take_lines(const struct group *g, bool ptx, bool *left, struct cw_reader *in, struct cw_arena *arena)
{
    const char **texts = calloc(g->count + 1, sizeof *texts);
    uint32_t count = 0;
    if (!texts)
        in->status = CW_ERR_NOMEM;
    const enum answer answer = (enum answer)cw_read_u8(in);
    for (size_t i = 0; i < g->count && answer == READABLE && in->status == CW_OK; i++) {
        struct cw_place *at = g->places[i];
        *(ptx ? &at->ptx : &at->file) = take_line(ptx ? &at->ptx_line : &at->line, texts, &count, in, arena);
    }
    *left = answer == LEFT;
    free(texts);
}

static bool take_group(void *work, struct cw_reader *in, struct cw_arena *arena)
{
    struct groups *all = work;
    const struct group *g = &all->items[all->work.done];
    bool left = false, left_ptx = false;
    take_lines(g, false, &left, in, arena);
    if (all->ptx)
        take_lines(g, true, &left_ptx, in, arena);
    *all->work.left += in->status == CW_OK && (left || left_ptx);
    return in->status == CW_OK;
}

static uint32_t half(uint64_t number)
{
    return (uint32_t)number;
}

static int by_module(const void *left, const void *right)
{
    const struct cw_place *a = *(struct cw_place *const *)left, *b = *(struct cw_place *const *)right;
    return (half(a->module) > half(b->module)) - (half(a->module) < half(b->module));
}

/* Among modules with the same number, the first of the file counts, which lies before the others. */
static int by_number(const void *left, const void *right)
{
    const struct cw_module *a = *(const struct cw_module *const *)left, *b = *(const struct cw_module *const *)right;
    int order = (half(a->crc) > half(b->crc)) - (half(a->crc) < half(b->crc));
    return order ? order : (a > b) - (a < b);
}

static void group_places(struct groups *all, struct cw_place **places, size_t count, const struct cw_module **modules,
                         uint32_t module_count)
{
    size_t first = 0;
    for (uint32_t m = 0; m < module_count; m++) {
        if (m && half(modules[m]->crc) == half(modules[m - 1]->crc))
            continue;
        while (first < count && half(places[first]->module) < half(modules[m]->crc))
            first++;
        size_t end = first;
        while (end < count && half(places[end]->module) == half(modules[m]->crc))
            end++;
        if (end == first)
            continue;
        all->items[all->work.count++] = (struct group){modules[m], places + first, end - first};
        all->work.bytes += modules[m]->size;
        first = end;
    }
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

int cw_place_compare(const struct cw_place *a, const struct cw_place *b)
{
    int order = cw_text_compare(a->function, b->function);
    order = order ? order : (a->module > b->module) - (a->module < b->module);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static int by_instruction(const void *left, const void *right)
{
    return cw_place_compare(*(struct cw_place *const *)left, *(struct cw_place *const *)right);
}

/* The functions of the places, which are sorted; malloc memory, NULL when out of memory. */
static const char **list_functions(const struct group *g, size_t *count)
{
    const char **list = calloc(g->count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < g->count; i++)
        if (!i || g->places[i]->function != g->places[i - 1]->function)
            list[(*count)++] = g->places[i]->function;
    return list;
}

/* Places of one instruction share its text. */
static bool take_texts(const struct group *g, const struct cw_disassembly *d, struct cw_arena *arena)
{
    for (size_t i = 0; i < g->count; i++) {
        const bool same = i && cw_place_compare(g->places[i - 1], g->places[i]) == 0;
        const char *text = same ? NULL : cw_disassembly_find(d, g->places[i]->function, g->places[i]->offset);
        g->places[i]->instruction = same ? g->places[i - 1]->instruction : cw_arena_strdup(arena, text);
        if (!g->places[i]->instruction)
            return false;
    }
    return true;
}

static enum cw_status disassemble(struct groups *all, const char *disassembler, uint32_t *left, struct cw_arena *arena)
{
    uint32_t time = TEXT_TIME;
    bool good = true;
    for (size_t i = 0; i < all->work.count && good; i++) {
        const struct group *g = &all->items[i];
        size_t count;
        qsort(g->places, g->count, sizeof *g->places, by_instruction);
        const char **functions = list_functions(g, &count);
        struct cw_disassembly *d =
            functions ? cw_disassembly_make(disassembler, g->module->code, g->module->size, functions, count, &time)
                      : NULL;
        *left += !d;
        good = !d || take_texts(g, d, arena);
        cw_disassembly_free(d);
        free(functions);
    }
    return good ? CW_OK : CW_ERR_NOMEM;
}

static enum cw_status place_modules(struct cw_place **places, size_t count, const struct cw_module *modules,
                                    uint32_t module_count, const char *disassembler, struct cw_places_left *left,
                                    struct cw_arena *arena)
{
    const struct cw_module **order = calloc((size_t)module_count + 1, sizeof *order);
    struct groups all = {.work = {.left = &left->modules, .send = send_lines, .take = take_group},
                         .items = calloc((size_t)module_count + 1, sizeof *all.items),
                         .ptx = disassembler};
    enum cw_status status = order && all.items ? CW_OK : CW_ERR_NOMEM;
    for (uint32_t m = 0; m < module_count && status == CW_OK; m++)
        order[m] = &modules[m];
    if (status == CW_OK && count && module_count) {
        qsort(order, module_count, sizeof *order, by_number);
        qsort(places, count, sizeof *places, by_module);
        group_places(&all, places, count, order, module_count);
        status = do_confined(&all.work, arena);
        if (status == CW_OK && disassembler)
            status = disassemble(&all, disassembler, &left->texts, arena);
    }
    free(order);
    free(all.items);
    return status;
}

enum cw_status cw_places_resolve(struct cw_place **places, size_t count, const struct cw_module *modules,
                                 uint32_t module_count, const char *disassembler, struct cw_places_left *left,
                                 struct cw_arena *arena, struct cw_error *err)
{
    *left = (struct cw_places_left){0};
    for (size_t i = 0; i < count; i++)
        places[i]->file = places[i]->instruction = places[i]->ptx = "";
    enum cw_status status = name_places(places, count, left, arena);
    if (status == CW_OK)
        status = place_modules(places, count, modules, module_count, disassembler, left, arena);
    return status == CW_OK ? CW_OK : cw_error_nomem(err);
}
