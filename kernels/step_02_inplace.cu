/*
 * step_02_inplace.cu - the first step without its copy: the mask is written into the scores themselves.
 *
 * The same five kernels, 8 units of memory traffic instead of 10, and half the peak memory. Runs on the caller's
 * thread.
 */
#include "kernels/naive.h"

int cs_attention_inplace(const struct cs_attention_shape *shape, const struct cs_attention_tensors *tensors,
                         cudaStream_t stream, struct cs_attention_error *error)
{
    float *scores = NULL;
    int failed;

    if (cs_attention_check(shape, error))
        return -1;
    failed = cs_attention_cuda(cudaMallocAsync((void **)&scores, cs_naive_score_bytes(shape), stream),
                               "cudaMallocAsync", shape, error) ||
             cs_naive_scores(shape, tensors->query, tensors->key, scores, stream, error) ||
             cs_naive_scale(shape, scores, stream, error) || cs_naive_mask(shape, scores, stream, error) ||
             cs_naive_softmax(shape, scores, stream, error) ||
             cs_naive_output(shape, scores, tensors->value, tensors->output, stream, error);
    if (scores)
        failed |= cs_attention_cuda(cudaFreeAsync(scores, stream), "cudaFreeAsync", shape, error);
    return failed ? -1 : 0;
}
