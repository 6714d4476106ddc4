/*
 * cubin.h - a CUDA ELF image as the summary pass sees it: code sections, parameters, literals, relocations.
 *
 * Everything points into the image that the caller keeps mapped; every offset and size here was checked against it. One
 * cubin may be read by several threads at once: nothing changes after cs_cubin_open.
 */
#ifndef COPYSPY_ANALYSIS_SASS_CUBIN_H
#define COPYSPY_ANALYSIS_SASS_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/sass/summary.h"

enum { CS_INSTRUCTION_BYTES = 16, CS_NO_SECTION = 0 };

/* Bytes of the image; data is NULL when there are none. */
struct cs_bytes {
    const uint8_t *data;
    size_t size;
};

struct cs_section {
    const char *name;
    struct cs_bytes bytes;
    uint32_t type, link, info;
};

struct cs_symbol {
    const char *name;
    uint64_t value, size;
    uint32_t section; /* CS_NO_SECTION: defined elsewhere (a system call, another module) */
    bool function;
};

/* A word of a section that the loader replaces by a symbol's address. */
struct cs_relocation {
    uint32_t section, symbol;
    uint64_t offset;
};

/* One entry function. Section numbers; CS_NO_SECTION where the image has none. */
struct cs_kernel {
    const char *name;
    uint32_t symbol, text, info, literals;   /* .text., .nv.info., .nv.constant2. */
    uint64_t entry;                          /* offset of its first instruction in the section */
    uint32_t parameter_base, parameter_size; /* bytes in constant bank 0 */
};

struct cs_cubin {
    const uint8_t *image;
    size_t size;
    uint32_t architecture;
    struct cs_section *sections;
    size_t section_count;
    struct cs_symbol *symbols;
    size_t symbol_count;
    struct cs_kernel *kernels; /* by name */
    size_t kernel_count;
    struct cs_relocation *relocations; /* by section and offset; those of debug sections are left out */
    size_t relocation_count;
    uint32_t addresses; /* section of bank 4, whose words the loader fills with addresses of symbols */
};

/* An indirect branch and where it may go, offsets in its section. */
struct cs_branch_targets {
    uint32_t branch;
    const uint8_t *targets; /* count little-endian words */
    uint32_t count;
};

/* Little-endian reads from anywhere in the image. */
uint16_t cs_read16(const uint8_t *p);
uint32_t cs_read32(const uint8_t *p);
uint64_t cs_read64(const uint8_t *p);

/* The section of that exact name, or CS_NO_SECTION. */
uint32_t cs_cubin_section(const struct cs_cubin *cubin, const char *name);

/*
 * The symbol that the relocation of these 8 bytes (or the first 4 of them) names: a relocation of `section` at
 * `offset`. Returns its number, or SIZE_MAX when the bytes are what they are.
 */
size_t cs_cubin_relocation(const struct cs_cubin *cubin, uint32_t section, uint64_t offset);

/*
 * The attribute at *offset of a .nv.info section; moves *offset behind it. Returns false at the end or where the rest
 * is damaged. The payload of a form without length is its two value bytes.
 */
bool cs_info_next(struct cs_bytes info, size_t *offset, uint8_t *attribute, struct cs_bytes *payload);

/* Finds the targets of the indirect branch at `branch`. Returns false when the compiler listed none. */
bool cs_cubin_branch_targets(const struct cs_cubin *cubin, const struct cs_kernel *kernel, uint32_t branch,
                             struct cs_branch_targets *targets);

/* Parameters by ordinal into a new array that the caller frees. Returns 0, or -1 with a message. */
int cs_cubin_parameters(const struct cs_cubin *cubin, const struct cs_kernel *kernel, struct cs_parameter **parameters,
                        size_t *count, struct cs_error *error);

#endif
