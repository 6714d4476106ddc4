/*
 * fuzz.c - the entry that libFuzzer and other drivers call: reads bytes as `copyspy kernels` reads a file, be it a
 * cubin or something that holds cubins, and summarises its kernels. Built as a program of its own it runs the files
 * named as arguments.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/command/kernels.h"
#include "tests/sass/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int ignore_kernel(void *context, const struct cs_kernel_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cs_kernel_reader reader = {.kernel = ignore_kernel};
    cs_kernels_read(bytes, size, &reader, NULL);
    return 0;
}

#ifndef COPYSPY_LIBFUZZER
int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        struct image image = image_read(arguments[i]);
        if (!image.bytes) {
            perror(arguments[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput(image.bytes, image.size);
        free(image.bytes);
    }
    return 0;
}
#endif
