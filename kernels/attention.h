/*
 * attention.h - what every attention step takes, gives and refuses; the only header between the steps and their users.
 *
 * A step computes output = softmax(scale * query * key^T, masked) * value for each batch and head. Tensors are fp32, of
 * any strides, with the elements of one row side by side. Query head h reads key and value head h / (query_heads /
 * key_heads). The causal mask is aligned to the last query and the last key (bottom right): query i sees the keys
 * j <= i + key_length - query_length. A row that sees no key is zero.
 *
 * Compiles as C and as CUDA C. Threads: no state; a step may be called from any thread.
 */
#ifndef COPYSPY_KERNELS_ATTENTION_H
#define COPYSPY_KERNELS_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Distances in elements, not bytes. Element (b, h, row, d) lies at b * batch + h * head + row * row_stride + d. */
struct cs_attention_strides {
    int64_t batch, head, row;
};

struct cs_attention_shape {
    int64_t batch, query_heads, key_heads; /* key_heads divides query_heads */
    int64_t query_length, key_length, head_dim;
    struct cs_attention_strides query, key, value, output;
    float scale;     /* of the scores, usually 1 / sqrt(head_dim) */
    uint32_t causal; /* 0: every query sees every key */
};

/* Device pointers. A step writes nothing but output (and memory of its own). */
struct cs_attention_tensors {
    const float *query, *key, *value;
    float *output;
};

struct cs_attention_error {
    char message[256]; /* names the shape and the limit, or the call and what the runtime said; no newline */
};

/*
 * One step. Work is queued on the stream; nothing is waited for, and memory of its own is stream-ordered. Returns 0, or
 * -1 with *error filled (error must not be NULL); then output is undefined.
 */
typedef int (*cs_attention_step)(const struct cs_attention_shape *shape, const struct cs_attention_tensors *tensors,
                                 cudaStream_t stream, struct cs_attention_error *error);

#define CS_STEP(number, name, floor, idea)                                                                             \
    int cs_attention_##name(const struct cs_attention_shape *shape, const struct cs_attention_tensors *tensors,        \
                            cudaStream_t stream, struct cs_attention_error *error);
#include "kernels/steps.def"
#undef CS_STEP

/* Largest head dimension that the steps take. */
#define CS_ATTENTION_MAX_HEAD_DIM 256
/* Largest number of thread blocks in grid.x, the only dimension that the steps use. */
#define CS_ATTENTION_MAX_BLOCKS 2147483647

/* A shape whose four tensors are dense, in the order batch, head, row, element; scale 1 / sqrt(head_dim), causal. */
struct cs_attention_shape cs_attention_dense(int64_t batch, int64_t query_heads, int64_t key_heads,
                                             int64_t query_length, int64_t key_length, int64_t head_dim);

/* Returns 0 when every step can take the shape, else -1 and the message naming the shape and the limit it passes. */
int cs_attention_check(const struct cs_attention_shape *shape, struct cs_attention_error *error);

/* Returns 0 for cudaSuccess, else -1 with "<call>: <what the runtime says> (<the shape>)". */
int cs_attention_cuda(cudaError_t status, const char *call, const struct cs_attention_shape *shape,
                      struct cs_attention_error *error);

/*
 * The truth: row `row` of head `head` in batch `batch`, from host tensors, in double precision throughout. `weights` is
 * scratch for key_length doubles, `output` receives head_dim doubles. The shape must have passed cs_attention_check.
 */
void cs_attention_reference_row(const struct cs_attention_shape *shape, const struct cs_attention_tensors *host,
                                int64_t batch, int64_t head, int64_t row, double *weights, double *output);

/*
 * Relative L2 distance of host->output from the truth, over every `every`-th row of each head (1: all of them). NaN
 * anywhere gives NaN, so test with !(distance < bound). Where the truth is all zero, the plain L2 norm of the output.
 * NaN too when memory ran out.
 */
double cs_attention_distance(const struct cs_attention_shape *shape, const struct cs_attention_tensors *host,
                             int64_t every);

/* Floats that a tensor of these strides spans: from its first element to its last, inclusive. */
size_t cs_attention_span(const struct cs_attention_strides *strides, int64_t batch, int64_t heads, int64_t rows,
                         int64_t head_dim);

#ifdef __cplusplus
}
#endif

#endif
