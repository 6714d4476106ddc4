// fixtures.cu - kernels whose accesses are known by construction; the truth is in truth.def, one row a kernel.
//
// Compiled by nvcc for every architecture that the pass knows; never run.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void
static __device__ __forceinline__ int64_t index64()
{
    return int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ int index32()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- elementwise ----
KERNEL copy_floats(float *to, const float *from, int n)
{
    int i = index32();
    if (i < n)
        to[i] = from[i];
}

KERNEL copy_vectors(float4 *to, const float4 *from, int64_t n)
{
    for (int64_t i = index64(); i < n; i += int64_t(gridDim.x) * blockDim.x)
        to[i] = from[i];
}

KERNEL copy_bytes(uint8_t *to, const uint8_t *from, uint32_t n)
{
    uint32_t i = index32();
    if (i < n)
        to[i] = from[i];
}

KERNEL fill_float(float *to, float value, int n)
{
    int i = index32();
    if (i < n)
        to[i] = value;
}

KERNEL cast_to_half(__half *to, const float *from, int n)
{
    int i = index32();
    if (i < n)
        to[i] = __float2half(from[i]);
}

KERNEL axpy(float *y, const float *x, float a, int n)
{
    int i = index32();
    if (i < n)
        y[i] += a * x[i];
}

struct Divider {
    uint32_t divisor, magic, shift;
};
struct Calculator {
    int dimensions;
    Divider sizes[6];
    uint32_t strides[6][3];
    float *unused; // never dereferenced: must not become a slot
};
struct Elementwise {
    Calculator calculator;
    char *data[3];
    float *spare[2];
    float value;
};

// Shaped like a framework's strided elementwise kernel: pointers deep in a struct, offsets from magic divisions.
KERNEL strided_masked_fill(int n, Elementwise p)
{
    int linear = index32();
    if (linear >= n)
        return;
    uint32_t rest = linear, offsets[3] = {0, 0, 0};
#pragma unroll
    for (int d = 0; d < 6; ++d) {
        if (d == p.calculator.dimensions)
            break;
        const Divider &by = p.calculator.sizes[d];
        uint32_t quotient = (__umulhi(rest, by.magic) + rest) >> by.shift, digit = rest - quotient * by.divisor;
        rest = quotient;
#pragma unroll
        for (int a = 0; a < 3; ++a)
            offsets[a] += digit * p.calculator.strides[d][a];
    }
    float from = *(const float *)(p.data[1] + offsets[1]);
    bool mask = *(const bool *)(p.data[2] + offsets[2]);
    *(float *)(p.data[0] + offsets[0]) = mask ? p.value : from;
}

KERNEL masked_fill_in_place(float *x, const bool *mask, float value, int n)
{
    int i = index32();
    if (i < n && mask[i])
        x[i] = value;
}

KERNEL triangle(float *to, const float *from, int64_t rows, int64_t columns, int64_t diagonal)
{
    int64_t i = index64();
    if (i >= rows * columns)
        return;
    int64_t row = i / columns, column = i - row * columns;
    to[i] = column - row >= diagonal ? from[i] : 0.f;
}

// ---- indices ----
KERNEL strides_2d(float *to, const float *from, int64_t to_row, int64_t from_row, int64_t from_column, int n)
{
    int64_t row = blockIdx.y, column = index32();
    if (column < n)
        to[row * to_row + column] = from[row * from_row + column * from_column];
}

KERNEL transpose(float *to, const float *from, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = from[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    if (x < height && y < width)
        to[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL negative_offsets(float *to, const float *from, int n)
{
    int i = index32();
    to[-i - 7] = from[n - i] + from[i - 3];
}

KERNEL gather(float *to, const float *from, const int64_t *index, int64_t stride, int n)
{
    int i = index32();
    if (i < n)
        to[i] = from[index[i] * stride];
}

KERNEL scatter_add(float *to, const float *from, const int *index, int n)
{
    int i = index32();
    if (i < n)
        atomicAdd(&to[index[i]], from[i]);
}

KERNEL reversed(int *to, const int *from, uint32_t n)
{
    uint32_t i = index32();
    to[n - 1 - i] = from[i];
}

KERNEL aligned_down(float *to, const float *from, int n)
{
    const float4 *whole = (const float4 *)((uintptr_t)(from + n) & ~uintptr_t(15));
    float4 v = whole[threadIdx.x];
    to[threadIdx.x] = v.x + v.y + v.z + v.w;
}

KERNEL difference(int64_t *to, const char *a, const char *b)
{
    to[threadIdx.x] = a - b; // addresses subtracted: an integer, and neither is dereferenced
}

// ---- reductions ----
KERNEL softmax_rows(float *to, const float *from, int columns)
{
    __shared__ float partial[32];
    const float *row = from + int64_t(blockIdx.x) * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int o = 16; o; o >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < int(blockDim.x / 32); ++w)
        most = fmaxf(most, partial[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += __expf(row[i] - most);
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < int(blockDim.x / 32); ++w)
        sum += partial[w];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        to[int64_t(blockIdx.x) * columns + i] = __expf(row[i] - most) / sum;
}

KERNEL sum_atomic(float *total, const float *from, int n)
{
    float sum = 0;
    for (int i = index32(); i < n; i += gridDim.x * blockDim.x)
        sum += from[i];
    atomicAdd(total, sum);
}

KERNEL last_block_reduces(float *to, float *partials, unsigned *counter, const float *from, int n)
{
    __shared__ bool last;
    float sum = 0;
    for (int i = index32(); i < n; i += gridDim.x * blockDim.x)
        sum += from[i];
    partials[index32()] = sum;
    __threadfence();
    if (threadIdx.x == 0)
        last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    for (unsigned b = 0; b < gridDim.x; ++b)
        sum += ((volatile float *)partials)[b * blockDim.x + threadIdx.x];
    to[threadIdx.x] = sum;
}

KERNEL compare_and_swap(unsigned long long *cell, unsigned long long expected, unsigned *old)
{
    old[threadIdx.x] = unsigned(atomicCAS(cell + threadIdx.x, expected * 3, expected * 5));
}

KERNEL histogram(unsigned *bins, const uint8_t *from, int n)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = index32(); i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[from[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// ---- pointers that are chosen, kept, loaded ----
KERNEL selected(float *a, float *b, float *to, int which)
{
    const float *from = which > 3 ? a : b;
    to[threadIdx.x] = from[threadIdx.x];
}

KERNEL selected_output(float *a, float *b, const float *from, const int *which)
{
    float *to = which[threadIdx.x] ? a : b;
    to[threadIdx.x] = from[threadIdx.x];
}

KERNEL predicated(float *to, const float *a, const float *b, int n)
{
    int i = index32();
    float x = 0, y = 0;
    if (i < n)
        x = a[i];
    if (i + 128 < n)
        y = b[i + 128];
    if (i < n)
        to[i] = x;
    if (i + 128 < n)
        to[i + 128] = y;
}

struct Table {
    float *to[8];
};
KERNEL table_of_outputs(Table table, const float *from, int which)
{
    table.to[which & 7][threadIdx.x] = from[threadIdx.x];
}

struct Lists {
    const float *from[24];
    float *to[24];
    uint8_t which[64];
};
// The shape of a multi-tensor kernel: the block's list number is a byte of the parameters.
KERNEL lists(const __grid_constant__ Lists p, int n)
{
    int list = p.which[blockIdx.x];
    const float *from = p.from[list];
    float *to = p.to[list];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = from[i];
}

KERNEL loaded_pointers(float *const *to, const float *const *from, int n)
{
    float *out = to[blockIdx.x];
    const float *in = from[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = in[i];
}

KERNEL chased(int *to, const int *const *const *from)
{
    to[threadIdx.x] = ***from;
}

KERNEL stored_pointer(float **to, float *kept, int64_t n)
{
    to[threadIdx.x] = kept + n * threadIdx.x;
}

KERNEL stored_halves(uint32_t *to, float *kept)
{
    to[0] = uint32_t(uintptr_t(kept));
    to[1] = uint32_t(uintptr_t(kept) >> 32);
}

KERNEL kept_in_shared(float *a, float *b, float *to)
{
    __shared__ float *pointers[2];
    if (threadIdx.x == 0) {
        pointers[0] = a;
        pointers[1] = b;
    }
    __syncthreads();
    to[threadIdx.x] = pointers[threadIdx.x & 1][threadIdx.x];
}

KERNEL kept_in_local(const float *a, const float *b, const float *c, float *to, const int *which)
{
    const float *volatile pointers[3] = {a, b, c};
    to[threadIdx.x] = pointers[which[threadIdx.x] % 3][threadIdx.x];
}

// More live values than registers: addresses are spilled (see the launch bounds).
KERNEL __launch_bounds__(1024, 1)
    spilled(float *to, const float *a, const float *b, const float *c, const float *d, int n)
{
    float x[24];
    const float *p = a + n * threadIdx.x, *q = b + n * threadIdx.x, *r = c + threadIdx.x, *s = d + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 24; ++i)
        x[i] = p[i * n];
    for (int k = 0; k < n; ++k) {
        float y = q[k];
#pragma unroll
        for (int i = 0; i < 24; ++i)
            x[i] = x[i] * y + x[(i + 5) % 24];
    }
    float sum = r[n] * s[n];
#pragma unroll
    for (int i = 0; i < 24; ++i)
        sum += x[i];
    to[threadIdx.x] = sum;
}

KERNEL walking(float *to, const float *from, int n, int step)
{
    for (int i = 0; i < n; ++i) {
        *to = *from;
        to += step;
        from += 2 * step;
    }
}

KERNEL walking_bytes(char *to, const char *from, int n, int64_t to_step, int64_t from_step)
{
    for (int i = 0; i < n; ++i) {
        *to = *from;
        to += to_step; // 64-bit offsets that are only added: no slots
        from += from_step;
    }
}

// One array addressed by the pointer into the other, as optimisers of loops do it.
KERNEL walking_by_difference(uint64_t to, uint64_t from, int n, int step)
{
    uint64_t difference = to - from;
    asm volatile("" : "+l"(difference)); // or the compiler would see through it
    for (uint64_t p = from + 4 * threadIdx.x; n > 0; --n, p += 4 * step)
        *(float *)(p + difference) = *(const float *)p;
}

// ---- calls and jumps ----
__device__ __noinline__ float twice_read(const float *p, int i)
{
    return p[i] + p[2 * i];
}
KERNEL calls(float *to, const float *a, const float *b, int n)
{
    float x = twice_read(a, threadIdx.x);
    to[threadIdx.x] = x * twice_read(b, n);
}

__device__ __noinline__ void put(float *p, float x)
{
    p[threadIdx.x] = x;
}
KERNEL calls_write(float *a, float *b, const float *c, int n)
{
    float x = c[threadIdx.x];
    put(a, x);
    if (n > 7)
        put(b, x * 2);
}

KERNEL slow_division(int64_t *to, const int64_t *from, int64_t n)
{
    int i = index32();
    to[i] = from[i] / n + from[i + 1] % (n + 3);
}

KERNEL slow_root(double *to, const double *from, int n)
{
    int i = index32();
    if (i < n)
        to[i] = sqrt(from[i]) / from[i + n];
}

KERNEL switched(int *to, const int *from, int what)
{
    switch (what) {
    case 0:
        to[0] = 1;
        break;
    case 1:
        to[3] = 5;
        break;
    case 2:
        to[7] = what * threadIdx.x;
        break;
    case 3:
        to[9] = from[2];
        break;
    case 4:
        to[what * 3] = 4;
        break;
    case 5:
        to[1] = from[5] * 3;
        break;
    case 6:
        to[what] = from[what + 3];
        break;
    case 7:
        to[threadIdx.x] = 3;
        __threadfence();
        to[1] = 9;
        break;
    }
}

__device__ float (*volatile chosen)(float);
KERNEL through_function_pointer(float *to, const float *from)
{
    to[threadIdx.x] = chosen(from[threadIdx.x]);
}

// ---- memory that is not global ----
KERNEL generic_store(float *to, const float *from, int n)
{
    __shared__ float tile[256];
    float *p = n > 4 ? tile + n : to; // a generic address
    float value = from[threadIdx.x];
    p[4] = value;
    __syncthreads();
    to[0] = tile[threadIdx.x];
}

KERNEL generic_shared(float *to, const float *from, int n)
{
    __shared__ float tile[128];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    const float *p = n > 4 ? tile + n : from; // a generic address
    to[threadIdx.x] = p[threadIdx.x ^ 1];
}

KERNEL asynchronous_copy(float4 *to, const float4 *from, int n)
{
    __shared__ float4 tile[256];
    for (int i = threadIdx.x; i < n; i += 256) {
        __pipeline_memcpy_async(&tile[threadIdx.x], &from[i], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        to[i] = tile[255 - threadIdx.x];
        __syncthreads();
    }
}

__constant__ float weights[64];
KERNEL constant_weights(float *to, const float *from)
{
    to[threadIdx.x] = from[threadIdx.x] * weights[threadIdx.x];
}

__device__ float module_variable[64];
KERNEL writes_module_variable(const float *from)
{
    module_variable[threadIdx.x] = from[threadIdx.x];
}

KERNEL touches_nothing(float *a, const float *b, int n)
{
    if (n == 12345)
        __nanosleep(uint32_t(uintptr_t(a) + uintptr_t(b)));
}
