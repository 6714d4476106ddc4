/*
 * test_fixtures.c - the summaries of the fixture kernels are exactly the truth: no slot missing, none too many.
 *
 * Arguments: cubins of fixtures.cu and fixtures_sm90.cu, as nvcc made them.
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

enum {
    R = CS_ACCESS_READ,
    W = CS_ACCESS_WRITE,
    RW = R | W,
    A = RW | CS_ACCESS_ATOMIC,
    S = CS_ACCESS_STORED,
    OPAQUE_READ = 1,
    OPAQUE_WRITE = 2,
    INCOMPLETE = 4,
    MOST_SLOTS = 10
};

struct expected_slot {
    uint32_t ordinal, offset, size, kind, access;
};

struct truth {
    const char *name;
    bool tensor_memory; /* in fixtures_sm90.cu */
    uint32_t flags;
    struct expected_slot slots[MOST_SLOTS]; /* ends at size 0 */
};

#define SLOT(ordinal, offset, size, kind, access)                                                                      \
    {                                                                                                                  \
        ordinal, offset, size, kind, access                                                                            \
    }
#define SLOTS(...)                                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define NO_SLOTS                                                                                                       \
    {                                                                                                                  \
        {                                                                                                              \
            0, 0, 0, 0, 0                                                                                              \
        }                                                                                                              \
    }
#define KERNEL(name, flags, ...) {#name, false, flags, __VA_ARGS__},
#define KERNEL_SM90(name, flags, ...) {#name, true, flags, __VA_ARGS__},
static const struct truth truths[] = {
#include "tests/sass/truth.def"
};

static char **paths;
static size_t path_count;

static uint32_t flags_of(const struct cs_kernel_summary *summary)
{
    return (summary->opaque_read ? OPAQUE_READ : 0) | (summary->opaque_write ? OPAQUE_WRITE : 0) |
           (summary->incomplete ? INCOMPLETE : 0);
}

static void check_slots(const struct truth *truth, const struct cs_kernel_summary *summary)
{
    size_t count = 0;
    for (; count < MOST_SLOTS && truth->slots[count].size; count++) {
        const struct expected_slot *expected = &truth->slots[count];
        assert_true(count < summary->slot_count);
        assert_true(expected->ordinal < summary->parameter_count);
        const struct cs_slot *slot = &summary->slots[count];
        assert_int_equal(slot->offset, summary->parameters[expected->ordinal].offset + expected->offset);
        assert_int_equal(slot->size, expected->size);
        assert_int_equal(slot->kind, expected->kind);
        assert_int_equal(slot->access, expected->access);
    }
    assert_int_equal(summary->slot_count, count);
}

static void check_kernel(const struct cs_cubin *cubin, size_t kernel, const struct truth *truth)
{
    struct cs_kernel_summary summary;
    struct cs_error error;
    print_message("  sm_%u %s\n", cs_cubin_architecture(cubin), truth->name);
    assert_int_equal(cs_summarize(cubin, kernel, &summary, &error), 0);
    assert_int_equal(summary.architecture, cs_cubin_architecture(cubin));
    assert_int_equal(summary.content_hash, cs_cubin_kernel_hash(cubin, kernel));
    check_slots(truth, &summary);
    assert_int_equal(flags_of(&summary), truth->flags);
    cs_summary_release(&summary);
}

static void every_fixture_kernel_has_exactly_its_true_slots(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t i = 0; i < path_count; i++) {
        struct image image = image_read(paths[i]);
        struct cs_cubin *cubin;
        struct cs_error error;
        assert_non_null(image.bytes);
        assert_int_equal(cs_cubin_open(image.bytes, image.size, &cubin, &error), 0);
        bool tensor_memory = strstr(paths[i], "fixtures_sm90") != NULL;
        for (size_t j = 0; j < sizeof truths / sizeof *truths; j++) {
            if (truths[j].tensor_memory != tensor_memory)
                continue;
            size_t kernel = cs_cubin_find(cubin, truths[j].name);
            assert_true(kernel < cs_cubin_kernel_count(cubin));
            check_kernel(cubin, kernel, &truths[j]);
            checked++;
        }
        cs_cubin_close(cubin);
        free(image.bytes);
    }
    assert_true(checked >= sizeof truths / sizeof *truths);
}

static void different_code_has_different_hashes(void **state)
{
    (void)state;
    struct image image = image_read(paths[0]);
    struct cs_cubin *cubin;
    assert_non_null(image.bytes);
    assert_int_equal(cs_cubin_open(image.bytes, image.size, &cubin, NULL), 0);
    size_t count = cs_cubin_kernel_count(cubin);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(cs_cubin_kernel_hash(cubin, i) != cs_cubin_kernel_hash(cubin, j));
    assert_true(count > 1);
    cs_cubin_close(cubin);
    free(image.bytes);
}

static void a_name_that_is_no_kernel_is_not_found(void **state)
{
    (void)state;
    struct image image = image_read(paths[0]);
    struct cs_cubin *cubin;
    assert_non_null(image.bytes);
    assert_int_equal(cs_cubin_open(image.bytes, image.size, &cubin, NULL), 0);
    assert_true(cs_cubin_find(cubin, "no such kernel") == SIZE_MAX);
    assert_true(cs_cubin_find(cubin, "") == SIZE_MAX);
    for (size_t i = 0; i < cs_cubin_kernel_count(cubin); i++)
        assert_int_equal(cs_cubin_find(cubin, cs_cubin_kernel_name(cubin, i)), i);
    cs_cubin_close(cubin);
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
        cmocka_unit_test(every_fixture_kernel_has_exactly_its_true_slots),
        cmocka_unit_test(different_code_has_different_hashes),
        cmocka_unit_test(a_name_that_is_no_kernel_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
