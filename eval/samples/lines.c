#include "eval/samples/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/bytes.h"
#include "base/search.h"

/* Each function of a module lies in a section of its own that starts at 0. To tell them apart in the line tables, each
 * section gets its own base, and the tables are relocated by it. */
enum { BASE_SHIFT = 40, LONGEST_TEXT = 1000 };
static const uint32_t relocation_64 = 2; /* the address of a symbol, in 8 bytes */

struct function {
    const char *name;
    uint64_t address;
};

struct row {
    uint64_t address;
    uint32_t file, line; /* line 0: past the end of a sequence */
    size_t order;
};

struct cw_lines {
    size_t function_count, row_count;
    uint32_t file_count;
    struct function *functions; /* sorted by name */
    struct row *rows;           /* sorted by address */
    const char **files;
    uint32_t text_count; /* of PTX */
    const char **texts;
};

struct image {
    uint8_t *bytes; /* a copy in the arena, relocated, and a NUL */
    size_t size;
    Elf *elf;
    struct cw_arena *arena;
    struct cw_lines *lines;
    size_t row_room, file_room;
    bool nomem;
};

static const char table_name[] = ".debug_line", relocation_name[] = ".rela.debug_line";

/* ---- functions -------------------------------------------------------------------------------------------------- */

static uint64_t address_of(const GElf_Sym *symbol)
{
    return ((uint64_t)symbol->st_shndx << BASE_SHIFT) + (symbol->st_value & ((UINT64_C(1) << BASE_SHIFT) - 1));
}

/* The section behind another, or the first behind NULL; NULL behind the last. A header that cannot be read is empty,
 * and its name NULL. `name` NULL: no name is read. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *before, GElf_Shdr *header, const char **name)
{
    size_t names;
    Elf_Scn *section = elf_getshdrstrndx(elf, &names) == 0 ? elf_nextscn(elf, before) : NULL;
    *header = (GElf_Shdr){0};
    const bool known = section && gelf_getshdr(section, header);
    if (name)
        *name = known ? elf_strptr(elf, names, header->sh_name) : NULL;
    return section;
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
    const char *text;
    Elf_Scn *section = NULL;
    while ((section = next_section(elf, section, header, &text)))
        if (text && strcmp(text, name) == 0)
            break;
    return section;
}

static int compare_functions(const void *left, const void *right)
{
    const char *a = ((const struct function *)left)->name, *b = ((const struct function *)right)->name;
    return a == b ? 0 : strcmp(a, b);
}

/* A text of the image, not copied, since any number of symbols may share one. NULL if it lies elsewhere. */
static const char *text_at(const struct image *m, size_t section, size_t offset)
{
    const char *text = elf_strptr(m->elf, section, offset), *bytes = (const char *)m->bytes;
    return text && text >= bytes && text < bytes + m->size ? text : NULL;
}

static bool read_functions(struct image *m)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = find_section(m->elf, ".symtab", &header);
    Elf_Data *data = section && header.sh_entsize ? elf_getdata(section, NULL) : NULL;
    size_t count = data ? data->d_size / header.sh_entsize : 0;
    m->lines->functions = cw_arena_alloc(m->arena, count, sizeof *m->lines->functions);
    m->nomem = !m->lines->functions;
    for (size_t i = 0; m->lines->functions && i < count; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *name = text_at(m, header.sh_link, symbol.st_name);
        if (name)
            m->lines->functions[m->lines->function_count++] = (struct function){name, address_of(&symbol)};
    }
    if (m->lines->function_count)
        qsort(m->lines->functions, m->lines->function_count, sizeof *m->lines->functions, compare_functions);
    return m->lines->function_count > 0;
}

/* ---- relocation ------------------------------------------------------------------------------------------------- */

static bool is_placed(const struct image *m, const GElf_Shdr *header)
{
    return header->sh_type == SHT_PROGBITS && header->sh_offset <= m->size &&
           header->sh_size <= m->size - header->sh_offset;
}

/* Where a section with bytes lies in the image; false if it does not. */
static bool place_section(const struct image *m, const char *name, GElf_Shdr *header)
{
    return find_section(m->elf, name, header) && is_placed(m, header);
}

static void relocate(struct image *m)
{
    GElf_Shdr table, header, symbol_header;
    Elf_Scn *section = find_section(m->elf, relocation_name, &header);
    Elf_Scn *symbol_section = find_section(m->elf, ".symtab", &symbol_header);
    Elf_Data *data = section && header.sh_type == SHT_RELA && header.sh_entsize ? elf_getdata(section, NULL) : NULL;
    Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
    if (!data || !symbols || !place_section(m, table_name, &table))
        return;
    for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (!gelf_getrela(data, (int)i, &rela) || GELF_R_TYPE(rela.r_info) != relocation_64 || table.sh_size < 8 ||
            rela.r_offset > table.sh_size - 8 || !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        cw_store_u64(m->bytes + table.sh_offset + rela.r_offset, address_of(&symbol) + (uint64_t)rela.r_addend);
    }
}

/* ---- PTX -------------------------------------------------------------------------------------------------------- */

/* Gives two sections each other's name, in the bytes of the image. */
static bool swap_names(struct image *m, const char *a, const char *b)
{
    GElf_Ehdr elf;
    GElf_Shdr header;
    const char *const names[] = {a, b};
    uint8_t *at[2];
    for (int i = 0; i < 2; i++) {
        Elf_Scn *section = find_section(m->elf, names[i], &header);
        const size_t index = section ? elf_ndxscn(section) : 0;
        if (!section || !gelf_getehdr(m->elf, &elf) || elf.e_shoff > m->size ||
            (m->size - elf.e_shoff) / sizeof(Elf64_Shdr) <= index)
            return false;
        at[i] = m->bytes + elf.e_shoff + index * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_name);
    }
    uint8_t first[sizeof(Elf64_Word)];
    memcpy(first, at[0], sizeof first);
    memmove(at[0], at[1], sizeof first);
    memcpy(at[1], first, sizeof first);
    return true;
}

static bool read_again(struct image *m)
{
    elf_end(m->elf); /* drops data read before a change */
    m->elf = elf_memory((char *)m->bytes, m->size);
    return m->elf;
}

/* Makes one space of several, and of tabs; PTX is ASCII. Cuts a very long line, such as a table of numbers. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from && to < text + LONGEST_TEXT; from++)
        if ((*from != ' ' && *from != '\t') || (to > text && to[-1] != ' '))
            *to++ = *from == '\t' ? ' ' : *from & 0x80 ? '?' : *from;
    *to = 0;
}

/* Where the PTX lies. Linked code (nvcc -rdc=true) has a section for each object, with a number behind the name; of
 * several, no table says which it means. */
static bool place_ptx(const struct image *m, GElf_Shdr *found)
{
    static const char name[] = ".nv_debug_ptx_txt";
    GElf_Shdr header;
    const char *text;
    size_t count = 0;
    for (Elf_Scn *section = NULL; (section = next_section(m->elf, section, &header, &text));) {
        if (!text || strncmp(text, name, sizeof name - 1) != 0 || !strchr(".", text[sizeof name - 1]))
            continue;
        *found = header;
        count++;
    }
    return count == 1 && is_placed(m, found);
}

/* Finds the lines of the PTX, each of which ends with a NUL. */
static void read_texts(struct image *m)
{
    GElf_Shdr header;
    struct cw_lines *l = m->lines;
    if (!place_ptx(m, &header) || header.sh_size >= UINT32_MAX)
        return;
    char *const text = (char *)m->bytes + header.sh_offset;
    uint32_t count = 0;
    for (size_t i = 0; i < header.sh_size; i++)
        count += !text[i];
    l->texts = cw_arena_alloc(m->arena, (size_t)count + 1, sizeof *l->texts);
    m->nomem = !l->texts;
    for (size_t i = 0; !m->nomem && l->text_count < count;) {
        char *line = text + i;
        i += strlen(line) + 1;
        squeeze(line);
        l->texts[l->text_count++] = line;
    }
}

/* Puts the table of the PTX's lines in the place of that of the source's. False if the module has none. */
static bool choose_ptx(struct image *m)
{
    if (!swap_names(m, table_name, ".nv_debug_line_sass") ||
        !swap_names(m, relocation_name, ".rela.nv_debug_line_sass") || !read_again(m))
        return false;
    read_texts(m);
    return m->lines->text_count;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Room for `more` items behind `count`; NULL when out of memory, and the list is as before. */
static void *make_room(struct image *m, void *list, size_t count, size_t more, size_t size, size_t *room)
{
    size_t wanted = count + more > 2 * *room ? count + more : 2 * *room;
    if (list && count + more <= *room)
        return list;
    void *grown = realloc(list, (wanted + 1) * size);
    m->nomem = m->nomem || !grown;
    *room = grown ? wanted : *room;
    return grown;
}

/* The number of a unit's file among all modules' files; `own` keeps it after the first use. */
static bool number_file(struct image *m, Dwarf_Files *files, size_t index, uint32_t *own)
{
    struct cw_lines *out = m->lines;
    const char *text = *own ? NULL : dwarf_filesrc(files, index, NULL, NULL);
    if (*own || !text)
        return *own;
    const char **grown = make_room(m, out->files, out->file_count, 1, sizeof *grown, &m->file_room);
    const char *copy = grown ? cw_arena_strdup(m->arena, text) : NULL;
    m->nomem = m->nomem || !copy;
    if (grown)
        out->files = grown;
    if (copy)
        out->files[out->file_count] = copy;
    *own = copy ? ++out->file_count : 0;
    return copy != NULL;
}

static void add_row(struct image *m, Dwarf_Line *line, uint32_t *numbers, size_t file_count)
{
    struct cw_lines *out = m->lines;
    Dwarf_Addr address;
    Dwarf_Files *files;
    size_t file;
    int number;
    bool end;
    if (!line || dwarf_line_file(line, &files, &file) != 0 || file >= file_count ||
        dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 ||
        dwarf_lineendsequence(line, &end) != 0 || !number_file(m, files, file, &numbers[file]))
        return;
    const size_t at = out->row_count++;
    out->rows[at] = (struct row){address, numbers[file] - 1, end || number < 0 ? 0 : (uint32_t)number, at};
}

static bool add_rows(struct image *m, Dwarf_Lines *lines, size_t count, size_t file_count)
{
    struct row *grown = make_room(m, m->lines->rows, m->lines->row_count, count, sizeof *grown, &m->row_room);
    uint32_t *numbers = calloc(file_count + 1, sizeof *numbers);
    if (grown)
        m->lines->rows = grown;
    m->nomem = m->nomem || !numbers;
    for (size_t i = 0; !m->nomem && i < count; i++)
        add_row(m, dwarf_onesrcline(lines, i), numbers, file_count);
    free(numbers);
    return !m->nomem;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = (a->address > b->address) - (a->address < b->address);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Moves a list into memory of the arena. */
static void *keep(struct image *m, void *list, size_t count, size_t size)
{
    void *own = cw_arena_alloc(m->arena, count, size);
    if (own && count)
        memcpy(own, list, count * size);
    m->nomem = m->nomem || !own;
    free(list);
    return own;
}

static void keep_rows(struct image *m)
{
    struct cw_lines *l = m->lines;
    l->files = keep(m, l->files, l->file_count, sizeof *l->files);
    l->rows = keep(m, l->rows, l->row_count, sizeof *l->rows);
    if (!m->nomem && l->row_count)
        qsort(l->rows, l->row_count, sizeof *l->rows, compare_rows);
}

/* In place of libdw's own, which prints a message and exits as usual. */
static void __attribute__((noreturn)) end_without_memory(void)
{
    _exit(CW_ERR_NOMEM);
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
    if (dwarf)
        dwarf_new_oom_handler(dwarf, end_without_memory);
    while (good && dwarf_next_lines(dwarf, at, &next, &unit, &files, &file_count, &lines, &count) == 0 && next > at) {
        good = add_rows(m, lines, count, file_count);
        at = next;
    }
    if (dwarf)
        dwarf_end(dwarf);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* No compiler of device code compresses sections, which may be of any size. */
static bool has_compressed(Elf *elf)
{
    GElf_Shdr header;
    const char *name;
    for (Elf_Scn *section = NULL; (section = next_section(elf, section, &header, NULL));)
        if (header.sh_flags & SHF_COMPRESSED) /* before reading a name, as the names may be in it */
            return true;
    for (Elf_Scn *section = NULL; (section = next_section(elf, section, &header, &name));)
        if (name && strncmp(name, ".zdebug", 7) == 0)
            return true;
    return false;
}

static enum cw_status read_image(struct image *m, enum cw_lines_of of)
{
    GElf_Ehdr header;
    m->elf = elf_memory((char *)m->bytes, m->size);
    if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &header) ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_ident[EI_CLASS] != ELFCLASS64)
        return CW_OK;
    if (has_compressed(m->elf))
        return CW_ERR_UNSUPPORTED;
    if ((of == CW_LINES_PTX && !choose_ptx(m)) || !read_functions(m))
        return m->nomem ? CW_ERR_NOMEM : CW_OK;
    relocate(m);
    if (read_again(m))
        read_tables(m);
    keep_rows(m);
    return m->nomem ? CW_ERR_NOMEM : CW_OK;
}

enum cw_status cw_lines_read(const struct cw_lines **lines, enum cw_lines_of of, const void *code, size_t size,
                             struct cw_arena *arena)
{
    struct image m = {.bytes = cw_arena_alloc(arena, size + 1, 1), .size = size, .arena = arena};
    m.lines = cw_arena_alloc(arena, 1, sizeof *m.lines);
    enum cw_status status = m.bytes && m.lines ? CW_OK : CW_ERR_NOMEM;
    if (status == CW_OK && size && elf_version(EV_CURRENT) != EV_NONE) {
        memcpy(m.bytes, code, size);
        status = read_image(&m, of);
    }
    if (m.elf)
        elf_end(m.elf);
    *lines = status == CW_OK && m.lines->row_count ? m.lines : NULL;
    return status;
}

uint32_t cw_lines_file_count(const struct cw_lines *l)
{
    return l ? l->file_count : 0;
}

uint32_t cw_lines_text_count(const struct cw_lines *l)
{
    return l ? l->text_count : 0;
}

const char *cw_lines_text(const struct cw_lines *l, uint32_t line)
{
    return l && line && line <= l->text_count ? l->texts[line - 1] : "";
}

bool cw_lines_find(const struct cw_lines *l, const char *function, uint64_t pc, struct cw_line *found)
{
    struct function key = {.name = function};
    const struct function *f = l ? bsearch(&key, l->functions, l->function_count, sizeof key, compare_functions) : NULL;
    if (!f || pc >> BASE_SHIFT)
        return false;
    uint64_t address = f->address + pc;
    struct cw_search s = {0, l->row_count};
    while (s.low < s.high)
        cw_search_narrow(&s, l->rows[cw_search_middle(&s)].address <= address);
    const struct row *r = s.low ? &l->rows[s.low - 1] : NULL;
    if (!r || !r->line || r->address < f->address)
        return false;
    *found = (struct cw_line){l->files[r->file], r->file, r->line};
    return true;
}
