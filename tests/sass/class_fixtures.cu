/*
 * class_fixtures.cu - small kernels of known class, compiled and never run; what they do to data is in class_truth.def.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define COUNT (gridDim.x * blockDim.x)

/* ---- copies ---- */

KERNEL copy_words(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_loop(float *out, const float *in, long n)
{
    for (long i = THREAD; i < n; i += COUNT)
        out[i] = in[i];
}

KERNEL copy_vectors(float4 *out, const float4 *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_vectors_with_tail(float *out, const float *in, int n)
{
    int i = THREAD * 4;
    if (i + 4 <= n)
        *(float4 *)(out + i) = *(const float4 *)(in + i);
    else
#pragma unroll 1
        for (; i < n; i++)
            out[i] = in[i];
}

KERNEL copy_single_bytes(char *out, const char *in, int n)
{
    for (int i = THREAD; i < n; i += COUNT)
        out[i] = in[i];
}

KERNEL copy_halves(__half *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_unrolled(double *out, const double *in, int n)
{
    double kept[4];
    int base = blockIdx.x * 512 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * 128 < n)
            kept[k] = in[base + k * 128];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * 128 < n)
            out[base + k * 128] = kept[k];
}

KERNEL copy_pointers_walk(int *out, const int *in, int n)
{
    out += THREAD, in += THREAD;
    for (int i = THREAD; i < n; i += COUNT, out += COUNT, in += COUNT)
        *out = *in;
}

/* As ATen's element-wise kernels: registers are cleared, loaded and stored under the same check. */
KERNEL move_checked(unsigned char *out, const unsigned char *in, int n)
{
    unsigned char kept[4] = {0, 0, 0, 0};
    int rest = n - blockIdx.x * 512;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (threadIdx.x + k * 128 < rest)
            kept[k] = in[blockIdx.x * 512 + threadIdx.x + k * 128];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (threadIdx.x + k * 128 < rest)
            out[2 * (blockIdx.x * 512 + threadIdx.x + k * 128)] = kept[k];
}

/* ---- re-layouts ---- */

KERNEL transpose_naive(float *out, const float *in, int rows, int columns)
{
    int x = THREAD, y = blockIdx.y;
    if (x < columns && y < rows)
        out[(long)x * rows + y] = in[(long)y * columns + x];
}

KERNEL transpose_tiles(float *out, const float *in, int rows, int columns)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[(long)y * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    if (x < rows && y < columns)
        out[(long)y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL flip(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[n - 1 - i];
}

KERNEL gather_rows(float *out, const float *in, const long *index, int width)
{
    long row = index[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(long)blockIdx.x * width + i] = in[row * width + i];
}

KERNEL gather_wrapped(float *out, const float *in, const int *index, int n, int size)
{
    int i = THREAD;
    if (i >= n)
        return;
    int at = index[i];
    if (at < 0)
        at += size;
    out[i] = in[at];
}

KERNEL scatter_words(float *out, const float *in, const int *index, int n)
{
    int i = THREAD;
    if (i < n)
        out[index[i]] = in[i];
}

KERNEL concatenate(float *out, const float *a, const float *b, int n, int m)
{
    int i = THREAD;
    if (i < n)
        out[i] = a[i];
    else if (i < n + m)
        out[i] = b[i - n];
}

KERNEL broadcast(float *out, const float *in, int n, int width)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i / width];
}

KERNEL split_words(short *out, const int *in, int n)
{
    int i = THREAD;
    if (i < n) {
        int both = in[i];
        out[i] = (short)both;
        out[n + i] = (short)(both >> 16);
    }
}

KERNEL shifted(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i + 1 < n)
        out[i] = in[i + 1];
}

KERNEL delayed(float *out, const float *in, int n)
{
    float last = in[THREAD];
    for (int i = THREAD; i < n; i += COUNT) {
        out[i] = last;
        last = in[i];
    }
}

KERNEL one_for_all(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[0];
}

KERNEL across_lanes(int *out, const int *in)
{
    int i = THREAD;
    out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);
}

KERNEL async_staged(float *out, const float *in)
{
    __shared__ float tile[256];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(in + THREAD));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[THREAD] = tile[255 - threadIdx.x];
}

/* ---- casts ---- */

KERNEL float_to_half(__half *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2half(in[i]);
}

KERNEL half_to_float(float *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __half2float(in[i]);
}

KERNEL float_to_bfloat(__nv_bfloat16 *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2bfloat16(in[i]);
}

KERNEL bfloat_to_float(float *out, const __nv_bfloat16 *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __bfloat162float(in[i]);
}

KERNEL float_to_double(double *out, const float *in, int n)
{
    for (int i = THREAD; i < n; i += COUNT)
        out[i] = in[i];
}

KERNEL int_to_float(float *out, const int *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = (float)in[i];
}

KERNEL float_to_int(int *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = (int)in[i];
}

KERNEL int_to_long(long *out, const int *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL unsigned_to_long(unsigned long *out, const unsigned *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL byte_to_int(int *out, const signed char *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL byte_to_float(float *out, const unsigned char *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i];
}

KERNEL bfloat_pairs_to_floats(float2 *out, const __nv_bfloat162 *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __bfloat1622float2(in[i]);
}

KERNEL floats_to_half_pairs(__half2 *out, const float2 *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float22half2_rn(in[i]);
}

KERNEL half_to_bfloat_reversed(__nv_bfloat16 *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[n - 1 - i] = __float2bfloat16(__half2float(in[i]));
}

KERNEL float_to_bool(bool *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i] != 0;
}

/* ---- fills ---- */

KERNEL fill_zero(float *out, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = 0;
}

KERNEL fill_parameter(float4 *out, float value, int n)
{
    for (int i = THREAD; i < n; i += COUNT)
        out[i] = make_float4(value, value, value, value);
}

KERNEL fill_converted(__half *out, float value, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2half(value);
}

/* ---- computations ---- */

KERNEL add_one(int *out, const int *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i] + 1;
}

KERNEL number_threads(int *out, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = i;
}

KERNEL choose(float *out, const float *a, const float *b, const bool *condition, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = condition[i] ? a[i] : b[i];
}

KERNEL choose_by_branch(float *out, const float *a, const float *b, const int *condition, int n)
{
    for (int i = THREAD; i < n; i += COUNT) {
        if (condition[i] > 3)
            out[2 * i] = a[i];
        else
            out[i] = b[3 * i];
    }
}

KERNEL masked_fill(float *out, const float *in, const bool *mask, float value, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = mask[i] ? value : in[i];
}

KERNEL masked_fill_in_place(float *out, const bool *mask, float value, int n)
{
    int i = THREAD;
    if (i < n && mask[i])
        out[i] = value;
}

KERNEL absolute(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = fabsf(in[i]);
}

KERNEL absolute_half(__half *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __habs(in[i]);
}

KERNEL negate_to_half(__half *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2half(-in[i]);
}

KERNEL absolute_to_double(double *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = fabsf(in[i]);
}

KERNEL negate_from_half(float *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = -__half2float(in[i]);
}

KERNEL absolute_from_half(float *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = fabsf(__half2float(in[i]));
}

KERNEL positive_to_half(__half *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2half(fmaxf(in[i], 0.f));
}

KERNEL positive_pairs(__half2 *out, const float2 *in, int n)
{
    int i = THREAD;
    if (i < n) {
        unsigned both;
        asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(in[i].x), "f"(in[i].y));
        *(unsigned *)&out[i] = both;
    }
}

KERNEL saturated_to_float(float *out, const __half *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __saturatef(__half2float(in[i]));
}

KERNEL round_to_even(float *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = rintf(in[i]);
}

KERNEL floor_to_int(int *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = __float2int_rd(in[i]);
}

KERNEL clamp(float *out, const float *in, float low, float high, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i] < low ? low : in[i] > high ? high : in[i];
}

KERNEL pad(float *out, const float *in, int n, int width)
{
    int i = THREAD;
    if (i < n)
        out[i] = i >= width && i < n - width ? in[i - width] : 0.f;
}

KERNEL shifted_with_zero(float *out, const float *in, int n)
{
    int i = THREAD;
    float kept = 0;
    if (i + 1 < n)
        kept = in[i + 1];
    if (i < n)
        out[i] = kept;
}

KERNEL padded_end(float *out, const float *in, int n, int m)
{
    int i = THREAD;
    float kept = 0;
    if (i < n)
        kept = in[i];
    if (i < m)
        out[i] = kept;
}

KERNEL lower_triangle(float *out, const float *in, int n, int columns)
{
    int i = THREAD;
    if (i < n)
        out[i] = i % columns <= i / columns ? in[i] : 0.f;
}

KERNEL histogram_of_bytes(int *out, const unsigned char *in, int n)
{
    __shared__ int counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            counts[in[i]]++;
    __syncthreads();
    out[threadIdx.x] = counts[threadIdx.x];
}

KERNEL counted(int *out, const int *in, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (in[i] > 7)
            count++;
    out[0] = count;
}

KERNEL looked_up(float *out, const unsigned char *in)
{
    __shared__ float table[2];
    table[threadIdx.x & 1] = 3.f;
    __syncthreads();
    out[THREAD] = table[in[THREAD] & 1];
}

KERNEL either_nonzero(bool *out, const float *a, const float *b, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = a[i] != 0 || b[i] != 0;
}

KERNEL either_true(bool *out, const bool *a, const bool *b, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = a[i] || b[i];
}

KERNEL bits_or(int *out, const int *a, const int *b, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = a[i] | b[i];
}

KERNEL sum_block(float *out, const float *in)
{
    __shared__ float tile[128];
    tile[threadIdx.x] = in[THREAD];
    for (int step = 64; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            tile[threadIdx.x] += tile[threadIdx.x + step];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = tile[0];
}

KERNEL compact(int *out, int *counter, const int *in, int n)
{
    int i = THREAD;
    if (i < n && in[i] != 0)
        out[atomicAdd(counter, 1)] = in[i];
}

KERNEL larger_of(float *out, const float *a, const float *b, int n)
{
    int i = THREAD;
    if (i < n) {
        float x = a[i], y = b[i];
        out[i] = x > y ? x : y;
    }
}

KERNEL is_zero(bool *out, const float *in, int n)
{
    int i = THREAD;
    if (i < n)
        out[i] = in[i] == 0;
}
