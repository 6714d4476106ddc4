/*
 * test_damaged.c - damaged images end in an error that names an offset, or in a summary, never in a crash or an endless
 * loop. Run under the address sanitizer this also proves that nothing is read outside the image.
 *
 * Arguments: cubins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/sass/summary.h"
#include "tests/sass/image.h"

enum { TRUNCATION_STEP = 64, FLIPS = 1500, SUMMARIES = 8 };

static char **paths;
static size_t path_count;

/* Opens a copy of exactly that many bytes, so that a sanitizer sees any read behind them. Returns whether it opened. */
static bool try_image(const uint8_t *bytes, size_t size, size_t first_kernel)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct cs_cubin *cubin;
    struct cs_error error = {.message = ""};
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = cs_cubin_open(copy, size, &cubin, &error) == 0;
    if (!opened) {
        assert_null(cubin);
        assert_true(strlen(error.message) > 10);
    }
    size_t count = opened ? cs_cubin_kernel_count(cubin) : 0;
    for (size_t i = 0; i < count && i < SUMMARIES; i++) {
        struct cs_kernel_summary summary;
        if (cs_summarize(cubin, (first_kernel + i) % count, &summary, &error) == 0)
            cs_summary_release(&summary);
    }
    cs_cubin_close(opened ? cubin : NULL);
    free(copy);
    return opened;
}

static void images_cut_short_are_refused(void **state)
{
    (void)state;
    for (size_t p = 0; p < path_count; p++) {
        struct image image = image_read(paths[p]);
        assert_non_null(image.bytes);
        size_t opened = 0, tried = 0;
        for (size_t size = 0; size < image.size; size += TRUNCATION_STEP, tried++)
            opened += try_image(image.bytes, size, tried);
        /* Only what lies behind the last section (program headers, padding) may be missing. */
        assert_true(opened * 20 < tried);
        assert_true(try_image(image.bytes, image.size, 0));
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

static void flipped_bytes_end_in_an_error_or_a_summary(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (size_t p = 0; p < path_count; p++) {
        struct image image = image_read(paths[p]);
        assert_non_null(image.bytes);
        for (int i = 0; i < FLIPS; i++) {
            uint8_t saved[4];
            size_t places[4];
            for (int j = 0; j < 4; j++) {
                /* Every other flip in the headers, where most decisions are made. */
                size_t range = i % 2 && image.size > 8192 ? 8192 : image.size;
                places[j] = next_random(&random) % range;
                saved[j] = image.bytes[places[j]];
                image.bytes[places[j]] ^= (uint8_t)(1 + next_random(&random) % 255);
            }
            try_image(image.bytes, image.size, next_random(&random) % 64);
            for (int j = 3; j >= 0; j--)
                image.bytes[places[j]] = saved[j];
        }
        assert_true(try_image(image.bytes, image.size, 0));
        free(image.bytes);
    }
}

static void what_is_no_cubin_is_refused_with_the_offset(void **state)
{
    (void)state;
    struct cs_cubin *cubin;
    struct cs_error error;
    uint8_t zeros[256] = {0};
    assert_int_equal(cs_cubin_open(NULL, 0, &cubin, &error), -1);
    assert_non_null(strstr(error.message, "offset 0"));
    assert_int_equal(cs_cubin_open(zeros, sizeof zeros, &cubin, &error), -1);
    assert_null(cubin);
    struct image image = image_read(paths[0]);
    assert_non_null(image.bytes);
    image.bytes[18] = 62; /* e_machine of x86-64 */
    assert_int_equal(cs_cubin_open(image.bytes, image.size, &cubin, &error), -1);
    assert_non_null(strstr(error.message, "offset 18"));
    free(image.bytes);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s CUBIN...\n", arguments[0]);
        return 2;
    }
    paths = arguments + 1;
    path_count = (size_t)count - 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_cubin_is_refused_with_the_offset),
        cmocka_unit_test(images_cut_short_are_refused),
        cmocka_unit_test(flipped_bytes_end_in_an_error_or_a_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
