/*
 * test_exports.c - the library exports exactly its tables' names and a few listed others, needs libc only, and each row
 * of cuda_api.def has the parameters that the runtime's header declares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the table against the header that is installed ---- */

extern cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                                size_t shared, cudaStream_t stream);

#define CS_API(name, variant, parameters, arguments, fact)                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), cudaError_t parameters), #name);
#define CS_API_VARYING(name, variant, parameters, arguments, fact)
#define CS_API_FREE(name, variant, parameters, arguments, allocator, address)                                          \
    CS_API(name, variant, parameters, arguments, )
#include "interpose/cuda_api.def"
#undef CS_API
#undef CS_API_FREE

/* ---- the names ---- */

static const char *const expected[] = {
#define NAMES_PLAIN(name) #name,
#define NAMES_PTDS(name) #name, #name "_ptds",
#define NAMES_PTSZ(name) #name, #name "_ptsz",
#define CS_API(name, variant, parameters, arguments, fact) NAMES_##variant(name)
#define CS_API_FREE(name, variant, parameters, arguments, allocator, address) NAMES_##variant(name)
#include "interpose/cuda_api.def"
    /* the driver's injection point, and the ways out */
    "InitializeInjection", "_exit", "_Exit",
    /* taking CUPTI */
    "cuptiSubscribe", "cuptiActivityRegisterCallbacks",
    /* PyTorch's allocator, under each name */
    "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
    "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE"};

enum { EXPECTED = sizeof expected / sizeof *expected };

static bool is_expected(const char *name)
{
    for (size_t i = 0; i < EXPECTED; i++)
        if (strcmp(expected[i], name) == 0)
            return true;
    return false;
}

/* ---- the library's ELF sections ---- */

static Elf *open_library(int *file)
{
    *file = open(COPYSPY_LIBRARY, O_RDONLY);
    assert_true(*file >= 0);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(*file, ELF_C_READ, NULL);
    assert_non_null(elf);
    return elf;
}

static Elf_Data *section_of(Elf *elf, uint32_t type, GElf_Shdr *header)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section))
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return elf_getdata(section, NULL);
    fail_msg("no section of type %u", type);
    return NULL;
}

static void the_exports_are_the_table(void **state)
{
    (void)state;
    int file;
    Elf *elf = open_library(&file);
    GElf_Shdr header;
    Elf_Data *symbols = section_of(elf, SHT_DYNSYM, &header);
    size_t found = 0;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(symbols, i, &symbol); i++) {
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!is_expected(name))
            fail_msg("%s is exported but in no table", name);
        found++;
    }
    assert_int_equal(found, EXPECTED);
    elf_end(elf);
    close(file);
}

static void the_library_needs_libc_only(void **state)
{
    (void)state;
    int file;
    Elf *elf = open_library(&file);
    GElf_Shdr header;
    Elf_Data *entries = section_of(elf, SHT_DYNAMIC, &header);
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(entries, i, &entry); i++) {
        if (entry.d_tag != DT_NEEDED)
            continue;
        const char *name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
        if (strcmp(name, "libc.so.6") != 0 && strncmp(name, "ld-linux", 8) != 0)
            fail_msg("needs %s", name);
    }
    elf_end(elf);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exports_are_the_table),
        cmocka_unit_test(the_library_needs_libc_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
