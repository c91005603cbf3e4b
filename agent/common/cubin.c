#define _GNU_SOURCE
#include "agent/common/cubin.h"

#include <elf.h>
#include <stdint.h>
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

struct cw_cubin_variables cw_cubin_variables(const void *cubin, size_t size, void (*see)(void *user, const char *name),
                                             void *user)
{
    struct cubin c = {.bytes = cubin, .size = size};
    struct search s = {.see = see, .user = user};
    Elf64_Shdr section;
    if (!read_at(&c, 0, &c.head, sizeof c.head) || memcmp(c.head.e_ident, ELFMAG, SELFMAG) != 0 ||
        c.head.e_ident[EI_CLASS] != ELFCLASS64 || c.head.e_shentsize != sizeof section)
        return s.found;
    for (uint64_t i = 0; read_section(&c, i, &section); i++)
        if (section.sh_type == SHT_SYMTAB) { /* there is only one */
            look_through(&c, &section, &s);
            break;
        }
    return s.found;
}
