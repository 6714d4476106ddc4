/*
 * container.c - see container.h. Any thread; every range is checked before it is read.
 */
#include "analysis/sass/container.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, KIND_PTX = 1, KIND_ELF = 2, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, PADDING_STEP = 4 };
enum { SHARED_MEMORY = SHT_LOPROC + 0xa }; /* in cubins: .nv_debug.shared */

#define CONTAINER_MAGIC 0xba55ed50u

/* A container: this, then `size` bytes of entries behind `header_size`. */
struct container {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};
_Static_assert(sizeof(struct container) == 16, "a fat binary's header is 16 bytes");

/* An entry: this (and names, options, up to `header_size`), then `size` bytes, of which the last may be padding. */
struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, options;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name_offset, name_size;
    uint64_t flags;
    uint64_t reserved;
    uint64_t raw_size;
};
_Static_assert(sizeof(struct entry) == 64, "a fat binary entry's header is 64 bytes");

struct finder {
    const uint8_t *bytes;
    size_t size; /* of the file, or the end of the section at hand */
    struct cs_image *images;
    size_t count, room;
    struct cs_error *error;
};

static int add_image(struct finder *f, struct cs_image image)
{
    if (f->count == f->room) {
        size_t room = f->room ? f->room * 2 : 16;
        struct cs_image *grown = realloc(f->images, room * sizeof *grown);
        if (!grown)
            return cs_fail(f->error, "offset %zu: out of memory for %zu images", image.offset, room);
        f->images = grown;
        f->room = room;
    }
    f->images[f->count++] = image;
    return 0;
}

/* ---- fat binaries ---- */

static int add_entry(struct finder *f, size_t at, const struct entry *entry)
{
    struct cs_image image = {
        .offset = at + entry->header_size,
        .size = (size_t)entry->size,
        .raw_size = entry->size,
        .architecture = entry->architecture,
        .kind = entry->kind == KIND_ELF   ? CS_IMAGE_CUBIN
                : entry->kind == KIND_PTX ? CS_IMAGE_PTX
                                          : CS_IMAGE_OTHER,
        .packing = entry->flags & FLAG_ZSTD  ? CS_PACKING_ZSTD
                   : entry->flags & FLAG_LZ4 ? CS_PACKING_LZ4
                                             : CS_PACKING_NONE,
    };
    if (image.packing != CS_PACKING_NONE) {
        image.raw_size = entry->raw_size;
        if (entry->packed_size > entry->size)
            return cs_fail(f->error, "offset %zu: fat binary entry: expected at most its %llu bytes, found %u packed",
                           at + offsetof(struct entry, packed_size), (unsigned long long)entry->size,
                           entry->packed_size);
        if (entry->packed_size)
            image.size = entry->packed_size;
    }
    return add_image(f, image);
}

static int read_entry(struct finder *f, size_t *at, size_t end)
{
    struct entry entry;
    if (end - *at < sizeof entry)
        return cs_fail(f->error, "offset %zu: expected the %zu bytes of a fat binary entry's header, found %zu", *at,
                       sizeof entry, end - *at);
    memcpy(&entry, f->bytes + *at, sizeof entry);
    if (entry.header_size < sizeof entry || entry.header_size > end - *at)
        return cs_fail(f->error, "offset %zu: fat binary entry: expected a header of %zu to %zu bytes, found %u",
                       *at + offsetof(struct entry, header_size), sizeof entry, end - *at, entry.header_size);
    if (entry.size > end - *at - entry.header_size)
        return cs_fail(f->error, "offset %zu: fat binary entry: expected at most %zu bytes, found %llu",
                       *at + offsetof(struct entry, size), end - *at - entry.header_size,
                       (unsigned long long)entry.size);
    if (add_entry(f, *at, &entry) != 0)
        return -1;
    *at += entry.header_size + (size_t)entry.size;
    return 0;
}

static int read_container(struct finder *f, size_t *at)
{
    struct container container;
    if (f->size - *at < sizeof container)
        return cs_fail(f->error, "offset %zu: expected the %zu bytes of a fat binary's header, found %zu", *at,
                       sizeof container, f->size - *at);
    memcpy(&container, f->bytes + *at, sizeof container);
    if (container.magic != CONTAINER_MAGIC)
        return cs_fail(f->error, "offset %zu: expected a fat binary (0x%08x), found 0x%08x", *at, CONTAINER_MAGIC,
                       container.magic);
    size_t left = f->size - *at;
    if (container.header_size < sizeof container || container.header_size > left)
        return cs_fail(f->error, "offset %zu: fat binary: expected a header of %zu to %zu bytes, found %u",
                       *at + offsetof(struct container, header_size), sizeof container, left, container.header_size);
    left -= container.header_size;
    if (container.size > left)
        return cs_fail(f->error,
                       "offset %zu: fat binary: expected at most %zu bytes, found %llu: is the file cut short?",
                       *at + offsetof(struct container, size), left, (unsigned long long)container.size);
    size_t entry = *at + container.header_size, end = entry + (size_t)container.size;
    while (entry < end)
        if (read_entry(f, &entry, end) != 0)
            return -1;
    *at = end;
    return 0;
}

/* From where on something other than zeros follows. */
static size_t behind_padding(const struct finder *f, size_t at)
{
    static const uint8_t zeros[PADDING_STEP];
    while (f->size - at >= PADDING_STEP && memcmp(f->bytes + at, zeros, PADDING_STEP) == 0)
        at += PADDING_STEP;
    while (f->size - at < PADDING_STEP && at < f->size && f->bytes[at] == 0)
        at++;
    return at;
}

/* Containers follow one another; linkers put zeros between them. */
static int read_containers(struct finder *f, size_t at)
{
    while ((at = behind_padding(f, at)) < f->size)
        if (read_container(f, &at) != 0)
            return -1;
    return 0;
}

/* ---- ELF ---- */

struct sections {
    size_t at, count, stride;
    Elf64_Shdr names;
};

static int read_ehdr(const struct finder *f, Elf64_Ehdr *header)
{
    if (f->size < sizeof *header)
        return cs_fail(f->error, "offset 0: expected an ELF header of %zu bytes, found %zu", sizeof *header, f->size);
    memcpy(header, f->bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return cs_fail(f->error, "offset %d: expected a 64-bit little-endian ELF file", EI_CLASS);
    return 0;
}

/* Whether the section is a range of the file. */
static bool has_bytes(const Elf64_Shdr *section)
{
    return section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL && section->sh_type != SHARED_MEMORY;
}

static int read_section(const struct finder *f, const struct sections *sections, size_t index, Elf64_Shdr *section)
{
    size_t at = sections->at + index * sections->stride;
    memcpy(section, f->bytes + at, sizeof *section);
    if (has_bytes(section) && (section->sh_offset > f->size || section->sh_size > f->size - section->sh_offset))
        return cs_fail(
            f->error, "offset %zu: ELF section %zu: expected it within the file's %zu bytes, found %llu bytes at %llu",
            at, index, f->size, (unsigned long long)section->sh_size, (unsigned long long)section->sh_offset);
    return 0;
}

/* Finds the section table; where it has more rows than the header can say, its first row does. */
static int find_sections(const struct finder *f, const Elf64_Ehdr *header, struct sections *sections)
{
    Elf64_Shdr first;
    *sections = (struct sections){.at = (size_t)header->e_shoff, .stride = header->e_shentsize};
    if (header->e_shoff == 0)
        return cs_fail(f->error, "offset %zu: ELF file without a section table: where its GPU code is cannot be told",
                       offsetof(Elf64_Ehdr, e_shoff));
    if (header->e_shoff > f->size || f->size - header->e_shoff < sizeof first)
        return cs_fail(f->error,
                       "offset %zu: expected the ELF section table within the file's %zu bytes, found it at %llu",
                       offsetof(Elf64_Ehdr, e_shoff), f->size, (unsigned long long)header->e_shoff);
    if (sections->stride < sizeof first)
        return cs_fail(f->error, "offset %zu: expected ELF section headers of %zu bytes, found %zu",
                       offsetof(Elf64_Ehdr, e_shentsize), sizeof first, sections->stride);
    memcpy(&first, f->bytes + header->e_shoff, sizeof first);
    uint64_t count = header->e_shnum ? header->e_shnum : first.sh_size;
    uint64_t names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (count > (f->size - sections->at) / sections->stride)
        return cs_fail(f->error, "offset %zu: expected %llu ELF section headers, found room for %zu", sections->at,
                       (unsigned long long)count, (f->size - sections->at) / sections->stride);
    if (names >= count)
        return cs_fail(f->error, "offset %zu: ELF: section names: expected a section below %llu, found %llu",
                       offsetof(Elf64_Ehdr, e_shstrndx), (unsigned long long)count, (unsigned long long)names);
    sections->count = (size_t)count;
    return read_section(f, sections, (size_t)names, &sections->names);
}

static bool holds_fat_binaries(const struct finder *f, const struct sections *sections, const Elf64_Shdr *section)
{
    static const char *const called[] = {".nv_fatbin", "__nv_relfatbin"};
    const Elf64_Shdr *names = &sections->names;
    if (!has_bytes(section) || !has_bytes(names) || section->sh_name >= names->sh_size)
        return false;
    const char *name = (const char *)f->bytes + names->sh_offset + section->sh_name;
    size_t room = (size_t)(names->sh_size - section->sh_name);
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (strlen(called[i]) < room && memcmp(name, called[i], strlen(called[i]) + 1) == 0)
            return true;
    return false;
}

static int read_host(struct finder *f, const Elf64_Ehdr *header)
{
    struct sections sections;
    size_t found = 0, whole = f->size;
    if (find_sections(f, header, &sections) != 0)
        return -1;
    for (size_t i = 1; i < sections.count; i++) {
        Elf64_Shdr section;
        if (read_section(f, &sections, i, &section) != 0)
            return -1;
        if (!holds_fat_binaries(f, &sections, &section))
            continue;
        found++;
        f->size = (size_t)(section.sh_offset + section.sh_size);
        if (read_containers(f, (size_t)section.sh_offset) != 0)
            return -1;
        f->size = whole;
    }
    if (found == 0)
        return cs_fail(f->error,
                       "offset %zu: ELF file without GPU code: expected a section .nv_fatbin or __nv_relfatbin",
                       sections.at);
    return 0;
}

/* A cubin that is a file: whole if all its sections are there. What is in them is not looked at here. */
static int read_cubin(struct finder *f, const Elf64_Ehdr *header)
{
    struct sections sections;
    Elf64_Shdr section;
    if (find_sections(f, header, &sections) != 0)
        return -1;
    for (size_t i = 1; i < sections.count; i++)
        if (read_section(f, &sections, i, &section) != 0)
            return -1;
    return add_image(f, (struct cs_image){.size = f->size, .raw_size = f->size, .kind = CS_IMAGE_CUBIN});
}

static int read_elf(struct finder *f)
{
    Elf64_Ehdr header;
    if (read_ehdr(f, &header) != 0)
        return -1;
    return header.e_machine == MACHINE_CUDA ? read_cubin(f, &header) : read_host(f, &header);
}

int cs_container_images(const uint8_t *bytes, size_t size, struct cs_image **images, size_t *count,
                        struct cs_error *error)
{
    struct finder f = {.bytes = bytes, .size = size, .error = error};
    uint32_t magic = 0;
    int status;
    *images = NULL;
    *count = 0;
    if (size >= sizeof magic)
        memcpy(&magic, bytes, sizeof magic);
    if (size >= SELFMAG && memcmp(&magic, ELFMAG, SELFMAG) == 0)
        status = read_elf(&f);
    else if (magic == CONTAINER_MAGIC)
        status = read_containers(&f, 0);
    else
        status = cs_fail(error, "offset 0: expected a cubin, a fat binary, or an ELF file that carries GPU code%s",
                         size ? "" : ", found an empty file");
    if (status != 0) {
        free(f.images);
        return -1;
    }
    *images = f.images;
    *count = f.count;
    return 0;
}
