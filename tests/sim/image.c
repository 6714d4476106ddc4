/*
 * image.c - reads what nvcc made: fat binaries, their compressed entries, and the cubins' kernels and variables.
 *
 * Only what the stand-in needs: names, parameters (EIATTR_KPARAM_INFO), static shared memory, registers, device
 * variables. Layouts were read off nvcc 12.8's and 13.0's output. Compressed entries are LZ4 blocks or zstd frames
 * (libzstd is opened when one is met).
 *
 * Threads: any; no state.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core.h"

#define WRAPPER_MAGIC 0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u
#define ENTRY_ELF 2
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define EIATTR_KPARAM_INFO 0x17

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *file_name;
};

struct container {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size, reserved0;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags;
    uint64_t reserved1;
    uint64_t raw_size;
};
_Static_assert(sizeof(struct entry) == 64, "a fat binary entry's header is 64 bytes");

static CUresult complain(CUresult result, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "sim: device image: %s\n", text);
    return result;
}

/* ---- decompression ---- */

static size_t lz4_length(const unsigned char **in, const unsigned char *end, size_t length)
{
    if (length < 15)
        return length;
    unsigned char more = 255;
    while (more == 255 && *in < end) {
        more = *(*in)++;
        length += more;
    }
    return length;
}

/* One LZ4 block. Returns the bytes written, 0 when the block is damaged. */
static size_t lz4_block(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size)
{
    const unsigned char *end = in + in_size;
    size_t at = 0;
    while (in < end) {
        unsigned token = *in++;
        size_t literals = lz4_length(&in, end, token >> 4);
        if (literals > (size_t)(end - in) || literals > out_size - at)
            return 0;
        memcpy(out + at, in, literals);
        at += literals;
        in += literals;
        if (end - in < 2)
            break;
        size_t distance = in[0] | (size_t)in[1] << 8;
        in += 2;
        size_t match = lz4_length(&in, end, token & 15) + 4;
        if (distance == 0 || distance > at || match > out_size - at)
            return 0;
        for (size_t i = 0; i < match; i++, at++)
            out[at] = out[at - distance];
    }
    return at;
}

static size_t zstd_frame(const void *in, size_t in_size, void *out, size_t out_size)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    size_t (*decompress)(void *, size_t, const void *, size_t);
    *(void **)&decompress = dlsym(library, "ZSTD_decompress");
    size_t written = decompress ? decompress(out, out_size, in, in_size) : 0;
    dlclose(library);
    return written <= out_size ? written : 0;
}

static CUresult unpack(const struct entry *entry, unsigned char **cubin, size_t *size)
{
    const unsigned char *data = (const unsigned char *)entry + entry->header_size;
    bool packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD);
    *size = packed ? entry->raw_size : entry->size;
    *cubin = malloc(*size ? *size : 1);
    if (!*cubin)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!packed) {
        memcpy(*cubin, data, *size);
        return CUDA_SUCCESS;
    }
    size_t in_size = entry->compressed_size ? entry->compressed_size : entry->size;
    size_t written =
        entry->flags & FLAG_ZSTD ? zstd_frame(data, in_size, *cubin, *size) : lz4_block(data, in_size, *cubin, *size);
    if (written == *size)
        return CUDA_SUCCESS;
    free(*cubin);
    *cubin = NULL;
    return complain(CUDA_ERROR_INVALID_IMAGE,
                    "cannot unpack a compressed sm_%u entry (%zu of %llu bytes); compile with --compress-mode=none",
                    entry->arch, written, (unsigned long long)entry->raw_size);
}

/* ---- choosing an entry ---- */

static unsigned rank(unsigned arch)
{
    return arch == 90 ? 1000 : arch == 80 ? 999 : arch;
}

static CUresult choose(const unsigned char *data, const struct entry **best)
{
    const struct container *container = (const void *)data;
    const unsigned char *at = data + container->header_size, *end = at + container->size;
    *best = NULL;
    while (at + sizeof(struct entry) <= end) {
        const struct entry *entry = (const void *)at;
        if (entry->kind == ENTRY_ELF && (!*best || rank(entry->arch) > rank((*best)->arch)))
            *best = entry;
        at += entry->header_size + entry->size;
    }
    if (!*best)
        return complain(CUDA_ERROR_NO_BINARY_FOR_GPU,
                        "the fat binary holds no machine code (PTX alone cannot run here)");
    return CUDA_SUCCESS;
}

/* ---- the cubin ---- */

struct elf {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    size_t count;
    const char *names;
    size_t names_size;
};

static const char *section_name(const struct elf *elf, const Elf64_Shdr *section)
{
    return section->sh_name < elf->names_size ? elf->names + section->sh_name : "";
}

static bool section_bytes(const struct elf *elf, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= elf->size && section->sh_size <= elf->size - section->sh_offset);
}

static bool elf_open(struct elf *elf, const unsigned char *bytes, size_t size)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    *elf = (struct elf){.bytes = bytes, .size = size};
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != 190 ||
        header->e_shoff > size || header->e_shnum > (size - header->e_shoff) / sizeof(Elf64_Shdr) ||
        header->e_shstrndx >= header->e_shnum)
        return false;
    elf->sections = (const void *)(bytes + header->e_shoff);
    elf->count = header->e_shnum;
    for (size_t i = 0; i < elf->count; i++)
        if (!section_bytes(elf, &elf->sections[i]))
            return false;
    const Elf64_Shdr *names = &elf->sections[header->e_shstrndx];
    elf->names = (const char *)bytes + names->sh_offset;
    elf->names_size = names->sh_size;
    return names->sh_size && !elf->names[names->sh_size - 1];
}

static const Elf64_Shdr *find_section(const struct elf *elf, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < elf->count; i++) {
        const char *candidate = section_name(elf, &elf->sections[i]);
        if (strncmp(candidate, prefix, length) == 0 && strcmp(candidate + length, name) == 0)
            return &elf->sections[i];
    }
    return NULL;
}

static bool add_parameter(struct sim_kernel_image *kernel, const unsigned char *value)
{
    uint16_t ordinal, offset;
    uint32_t shape;
    memcpy(&ordinal, value + 4, 2);
    memcpy(&offset, value + 6, 2);
    memcpy(&shape, value + 8, 4);
    if (ordinal >= SIM_MAX_PARAMETERS)
        return false;
    if (ordinal >= kernel->parameter_count) {
        struct sim_parameter *grown = realloc(kernel->parameters, (ordinal + 1u) * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + kernel->parameter_count, 0, (ordinal + 1u - kernel->parameter_count) * sizeof *grown);
        kernel->parameters = grown;
        kernel->parameter_count = ordinal + 1u;
    }
    kernel->parameters[ordinal] = (struct sim_parameter){offset, shape >> 18};
    uint32_t end = offset + (shape >> 18);
    if (end > kernel->parameter_bytes)
        kernel->parameter_bytes = end;
    return true;
}

/* Attributes are (format, attribute, ...): format 4 has a 16-bit size and that many bytes, the others two bytes. */
static bool read_parameters(const struct elf *elf, struct sim_kernel_image *kernel)
{
    const Elf64_Shdr *section = find_section(elf, ".nv.info.", kernel->name);
    if (!section)
        return true;
    const unsigned char *at = elf->bytes + section->sh_offset, *end = at + section->sh_size;
    while (end - at >= 4) {
        size_t size = at[0] == 4 ? at[2] | (size_t)at[3] << 8 : 0;
        if (size > (size_t)(end - at) - 4)
            return false;
        if (at[0] == 4 && at[1] == EIATTR_KPARAM_INFO && size >= 12 && !add_parameter(kernel, at + 4))
            return false;
        at += 4 + size;
    }
    return true;
}

static bool add_kernel(struct sim_image *image, const struct elf *elf, const char *name, const Elf64_Shdr *text)
{
    struct sim_kernel_image *grown = realloc(image->kernels, (image->kernel_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    image->kernels = grown;
    struct sim_kernel_image *kernel = &grown[image->kernel_count];
    *kernel = (struct sim_kernel_image){.name = strdup(name), .registers = text->sh_info >> 24};
    if (!kernel->name)
        return false;
    image->kernel_count++;
    const Elf64_Shdr *shared = find_section(elf, ".nv.shared.", name);
    kernel->shared_bytes = shared ? (uint32_t)shared->sh_size : 0;
    return read_parameters(elf, kernel);
}

static bool add_global(struct sim_image *image, const struct elf *elf, const char *name, const Elf64_Sym *symbol,
                       const Elf64_Shdr *section)
{
    struct sim_global_image *grown = realloc(image->globals, (image->global_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    image->globals = grown;
    bool stored = section->sh_type != SHT_NOBITS && symbol->st_value <= section->sh_size &&
                  symbol->st_size <= section->sh_size - symbol->st_value;
    grown[image->global_count] = (struct sim_global_image){
        .name = strdup(name),
        .size = symbol->st_size,
        .initial = stored ? elf->bytes + section->sh_offset + symbol->st_value : NULL,
        .constant = strncmp(section_name(elf, section), ".nv.constant", 12) == 0,
    };
    return grown[image->global_count++].name != NULL;
}

static bool read_symbol(struct sim_image *image, const struct elf *elf, const char *name, const Elf64_Sym *symbol)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf->count)
        return true;
    const Elf64_Shdr *section = &elf->sections[symbol->st_shndx];
    const char *section_called = section_name(elf, section);
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_FUNC && strncmp(section_called, ".text.", 6) == 0 && strcmp(section_called + 6, name) == 0 &&
        find_section(elf, ".nv.constant0.", name))
        return add_kernel(image, elf, name, section);
    if (type == STT_OBJECT &&
        (strncmp(section_called, ".nv.global", 10) == 0 || strcmp(section_called, ".nv.constant3") == 0))
        return add_global(image, elf, name, symbol, section);
    return true;
}

static CUresult read_cubin(struct sim_image *image)
{
    struct elf elf;
    if (!elf_open(&elf, image->cubin, image->cubin_size))
        return complain(CUDA_ERROR_INVALID_IMAGE, "not a cubin (%zu bytes)", image->cubin_size);
    const Elf64_Shdr *table = find_section(&elf, ".symtab", "");
    if (!table || table->sh_link >= elf.count)
        return complain(CUDA_ERROR_INVALID_IMAGE, "the cubin has no symbol table");
    const Elf64_Shdr *strings = &elf.sections[table->sh_link];
    const Elf64_Sym *symbols = (const void *)(elf.bytes + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        if (symbols[i].st_name >= strings->sh_size)
            continue;
        const char *name = (const char *)elf.bytes + strings->sh_offset + symbols[i].st_name;
        if (!read_symbol(image, &elf, name, &symbols[i]))
            return complain(CUDA_ERROR_INVALID_IMAGE, "the attributes of %s are damaged", name);
    }
    return CUDA_SUCCESS;
}

/* A cubin carries no length of its own: its end is the last section's, or the section table's. */
static size_t cubin_length(const unsigned char *bytes)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
    size_t end = header->e_shoff + header->e_shnum * sizeof *sections;
    size_t headers_end = header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr);
    if (headers_end > end)
        end = headers_end;
    for (size_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    return end;
}

static CUresult take_cubin(const unsigned char *bytes, struct sim_image *image)
{
    image->cubin_size = cubin_length(bytes);
    image->cubin = malloc(image->cubin_size);
    if (!image->cubin)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(image->cubin, bytes, image->cubin_size);
    return CUDA_SUCCESS;
}

CUresult sim_image_load(const void *data, struct sim_image *image)
{
    *image = (struct sim_image){0};
    uint32_t magic;
    memcpy(&magic, data, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        data = ((const struct wrapper *)data)->data;
        memcpy(&magic, data, sizeof magic);
    }
    CUresult result;
    if (magic == CONTAINER_MAGIC) {
        const struct entry *entry;
        result = choose(data, &entry);
        if (result == CUDA_SUCCESS)
            result = unpack(entry, &image->cubin, &image->cubin_size);
    } else if (memcmp(&magic, ELFMAG, SELFMAG) == 0) {
        result = take_cubin(data, image);
    } else {
        result = complain(CUDA_ERROR_INVALID_IMAGE, "neither a fat binary nor a cubin (first word %08x)", magic);
    }
    if (result == CUDA_SUCCESS)
        result = read_cubin(image);
    if (result != CUDA_SUCCESS)
        sim_image_release(image);
    return result;
}

void sim_image_release(struct sim_image *image)
{
    for (size_t i = 0; i < image->kernel_count; i++) {
        free(image->kernels[i].name);
        free(image->kernels[i].parameters);
    }
    for (size_t i = 0; i < image->global_count; i++)
        free(image->globals[i].name);
    free(image->kernels);
    free(image->globals);
    free(image->cubin);
    *image = (struct sim_image){0};
}
