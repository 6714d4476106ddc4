/*
 * test_reference.c - the truth that kernels are held against is itself held against cases worked out by hand, and the
 * measure of distance against outputs that are known to be wrong.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/attention.h"

#define DIM 8

struct fixture {
    struct cs_attention_shape shape;
    struct cs_attention_tensors tensors;
    double *weights, row[DIM];
};

/* Query and key all zero, so that visible keys weigh the same; value (head, j, d) is 1000 head + 10 j + d. */
static struct fixture make(int64_t query_heads, int64_t key_heads, int64_t queries, int64_t keys)
{
    struct fixture f = {0};
    float *value;

    f.shape = cs_attention_dense(1, query_heads, key_heads, queries, keys, DIM);
    f.tensors.query = calloc((size_t)(query_heads * queries * DIM), sizeof(float));
    f.tensors.key = calloc((size_t)(key_heads * keys * DIM), sizeof(float));
    f.tensors.value = value = calloc((size_t)(key_heads * keys * DIM), sizeof(float));
    f.tensors.output = calloc((size_t)(query_heads * queries * DIM), sizeof(float));
    f.weights = calloc((size_t)keys, sizeof(double));
    assert_true(f.tensors.query && f.tensors.key && value && f.tensors.output && f.weights);
    for (int64_t i = 0; i < key_heads * keys * DIM; i++)
        value[i] = (float)(1000 * (i / DIM / keys) + 10 * (i / DIM % keys) + i % DIM);
    return f;
}

static void release(struct fixture *f)
{
    free((void *)f->tensors.query);
    free((void *)f->tensors.key);
    free((void *)f->tensors.value);
    free(f->tensors.output);
    free(f->weights);
}

static const double *row_of(struct fixture *f, int64_t head, int64_t row)
{
    cs_attention_reference_row(&f->shape, &f->tensors, 0, head, row, f->weights, f->row);
    return f->row;
}

static void equal_scores_give_the_mean_of_the_visible_values(void **state)
{
    struct fixture f = make(1, 1, 5, 5);

    (void)state;
    assert_float_equal(row_of(&f, 0, 0)[3], 3.0, 1e-12);
    assert_float_equal(row_of(&f, 0, 4)[3], 23.0, 1e-12); /* keys 0 to 4: 10 * 2 + 3 */
    f.shape.causal = 0;
    assert_float_equal(row_of(&f, 0, 0)[3], 23.0, 1e-12);
    release(&f);
}

static void mask_is_aligned_to_the_last_query_and_the_last_key(void **state)
{
    struct fixture f = make(1, 1, 2, 5);

    (void)state;
    assert_float_equal(row_of(&f, 0, 0)[0], 15.0, 1e-12); /* keys 0 to 3 */
    assert_float_equal(row_of(&f, 0, 1)[0], 20.0, 1e-12); /* all five */
    release(&f);
}

static void rows_that_see_no_key_are_zero(void **state)
{
    struct fixture f = make(1, 1, 5, 2);

    (void)state;
    for (int d = 0; d < DIM; d++)
        f.row[d] = NAN;
    row_of(&f, 0, 2);
    for (int d = 0; d < DIM; d++)
        assert_true(f.row[d] == 0.0);
    assert_float_equal(row_of(&f, 0, 3)[0], 0.0, 1e-12); /* key 0 */
    assert_float_equal(row_of(&f, 0, 4)[0], 5.0, 1e-12); /* keys 0 and 1 */
    release(&f);
}

static void query_heads_share_key_heads_in_order(void **state)
{
    struct fixture f = make(6, 2, 1, 1);

    (void)state;
    for (int64_t head = 0; head < 6; head++)
        assert_float_equal(row_of(&f, head, 0)[0], 1000.0 * (double)(head / 3), 1e-12);
    release(&f);
}

static void large_scores_pick_their_key_without_overflow(void **state)
{
    struct fixture f = make(1, 1, 3, 3);

    (void)state;
    for (int d = 0; d < DIM; d++) {
        ((float *)f.tensors.query)[2 * DIM + d] = 200.0f;
        ((float *)f.tensors.key)[1 * DIM + d] = 200.0f;
    }
    assert_float_equal(row_of(&f, 0, 2)[5], 15.0, 1e-12);
    release(&f);
}

static void scores_are_scaled_before_the_softmax(void **state)
{
    struct fixture f = make(1, 1, 2, 2);

    (void)state;
    ((float *)f.tensors.query)[DIM] = 2.0f;
    ((float *)f.tensors.key)[DIM] = 3.0f; /* scores 0 and 6 */
    f.shape.scale = 0.5f;
    assert_float_equal(row_of(&f, 0, 1)[0], 10.0 * exp(3.0) / (1.0 + exp(3.0)), 1e-12);
    release(&f);
}

static void fill_with_truth(struct fixture *f)
{
    for (int64_t row = 0; row < f->shape.query_length; row++)
        for (int64_t d = 0; d < DIM; d++)
            f->tensors.output[row * DIM + d] = (float)row_of(f, 0, row)[d];
}

static void distance_of_the_truth_is_rounding(void **state)
{
    struct fixture f = make(1, 1, 9, 9);

    (void)state;
    fill_with_truth(&f);
    assert_true(cs_attention_distance(&f.shape, &f.tensors, 1) < 1e-7);
    release(&f);
}

static void distance_sees_one_wrong_element(void **state)
{
    struct fixture f = make(1, 1, 9, 9);

    (void)state;
    fill_with_truth(&f);
    f.tensors.output[4 * DIM + 1] += 1.0f;
    assert_true(cs_attention_distance(&f.shape, &f.tensors, 1) > 1e-3);
    release(&f);
}

static void distance_of_a_nan_fails_every_bound(void **state)
{
    struct fixture f = make(1, 1, 9, 9);

    (void)state;
    fill_with_truth(&f);
    f.tensors.output[8 * DIM] = NAN;
    assert_false(cs_attention_distance(&f.shape, &f.tensors, 1) < 1e30);
    release(&f);
}

static void distance_from_a_zero_truth_is_the_norm_of_the_output(void **state)
{
    struct fixture f = make(1, 1, 1, 1);

    (void)state;
    memset((void *)f.tensors.value, 0, DIM * sizeof(float));
    f.tensors.output[0] = 3.0f;
    f.tensors.output[1] = 4.0f;
    assert_float_equal(cs_attention_distance(&f.shape, &f.tensors, 1), 5.0, 1e-12);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_scores_give_the_mean_of_the_visible_values),
        cmocka_unit_test(mask_is_aligned_to_the_last_query_and_the_last_key),
        cmocka_unit_test(rows_that_see_no_key_are_zero),
        cmocka_unit_test(query_heads_share_key_heads_in_order),
        cmocka_unit_test(large_scores_pick_their_key_without_overflow),
        cmocka_unit_test(scores_are_scaled_before_the_softmax),
        cmocka_unit_test(distance_of_the_truth_is_rounding),
        cmocka_unit_test(distance_sees_one_wrong_element),
        cmocka_unit_test(distance_of_a_nan_fails_every_bound),
        cmocka_unit_test(distance_from_a_zero_truth_is_the_norm_of_the_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
