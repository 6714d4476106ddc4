/*
 * test_class.c - what kernels do to data, told from their code: every fixture kernel has exactly its class.
 *
 * Arguments: cubins of class_fixtures.cu, as nvcc made them.
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

static const struct {
    const char *name;
    uint32_t class;
} truths[] = {
#define CLASS(name, class) {#name, CS_CLASS_##class},
#include "tests/sass/class_truth.def"
};

static char **paths;
static size_t path_count;

static void check_class(const struct cs_cubin *cubin, const char *name, uint32_t class)
{
    struct cs_kernel_summary summary;
    struct cs_error error;
    size_t kernel = cs_cubin_find(cubin, name);
    print_message("  sm_%u %s\n", cs_cubin_architecture(cubin), name);
    assert_true(kernel < cs_cubin_kernel_count(cubin));
    assert_int_equal(cs_summarize(cubin, kernel, &summary, &error), 0);
    assert_int_equal(summary.class, class);
    cs_summary_release(&summary);
}

static void every_fixture_kernel_has_its_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < path_count; i++) {
        struct image image = image_read(paths[i]);
        struct cs_cubin *cubin;
        assert_non_null(image.bytes);
        assert_int_equal(cs_cubin_open(image.bytes, image.size, &cubin, NULL), 0);
        assert_int_equal(cs_cubin_kernel_count(cubin), sizeof truths / sizeof *truths);
        for (size_t j = 0; j < sizeof truths / sizeof *truths; j++)
            check_class(cubin, truths[j].name, truths[j].class);
        cs_cubin_close(cubin);
        free(image.bytes);
    }
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s CUBIN...\n", arguments[0]);
        return 2;
    }
    paths = arguments + 1;
    path_count = (size_t)count - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fixture_kernel_has_its_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
