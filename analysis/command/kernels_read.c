/*
 * kernels_read.c - from a file's bytes to the summaries of its kernels, one image at a time. One thread.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/command/kernels.h"

/* An image that is open. */
struct open_image {
    const struct cs_image *image;
    struct cs_cubin *cubin;
    struct cs_kernel_reader *reader;
};

/* What goes wrong in an image is said with its place in the file. */
static int fail_in(const struct cs_image *image, const struct cs_error *cause, struct cs_error *error)
{
    if (image->offset == 0)
        return cs_fail(error, "%s", cause->message);
    return cs_fail(error, "offset %zu: image for sm_%u%s: %.180s", image->offset, image->architecture,
                   image->packing == CS_PACKING_NONE ? "" : ", unpacked", cause->message);
}

static bool is_wanted(const struct cs_kernel_reader *reader, const char *mangled, const char *name)
{
    return !reader->match || strstr(mangled, reader->match) || strstr(name, reader->match);
}

static int read_kernel(const struct open_image *open, size_t number, struct cs_error *error)
{
    struct cs_kernel_summary summary;
    struct cs_error cause;
    const char *mangled = cs_cubin_kernel_name(open->cubin, number);
    char *name = cs_kernels_demangle(mangled);
    int status = 0;
    if (!name)
        return cs_fail(error, "out of memory for a name");
    if (is_wanted(open->reader, mangled, name)) {
        if (cs_summarize(open->cubin, number, &summary, &cause) == 0) {
            struct cs_kernel_entry entry = {mangled, name, open->image, &summary};
            open->reader->totals.kernels++;
            status = open->reader->kernel(open->reader->context, &entry);
            cs_summary_release(&summary);
        } else {
            status = fail_in(open->image, &cause, error);
        }
    }
    free(name);
    return status;
}

/* Kernels are counted as the image's bytes in equal parts. */
static void tell_progress(const struct open_image *open, size_t done, size_t of)
{
    double part = of ? (double)done / (double)of : 1.0;
    if (open->reader->progress)
        open->reader->progress(open->reader->context, open->image->offset + (size_t)((double)open->image->size * part));
}

static int read_kernels(const struct open_image *open, struct cs_error *error)
{
    size_t count = cs_cubin_kernel_count(open->cubin);
    int status = 0;
    if (open->reader->architecture && cs_cubin_architecture(open->cubin) != open->reader->architecture)
        return 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = read_kernel(open, i, error);
        tell_progress(open, i + 1, count);
    }
    return status;
}

static int read_cubin(const uint8_t *bytes, struct open_image *open, struct cs_error *error)
{
    const uint8_t *unpacked;
    uint8_t *owned;
    size_t size;
    struct cs_error cause;
    if (cs_kernels_unpack(bytes, open->image, &unpacked, &size, &owned, &cause) != 0)
        return cs_fail(error, "offset %zu: image for sm_%u: %s", open->image->offset, open->image->architecture,
                       cause.message);
    int status;
    if (cs_cubin_open(unpacked, size, &open->cubin, &cause) == 0) {
        status = read_kernels(open, error);
        cs_cubin_close(open->cubin);
    } else {
        status = fail_in(open->image, &cause, error);
    }
    free(owned);
    return status;
}

static int read_image(const uint8_t *bytes, struct open_image *open, struct cs_error *error)
{
    struct cs_kernel_reader *reader = open->reader;
    if (open->image->kind != CS_IMAGE_CUBIN) {
        reader->totals.unlinked++;
        return 0;
    }
    reader->totals.cubins++;
    if (reader->architecture && open->image->architecture && open->image->architecture != reader->architecture)
        return 0;
    return read_cubin(bytes, open, error);
}

int cs_kernels_read(const uint8_t *bytes, size_t size, struct cs_kernel_reader *reader, struct cs_error *error)
{
    struct cs_image *images;
    size_t count;
    int status = 0;
    if (cs_container_images(bytes, size, &images, &count, error) != 0)
        return -1;
    struct open_image open = {.reader = reader};
    for (size_t i = 0; i < count && status == 0; i++) {
        open.image = &images[i];
        status = read_image(bytes, &open, error);
        tell_progress(&open, 1, 1);
    }
    free(images);
    return status;
}
