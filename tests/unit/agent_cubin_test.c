/* Variables of modules: an ELF file as nvcc makes it, of one section and one symbol, and what is none. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "agent/common/cubin.h"

static struct module {
    Elf64_Ehdr head;
    Elf64_Shdr sections[4]; /* none, names, symbols, variables */
    Elf64_Sym symbols[2];
    char texts[256];
} module;

static void make(const char *section, const char *name, uint64_t size, unsigned char other)
{
    memset(&module, 0, sizeof module);
    memcpy(module.head.e_ident, ELFMAG, SELFMAG);
    module.head.e_ident[EI_CLASS] = ELFCLASS64;
    module.head.e_shoff = offsetof(struct module, sections);
    module.head.e_shentsize = sizeof(Elf64_Shdr);
    module.head.e_shnum = 4;
    module.head.e_shstrndx = 1;
    module.sections[1] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct module, texts), .sh_size = sizeof module.texts};
    module.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                      .sh_offset = offsetof(struct module, symbols),
                                      .sh_size = sizeof module.symbols,
                                      .sh_entsize = sizeof(Elf64_Sym),
                                      .sh_link = 1};
    module.sections[3] = (Elf64_Shdr){.sh_name = 1};
    module.symbols[1] = (Elf64_Sym){.st_name = 64,
                                    .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                                    .st_other = other,
                                    .st_shndx = 3,
                                    .st_size = size};
    strcpy(module.texts + 1, section);
    strcpy(module.texts + 64, name);
}

static bool any(void)
{
    return cw_cubin_variables(&module, sizeof module, NULL, NULL).any;
}

Test(cubin, variables)
{
    make(".nv.global", "counter", 4, 0);
    cr_expect(any());
    cr_expect_not(cw_cubin_variables(&module, sizeof module, NULL, NULL).managed);
    make(".nv.global.init", "table", 16, 0);
    cr_expect(any());
    make(".nv.constant3", "table", 16, 0);
    cr_expect_not(any());
    make(".nv.global", "", 0, 0);
    cr_expect_not(any());
    make(".nv.global", "m", 4, 4);
    cr_expect(cw_cubin_variables(&module, sizeof module, NULL, NULL).managed);
    cr_expect_not(cw_cubin_variables(&module, sizeof module, NULL, NULL).symmetric);
    make(".nv.constant3", "nvshmemi_device_state_d", 64, 0);
    cr_expect(cw_cubin_variables(&module, sizeof module, NULL, NULL).symmetric);
}

Test(cubin, empty_objects_of_libraries_are_none)
{
    make(".nv.global", "_ZN34_INTERNAL_764b4497_4_v_cu_94629ea14cuda3std3__45__cpo5beginE", 1, 0);
    cr_expect_not(any());
    make(".nv.global", "_ZN34_INTERNAL_764b4497_4_v_cu_94629ea14cuda3std3__45__cpo5beginE", 4, 0);
    cr_expect(any());
    make(".nv.global", "flag", 1, 0);
    cr_expect(any());
}

Test(cubin, strings_are_none)
{
    make(".nv.global.init", "__unnamed_12", 26, 0);
    cr_expect_not(any());
    make(".nv.global.init", "$str$3", 5, 0);
    cr_expect_not(any());
}

static void see(void *names, const char *name)
{
    strcat(strcat(names, name), " ");
}

Test(cubin, names_of_variables_are_told)
{
    char names[64] = "";
    make(".nv.global", "counter", 4, 0);
    cr_expect(cw_cubin_variables(&module, sizeof module, see, names).whole);
    make(".nv.constant3", "table", 4, 0);
    cw_cubin_variables(&module, sizeof module, see, names);
    cr_expect_str_eq(names, "counter ");
    cr_expect_not(cw_cubin_variables("no code", 7, see, names).whole);
}

static bool allocates(const char *function, uint16_t section)
{
    make(".text", function, 0, 0);
    module.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    module.symbols[1].st_shndx = section;
    return cw_cubin_variables(&module, sizeof module, NULL, NULL).allocates;
}

Test(cubin, kernels_may_call_what_allocates)
{
    cr_expect(allocates("malloc", SHN_UNDEF));
    cr_expect(allocates("cudaGraphLaunch", SHN_UNDEF));
    cr_expect_not(allocates("vprintf", SHN_UNDEF));
    cr_expect_not(allocates("__assertfail", SHN_UNDEF));
    cr_expect_not(allocates("step", 3));
}

Test(cubin, what_is_cut_has_none)
{
    make(".nv.global", "counter", 4, 0);
    for (size_t size = 0; size < offsetof(struct module, texts); size++)
        cr_expect_not(cw_cubin_variables(&module, size, NULL, NULL).any, "%zu", size);
    module.head.e_ident[EI_CLASS] = ELFCLASS32;
    cr_expect_not(any());
}

/* tests/support/variables.cu, as nvcc made it. */
Test(cubin, of_a_compiler)
{
    static unsigned char bytes[1 << 14];
    FILE *file = fopen(CW_SOURCE_DIR "/tests/fuzz/corpus/cubin/variables", "rb");
    cr_assert_not_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const struct cw_cubin_variables found = cw_cubin_variables(bytes, size, NULL, NULL);
    cr_expect(found.any && found.managed);
}

/* A module with functions and their calls, as nvcc links it. */
static struct linked {
    Elf64_Ehdr head;
    Elf64_Shdr sections[4]; /* none, names, symbols, calls */
    Elf64_Sym symbols[6];
    uint32_t calls[10][2];
    char texts[256];
} linked;

static void make_linked(const char *launch, const char *calls)
{
    const char *const functions[] = {"", "kernel", "deep", launch, "plain", "by_address"};
    linked = (struct linked){.head = {.e_ident = ELFMAG,
                                      .e_shoff = offsetof(struct linked, sections),
                                      .e_shentsize = sizeof(Elf64_Shdr),
                                      .e_shnum = 4,
                                      .e_shstrndx = 1},
                             .calls = {{0, -1}, {1, 2}, {2, 3}, {0, -2}, {4, 3}, {0, -3}, {4, 1}, {0, -4}, {5, 1}}};
    linked.head.e_ident[EI_CLASS] = ELFCLASS64;
    linked.sections[1] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct linked, texts), .sh_size = sizeof linked.texts};
    linked.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                      .sh_offset = offsetof(struct linked, symbols),
                                      .sh_size = sizeof linked.symbols,
                                      .sh_entsize = sizeof(Elf64_Sym),
                                      .sh_link = 1};
    linked.sections[3] =
        (Elf64_Shdr){.sh_name = 1, .sh_offset = offsetof(struct linked, calls), .sh_size = sizeof linked.calls};
    strcpy(linked.texts + 1, calls);
    for (uint32_t i = 1, at = 32; i < 6; at += (uint32_t)strlen(functions[i++]) + 1) {
        linked.symbols[i] = (Elf64_Sym){.st_name = at, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
        strcpy(linked.texts + at, functions[i]);
    }
}

static const char *launchers(size_t size)
{
    static char names[256];
    *names = 0;
    if (!cw_cubin_launchers(&linked, size, see, names))
        strcat(names, "(not all)");
    return names;
}

Test(cubin, functions_that_calls_lead_from_to_a_launch)
{
    make_linked("__cudaCDP2LaunchDeviceV2", ".nv.callgraph");
    cr_expect_str_eq(launchers(sizeof linked), "kernel deep __cudaCDP2LaunchDeviceV2 by_address ");
    make_linked("cudaGraphLaunch", ".nv.callgraph");
    cr_expect_str_eq(launchers(sizeof linked), "kernel deep cudaGraphLaunch by_address ");
    make_linked("malloc", ".nv.callgraph");
    cr_expect_str_eq(launchers(sizeof linked), "");
}

Test(cubin, without_a_list_of_calls_each_function_may_launch)
{
    make_linked("cudaGraphLaunch", ".nv.other");
    cr_expect_str_eq(launchers(sizeof linked), "kernel deep cudaGraphLaunch plain by_address ");
    make_linked("malloc", ".nv.other");
    cr_expect_str_eq(launchers(sizeof linked), "");
}

Test(cubin, what_cannot_be_read_is_told)
{
    make_linked("cudaGraphLaunch", ".nv.callgraph");
    linked.symbols[1].st_name = sizeof linked.texts;
    cr_expect_str_eq(launchers(sizeof linked), "deep cudaGraphLaunch by_address (not all)");
    linked.head.e_shnum = 0;
    cr_expect_str_eq(launchers(sizeof linked), "(not all)");
}

Test(cubin, a_cut_module_is_read_within_its_size)
{
    make_linked("cudaGraphLaunch", ".nv.callgraph");
    for (size_t size = 0; size < sizeof linked; size++)
        launchers(size);
    linked.symbols[3].st_name = linked.sections[3].sh_name = UINT32_MAX;
    linked.sections[2].sh_size = linked.sections[3].sh_size = UINT64_MAX;
    cr_expect_str_eq(launchers(sizeof linked), "");
}
