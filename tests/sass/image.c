/*
 * image.c - see image.h.
 */
#include "tests/sass/image.h"

#include <stdio.h>
#include <stdlib.h>

struct image image_read(const char *path)
{
    struct image image = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return image;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    if (size > 0)
        image.bytes = malloc((size_t)size);
    if (image.bytes)
        image.size = fread(image.bytes, 1, (size_t)size, file);
    fclose(file);
    return image;
}
