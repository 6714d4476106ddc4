/*
 * kernels.h - `copyspy kernels` in its parts: reading a file's kernels, unpacking images, printing a kernel.
 *
 * Threads: one.
 */
#ifndef COPYSPY_ANALYSIS_COMMAND_KERNELS_H
#define COPYSPY_ANALYSIS_COMMAND_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/error.h"
#include "analysis/sass/container.h"
#include "analysis/sass/summary.h"

/* A kernel that was found; valid during the call that hands it over. */
struct cs_kernel_entry {
    const char *mangled;
    const char *demangled;        /* the mangled name where that is no C++ name */
    const struct cs_image *image; /* what it lay in */
    const struct cs_kernel_summary *summary;
};

struct cs_kernel_totals {
    size_t kernels;          /* handed over */
    size_t cubins, unlinked; /* images of machine code opened; images that have none (PTX and the like) */
};

struct cs_kernel_reader {
    uint32_t architecture; /* 90 for sm_90; 0: all */
    const char *match;     /* text that one of the names must contain; NULL: all */
    /* Called for each kernel in the file's order; a status other than 0 ends the reading. */
    int (*kernel)(void *context, const struct cs_kernel_entry *entry);
    /* Called often, with the bytes of the file that are done; may be NULL. */
    void (*progress)(void *context, size_t done);
    void *context;
    struct cs_kernel_totals totals; /* counted up */
};

/*
 * Summarises the kernels of a cubin, a fat binary or a host ELF file that is in memory. One image is unpacked at a
 * time. Returns 0, the status of kernel(), or -1 with a message that names the offset in the file (and, where an image
 * was compressed, the offset in the image). A file whose containers are damaged fails before the first kernel.
 */
int cs_kernels_read(const uint8_t *bytes, size_t size, struct cs_kernel_reader *reader, struct cs_error *error);

/*
 * The image of `image` as it is before compression: bytes of the file, or a new buffer, then also in *owned for the
 * caller to free. Returns 0, or -1 with a message without place.
 */
int cs_kernels_unpack(const uint8_t *bytes, const struct cs_image *image, const uint8_t **unpacked, size_t *size,
                      uint8_t **owned, struct cs_error *error);

/*
 * The name as it is written in C++, with its parameters; the name itself where it is none or too long to be read. The
 * caller frees it; NULL when memory is out.
 */
char *cs_kernels_demangle(const char *mangled);

/* One kernel as a block of text. */
void cs_kernels_print_text(FILE *stream, const struct cs_kernel_entry *entry);

/* One kernel as a JSON object, without newline; `path` is its file's. Returns 0, or -1 when memory is out. */
int cs_kernels_print_json(FILE *stream, const char *path, const struct cs_kernel_entry *entry);

#endif
