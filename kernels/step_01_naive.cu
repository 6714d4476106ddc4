/*
 * step_01_naive.cu - attention as a framework runs it when the mask is applied out of place.
 *
 * The masking call makes a tensor of its own: the scores are copied, device to device, and the mask is written into the
 * copy. Nothing reads the scores after that. The copy moves 2 of the 10 units that a forward moves (see steps.def), so
 * it is about a fifth of the time that the memory takes. Runs on the caller's thread.
 */
#include "kernels/naive.h"

int cs_attention_naive(const struct cs_attention_shape *shape, const struct cs_attention_tensors *tensors,
                       cudaStream_t stream, struct cs_attention_error *error)
{
    float *scores = NULL, *masked = NULL;
    size_t bytes;
    int failed;

    if (cs_attention_check(shape, error))
        return -1;
    bytes = cs_naive_score_bytes(shape);
    failed = cs_attention_cuda(cudaMallocAsync((void **)&scores, bytes, stream), "cudaMallocAsync", shape, error) ||
             cs_naive_scores(shape, tensors->query, tensors->key, scores, stream, error) ||
             cs_naive_scale(shape, scores, stream, error) ||
             cs_attention_cuda(cudaMallocAsync((void **)&masked, bytes, stream), "cudaMallocAsync", shape, error);
    if (!failed) {
        cudaError_t status = cudaMemcpyAsync(masked, scores, bytes, cudaMemcpyDeviceToDevice, stream);

        failed = cs_attention_cuda(status, "cudaMemcpyAsync", shape, error);
    }
    if (scores)
        failed |= cs_attention_cuda(cudaFreeAsync(scores, stream), "cudaFreeAsync", shape, error);
    failed = failed || cs_naive_mask(shape, masked, stream, error) || cs_naive_softmax(shape, masked, stream, error) ||
             cs_naive_output(shape, masked, tensors->value, tensors->output, stream, error);
    if (masked)
        failed |= cs_attention_cuda(cudaFreeAsync(masked, stream), "cudaFreeAsync", shape, error);
    return failed ? -1 : 0;
}
