// program.cu - a program as a user writes it, compiled by nvcc with the shared runtime and run on the stand-in: it
// checks what it computed and ends with 0 only when all of it is right. Compiled a second time with per-thread default
// streams.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#include "kernels.cu"

__constant__ float factors[4];
__device__ float table[4] = {1, 2, 3, 4};
__device__ float zeros[4];
__managed__ int counter = 5;

template <typename T> __global__ void scale(T *data, T factor, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] *= factor;
}

__global__ void lookup(float *out)
{
    out[threadIdx.x] = factors[threadIdx.x] * table[threadIdx.x] + zeros[threadIdx.x] + counter;
}

static int failures;
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::printf("line %d: %s\n", __LINE__, #condition);                                                        \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

static float first(const float *device)
{
    float value = 0;
    OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void launches()
{
    const int count = 1000;
    float *data;
    OK(cudaMalloc(&data, count * sizeof *data));
    sim_fill<<<4, 256>>>(data, 3.0f, count);
    OK(cudaGetLastError());
    scale<float><<<4, 256>>>(data, 2.0f, count);
    OK(cudaGetLastError());
    EXPECT(first(data) == 6.0f);
    float factor = 0.5f;
    int length = count;
    void *arguments[] = {&data, &factor, &length};
    OK(cudaLaunchKernel((const void *)scale<float>, dim3(4), dim3(256), arguments, 0, 0));
    EXPECT(first(data) == 3.0f);
    OK(cudaLaunchCooperativeKernel((const void *)scale<float>, dim3(4), dim3(256), arguments, 0, 0));
    EXPECT(first(data) == 1.5f);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    OK(cudaLaunchKernelEx(&config, scale<float>, data, 4.0f, count));
    EXPECT(first(data + count - 1) == 6.0f);
    scale<double><<<1, 1>>>((double *)data, 1.0, 1);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    scale<float><<<4, 2048>>>(data, 1.0f, count);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, sim_softmax));
    EXPECT(attributes.sharedSizeBytes >= 1024 && attributes.maxThreadsPerBlock == 1024);
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 256, 0));
    EXPECT(blocks == 8);
    OK(cudaFree(data));
    OK(cudaDeviceSynchronize());
}

static void symbols()
{
    float host[4] = {10, 20, 30, 40}, back[4] = {}, *address;
    size_t size = 0;
    OK(cudaMemcpyFromSymbol(back, table, sizeof back));
    EXPECT(back[3] == 4.0f);
    OK(cudaMemcpyFromSymbol(back, zeros, sizeof back));
    EXPECT(back[3] == 0.0f);
    OK(cudaMemcpyToSymbol(factors, host, sizeof host));
    OK(cudaMemcpyToSymbolAsync(table, host, 8, 8, cudaMemcpyHostToDevice, 0));
    OK(cudaMemcpyFromSymbol(back, table, sizeof back));
    EXPECT(back[1] == 2.0f && back[2] == 10.0f);
    OK(cudaGetSymbolSize(&size, factors));
    EXPECT(size == sizeof factors);
    OK(cudaGetSymbolAddress((void **)&address, factors));
    EXPECT(first(address + 1) == 20.0f);
    EXPECT(cudaMemcpyToSymbol(factors, host, sizeof host, 4) == cudaErrorInvalidValue);
    cudaGetLastError();
    EXPECT(counter == 5);
    counter = 6;
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, &counter));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
}

static void graphs()
{
    const long count = 256;
    float *data, *copy;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaMalloc(&data, count * sizeof *data));
    OK(cudaMalloc(&copy, count * sizeof *data));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMemset(data, 0, count * sizeof *data));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (float step = 1; step <= 2; step++) // each node keeps the value its launch had
        sim_add<<<1, 256, 0, stream>>>(data, data, data, step, count);
    OK(cudaMemcpyAsync(copy, data, count * sizeof *data, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    sim_fill<<<1, 256>>>(data, 1.0f, count);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(first(copy) == 6.0f);
    OK(cudaGraphLaunch(exec, stream));
    EXPECT(first(copy) == 36.0f);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(data));
    OK(cudaFree(copy));
}

int main()
{
    launches();
    symbols();
    graphs();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
