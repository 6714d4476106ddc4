/*
 * host_kernels.c - the five kernels of naive attention for the stand-in runtime: a library for SIM_KERNELS.
 *
 * Each function does on host memory what the kernel of the same name in naive.cu does on the device, whole grid at
 * once, so that programs can run and their results can be compared where there is no GPU. Runs on the launching thread.
 */
#include <math.h>
#include <stddef.h>

#include "kernels/naive.h"
#include "tests/sim/sim.h"

/* Parameter `ordinal` of type `type`. */
#define PARAMETER(launch, ordinal, type) (*(type *)(launch)->parameters[ordinal])

static int64_t score_rows(const struct cs_attention_shape *shape)
{
    return shape->batch * shape->query_heads * shape->query_length;
}

/* The place in a strided tensor where row `row` (of score_rows) begins; `group`: query heads that share one of its
 * heads. */
static int64_t row_offset(const struct cs_attention_shape *shape, const struct cs_attention_strides *strides,
                          int64_t row, int64_t group)
{
    int64_t line = row % shape->query_length, head = row / shape->query_length % shape->query_heads;

    return row / shape->query_length / shape->query_heads * strides->batch + head / group * strides->head +
           line * strides->row;
}

/* Where the keys or values that score row `row` works with begin. */
static int64_t head_offset(const struct cs_attention_shape *shape, const struct cs_attention_strides *strides,
                           int64_t row)
{
    return row_offset(shape, strides, row / shape->query_length * shape->query_length,
                      shape->query_heads / shape->key_heads);
}

static void attention_scores(const struct sim_launch *launch)
{
    const float *query = PARAMETER(launch, 0, const float *), *key = PARAMETER(launch, 1, const float *);
    const struct cs_attention_shape *shape = launch->parameters[3];
    int64_t pitch = CS_NAIVE_PITCH(shape);

    for (int64_t row = 0; row < score_rows(shape); row++) {
        const float *q = query + row_offset(shape, &shape->query, row, 1);
        const float *keys = key + head_offset(shape, &shape->key, row);
        float *scores = PARAMETER(launch, 2, float *) + row * pitch;

        for (int64_t j = 0; j < pitch; j++) {
            scores[j] = 0.0f;
            for (int64_t d = 0; j < shape->key_length && d < shape->head_dim; d++)
                scores[j] += q[d] * keys[j * shape->key.row + d];
        }
    }
}

static void attention_scale(const struct sim_launch *launch)
{
    float *scores = PARAMETER(launch, 0, float *);
    const struct cs_attention_shape *shape = launch->parameters[1];

    for (int64_t i = 0; i < score_rows(shape) * CS_NAIVE_PITCH(shape); i++)
        scores[i] *= shape->scale;
}

static void attention_mask(const struct sim_launch *launch)
{
    const struct cs_attention_shape *shape = launch->parameters[1];
    int64_t pitch = CS_NAIVE_PITCH(shape);

    for (int64_t row = 0; row < score_rows(shape); row++) {
        float *scores = PARAMETER(launch, 0, float *) + row * pitch;
        int64_t limit = shape->key_length;

        if (shape->causal)
            limit = row % shape->query_length + 1 + shape->key_length - shape->query_length;
        for (int64_t j = limit < 0 ? 0 : limit; j < pitch; j++)
            scores[j] = -INFINITY;
    }
}

static void attention_softmax(const struct sim_launch *launch)
{
    const struct cs_attention_shape *shape = launch->parameters[1];
    int64_t pitch = CS_NAIVE_PITCH(shape);

    for (int64_t row = 0; row < score_rows(shape); row++) {
        float *scores = PARAMETER(launch, 0, float *) + row * pitch, maximum = -INFINITY, sum = 0.0f;

        for (int64_t j = 0; j < pitch; j++)
            maximum = fmaxf(maximum, scores[j]);
        for (int64_t j = 0; j < pitch; j++) {
            scores[j] = scores[j] == -INFINITY ? 0.0f : expf(scores[j] - maximum);
            sum += scores[j];
        }
        for (int64_t j = 0; j < pitch; j++)
            scores[j] *= sum > 0.0f ? 1.0f / sum : 0.0f;
    }
}

static void attention_output(const struct sim_launch *launch)
{
    const float *value = PARAMETER(launch, 1, const float *);
    const struct cs_attention_shape *shape = launch->parameters[3];
    int64_t pitch = CS_NAIVE_PITCH(shape);

    for (int64_t row = 0; row < score_rows(shape); row++) {
        const float *weights = PARAMETER(launch, 0, const float *) + row * pitch;
        const float *values = value + head_offset(shape, &shape->value, row);
        float *output = PARAMETER(launch, 2, float *) + row_offset(shape, &shape->output, row, 1);

        for (int64_t d = 0; d < shape->head_dim; d++) {
            output[d] = 0.0f;
            for (int64_t j = 0; j < shape->key_length; j++)
                output[d] += weights[j] * values[j * shape->value.row + d];
        }
    }
}

__attribute__((visibility("default"))) void sim_kernels_init(void)
{
    sim_register_kernel("attention_scores", attention_scores);
    sim_register_kernel("attention_scale", attention_scale);
    sim_register_kernel("attention_mask", attention_mask);
    sim_register_kernel("attention_softmax", attention_softmax);
    sim_register_kernel("attention_output", attention_output);
}
