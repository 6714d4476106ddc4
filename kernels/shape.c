/*
 * shape.c - building and refusing shapes, and saying what failed with which; plain arithmetic. Any thread.
 */
#include "kernels/attention.h"

#include <math.h>
#include <stdio.h>

static struct cs_attention_strides dense(int64_t heads, int64_t rows, int64_t head_dim)
{
    return (struct cs_attention_strides){heads * rows * head_dim, rows * head_dim, head_dim};
}

struct cs_attention_shape cs_attention_dense(int64_t batch, int64_t query_heads, int64_t key_heads,
                                             int64_t query_length, int64_t key_length, int64_t head_dim)
{
    struct cs_attention_shape shape = {0};

    shape.batch = batch;
    shape.query_heads = query_heads;
    shape.key_heads = key_heads;
    shape.query_length = query_length;
    shape.key_length = key_length;
    shape.head_dim = head_dim;
    shape.query = dense(query_heads, query_length, head_dim);
    shape.key = dense(key_heads, key_length, head_dim);
    shape.value = dense(key_heads, key_length, head_dim);
    shape.output = dense(query_heads, query_length, head_dim);
    shape.scale = (float)(1.0 / sqrt((double)head_dim));
    shape.causal = 1;
    return shape;
}

static int refuse(struct cs_attention_error *error, const char *what, int64_t value, const char *limit)
{
    snprintf(error->message, sizeof(error->message), "shape refused: %s is %lld, must be %s", what, (long long)value,
             limit);
    return -1;
}

/* A grid has at most CS_ATTENTION_MAX_BLOCKS blocks: a product needs one a tile, a pass one a row or 256 pieces.
 * Counted in double: exact up to 2^53, and it does not overflow past that. */
static int check_blocks(const struct cs_attention_shape *shape, struct cs_attention_error *error)
{
    double rows = (double)shape->batch * (double)shape->query_heads * (double)shape->query_length;
    double pieces = rows * (double)((shape->key_length + 3) / 4);
    double tiles = (double)shape->batch * (double)shape->query_heads * (double)((shape->query_length + 63) / 64) *
                   (double)((shape->key_length + 66) / 64);
    double blocks = fmax(rows, fmax(tiles, pieces / 256 + 1));

    if (blocks <= CS_ATTENTION_MAX_BLOCKS)
        return 0;
    snprintf(error->message, sizeof(error->message),
             "shape refused: batch %lld, heads %lld, lengths %lld/%lld need %.0f thread blocks, must be at most %d",
             (long long)shape->batch, (long long)shape->query_heads, (long long)shape->query_length,
             (long long)shape->key_length, blocks, CS_ATTENTION_MAX_BLOCKS);
    return -1;
}

int cs_attention_cuda(cudaError_t status, const char *call, const struct cs_attention_shape *shape,
                      struct cs_attention_error *error)
{
    if (status == cudaSuccess)
        return 0;
    snprintf(error->message, sizeof(error->message),
             "%s: %s (batch %lld, heads %lld/%lld, lengths %lld/%lld, dim %lld)", call, cudaGetErrorString(status),
             (long long)shape->batch, (long long)shape->query_heads, (long long)shape->key_heads,
             (long long)shape->query_length, (long long)shape->key_length, (long long)shape->head_dim);
    return -1;
}

int cs_attention_check(const struct cs_attention_shape *shape, struct cs_attention_error *error)
{
    const struct {
        const char *name;
        int64_t value;
    } positive[] = {{"batch", shape->batch},           {"query_heads", shape->query_heads},
                    {"key_heads", shape->key_heads},   {"query_length", shape->query_length},
                    {"key_length", shape->key_length}, {"head_dim", shape->head_dim}};

    for (size_t i = 0; i < sizeof(positive) / sizeof(positive[0]); i++)
        if (positive[i].value < 1 || positive[i].value > INT32_MAX)
            return refuse(error, positive[i].name, positive[i].value, "from 1 to 2147483647");
    if (shape->head_dim > CS_ATTENTION_MAX_HEAD_DIM)
        return refuse(error, "head_dim", shape->head_dim, "at most 256");
    if (shape->query_heads % shape->key_heads)
        return refuse(error, "query_heads", shape->query_heads, "a multiple of key_heads");
    return check_blocks(shape, error);
}

size_t cs_attention_span(const struct cs_attention_strides *strides, int64_t batch, int64_t heads, int64_t rows,
                         int64_t head_dim)
{
    return (size_t)((batch - 1) * strides->batch + (heads - 1) * strides->head + (rows - 1) * strides->row + head_dim);
}
