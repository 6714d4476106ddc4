/*
 * image.h - for the tests of the machine-code summary: a cubin file in memory.
 */
#ifndef COPYSPY_TESTS_SASS_IMAGE_H
#define COPYSPY_TESTS_SASS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct image {
    uint8_t *bytes; /* freed by the caller */
    size_t size;
};

/* Reads a whole file; bytes is NULL when it cannot. */
struct image image_read(const char *path);

#endif
