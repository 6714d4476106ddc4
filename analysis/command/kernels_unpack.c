/*
 * kernels_unpack.c - the compressed images of fat binaries: LZ4 blocks (nvcc up to 12), zstd frames (since). One
 * thread.
 */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#include "analysis/command/kernels.h"

/* An image is at most some hundred megabytes; a claim above this is damage. */
#define MOST_BYTES ((uint64_t)1 << 31)

static int unpack_lz4(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, struct cs_error *error)
{
    int written =
        in_size > INT_MAX ? -1 : LZ4_decompress_safe((const char *)in, (char *)out, (int)in_size, (int)out_size);
    if (written < 0 || (size_t)written != out_size)
        return cs_fail(error, "expected LZ4 data of %zu bytes, found %s", out_size, written < 0 ? "damage" : "fewer");
    return 0;
}

static int unpack_zstd(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, struct cs_error *error)
{
    size_t written = ZSTD_decompress(out, out_size, in, in_size);
    if (ZSTD_isError(written))
        return cs_fail(error, "expected zstd data of %zu bytes: %s", out_size, ZSTD_getErrorName(written));
    if (written != out_size)
        return cs_fail(error, "expected zstd data of %zu bytes, found %zu", out_size, written);
    return 0;
}

/* The least that the format needs for so many bytes: what claims more is damaged, and its memory is never asked for. */
static bool is_possible(const struct cs_image *image)
{
    static const struct {
        uint64_t ratio, slack;
    } most[] = {
        [CS_PACKING_LZ4] = {255, 64},           /* a byte of length adds at most 255 */
        [CS_PACKING_ZSTD] = {1 << 16, 1 << 18}, /* a block of three bytes and one holds at most 128 KiB */
    };
    uint64_t limit = (uint64_t)image->size * most[image->packing].ratio + most[image->packing].slack;
    return image->raw_size <= MOST_BYTES - 1 && image->raw_size <= limit;
}

int cs_kernels_unpack(const uint8_t *bytes, const struct cs_image *image, const uint8_t **unpacked, size_t *size,
                      uint8_t **owned, struct cs_error *error)
{
    const uint8_t *in = bytes + image->offset;
    *owned = NULL;
    *unpacked = in;
    *size = image->size;
    if (image->packing == CS_PACKING_NONE)
        return 0;
    if (!is_possible(image))
        return cs_fail(error, "%zu compressed bytes cannot hold the %llu bytes that are claimed", image->size,
                       (unsigned long long)image->raw_size);
    size_t out_size = (size_t)image->raw_size;
    uint8_t *out = malloc(out_size ? out_size : 1);
    if (!out)
        return cs_fail(error, "out of memory for an image of %zu bytes", out_size);
    int status = image->packing == CS_PACKING_LZ4 ? unpack_lz4(in, image->size, out, out_size, error)
                                                  : unpack_zstd(in, image->size, out, out_size, error);
    if (status != 0) {
        free(out);
        return -1;
    }
    *unpacked = *owned = out;
    *size = out_size;
    return 0;
}
