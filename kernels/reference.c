/*
 * reference.c - attention on the processor, in double, one row at a time: the truth that every step is held against.
 *
 * Written to be read, not to be fast. Runs on the caller's thread.
 */
#include "kernels/attention.h"

#include <math.h>
#include <stdlib.h>

static int64_t visible_keys(const struct cs_attention_shape *shape, int64_t row)
{
    int64_t limit = shape->causal ? row + 1 + shape->key_length - shape->query_length : shape->key_length;

    return limit < 0 ? 0 : limit;
}

static const float *row_of(const float *tensor, const struct cs_attention_strides *strides, int64_t batch, int64_t head,
                           int64_t row)
{
    return tensor + batch * strides->batch + head * strides->head + row * strides->row;
}

/* Turns `count` scores into weights that sum to one. */
static void softmax(double *scores, int64_t count)
{
    double maximum = -INFINITY, sum = 0.0;

    for (int64_t j = 0; j < count; j++)
        maximum = fmax(maximum, scores[j]);
    for (int64_t j = 0; j < count; j++) {
        scores[j] = exp(scores[j] - maximum);
        sum += scores[j];
    }
    for (int64_t j = 0; j < count; j++)
        scores[j] /= sum;
}

void cs_attention_reference_row(const struct cs_attention_shape *shape, const struct cs_attention_tensors *host,
                                int64_t batch, int64_t head, int64_t row, double *weights, double *output)
{
    int64_t keys = visible_keys(shape, row), key_head = head / (shape->query_heads / shape->key_heads);
    const float *query = row_of(host->query, &shape->query, batch, head, row);

    for (int64_t j = 0; j < keys; j++) {
        const float *key = row_of(host->key, &shape->key, batch, key_head, j);

        weights[j] = 0.0;
        for (int64_t d = 0; d < shape->head_dim; d++)
            weights[j] += (double)query[d] * key[d];
        weights[j] *= (double)shape->scale;
    }
    softmax(weights, keys);
    for (int64_t d = 0; d < shape->head_dim; d++)
        output[d] = 0.0;
    for (int64_t j = 0; j < keys; j++) {
        const float *value = row_of(host->value, &shape->value, batch, key_head, j);

        for (int64_t d = 0; d < shape->head_dim; d++)
            output[d] += weights[j] * value[d];
    }
}

struct distance {
    double difference, truth; /* sums of squares */
};

static void add_row(struct distance *distance, const double *truth, const float *got, int64_t count)
{
    for (int64_t d = 0; d < count; d++) {
        double difference = (double)got[d] - truth[d];

        distance->difference += difference * difference;
        distance->truth += truth[d] * truth[d];
    }
}

double cs_attention_distance(const struct cs_attention_shape *shape, const struct cs_attention_tensors *host,
                             int64_t every)
{
    struct distance distance = {0.0, 0.0};
    double *weights = malloc((size_t)(shape->key_length + shape->head_dim) * sizeof(double));
    double *truth;

    if (!weights)
        return NAN;
    truth = weights + shape->key_length;
    for (int64_t b = 0; b < shape->batch; b++)
        for (int64_t h = 0; h < shape->query_heads; h++)
            for (int64_t i = (b + h) % every; i < shape->query_length; i += every) {
                cs_attention_reference_row(shape, host, b, h, i, weights, truth);
                add_row(&distance, truth, row_of(host->output, &shape->output, b, h, i), shape->head_dim);
            }
    free(weights);
    return sqrt(distance.difference) / (distance.truth > 0.0 ? sqrt(distance.truth) : 1.0);
}
