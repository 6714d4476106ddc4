/*
 * container.h - finds the device images in a file: a cubin, a fat binary, or a host object, library or program that
 * carries fat binaries in its sections.
 *
 * Only finds them: an image may be compressed, and it is the caller's to unpack and open it. Layouts were read off what
 * nvcc 11.8 to 13.0 wrote and off NVIDIA's libraries.
 *
 * Threads: no state.
 */
#ifndef COPYSPY_ANALYSIS_SASS_CONTAINER_H
#define COPYSPY_ANALYSIS_SASS_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/error.h"

enum cs_image_kind { CS_IMAGE_CUBIN, CS_IMAGE_PTX, CS_IMAGE_OTHER /* intermediate code for linking */ };
enum cs_packing { CS_PACKING_NONE, CS_PACKING_LZ4 /* one block */, CS_PACKING_ZSTD /* frames */ };

struct cs_image {
    size_t offset;         /* in the file; offset + size lies within it */
    size_t size;           /* bytes as stored */
    uint64_t raw_size;     /* bytes when unpacked, as the file claims: not to be trusted */
    uint32_t architecture; /* 90 for sm_90; 0 where only the image itself says */
    uint8_t kind, packing; /* enum cs_image_kind, enum cs_packing */
};

/*
 * Finds the images in the `size` bytes of a file, in the file's order, into a new array that the caller frees (also
 * when it is empty). Every container of the file is looked at before this returns, so that a file that is cut short is
 * known as such at once. Returns 0, or -1 with a message that names the offset and what was expected there.
 */
int cs_container_images(const uint8_t *bytes, size_t size, struct cs_image **images, size_t *count,
                        struct cs_error *error);

#endif
