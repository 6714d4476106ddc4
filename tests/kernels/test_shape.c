/*
 * test_shape.c - shapes that the steps take and shapes that they refuse, with a message that names what is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/attention.h"

static struct cs_attention_shape usual(void)
{
    return cs_attention_dense(8, 12, 4, 1024, 1000, 64);
}

static void usual_shape_is_taken(void **state)
{
    struct cs_attention_shape shape = usual();
    struct cs_attention_error error;

    (void)state;
    assert_int_equal(cs_attention_check(&shape, &error), 0);
}

static void assert_refused(const struct cs_attention_shape *shape, const char *named, const char *limit)
{
    struct cs_attention_error error = {""};

    assert_int_equal(cs_attention_check(shape, &error), -1);
    assert_non_null(strstr(error.message, named));
    assert_non_null(strstr(error.message, limit));
}

static void each_empty_dimension_is_refused_by_name(void **state)
{
    static const struct {
        size_t offset;
        const char *name;
    } dimensions[] = {
        {offsetof(struct cs_attention_shape, batch), "batch is 0"},
        {offsetof(struct cs_attention_shape, query_heads), "query_heads is 0"},
        {offsetof(struct cs_attention_shape, key_heads), "key_heads is 0"},
        {offsetof(struct cs_attention_shape, query_length), "query_length is 0"},
        {offsetof(struct cs_attention_shape, key_length), "key_length is 0"},
        {offsetof(struct cs_attention_shape, head_dim), "head_dim is 0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        struct cs_attention_shape shape = usual();

        memset((char *)&shape + dimensions[i].offset, 0, sizeof(int64_t));
        assert_refused(&shape, dimensions[i].name, "from 1 to");
    }
}

static void heads_that_cannot_be_shared_evenly_are_refused(void **state)
{
    struct cs_attention_shape shape = usual();

    (void)state;
    shape.key_heads = 5;
    assert_refused(&shape, "query_heads is 12", "multiple of key_heads");
}

static void head_dim_past_the_limit_is_refused(void **state)
{
    struct cs_attention_shape shape = usual();

    (void)state;
    shape.head_dim = 257;
    assert_refused(&shape, "head_dim is 257", "at most 256");
}

static void more_blocks_than_a_grid_holds_are_refused(void **state)
{
    struct cs_attention_shape shape = cs_attention_dense(2048, 1024, 1, 1024, 1, 8);

    (void)state;
    assert_refused(&shape, "batch 2048", "2147483647");
    shape.batch = 2047;
    assert_int_equal(cs_attention_check(&shape, &(struct cs_attention_error){""}), 0);
}

static void span_ends_at_the_last_element(void **state)
{
    struct cs_attention_strides dense = {3 * 5 * 8, 5 * 8, 8}, gapped = {3 * 5 * 10, 5 * 10, 10};

    (void)state;
    assert_int_equal(cs_attention_span(&dense, 2, 3, 5, 8), 2 * 3 * 5 * 8);
    assert_int_equal(cs_attention_span(&gapped, 2, 3, 5, 8), 2 * 3 * 5 * 10 - 2);
}

static void failed_call_is_named_with_its_shape(void **state)
{
    struct cs_attention_shape shape = usual();
    struct cs_attention_error error = {""};

    (void)state;
    assert_int_equal(cs_attention_cuda(cudaSuccess, "cudaMalloc", &shape, &error), 0);
    assert_string_equal(error.message, "");
    assert_int_equal(cs_attention_cuda(cudaErrorInvalidValue, "cudaMalloc", &shape, &error), -1);
    assert_non_null(strstr(error.message, "cudaMalloc: "));
    assert_non_null(strstr(error.message, "batch 8, heads 12/4, lengths 1024/1000, dim 64"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_shape_is_taken),
        cmocka_unit_test(each_empty_dimension_is_refused_by_name),
        cmocka_unit_test(heads_that_cannot_be_shared_evenly_are_refused),
        cmocka_unit_test(head_dim_past_the_limit_is_refused),
        cmocka_unit_test(more_blocks_than_a_grid_holds_are_refused),
        cmocka_unit_test(span_ends_at_the_last_element),
        cmocka_unit_test(failed_call_is_named_with_its_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
