/*
 * fuzz.c - the entry that libFuzzer and other drivers call: opens bytes as a cubin and summarises its kernels. Built as
 * a program of its own it runs the files named as arguments.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/sass/summary.h"
#include "tests/sass/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cs_cubin *cubin;
    if (cs_cubin_open(bytes, size, &cubin, NULL) != 0)
        return 0;
    for (size_t i = 0; i < cs_cubin_kernel_count(cubin); i++) {
        struct cs_kernel_summary summary;
        if (cs_summarize(cubin, i, &summary, NULL) == 0)
            cs_summary_release(&summary);
    }
    cs_cubin_close(cubin);
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
