/*
 * container.cu - kernels for the tests of `copyspy kernels`: one of each kind of parameter. Compiled into every kind of
 * file that the command reads; never run. What they do is written in test_kernels_command.c.
 */
template <typename T> __global__ void add(T *out, const T *a, const T *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
template __global__ void add<float>(float *, const float *, const float *, int);
template __global__ void add<double>(double *, const double *, const double *, int);

extern "C" __global__ void scale(float *x, float factor)
{
    x[threadIdx.x] *= factor;
}

extern "C" __global__ void count(unsigned *counters, const unsigned char *which)
{
    atomicAdd(&counters[which[threadIdx.x]], 1u);
}

extern "C" __global__ void keep(float **table, float *address)
{
    table[threadIdx.x] = address;
}

extern "C" __global__ void follow(float *const *table, float value)
{
    table[blockIdx.x][threadIdx.x] = value;
}

struct pointers {
    float *tensors[4];
};

extern "C" __global__ void clear(const __grid_constant__ struct pointers pointers, long length)
{
    if (threadIdx.x < length)
        pointers.tensors[blockIdx.x][threadIdx.x] = 0.0f;
}
