#include "eval/lines.h"

#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>
#include <gelf.h>

/* Functions of a module lie in sections of their own that all start at 0. For the line tables to tell them apart, each
 * section gets a base of its own, and the relocations of the tables are applied with it. */
enum { BASE_SHIFT = 40 };
static const uint32_t relocation_64 = 2; /* the address of a symbol, in 8 bytes */

struct function {
    const char *name;
    uint64_t address;
};

struct row {
    uint64_t address;
    const char *file;
    uint32_t line; /* 0: past the end of a sequence */
    uint32_t order;
};

struct cw_lines {
    size_t function_count, row_count;
    struct function *functions; /* sorted by name */
    struct row *rows;           /* sorted by address */
};

struct image {
    uint8_t *bytes; /* a copy, relocated */
    size_t size;
    Elf *elf;
    struct cw_arena *arena;
    struct cw_lines *lines;
};

/* ---- functions -------------------------------------------------------------------------------------------------- */

static uint64_t address_of(const GElf_Sym *symbol)
{
    return ((uint64_t)symbol->st_shndx << BASE_SHIFT) + (symbol->st_value & ((UINT64_C(1) << BASE_SHIFT) - 1));
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        const char *text = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (text && strcmp(text, name) == 0)
            return section;
    }
    return NULL;
}

static int compare_functions(const void *left, const void *right)
{
    return strcmp(((const struct function *)left)->name, ((const struct function *)right)->name);
}

static bool read_functions(struct image *m)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = find_section(m->elf, ".symtab", &header);
    Elf_Data *data = section && header.sh_entsize ? elf_getdata(section, NULL) : NULL;
    size_t count = data ? data->d_size / header.sh_entsize : 0;
    m->lines->functions = cw_arena_alloc(m->arena, count, sizeof *m->lines->functions);
    for (size_t i = 0; m->lines->functions && i < count; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *name = elf_strptr(m->elf, header.sh_link, symbol.st_name);
        name = name ? cw_arena_strdup(m->arena, name) : NULL;
        if (name)
            m->lines->functions[m->lines->function_count++] = (struct function){name, address_of(&symbol)};
    }
    if (m->lines->function_count)
        qsort(m->lines->functions, m->lines->function_count, sizeof *m->lines->functions, compare_functions);
    return m->lines->function_count > 0;
}

/* ---- relocation ------------------------------------------------------------------------------------------------- */

static void store_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Where the bytes of the line table lie in the image; false where they do not. */
static bool place_table(const struct image *m, const char *name, GElf_Shdr *header)
{
    return find_section(m->elf, name, header) && header->sh_type == SHT_PROGBITS && header->sh_offset <= m->size &&
           header->sh_size <= m->size - header->sh_offset;
}

static void relocate(struct image *m)
{
    GElf_Shdr table, header, symbol_header;
    Elf_Scn *section = find_section(m->elf, ".rela.debug_line", &header);
    Elf_Scn *symbol_section = find_section(m->elf, ".symtab", &symbol_header);
    Elf_Data *data = section && header.sh_type == SHT_RELA && header.sh_entsize ? elf_getdata(section, NULL) : NULL;
    Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
    if (!data || !symbols || !place_table(m, ".debug_line", &table))
        return;
    for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (!gelf_getrela(data, (int)i, &rela) || GELF_R_TYPE(rela.r_info) != relocation_64 || table.sh_size < 8 ||
            rela.r_offset > table.sh_size - 8 || !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        store_u64(m->bytes + table.sh_offset + rela.r_offset, address_of(&symbol) + (uint64_t)rela.r_addend);
    }
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool add_rows(struct image *m, Dwarf_Lines *lines, size_t count)
{
    struct cw_lines *out = m->lines;
    struct row *grown = realloc(out->rows, (out->row_count + count + 1) * sizeof *grown);
    if (!grown)
        return false;
    out->rows = grown;
    const char *last = NULL, *copy = NULL;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int number;
        bool end;
        const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
        if (!file || dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 ||
            dwarf_lineendsequence(line, &end) != 0)
            continue;
        if (file != last)
            copy = cw_arena_strdup(m->arena, file);
        last = file;
        if (copy)
            out->rows[out->row_count++] =
                (struct row){address, copy, end || number < 0 ? 0 : (uint32_t)number, (uint32_t)out->row_count};
    }
    return true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = (a->address > b->address) - (a->address < b->address);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* The rows, in memory of the arena. */
static bool keep_rows(struct image *m)
{
    struct row *own = cw_arena_alloc(m->arena, m->lines->row_count, sizeof *own);
    if (own && m->lines->row_count) {
        memcpy(own, m->lines->rows, m->lines->row_count * sizeof *own);
        qsort(own, m->lines->row_count, sizeof *own, compare_rows);
    }
    free(m->lines->rows);
    m->lines->rows = own;
    return own && m->lines->row_count;
}

static void read_tables(struct image *m)
{
    Dwarf *dwarf = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
    Dwarf_Off at = 0, next;
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *lines;
    size_t count, file_count;
    bool good = dwarf != NULL;
    while (good && dwarf_next_lines(dwarf, at, &next, &unit, &files, &file_count, &lines, &count) == 0 && next > at) {
        good = add_rows(m, lines, count);
        at = next;
    }
    if (dwarf)
        dwarf_end(dwarf);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool read_image(struct image *m)
{
    GElf_Ehdr header;
    m->elf = elf_memory((char *)m->bytes, m->size);
    if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &header) ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_ident[EI_CLASS] != ELFCLASS64 || !read_functions(m))
        return false;
    relocate(m);
    elf_end(m->elf); /* what it has read by now is from before the relocation */
    m->elf = elf_memory((char *)m->bytes, m->size);
    if (!m->elf)
        return false;
    read_tables(m);
    return keep_rows(m);
}

const struct cw_lines *cw_lines_read(const void *code, size_t size, struct cw_arena *arena)
{
    struct image m = {.bytes = malloc(size + 1), .size = size, .arena = arena};
    m.lines = cw_arena_alloc(arena, 1, sizeof *m.lines);
    bool good = m.bytes && m.lines && size && elf_version(EV_CURRENT) != EV_NONE;
    if (good) {
        memcpy(m.bytes, code, size);
        good = read_image(&m);
    }
    if (m.elf)
        elf_end(m.elf);
    free(m.bytes);
    return good ? m.lines : NULL;
}

bool cw_lines_find(const struct cw_lines *l, const char *function, uint64_t pc, const char **file, uint32_t *line)
{
    struct function key = {.name = function};
    const struct function *f = l ? bsearch(&key, l->functions, l->function_count, sizeof key, compare_functions) : NULL;
    if (!f || pc >> BASE_SHIFT)
        return false;
    uint64_t address = f->address + pc;
    size_t low = 0, high = l->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct row *r = low ? &l->rows[low - 1] : NULL;
    if (!r || !r->line || r->address < f->address)
        return false;
    *file = r->file;
    *line = r->line;
    return true;
}
