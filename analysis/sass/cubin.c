/*
 * cubin.c - opens a cubin with libelf and checks every range once, so that the pass needs no further checks. Any
 * thread.
 *
 * What is not in the ELF standard (names of sections, e_flags, flags of symbols) was read off images that nvcc 11.8 to
 * 13.0 and NVIDIA's libraries carry.
 */
#include "analysis/sass/cubin.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    EM_CUDA_MACHINE = 190,
    STO_CUDA_ENTRY = 0x10,            /* st_other of a kernel */
    SHARED_MEMORY = SHT_LOPROC + 0xa, /* type of .nv_debug.shared: a size, and no bytes of the image */
    ABI_WITH_WIDE_FLAGS = 8           /* EI_ABIVERSION from which on the architecture is in bits 8..15 of e_flags */
};

uint16_t cs_read16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t cs_read32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

uint64_t cs_read64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static int read_header(struct cs_cubin *cubin, Elf *elf, struct cs_error *error)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return cs_fail(error, "cubin: offset 0: no ELF header: %s", elf_errmsg(-1));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return cs_fail(error, "cubin: offset 4: expected a 64-bit little-endian ELF");
    if (header.e_machine != EM_CUDA_MACHINE)
        return cs_fail(error, "cubin: offset 18: expected machine %d (CUDA), found %d", EM_CUDA_MACHINE,
                       header.e_machine);
    bool wide = header.e_ident[EI_ABIVERSION] >= ABI_WITH_WIDE_FLAGS;
    cubin->architecture = wide ? (header.e_flags >> 8) & 0xff : header.e_flags & 0xff;
    return 0;
}

/* A string of the table `section`, or NULL when it does not end inside it. */
static const char *string_at(const struct cs_cubin *cubin, uint32_t section, uint64_t offset)
{
    if (section >= cubin->section_count)
        return NULL;
    struct cs_bytes table = cubin->sections[section].bytes;
    if (!table.data || offset >= table.size || !memchr(table.data + offset, 0, table.size - offset))
        return NULL;
    return (const char *)table.data + offset;
}

static int read_sections(struct cs_cubin *cubin, Elf *elf, struct cs_error *error)
{
    size_t count, names;
    if (elf_getshdrnum(elf, &count) != 0 || elf_getshdrstrndx(elf, &names) != 0)
        return cs_fail(error, "cubin: no section headers: %s", elf_errmsg(-1));
    cubin->sections = calloc(count ? count : 1, sizeof *cubin->sections);
    uint32_t *name_offsets = calloc(count ? count : 1, sizeof *name_offsets);
    int status = cubin->sections && name_offsets ? 0 : cs_fail(error, "cubin: out of memory for %zu sections", count);
    cubin->section_count = status == 0 ? count : 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        GElf_Shdr header;
        Elf_Scn *scn = elf_getscn(elf, i);
        struct cs_section *section = &cubin->sections[i];
        if (!scn || !gelf_getshdr(scn, &header)) {
            status = cs_fail(error, "cubin: section header %zu of %zu cannot be read: %s", i, count, elf_errmsg(-1));
            break;
        }
        section->type = header.sh_type;
        section->link = header.sh_link;
        section->info = header.sh_info;
        name_offsets[i] = header.sh_name;
        if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL || header.sh_type == SHARED_MEMORY ||
            header.sh_size == 0)
            continue;
        if (header.sh_offset > cubin->size || header.sh_size > cubin->size - header.sh_offset)
            status = cs_fail(error, "cubin: offset %llu: section %zu of %llu bytes ends behind the image (%zu bytes)",
                             (unsigned long long)header.sh_offset, i, (unsigned long long)header.sh_size, cubin->size);
        else
            section->bytes = (struct cs_bytes){cubin->image + header.sh_offset, header.sh_size};
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        const char *name = string_at(cubin, (uint32_t)names, name_offsets[i]);
        cubin->sections[i].name = name ? name : "";
    }
    free(name_offsets);
    return status;
}

uint32_t cs_cubin_section(const struct cs_cubin *cubin, const char *name)
{
    for (size_t i = 1; i < cubin->section_count; i++)
        if (strcmp(cubin->sections[i].name, name) == 0)
            return (uint32_t)i;
    return CS_NO_SECTION;
}

static int read_symbols(struct cs_cubin *cubin, struct cs_error *error)
{
    uint32_t table = cs_cubin_section(cubin, ".symtab");
    if (table == CS_NO_SECTION)
        return cs_fail(error, "cubin: expected a section .symtab");
    struct cs_section *section = &cubin->sections[table];
    size_t count = section->bytes.size / sizeof(Elf64_Sym);
    cubin->symbols = calloc(count ? count : 1, sizeof *cubin->symbols);
    cubin->kernels = calloc(count ? count : 1, sizeof *cubin->kernels);
    if (!cubin->symbols || !cubin->kernels)
        return cs_fail(error, "cubin: out of memory for %zu symbols", count);
    cubin->symbol_count = count;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, section->bytes.data + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(cubin, section->link, symbol.st_name);
        bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < cubin->section_count;
        cubin->symbols[i] = (struct cs_symbol){.name = name ? name : "",
                                               .value = symbol.st_value,
                                               .size = symbol.st_size,
                                               .section = defined ? symbol.st_shndx : CS_NO_SECTION,
                                               .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC};
        if (!defined || !cubin->symbols[i].function || !(symbol.st_other & STO_CUDA_ENTRY))
            continue;
        if (!name)
            return cs_fail(error, "cubin: symbol %zu: its name at %u lies outside the string table", i, symbol.st_name);
        cubin->kernels[cubin->kernel_count++] =
            (struct cs_kernel){.name = name, .symbol = (uint32_t)i, .text = symbol.st_shndx, .entry = symbol.st_value};
    }
    return 0;
}

/* The suffix of a name behind a prefix, or NULL. */
static const char *behind(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct cs_kernel *)a)->name, ((const struct cs_kernel *)b)->name);
}

size_t cs_cubin_find(const struct cs_cubin *cubin, const char *name)
{
    struct cs_kernel key = {.name = name};
    struct cs_kernel *found =
        cubin->kernel_count ? bsearch(&key, cubin->kernels, cubin->kernel_count, sizeof key, by_name) : NULL;
    return found ? (size_t)(found - cubin->kernels) : SIZE_MAX;
}

/* Per-kernel sections are found by name: .nv.info.<kernel>, .nv.constant2.<kernel>. */
static void link_sections(struct cs_cubin *cubin)
{
    for (size_t i = 1; i < cubin->section_count; i++) {
        const char *name = cubin->sections[i].name;
        const char *info = behind(name, ".nv.info."), *literals = behind(name, ".nv.constant2.");
        size_t kernel = info ? cs_cubin_find(cubin, info) : literals ? cs_cubin_find(cubin, literals) : SIZE_MAX;
        if (strcmp(name, ".nv.constant4") == 0)
            cubin->addresses = (uint32_t)i;
        if (kernel == SIZE_MAX)
            continue;
        if (info)
            cubin->kernels[kernel].info = (uint32_t)i;
        else
            cubin->kernels[kernel].literals = (uint32_t)i;
    }
}

static int check_kernel(struct cs_cubin *cubin, struct cs_kernel *kernel, struct cs_error *error)
{
    struct cs_bytes text = cubin->sections[kernel->text].bytes;
    if (text.size % CS_INSTRUCTION_BYTES != 0)
        return cs_fail(error, "cubin: offset %zu: code of %s: expected a multiple of %d bytes, found %zu",
                       text.data ? (size_t)(text.data - cubin->image) : 0, kernel->name, CS_INSTRUCTION_BYTES,
                       text.size);
    if (kernel->entry >= text.size || kernel->entry % CS_INSTRUCTION_BYTES != 0)
        return cs_fail(error, "cubin: offset %zu: %s: its first instruction at %llu lies outside its %zu bytes of code",
                       text.data ? (size_t)(text.data - cubin->image) : 0, kernel->name,
                       (unsigned long long)kernel->entry, text.size);
    return 0;
}

static const struct {
    uint32_t from, base;
} parameter_bases[] = {{100, 0x380}, {90, 0x210}, {0, 0x160}}; /* where the image does not say, by architecture */

enum { ATTRIBUTE_PARAM_CBANK = 0x0a };

static void find_parameters(struct cs_cubin *cubin, struct cs_kernel *kernel)
{
    size_t row = 0, offset = 0;
    while (parameter_bases[row].from > cubin->architecture)
        row++;
    kernel->parameter_base = parameter_bases[row].base;
    uint8_t attribute;
    struct cs_bytes payload, info = cubin->sections[kernel->info].bytes;
    while (cs_info_next(info, &offset, &attribute, &payload)) {
        if (attribute != ATTRIBUTE_PARAM_CBANK || payload.size < 8)
            continue;
        kernel->parameter_base = cs_read16(payload.data + 4);
        kernel->parameter_size = cs_read16(payload.data + 6);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct cs_relocation *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool is_relocation_table(const struct cs_cubin *cubin, const struct cs_section *section)
{
    return (section->type == SHT_RELA || section->type == SHT_REL) && section->info < cubin->section_count &&
           !behind(cubin->sections[section->info].name, ".debug");
}

static int read_relocations(struct cs_cubin *cubin, struct cs_error *error)
{
    size_t room = 0;
    for (size_t i = 1; i < cubin->section_count; i++)
        if (is_relocation_table(cubin, &cubin->sections[i]))
            room += cubin->sections[i].bytes.size / sizeof(Elf64_Rel);
    cubin->relocations = calloc(room ? room : 1, sizeof *cubin->relocations);
    if (!cubin->relocations)
        return cs_fail(error, "cubin: out of memory for %zu relocations", room);
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cs_section *table = &cubin->sections[i];
        size_t stride = table->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        if (!is_relocation_table(cubin, table))
            continue;
        for (size_t at = 0; at + stride <= table->bytes.size; at += stride) {
            uint64_t symbol = ELF64_R_SYM(cs_read64(table->bytes.data + at + 8));
            if (symbol < cubin->symbol_count)
                cubin->relocations[cubin->relocation_count++] =
                    (struct cs_relocation){table->info, (uint32_t)symbol, cs_read64(table->bytes.data + at)};
        }
    }
    qsort(cubin->relocations, cubin->relocation_count, sizeof *cubin->relocations, by_place);
    return 0;
}

static int read_image(struct cs_cubin *cubin, Elf *elf, struct cs_error *error)
{
    if (read_header(cubin, elf, error) != 0 || read_sections(cubin, elf, error) != 0 ||
        read_symbols(cubin, error) != 0 || read_relocations(cubin, error) != 0)
        return -1;
    qsort(cubin->kernels, cubin->kernel_count, sizeof *cubin->kernels, by_name);
    link_sections(cubin);
    for (size_t i = 0; i < cubin->kernel_count; i++) {
        if (check_kernel(cubin, &cubin->kernels[i], error) != 0)
            return -1;
        find_parameters(cubin, &cubin->kernels[i]);
    }
    return 0;
}

int cs_cubin_open(const void *image, size_t size, struct cs_cubin **cubin, struct cs_error *error)
{
    *cubin = NULL;
    if (!image || size < sizeof(Elf64_Ehdr))
        return cs_fail(error, "cubin: offset 0: expected an ELF header of %zu bytes, found %zu", sizeof(Elf64_Ehdr),
                       size);
    if (elf_version(EV_CURRENT) == EV_NONE)
        return cs_fail(error, "cubin: libelf: %s", elf_errmsg(-1));
    struct cs_cubin *opened = calloc(1, sizeof *opened);
    if (!opened)
        return cs_fail(error, "cubin: out of memory");
    opened->image = image;
    opened->size = size;
    /* libelf only reads through this pointer: the descriptor is opened for reading. */
    Elf *elf = elf_memory((char *)(uintptr_t)image, size);
    int status = elf ? read_image(opened, elf, error) : cs_fail(error, "cubin: offset 0: %s", elf_errmsg(-1));
    if (elf)
        elf_end(elf);
    if (status != 0)
        cs_cubin_close(opened);
    else
        *cubin = opened;
    return status;
}

void cs_cubin_close(struct cs_cubin *cubin)
{
    if (!cubin)
        return;
    free(cubin->sections);
    free(cubin->symbols);
    free(cubin->kernels);
    free(cubin->relocations);
    free(cubin);
}

size_t cs_cubin_kernel_count(const struct cs_cubin *cubin)
{
    return cubin->kernel_count;
}

const char *cs_cubin_kernel_name(const struct cs_cubin *cubin, size_t kernel)
{
    return cubin->kernels[kernel].name;
}

uint32_t cs_cubin_architecture(const struct cs_cubin *cubin)
{
    return cubin->architecture;
}

size_t cs_cubin_relocation(const struct cs_cubin *cubin, uint32_t section, uint64_t offset)
{
    struct cs_relocation key = {.section = section, .offset = offset};
    struct cs_relocation *found = NULL;
    if (cubin->relocation_count)
        found = bsearch(&key, cubin->relocations, cubin->relocation_count, sizeof key, by_place);
    return found ? found->symbol : SIZE_MAX;
}
