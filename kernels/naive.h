/*
 * naive.h - the five kernels that the first two steps share, as calls that queue one kernel each.
 *
 * The score matrix is dense: batch, query head, query row, key column, with rows padded to a multiple of four columns
 * so that every row can be read in 16-byte pieces. Padding columns hold zero after cs_naive_scores and are masked like
 * any key that is out of sight.
 *
 * Compiles as C and as CUDA C. Threads: no state.
 */
#ifndef COPYSPY_KERNELS_NAIVE_H
#define COPYSPY_KERNELS_NAIVE_H

#include "kernels/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns from one row of the score matrix to the next. */
#define CS_NAIVE_PITCH(shape) (((shape)->key_length + 3) / 4 * 4)

/* Bytes of the score matrix. */
size_t cs_naive_score_bytes(const struct cs_attention_shape *shape);

/*
 * Each queues one kernel on the stream and returns 0, or -1 with the message. The shape must have passed
 * cs_attention_check. All work in place on scores but cs_naive_scores, which writes it, and cs_naive_output, which
 * reads it.
 */
int cs_naive_scores(const struct cs_attention_shape *shape, const float *query, const float *key, float *scores,
                    cudaStream_t stream, struct cs_attention_error *error);
int cs_naive_scale(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                   struct cs_attention_error *error);
int cs_naive_mask(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                  struct cs_attention_error *error);
int cs_naive_softmax(const struct cs_attention_shape *shape, float *scores, cudaStream_t stream,
                     struct cs_attention_error *error);
int cs_naive_output(const struct cs_attention_shape *shape, const float *scores, const float *value, float *output,
                    cudaStream_t stream, struct cs_attention_error *error);

#ifdef __cplusplus
}
#endif

#endif
