/*
 * naive.cu - the five kernels of naive attention and their launches (see naive.h).
 *
 * Two products through shared memory in 64 x 64 tiles, sixteen results a thread; and three passes over the score matrix
 * in 16-byte pieces. Everything is indexed with 64 bits, and the grid is one-dimensional, since only grid.x passes
 * 65,535. Launches run on the caller's thread.
 */
#include "kernels/naive.h"

#include <math.h>

#define TILE 64  /* rows and columns of a product's tile */
#define DEPTH 16 /* of the products summed between two barriers */
#define MICRO 4  /* rows and columns of results a thread */
#define THREADS 256

/* One product of a batch: c[m][n] = sum over k of a[m][k] * b, b being [n][k] when transposed, else [k][n]. */
struct product {
    const float *a, *b;
    float *c;
    int64_t a_row, b_row, c_row; /* elements from row to row */
    int64_t rows, columns, depth;
    int64_t stored_columns; /* at least columns: the rest of c's row is set to zero */
};

/* Loads the DEPTH x TILE pieces of a and b that start at `depth`; zero outside. Rows of the pieces run along k. */
__device__ static void load_tiles(const struct product *p, int64_t row, int64_t column, int64_t depth, bool transposed,
                                  float (*a)[TILE + 4], float (*b)[TILE + 4])
{
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        int k = i % DEPTH, m = i / DEPTH;

        a[k][m] = row + m < p->rows && depth + k < p->depth ? p->a[(row + m) * p->a_row + depth + k] : 0.0f;
        if (transposed) {
            b[k][m] =
                column + m < p->columns && depth + k < p->depth ? p->b[(column + m) * p->b_row + depth + k] : 0.0f;
        } else {
            k = i / TILE, m = i % TILE;
            b[k][m] =
                column + m < p->columns && depth + k < p->depth ? p->b[(depth + k) * p->b_row + column + m] : 0.0f;
        }
    }
}

/* The score matrix has whole 16-byte pieces in every row (`pieces`); a caller's output may have any strides. */
__device__ static void store_row(const struct product *p, int64_t row, int64_t column, const float *sum, bool pieces)
{
    float *c = p->c + row * p->c_row + column;

    if (pieces) {
        if (column < p->stored_columns)
            *(float4 *)c = make_float4(sum[0], sum[1], sum[2], sum[3]);
        return;
    }
    for (int j = 0; j < MICRO; j++)
        if (column + j < p->stored_columns)
            c[j] = sum[j];
}

/* `scores`: the first product, with b transposed and c in whole pieces; else the second. */
__device__ static void multiply_tile(const struct product *p, int64_t row, int64_t column, bool scores)
{
    __shared__ float a[DEPTH][TILE + 4], b[DEPTH][TILE + 4];
    float sum[MICRO][MICRO] = {};
    int y = threadIdx.x / (TILE / MICRO) * MICRO, x = threadIdx.x % (TILE / MICRO) * MICRO;

    for (int64_t depth = 0; depth < p->depth; depth += DEPTH) {
        load_tiles(p, row, column, depth, scores, a, b);
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float4 left = *(const float4 *)&a[k][y], right = *(const float4 *)&b[k][x];
            float l[MICRO] = {left.x, left.y, left.z, left.w}, r[MICRO] = {right.x, right.y, right.z, right.w};

            for (int i = 0; i < MICRO; i++)
                for (int j = 0; j < MICRO; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < MICRO; i++)
        if (row + y + i < p->rows)
            store_row(p, row + y + i, column + x, sum[i], scores);
}

/* Which head and which tile a block of a product works on. */
struct place {
    int64_t batch, head, row, column;
};

__device__ static struct place place_of(const struct cs_attention_shape *shape, int64_t row_tiles, int64_t column_tiles)
{
    int64_t block = blockIdx.x;
    struct place at;

    at.column = block % column_tiles * TILE;
    block /= column_tiles;
    at.row = block % row_tiles * TILE;
    block /= row_tiles;
    at.head = block % shape->query_heads;
    at.batch = block / shape->query_heads;
    return at;
}

__host__ __device__ static int64_t tiles(int64_t length)
{
    return (length + TILE - 1) / TILE;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention_scores(const float *query, const float *key, float *scores, struct cs_attention_shape shape)
{
    int64_t pitch = CS_NAIVE_PITCH(&shape);
    struct place at = place_of(&shape, tiles(shape.query_length), tiles(pitch));
    int64_t key_head = at.head / (shape.query_heads / shape.key_heads);
    struct product p = {query + at.batch * shape.query.batch + at.head * shape.query.head,
                        key + at.batch * shape.key.batch + key_head * shape.key.head,
                        scores + (at.batch * shape.query_heads + at.head) * shape.query_length * pitch,
                        shape.query.row,
                        shape.key.row,
                        pitch,
                        shape.query_length,
                        shape.key_length,
                        shape.head_dim,
                        pitch};

    multiply_tile(&p, at.row, at.column, true);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention_output(const float *scores, const float *value, float *output, struct cs_attention_shape shape)
{
    int64_t pitch = CS_NAIVE_PITCH(&shape);
    struct place at = place_of(&shape, tiles(shape.query_length), tiles(shape.head_dim));
    int64_t key_head = at.head / (shape.query_heads / shape.key_heads);
    struct product p = {scores + (at.batch * shape.query_heads + at.head) * shape.query_length * pitch,
                        value + at.batch * shape.value.batch + key_head * shape.value.head,
                        output + at.batch * shape.output.batch + at.head * shape.output.head,
                        pitch,
                        shape.value.row,
                        shape.output.row,
                        shape.query_length,
                        shape.head_dim,
                        shape.key_length,
                        shape.head_dim};

    multiply_tile(&p, at.row, at.column, false);
}

extern "C" __global__ void __launch_bounds__(THREADS) attention_scale(float *scores, struct cs_attention_shape shape)
{
    int64_t pieces = shape.batch * shape.query_heads * shape.query_length * (CS_NAIVE_PITCH(&shape) / 4);
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < pieces) {
        float4 x = ((float4 *)scores)[i];

        ((float4 *)scores)[i] = make_float4(x.x * shape.scale, x.y * shape.scale, x.z * shape.scale, x.w * shape.scale);
    }
}

/* Columns of this query row that may be seen: [0, limit). */
__device__ static int64_t visible_keys(const struct cs_attention_shape *shape, int64_t row)
{
    int64_t limit = shape->key_length;

    if (shape->causal)
        limit = row + 1 + shape->key_length - shape->query_length;
    return limit < 0 ? 0 : limit;
}

/* One block a row; everything past the last visible key becomes minus infinity, the padding too. */
extern "C" __global__ void __launch_bounds__(THREADS) attention_mask(float *scores, struct cs_attention_shape shape)
{
    int64_t pieces = CS_NAIVE_PITCH(&shape) / 4, row = blockIdx.x;
    int64_t limit = visible_keys(&shape, row % shape.query_length);
    float4 *line = (float4 *)scores + row * pieces;

    for (int64_t i = threadIdx.x; i < pieces; i += THREADS) {
        float4 x = line[i];

        x.x = i * 4 + 0 < limit ? x.x : -INFINITY;
        x.y = i * 4 + 1 < limit ? x.y : -INFINITY;
        x.z = i * 4 + 2 < limit ? x.z : -INFINITY;
        x.w = i * 4 + 3 < limit ? x.w : -INFINITY;
        line[i] = x;
    }
}

/* A maximum and the sum of exp(x - maximum). The maximum of nothing is minus infinity, its sum zero. */
struct partial {
    float maximum, sum;
};

/* exp(x - maximum), and 0 where both are minus infinity. */
__device__ static float weight(float x, float maximum)
{
    return x == -INFINITY ? 0.0f : expf(x - maximum);
}

__device__ static struct partial merge(struct partial a, struct partial b)
{
    struct partial merged = {fmaxf(a.maximum, b.maximum), 0.0f};

    merged.sum = a.sum * weight(a.maximum, merged.maximum) + b.sum * weight(b.maximum, merged.maximum);
    return merged;
}

/* The block's merged partial, to every thread. */
__device__ static struct partial merge_block(struct partial mine)
{
    __shared__ struct partial warps[THREADS / 32];

    for (int distance = 16; distance > 0; distance /= 2) {
        struct partial other = {__shfl_xor_sync(0xffffffffu, mine.maximum, distance),
                                __shfl_xor_sync(0xffffffffu, mine.sum, distance)};

        mine = merge(mine, other);
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = warps[0];
    for (int i = 1; i < THREADS / 32; i++)
        mine = merge(mine, warps[i]);
    return mine;
}

/* One block a row. The row is read twice, the second time from the cache. A row of minus infinities becomes zeros. */
extern "C" __global__ void __launch_bounds__(THREADS) attention_softmax(float *scores, struct cs_attention_shape shape)
{
    int64_t pieces = CS_NAIVE_PITCH(&shape) / 4;
    float4 *line = (float4 *)scores + (int64_t)blockIdx.x * pieces;
    struct partial total = {-INFINITY, 0.0f};
    float inverse;

    for (int64_t i = threadIdx.x; i < pieces; i += THREADS) {
        float4 x = line[i];
        float maximum = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
        struct partial four = {maximum, weight(x.x, maximum) + weight(x.y, maximum) + weight(x.z, maximum) +
                                            weight(x.w, maximum)};

        total = merge(total, four);
    }
    total = merge_block(total);
    inverse = total.sum > 0.0f ? 1.0f / total.sum : 0.0f;
    for (int64_t i = threadIdx.x; i < pieces; i += THREADS) {
        float4 x = line[i];

        line[i] = make_float4(weight(x.x, total.maximum) * inverse, weight(x.y, total.maximum) * inverse,
                              weight(x.z, total.maximum) * inverse, weight(x.w, total.maximum) * inverse);
    }
}

size_t cs_naive_score_bytes(const struct cs_attention_shape *shape)
{
    return (size_t)(shape->batch * shape->query_heads * shape->query_length * CS_NAIVE_PITCH(shape)) * sizeof(float);
}

static int64_t heads(const struct cs_attention_shape *shape)
{
    return shape->batch * shape->query_heads;
}

int cs_naive_scores(const struct cs_attention_shape *shape, const float *query, const float *key, float *scores,
                    cudaStream_t stream, struct cs_attention_error *error)
{
    int64_t blocks = heads(shape) * tiles(shape->query_length) * tiles(CS_NAIVE_PITCH(shape));

    attention_scores<<<(unsigned)blocks, THREADS, 0, stream>>>(query, key, scores, *shape);
    return cs_attention_cuda(cudaGetLastError(), "attention_scores", shape, error);
}

int cs_naive_scale(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                   struct cs_attention_error *error)
{
    int64_t pieces = heads(shape) * shape->query_length * (CS_NAIVE_PITCH(shape) / 4);

    attention_scale<<<(unsigned)((pieces + THREADS - 1) / THREADS), THREADS, 0, stream>>>(scores, *shape);
    return cs_attention_cuda(cudaGetLastError(), "attention_scale", shape, error);
}

int cs_naive_mask(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                  struct cs_attention_error *error)
{
    attention_mask<<<(unsigned)(heads(shape) * shape->query_length), THREADS, 0, stream>>>(scores, *shape);
    return cs_attention_cuda(cudaGetLastError(), "attention_mask", shape, error);
}

int cs_naive_softmax(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                     struct cs_attention_error *error)
{
    attention_softmax<<<(unsigned)(heads(shape) * shape->query_length), THREADS, 0, stream>>>(scores, *shape);
    return cs_attention_cuda(cudaGetLastError(), "attention_softmax", shape, error);
}

int cs_naive_output(const struct cs_attention_shape *shape, const float *scores, const float *value, float *output,
                    cudaStream_t stream, struct cs_attention_error *error)
{
    int64_t blocks = heads(shape) * tiles(shape->query_length) * tiles(shape->head_dim);

    attention_output<<<(unsigned)blocks, THREADS, 0, stream>>>(scores, value, output, *shape);
    return cs_attention_cuda(cudaGetLastError(), "attention_output", shape, error);
}
