/*
 * test_container.c - fat binaries and host files: every image in them is found and unpacked, however it is packed; what
 * is cut short or damaged ends in an error that names an offset, never in a crash. Run under the address sanitizer this
 * also proves that nothing is read outside the file.
 *
 * Arguments: a cubin, then files with fat binaries as nvcc made them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include "analysis/command/kernels.h"
#include "tests/sass/image.h"

enum { CUTS = 400, FLIPS = 1500, ENTRY_HEADER = 64, CONTAINER_HEADER = 16, ELF_KIND = 2, PTX_KIND = 1 };

static char **paths;
static size_t path_count;
static struct image cubin;

/* ---- a fat binary of our own ---- */

struct builder {
    uint8_t *bytes;
    size_t size;
};

static void put(struct builder *b, size_t at, uint64_t value, size_t size)
{
    memcpy(b->bytes + at, &value, size);
}

static void grow(struct builder *b, size_t more)
{
    b->bytes = realloc(b->bytes, b->size + more);
    assert_non_null(b->bytes);
    memset(b->bytes + b->size, 0, more);
    b->size += more;
}

static struct builder container(void)
{
    struct builder b = {0};
    grow(&b, CONTAINER_HEADER);
    put(&b, 0, 0xba55ed50u, 4);
    put(&b, 4, 1, 2);
    put(&b, 6, CONTAINER_HEADER, 2);
    return b;
}

/* An entry with these stored bytes, padded to words; raw_size 0: they are not compressed. */
static size_t add_entry(struct builder *b, unsigned kind, unsigned flags, const void *data, size_t size,
                        size_t raw_size)
{
    size_t at = b->size, padded = (size + 7) / 8 * 8;
    grow(b, ENTRY_HEADER + padded);
    put(b, at, kind, 2);
    put(b, at + 4, ENTRY_HEADER, 4);
    put(b, at + 8, padded, 8);
    put(b, at + 16, raw_size ? size : 0, 4);
    put(b, at + 28, 90, 4);
    put(b, at + 40, flags, 8);
    put(b, at + 56, raw_size, 8);
    memcpy(b->bytes + at + ENTRY_HEADER, data, size);
    put(b, 8, b->size - CONTAINER_HEADER, 8);
    return at;
}

static size_t add_lz4(struct builder *b)
{
    int room = LZ4_compressBound((int)cubin.size);
    char *packed = malloc((size_t)room);
    int size = LZ4_compress_default((const char *)cubin.bytes, packed, (int)cubin.size, room);
    assert_true(size > 0);
    size_t at = add_entry(b, ELF_KIND, 0x2011, packed, (size_t)size, cubin.size);
    free(packed);
    return at;
}

static size_t add_zstd(struct builder *b)
{
    size_t room = ZSTD_compressBound(cubin.size);
    void *packed = malloc(room);
    size_t size = ZSTD_compress(packed, room, cubin.bytes, cubin.size, 3);
    assert_false(ZSTD_isError(size));
    size_t at = add_entry(b, ELF_KIND, 0x8011, packed, size, cubin.size);
    free(packed);
    return at;
}

/* A host file with the bytes as its section of that name. */
static struct builder host(const char *section, const struct builder *content)
{
    struct builder b = {0};
    size_t names = sizeof(Elf64_Ehdr), data = names + 64, sections = data + (content->size + 7) / 8 * 8;
    grow(&b, sections + 3 * sizeof(Elf64_Shdr));
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_machine = EM_X86_64,
                         .e_shoff = sections,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 3,
                         .e_shstrndx = 1};
    Elf64_Shdr rows[3] = {
        {0},
        {.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = 64},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = data, .sh_size = content->size},
    };
    memcpy(b.bytes, &header, sizeof header);
    memcpy(b.bytes + names + 1, section, strlen(section));
    memcpy(b.bytes + data, content->bytes, content->size);
    memcpy(b.bytes + sections, rows, sizeof rows);
    return b;
}

/* ---- reading ---- */

struct tally {
    size_t kernels, most;
    uint64_t hashes; /* of all summaries, in order */
};

static int count_kernel(void *context, const struct cs_kernel_entry *entry)
{
    struct tally *tally = context;
    assert_non_null(entry->mangled);
    assert_non_null(entry->demangled);
    tally->hashes = tally->hashes * 31 + entry->summary->content_hash;
    tally->kernels++;
    return tally->most && tally->kernels == tally->most ? 1 : 0;
}

/* Reads a copy of exactly that many bytes, so that a sanitizer sees any read behind them. */
static int read_bytes(const uint8_t *bytes, size_t size, struct tally *tally, struct cs_error *error)
{
    struct cs_kernel_reader reader = {.kernel = count_kernel, .context = tally};
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    error->message[0] = '\0';
    int status = cs_kernels_read(copy, size, &reader, error);
    if (status < 0 && !strstr(error->message, "offset "))
        fail_msg("no offset in \"%s\"", error->message);
    free(copy);
    return status;
}

static struct tally must_read(const uint8_t *bytes, size_t size)
{
    struct tally tally = {0};
    struct cs_error error;
    if (read_bytes(bytes, size, &tally, &error) != 0)
        fail_msg("%s", error.message);
    return tally;
}

static void must_refuse(const struct builder *b, const char *said)
{
    struct tally tally = {0};
    struct cs_error error;
    assert_int_equal(read_bytes(b->bytes, b->size, &tally, &error), -1);
    if (!strstr(error.message, said))
        fail_msg("\"%s\" says nothing of \"%s\"", error.message, said);
    assert_int_equal(tally.kernels, 0);
}

/* ---- tests ---- */

static void kernels_are_the_same_however_their_image_is_packed(void **state)
{
    (void)state;
    struct tally expected = must_read(cubin.bytes, cubin.size);
    assert_true(expected.kernels > 0);
    for (int form = 0; form < 3; form++) {
        struct builder b = container();
        if (form == 0)
            add_entry(&b, ELF_KIND, 0x11, cubin.bytes, cubin.size, 0);
        else
            form == 1 ? add_lz4(&b) : add_zstd(&b);
        struct tally tally = must_read(b.bytes, b.size);
        assert_int_equal(tally.kernels, expected.kernels);
        assert_true(tally.hashes == expected.hashes);
        free(b.bytes);
    }
}

static void containers_and_entries_follow_one_another(void **state)
{
    (void)state;
    size_t kernels = must_read(cubin.bytes, cubin.size).kernels;
    struct builder b = container();
    add_entry(&b, PTX_KIND, 0x11, "// PTX", 6, 0);
    add_lz4(&b);
    add_entry(&b, 99, 0x11, "whatever", 8, 0);
    add_entry(&b, ELF_KIND, 0x11, cubin.bytes, cubin.size, 0);
    size_t first = b.size;
    grow(&b, 20 + first); /* a linker's padding, then the same again */
    memcpy(b.bytes + first + 20, b.bytes, first);
    assert_int_equal(must_read(b.bytes, b.size).kernels, 4 * kernels);
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    for (size_t i = 0; i < 2; i++) {
        struct builder elf = host(sections[i], &b);
        assert_int_equal(must_read(elf.bytes, elf.size).kernels, 4 * kernels);
        free(elf.bytes);
    }
    struct builder other = host(".nv_fatbinary", &b);
    must_refuse(&other, "expected a section .nv_fatbin");
    free(other.bytes);
    free(b.bytes);
}

static void files_of_nvcc_are_read(void **state)
{
    (void)state;
    for (size_t p = 0; p < path_count; p++) {
        struct image image = image_read(paths[p]);
        assert_non_null(image.bytes);
        assert_true(must_read(image.bytes, image.size).kernels > 0);
        free(image.bytes);
    }
}

/* The first row of that type in the section table of an ELF file, and where it lies. */
static size_t find_row(const uint8_t *elf, uint32_t type, Elf64_Shdr *row)
{
    Elf64_Ehdr header;
    memcpy(&header, elf, sizeof header);
    for (size_t i = 0; i < header.e_shnum; i++) {
        size_t at = header.e_shoff + i * sizeof *row;
        memcpy(row, elf + at, sizeof *row);
        if (row->sh_type == type)
            return at;
    }
    fail_msg("no section of type %u", type);
    return 0;
}

static void sections_without_bytes_may_have_any_size(void **state)
{
    (void)state;
    Elf64_Shdr row;
    size_t at = find_row(cubin.bytes, SHT_NOTE, &row);
    uint8_t *copy = malloc(cubin.size);
    assert_non_null(copy);
    memcpy(copy, cubin.bytes, cubin.size);
    row.sh_size = UINT32_MAX;
    row.sh_type = SHT_LOPROC + 0xa; /* shared memory, as NCCL's cubins have it */
    memcpy(copy + at, &row, sizeof row);
    must_read(copy, cubin.size);
    free(copy);
    struct builder b = container(), elf = host(".nv_fatbin", &b);
    at = find_row(elf.bytes, SHT_STRTAB, &row);
    row.sh_type = SHT_NULL; /* the section of the names: then there are none */
    row.sh_offset = UINT64_MAX / 2;
    row.sh_size = UINT64_MAX / 2;
    memcpy(elf.bytes + at, &row, sizeof row);
    must_refuse(&elf, "expected a section .nv_fatbin");
    free(elf.bytes);
    free(b.bytes);
}

static void check_name(const char *mangled, const char *begins)
{
    char *name = cs_kernels_demangle(mangled);
    assert_non_null(name);
    if (strncmp(name, begins, strlen(begins)) != 0)
        fail_msg("%.200s: expected \"%s\", found \"%.200s\"", mangled, begins, name);
    free(name);
}

static void names_are_read_within_bounds(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[16384] = "_Z1fI";
    for (int i = 0; i < 300; i++)
        strcat(name, "2abI");
    strcat(name, "i");
    for (int i = 0; i < 300; i++)
        strcat(name, "E");
    strcat(name, "EvT_");
    check_name(name, "void f<ab<ab<ab<"); /* longer than the C++ run time reads */
    strcpy(name, "_Z1f1AIiiE");
    for (int i = 0; i < 36; i++)
        sprintf(name + strlen(name), "S_IS%c_S%c_E", digits[i], digits[i]);
    check_name(name, "_Z1f1AIiiES_IS0_S0_E"); /* 2^36 times A: left as it is */
    strcpy(name, "_Z");
    memset(name + 2, 'P', sizeof name - 3);
    check_name(name, "_ZPPPP");
    check_name("_Z", "_Z");
    check_name("", "");
    check_name("main", "main");
}

static void damage_is_named_with_its_offset(void **state)
{
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *said;
    } rows[] = {
        {0, 4, 0x12345678, "offset 0: expected a cubin, a fat binary"},
        {6, 2, 8, "offset 6: fat binary: expected a header of 16 to "},
        {6, 2, 0xffff, "offset 6: fat binary: expected a header of 16 to "},
        {8, 8, UINT64_MAX, "offset 8: fat binary: expected at most "},
        {8, 8, 24, "offset 16: expected the 64 bytes of a fat binary entry's header, found 24"},
        {20, 4, 63, "offset 20: fat binary entry: expected a header of 64 to "},
        {20, 4, UINT32_MAX, "offset 20: fat binary entry: expected a header of 64 to "},
        {24, 8, UINT64_MAX, "offset 24: fat binary entry: expected at most "},
        {32, 4, UINT32_MAX, "offset 32: fat binary entry: expected at most "},
        {72, 8, UINT64_MAX, "offset 80: image for sm_90: "}, /* claims more than any image has */
        {72, 8, 1000, "offset 80: image for sm_90: expected LZ4 data of 1000 bytes"},
        {80, 4, 0xffffffff, "offset 80: image for sm_90: expected LZ4 data of "},
        {56, 8, 0x8011, "offset 80: image for sm_90: expected zstd data of "},
        {56, 8, 0x11, "offset 80: image for sm_90: cubin: offset 0: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct builder b = container();
        add_lz4(&b);
        put(&b, rows[i].at, rows[i].value, rows[i].size);
        must_refuse(&b, rows[i].said);
        free(b.bytes);
    }
    struct builder rest = container();
    add_entry(&rest, PTX_KIND, 0, "", 0, 0);
    grow(&rest, 8);
    put(&rest, rest.size - 4, 0xdeadbeef, 4);
    must_refuse(&rest, "offset 84: expected the 16 bytes of a fat binary's header, found 4");
    free(rest.bytes);
}

static void files_cut_short_are_refused(void **state)
{
    (void)state;
    for (size_t p = 0; p < path_count; p++) {
        struct image image = image_read(paths[p]);
        assert_non_null(image.bytes);
        for (size_t i = 0; i < CUTS; i++) {
            struct tally tally = {0};
            struct cs_error error;
            size_t size = image.size * i / CUTS;
            assert_int_equal(read_bytes(image.bytes, size, &tally, &error), -1);
            assert_int_equal(tally.kernels, 0);
        }
        free(image.bytes);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void flip_and_read(uint8_t *bytes, size_t size, size_t range, uint32_t *random)
{
    uint8_t saved[3];
    size_t places[3];
    struct tally tally = {.most = 4};
    struct cs_error error;
    for (int j = 0; j < 3; j++) {
        places[j] = next_random(random) % range;
        saved[j] = bytes[places[j]];
        bytes[places[j]] ^= (uint8_t)(1 + next_random(random) % 255);
    }
    read_bytes(bytes, size, &tally, &error);
    for (int j = 3; j-- > 0;)
        bytes[places[j]] = saved[j];
}

static void flipped_bytes_end_in_an_error_or_in_kernels(void **state)
{
    (void)state;
    uint32_t random = 4711;
    struct builder b = container();
    add_lz4(&b);
    add_zstd(&b);
    struct builder elf = host(".nv_fatbin", &b);
    for (int i = 0; i < FLIPS; i++) {
        /* Most decisions are made in the first headers; every third round flips anywhere. */
        flip_and_read(b.bytes, b.size, i % 3 ? CONTAINER_HEADER + ENTRY_HEADER + 16 : b.size, &random);
        flip_and_read(elf.bytes, elf.size, i % 3 ? 2 * sizeof(Elf64_Ehdr) + 96 : elf.size, &random);
        uint8_t *sections = elf.bytes + elf.size - 3 * sizeof(Elf64_Shdr);
        uint8_t saved = *sections;
        size_t place = next_random(&random) % (3 * sizeof(Elf64_Shdr));
        saved = sections[place];
        sections[place] ^= (uint8_t)(1 + next_random(&random) % 255);
        read_bytes(elf.bytes, elf.size, &(struct tally){.most = 1}, &(struct cs_error){{0}});
        sections[place] = saved;
    }
    free(elf.bytes);
    free(b.bytes);
    for (size_t p = 0; p < path_count; p++) {
        struct image image = image_read(paths[p]);
        assert_non_null(image.bytes);
        for (int i = 0; i < FLIPS / 5; i++)
            flip_and_read(image.bytes, image.size, image.size, &random);
        must_read(image.bytes, image.size);
        free(image.bytes);
    }
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s CUBIN FILE...\n", arguments[0]);
        return 2;
    }
    cubin = image_read(arguments[1]);
    paths = arguments + 2;
    path_count = (size_t)count - 2;
    if (!cubin.bytes) {
        perror(arguments[1]);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_the_same_however_their_image_is_packed),
        cmocka_unit_test(containers_and_entries_follow_one_another),
        cmocka_unit_test(files_of_nvcc_are_read),
        cmocka_unit_test(sections_without_bytes_may_have_any_size),
        cmocka_unit_test(names_are_read_within_bounds),
        cmocka_unit_test(damage_is_named_with_its_offset),
        cmocka_unit_test(files_cut_short_are_refused),
        cmocka_unit_test(flipped_bytes_end_in_an_error_or_in_kernels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cubin.bytes);
    return failed;
}
