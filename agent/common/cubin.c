#define _GNU_SOURCE
#include "agent/common/cubin.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANAGED = 4, /* in a symbol's `st_other`, as of nvcc 13.0 */
    LONGEST = 4096
};

struct cubin {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr head;
};

static bool read_at(const struct cubin *c, uint64_t at, void *to, size_t size)
{
    if (at > c->size || size > c->size - at)
        return false;
    memcpy(to, c->bytes + at, size);
    return true;
}

static bool read_section(const struct cubin *c, uint64_t index, Elf64_Shdr *section)
{
    return index < c->head.e_shnum && c->head.e_shoff <= c->size &&
           read_at(c, c->head.e_shoff + index * sizeof *section, section, sizeof *section);
}

/* A text of a string table, "" if it is not whole. */
static const char *text_at(const struct cubin *c, const Elf64_Shdr *texts, uint64_t at)
{
    if (texts->sh_offset > c->size || texts->sh_size > c->size - texts->sh_offset || at >= texts->sh_size)
        return "";
    const char *text = (const char *)c->bytes + texts->sh_offset + at;
    const uint64_t left = texts->sh_size - at;
    return memchr(text, 0, left < LONGEST ? left : LONGEST) ? text : "";
}

static bool is_of_variables(const struct cubin *c, uint64_t index)
{
    Elf64_Shdr section, names;
    if (!read_section(c, index, &section) || !read_section(c, c->head.e_shstrndx, &names))
        return false;
    const char *name = text_at(c, &names, section.sh_name);
    return strcmp(name, ".nv.global") == 0 || strcmp(name, ".nv.global.init") == 0;
}

/* Whether a variable is an empty object. Headers of Thrust, CUB, CUTLASS and libcu++ leave dozens of them in each
 * module. */
static bool is_empty_object(const char *name, uint64_t size)
{
    static const char *const libraries[] = {"4cuda3std", "4cuda3__4", "4cuda2mr", "4cuda9execution",
                                            "6thrust",   "3cub",      "4cute"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && size == 1; i++)
        if (strstr(name, libraries[i]))
            return true;
    return false;
}

/* Whether a variable is a string of the source, as of an assertion. Compilers name these, and nothing writes them. */
static bool is_string(const char *name)
{
    return strncmp(name, "__unnamed_", 10) == 0 || strncmp(name, "$str", 4) == 0;
}

/* Whether a function that is defined elsewhere only prints. */
static bool only_prints(const char *name)
{
    return strcmp(name, "vprintf") == 0 || strcmp(name, "__assertfail") == 0;
}

/* Variables found so far, and where to report their names. */
struct search {
    struct cw_cubin_variables found;
    void (*see)(void *user, const char *name);
    void *user;
};

static void look_at(const struct cubin *c, const Elf64_Shdr *texts, const Elf64_Sym *symbol, struct search *s)
{
    const char *name = text_at(c, texts, symbol->st_name);
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx == SHN_UNDEF && !only_prints(name))
        s->found.allocates = true;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size && strncmp(name, "nvshmem", 7) == 0)
        s->found.symmetric = true;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_size || !is_of_variables(c, symbol->st_shndx) ||
        is_empty_object(name, symbol->st_size) || is_string(name))
        return;
    s->found.any = true;
    s->found.managed = s->found.managed || symbol->st_other & MANAGED;
    if (s->see)
        s->see(s->user, name);
}

static void look_through(const struct cubin *c, const Elf64_Shdr *symbols, struct search *s)
{
    Elf64_Shdr texts;
    Elf64_Sym symbol;
    if (symbols->sh_entsize != sizeof symbol || !read_section(c, symbols->sh_link, &texts))
        return;
    for (uint64_t at = 0; at < symbols->sh_size; at += sizeof symbol) {
        if (symbols->sh_offset > c->size || !read_at(c, symbols->sh_offset + at, &symbol, sizeof symbol))
            return;
        look_at(c, &texts, &symbol, s);
    }
    s->found.whole = true;
}

static bool open_cubin(struct cubin *c)
{
    return read_at(c, 0, &c->head, sizeof c->head) && memcmp(c->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           c->head.e_ident[EI_CLASS] == ELFCLASS64 && c->head.e_shentsize == sizeof(Elf64_Shdr);
}

/* Finds the first section of a type and name (NULL: any); false without one. */
static bool find_section(const struct cubin *c, uint32_t type, const char *name, Elf64_Shdr *section)
{
    Elf64_Shdr names;
    if (!read_section(c, c->head.e_shstrndx, &names))
        names = (Elf64_Shdr){0};
    for (uint64_t i = 0; read_section(c, i, section); i++)
        if (name ? strcmp(text_at(c, &names, section->sh_name), name) == 0 : section->sh_type == type)
            return true;
    return false;
}

struct cw_cubin_variables cw_cubin_variables(const void *cubin, size_t size, void (*see)(void *user, const char *name),
                                             void *user)
{
    struct cubin c = {.bytes = cubin, .size = size};
    struct search s = {.see = see, .user = user};
    Elf64_Shdr symbols;
    if (open_cubin(&c) && find_section(&c, SHT_SYMTAB, NULL, &symbols)) /* there is only one */
        look_through(&c, &symbols, &s);
    return s.found;
}

/* ---- functions that launch -------------------------------------------------------------------------------------- */

/* Kinds of pairs in .nv.callgraph, each behind a pair of 0 and the kind (as of nvcc 10 to 13, by comparing modules with
 * their sources): a function and one that it calls; and a function and one whose address it takes. */
enum { CALLS = -1, TAKES_ADDRESS = -4 };

struct functions { /* of a module, by number of symbol */
    const struct cubin *module;
    Elf64_Shdr symbols, texts;
    size_t count;
    bool *launch; /* calls lead from them to a launch */
};

static const char *function_name(const struct functions *f, size_t i)
{
    Elf64_Sym symbol;
    return read_at(f->module, f->symbols.sh_offset + i * sizeof symbol, &symbol, sizeof symbol) &&
                   ELF64_ST_TYPE(symbol.st_info) == STT_FUNC
               ? text_at(f->module, &f->texts, symbol.st_name)
               : "";
}

/* The device's runtime, of which a linked module has the functions that it needs. */
static bool launches_itself(const char *name)
{
    static const char *const beginnings[] = {"__cudaCDP2Launch", "__cuda_syscall_cnpv2Launch", "cudaLaunchDevice",
                                             "cudaGraphLaunch"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Goes through the calls once; whether one was new. */
static bool spread(const struct functions *f, const Elf64_Shdr *calls)
{
    bool spreads = false;
    int32_t kind = 0;
    uint32_t pair[2];
    for (uint64_t at = 0; at < calls->sh_size && read_at(f->module, calls->sh_offset + at, pair, sizeof pair);
         at += sizeof pair)
        if (!pair[0] && pair[1] > INT32_MAX)
            kind = (int32_t)pair[1];
        else if ((kind == CALLS || kind == TAKES_ADDRESS) && pair[0] < f->count && pair[1] < f->count &&
                 f->launch[pair[1]] && !f->launch[pair[0]])
            spreads = f->launch[pair[0]] = true;
    return spreads;
}

static bool look_for_launches(struct functions *f, void (*see)(void *user, const char *name), void *user)
{
    enum { DEEPEST = 64 }; /* chain of calls that stand in a bad order */
    Elf64_Shdr calls;
    bool any = false;
    for (size_t i = 0; i < f->count; i++)
        any |= f->launch[i] = launches_itself(function_name(f, i));
    if (!any)
        return true;
    const bool known = find_section(f->module, 0, ".nv.callgraph", &calls) && calls.sh_offset <= f->module->size;
    for (int i = 0; known && i < DEEPEST && spread(f, &calls); i++)
        ;
    bool named = true;
    for (size_t i = 0; i < f->count; i++)
        if (*function_name(f, i) && (f->launch[i] || !known))
            see(user, function_name(f, i));
        else
            named &= !f->launch[i];
    return named;
}

bool cw_cubin_launchers(const void *cubin, size_t size, void (*see)(void *user, const char *name), void *user)
{
    struct cubin c = {.bytes = cubin, .size = size};
    struct functions f = {.module = &c};
    if (!open_cubin(&c))
        return true;
    if (!c.head.e_shnum) /* the number of more than 65,279 sections stands elsewhere */
        return false;
    if (!find_section(&c, SHT_SYMTAB, NULL, &f.symbols) || f.symbols.sh_entsize != sizeof(Elf64_Sym) ||
        !read_section(&c, f.symbols.sh_link, &f.texts))
        return true;
    const uint64_t held = f.symbols.sh_offset < size ? size - f.symbols.sh_offset : 0;
    f.count = (held < f.symbols.sh_size ? held : f.symbols.sh_size) / sizeof(Elf64_Sym);
    f.launch = calloc(f.count + 1, sizeof *f.launch);
    const bool good = f.launch && look_for_launches(&f, see, user);
    free(f.launch);
    return good;
}
