// shim.cu - libtorch_sim.so: the operators behind fakecuda.py, as a C interface.
//
// Each goes down through functions named like PyTorch's dispatcher entries, so that the operator chain of a native
// stack reads as it does there, and ends in runtime calls through the procedure linkage table. Out-of-place masking is
// what PyTorch makes of it: clone (allocation and device copy), then the in-place kernel.
//
// Compiled twice: as nvcc 13 does it (__cudaLaunchKernel, libcudart.so.13), and with __NV_LEGACY_LAUNCH
// (cudaLaunchKernel, libcudart.so.12).
//
// Threads: any. Errors of the runtime end the process with a line on standard error.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "kernels.cu"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define EXPORTED __attribute__((visibility("default")))
#define VISIBLE __attribute__((visibility("default"), noinline))

extern "C" void *sim_c10_alloc(size_t size);

namespace
{
const unsigned block = 256;

unsigned blocks(long count)
{
    return (unsigned)((count + block - 1) / block);
}

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "libtorch_sim: %s: %s\n", what, cudaGetErrorString(error));
    std::abort();
}
#define CHECK(call) check(call, #call)
} // namespace

// The end of each operator: a statement after the last call keeps the frame on the stack.
#define DONE() asm volatile("" ::: "memory")

namespace at
{
namespace _ops
{
struct EXPORTED copy_ {
    static VISIBLE void call(void *to, const void *from, long bytes, cudaStream_t stream)
    {
        CHECK(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, stream));
        DONE();
    }
};

struct EXPORTED clone {
    static VISIBLE void *call(const void *from, long bytes, cudaStream_t stream)
    {
        void *to = sim_c10_alloc((size_t)bytes);
        copy_::call(to, from, bytes, stream);
        DONE();
        return to;
    }
};

struct EXPORTED masked_fill__Scalar {
    static VISIBLE void call(float *self, const unsigned char *mask, float value, long count, long mask_count,
                             cudaStream_t stream)
    {
        sim_masked_fill<<<blocks(count), block, 0, stream>>>(self, mask, value, count, mask_count);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED masked_fill_Scalar {
    static VISIBLE float *call(const float *self, const unsigned char *mask, float value, long count, long mask_count,
                               cudaStream_t stream)
    {
        float *out = (float *)clone::call(self, count * (long)sizeof *self, stream);
        masked_fill__Scalar::call(out, mask, value, count, mask_count, stream);
        DONE();
        return out;
    }
};

struct EXPORTED mul_Tensor {
    static VISIBLE void call(float *out, const float *in, float factor, long count, cudaStream_t stream)
    {
        sim_mul<<<blocks(count), block, 0, stream>>>(out, in, factor, count);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED add_Tensor {
    static VISIBLE void call(float *out, const float *left, const float *right, float factor, long count,
                             cudaStream_t stream)
    {
        sim_add<<<blocks(count), block, 0, stream>>>(out, left, right, factor, count);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED relu {
    static VISIBLE void call(float *out, const float *in, long count, cudaStream_t stream)
    {
        sim_relu<<<blocks(count), block, 0, stream>>>(out, in, count);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED softmax_int {
    static VISIBLE void call(float *out, const float *in, long rows, long columns, cudaStream_t stream)
    {
        sim_softmax<<<(unsigned)rows, block, 0, stream>>>(out, in, columns);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED matmul {
    static VISIBLE void call(float *out, const float *left, const float *right, int batches, int rows, int inner,
                             int columns, int transposed, cudaStream_t stream)
    {
        dim3 grid(blocks(columns), (unsigned)rows, (unsigned)batches);
        sim_matmul<<<grid, block, 0, stream>>>(out, left, right, rows, inner, columns, transposed);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED sum {
    static VISIBLE void call(float *out, const float *in, long count, cudaStream_t stream)
    {
        sim_sum<<<1, block, 0, stream>>>(out, in, count);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED contiguous {
    static VISIBLE void call(float *out, const float *in, int rows, int columns, cudaStream_t stream)
    {
        sim_transpose_copy<<<blocks((long)rows * columns), block, 0, stream>>>(out, in, rows, columns);
        CHECK(cudaGetLastError());
        DONE();
    }
};

struct EXPORTED fill__Scalar {
    static VISIBLE void call(float *self, float value, long count, cudaStream_t stream)
    {
        sim_fill<<<blocks(count), block, 0, stream>>>(self, value, count);
        CHECK(cudaGetLastError());
        DONE();
    }
};
} // namespace _ops
} // namespace at

// The C interface: see fakecuda.py, which declares each.
EXPORT void fake_copy(void *to, const void *from, long bytes, cudaStream_t s)
{
    at::_ops::copy_::call(to, from, bytes, s);
}
EXPORT void *fake_clone(const void *from, long bytes, cudaStream_t s)
{
    return at::_ops::clone::call(from, bytes, s);
}
EXPORT void fake_masked_fill_(float *self, const unsigned char *mask, float value, long count, long mask_count,
                              cudaStream_t s)
{
    at::_ops::masked_fill__Scalar::call(self, mask, value, count, mask_count, s);
}
EXPORT float *fake_masked_fill(const float *self, const unsigned char *mask, float value, long count, long mask_count,
                               cudaStream_t s)
{
    return at::_ops::masked_fill_Scalar::call(self, mask, value, count, mask_count, s);
}
EXPORT void fake_mul(float *out, const float *in, float factor, long count, cudaStream_t s)
{
    at::_ops::mul_Tensor::call(out, in, factor, count, s);
}
EXPORT void fake_add(float *out, const float *left, const float *right, float factor, long count, cudaStream_t s)
{
    at::_ops::add_Tensor::call(out, left, right, factor, count, s);
}
EXPORT void fake_relu(float *out, const float *in, long count, cudaStream_t s)
{
    at::_ops::relu::call(out, in, count, s);
}
EXPORT void fake_softmax(float *out, const float *in, long rows, long columns, cudaStream_t s)
{
    at::_ops::softmax_int::call(out, in, rows, columns, s);
}
EXPORT void fake_matmul(float *out, const float *left, const float *right, int batches, int rows, int inner,
                        int columns, int transposed, cudaStream_t s)
{
    at::_ops::matmul::call(out, left, right, batches, rows, inner, columns, transposed, s);
}
EXPORT void fake_sum(float *out, const float *in, long count, cudaStream_t s)
{
    at::_ops::sum::call(out, in, count, s);
}
EXPORT void fake_transpose(float *out, const float *in, int rows, int columns, cudaStream_t s)
{
    at::_ops::contiguous::call(out, in, rows, columns, s);
}
EXPORT void fake_fill(float *self, float value, long count, cudaStream_t s)
{
    at::_ops::fill__Scalar::call(self, value, count, s);
}
EXPORT void fake_iota(float *out, float scale, long count, cudaStream_t s)
{
    sim_iota<<<blocks(count), block, 0, s>>>(out, scale, count);
    CHECK(cudaGetLastError());
}
EXPORT void fake_triu(unsigned char *out, long side, cudaStream_t s)
{
    sim_triu<<<blocks(side * side), block, 0, s>>>(out, side);
    CHECK(cudaGetLastError());
}
EXPORT void fake_zero(void *self, long bytes, cudaStream_t s)
{
    CHECK(cudaMemsetAsync(self, 0, (size_t)bytes, s));
}
EXPORT void fake_upload(void *to, const void *from, long bytes, cudaStream_t s)
{
    CHECK(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
}
EXPORT void fake_download(void *to, const void *from, long bytes, cudaStream_t s)
{
    CHECK(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
}
EXPORT void fake_synchronize(void)
{
    CHECK(cudaDeviceSynchronize());
}
EXPORT cudaStream_t fake_stream(void)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}
EXPORT void fake_begin_capture(cudaStream_t stream)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}
EXPORT cudaGraphExec_t fake_end_capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}
EXPORT void fake_launch_graph(cudaGraphExec_t exec, cudaStream_t stream)
{
    CHECK(cudaGraphLaunch(exec, stream));
}
