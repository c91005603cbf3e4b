#define _GNU_SOURCE
#include "eval/samples/disassembly.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gelf.h>

#include "base/file.h"
#include "base/search.h"
#include "eval/samples/confined.h"

/* ---- the program ------------------------------------------------------------------------------------------------ */

static const char program[] = "nvdisasm";

static const char *in_folder(const char *folder, size_t length, const char *below, struct cw_arena *arena)
{
    const size_t size = length + strlen(below) + sizeof program + 2;
    char *path = length ? cw_arena_alloc(arena, size, 1) : NULL;
    if (path)
        snprintf(path, size, "%.*s%s/%s", (int)length, folder, below, program);
    return path && access(path, X_OK) == 0 ? path : NULL;
}

static const char *in_path(struct cw_arena *arena)
{
    const char *found = NULL, *path = secure_getenv("PATH");
    while (path && *path && !found) {
        const size_t length = strcspn(path, ":");
        found = in_folder(path, length, "", arena);
        path += length + (path[length] == ':');
    }
    return found;
}

enum cw_status cw_disassembler_find(const char **path, struct cw_arena *arena, struct cw_error *err)
{
    const char *named = secure_getenv("CW_NVDISASM"), *home = secure_getenv("CUDA_HOME"), usual[] = "/usr/local/cuda";
    const bool search = strcmp(*path, program) == 0;
    if (search && !(named && *named)) {
        *path = in_path(arena);
        if (!*path && home)
            *path = in_folder(home, strlen(home), "/bin", arena);
        if (!*path)
            *path = in_folder(usual, sizeof usual - 1, "/bin", arena);
        return *path ? CW_OK
                     : cw_error_set(err, CW_ERR_UNSUPPORTED,
                                    "found no nvdisasm in PATH, CUDA_HOME/bin and /usr/local/cuda/bin, expected that "
                                    "of the CUDA toolkit: set CW_NVDISASM to its file");
    }
    *path = cw_arena_strdup(arena, search ? named : *path);
    if (*path && access(*path, X_OK) != 0)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "%sfound '%s', expected nvdisasm", search ? "CW_NVDISASM: " : "",
                            *path);
    return *path ? CW_OK : cw_error_nomem(err);
}

/* ---- its run ---------------------------------------------------------------------------------------------------- */

enum { MEMORY_AT_LEAST = 1 << 30, MEMORY_FACTOR = 64 };

struct run {
    const char *disassembler;
    const void *code;
    size_t size;
    const char *const *functions;
    size_t function_count;
    int file; /* in memory, with the code: nvdisasm wants a file, and nothing is left behind */
};

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Writes the numbers of the functions in a symbol table, as "12,13". nvdisasm takes seconds for each 10 MB of code. */
static void list_symbols(const struct run *run, Elf *elf, Elf_Scn *section, struct cw_writer *out)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB && header.sh_entsize
                         ? elf_getdata(section, NULL)
                         : NULL;
    for (size_t i = 0; data && i < data->d_size / header.sh_entsize; i++) {
        const char *name = gelf_getsym(data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_FUNC
                               ? elf_strptr(elf, header.sh_link, symbol.st_name)
                               : NULL;
        if (name && bsearch(&name, run->functions, run->function_count, sizeof name, by_text))
            cw_write_format(out, "%s%zu", out->size ? "," : "", i);
    }
}

/* In the child: libelf has no bounds either. */
static void disassemble(void *context, int to)
{
    const struct run *run = context;
    char path[64];
    struct cw_writer symbols;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)(uintptr_t)run->code, run->size);
    cw_writer_init(&symbols);
    for (Elf_Scn *section = elf ? elf_nextscn(elf, NULL) : NULL; section; section = elf_nextscn(elf, section))
        list_symbols(run, elf, section, &symbols);
    const bool found = symbols.size;
    cw_write_u8(&symbols, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", run->file);
    if (found && symbols.status == CW_OK && dup2(to, STDOUT_FILENO) >= 0 && fcntl(run->file, F_SETFD, 0) == 0)
        execl(run->disassembler, program, "-c", "-fun", (const char *)symbols.data, path, (char *)NULL);
    _exit(found); /* without any of the functions there is nothing to say */
}

static bool run_on(struct run *run, uint32_t *milliseconds, struct cw_writer *out)
{
    run->file = memfd_create("module", MFD_CLOEXEC);
    const bool good =
        run->file >= 0 && cw_file_put(run->file, run->code, run->size) &&
        cw_confined_run(MEMORY_AT_LEAST + MEMORY_FACTOR * run->size, milliseconds, disassemble, run, out) == CW_OK;
    if (run->file >= 0)
        close(run->file);
    cw_write_u8(out, 0); /* ends the text */
    return good && out->status == CW_OK;
}

/* ---- its answer ------------------------------------------------------------------------------------------------- */

/* Lines of nvdisasm -c -fun, of which the others are left out:
 *
 *     _Z4gemmPKfS0_Pf:
 *     .text._Z4gemmPKfS0_Pf:
 *             /_*0010*_/                   @!P0 LDG.E R4, [R2.64] ;
 *
 * (without the underscores of the comment). Offsets are from the start of the section, and a label precedes each
 * function. */
struct instruction {
    uint64_t offset; /* from the start of the function */
    char *text;
};

struct function {
    const char *name;
    size_t first, count;
};

struct cw_disassembly {
    struct cw_writer text; /* of nvdisasm; the names and texts below are in it */
    struct instruction *instructions;
    struct function *functions; /* sorted by name */
    size_t instruction_count, function_count;
};

static bool read_instruction(char *line, uint64_t *offset, char **text)
{
    char *end;
    line += strspn(line, " \t{");
    if (strncmp(line, "/*", 2) != 0)
        return false;
    *offset = strtoull(line + 2, &end, 16);
    if (end == line + 2 || strncmp(end, "*/", 2) != 0)
        return false;
    *text = end + 2 + strspn(end + 2, " \t{");
    size_t length = strcspn(*text, ";");
    while (length && ((*text)[length - 1] == ' ' || (*text)[length - 1] == '\t'))
        length--;
    (*text)[length] = 0;
    return length > 0;
}

/* Whether the line is a function's label; ends it behind the name. */
static bool read_label(char *line)
{
    const size_t length = strlen(line);
    if (length < 2 || line[length - 1] != ':' || *line == '.' || strpbrk(line, " \t"))
        return false;
    line[length - 1] = 0;
    return true;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct function *)left)->name, ((const struct function *)right)->name);
}

static void read_lines(struct cw_disassembly *d, char *text)
{
    uint64_t base = 0;
    bool is_first = false;
    for (char *line = text, *next; line; line = next) {
        struct instruction *i = &d->instructions[d->instruction_count];
        struct function *f = d->function_count ? &d->functions[d->function_count - 1] : NULL;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (f && read_instruction(line, &i->offset, &i->text)) {
            base = is_first ? i->offset : base;
            is_first = false;
            i->offset -= base;
            d->instruction_count++;
            f->count++;
        } else if (read_label(line)) {
            is_first = true;
            d->functions[d->function_count++] = (struct function){line, d->instruction_count, 0};
        }
    }
    if (d->function_count)
        qsort(d->functions, d->function_count, sizeof *d->functions, by_name);
}

static bool read_text(struct cw_disassembly *d)
{
    char *text = (char *)d->text.data;
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    d->instructions = calloc(lines + 1, sizeof *d->instructions);
    d->functions = calloc(lines + 1, sizeof *d->functions);
    if (d->instructions && d->functions)
        read_lines(d, text);
    return d->instructions && d->functions;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

struct cw_disassembly *cw_disassembly_make(const char *disassembler, const void *code, size_t size,
                                           const char *const *functions, size_t function_count, uint32_t *milliseconds)
{
    struct run run = {disassembler, code, size, functions, function_count, -1};
    struct cw_disassembly *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    cw_writer_init(&d->text);
    if (run_on(&run, milliseconds, &d->text) && read_text(d))
        return d;
    cw_disassembly_free(d);
    return NULL;
}

const char *cw_disassembly_find(const struct cw_disassembly *d, const char *function, uint64_t offset)
{
    const struct function key = {.name = function};
    const struct function *f =
        d->function_count ? bsearch(&key, d->functions, d->function_count, sizeof key, by_name) : NULL;
    const struct instruction *i = f ? d->instructions + f->first : NULL;
    struct cw_search s = {0, f ? f->count : 0};
    while (s.low < s.high)
        cw_search_narrow(&s, i[cw_search_middle(&s)].offset < offset);
    return f && s.low < f->count && i[s.low].offset == offset ? i[s.low].text : "";
}

void cw_disassembly_free(struct cw_disassembly *d)
{
    if (d) {
        free(d->instructions);
        free(d->functions);
        cw_writer_free(&d->text);
    }
    free(d);
}
