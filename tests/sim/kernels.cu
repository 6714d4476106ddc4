// kernels.cu - the kernels behind fakecuda.py: the shapes of PyTorch's elementwise, softmax, matmul and reduction
// kernels.
//
// Compiled for sm_80 and sm_90; on the stand-in only the machine code is used, and host_kernels.c runs instead.
extern "C" __global__ void sim_fill(float *out, float value, long count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = value;
}

extern "C" __global__ void sim_iota(float *out, float scale, long count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = scale * (float)(i % 1013 - 506);
}

extern "C" __global__ void sim_mul(float *out, const float *in, float factor, long count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] * factor;
}

extern "C" __global__ void sim_add(float *out, const float *left, const float *right, float factor, long count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = left[i] + factor * right[i];
}

extern "C" __global__ void sim_relu(float *out, const float *in, long count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] > 0.0f ? in[i] : 0.0f;
}

// The mask of a square: true above the diagonal.
extern "C" __global__ void sim_triu(unsigned char *out, long side)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < side * side)
        out[i] = i % side > i / side;
}

// In place, as PyTorch's: the mask is read, and what is not masked stays. The mask repeats every mask_count elements.
extern "C" __global__ void sim_masked_fill(float *self, const unsigned char *mask, float value, long count,
                                           long mask_count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count && mask[i % mask_count])
        self[i] = value;
}

// One block a row.
extern "C" __global__ void sim_softmax(float *out, const float *in, long columns)
{
    __shared__ float partial[256];
    const float *row = in + blockIdx.x * columns;
    float *result = out + blockIdx.x * columns;
    float largest = -3.402823466e38f;
    for (long i = threadIdx.x; i < columns; i += blockDim.x)
        largest = fmaxf(largest, row[i]);
    partial[threadIdx.x] = largest;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + step]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    float total = 0.0f;
    for (long i = threadIdx.x; i < columns; i += blockDim.x)
        total += expf(row[i] - largest);
    partial[threadIdx.x] = total;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    for (long i = threadIdx.x; i < columns; i += blockDim.x)
        result[i] = expf(row[i] - largest) / partial[0];
}

// out[b] = left[b] (rows x inner) times right[b] (inner x columns, or its transpose stored columns x inner).
extern "C" __global__ void sim_matmul(float *out, const float *left, const float *right, int rows, int inner,
                                      int columns, int transposed)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= columns)
        return;
    const float *a = left + (long)blockIdx.z * rows * inner + (long)row * inner;
    const float *b = right + (long)blockIdx.z * inner * columns;
    float sum = 0.0f;
    for (int i = 0; i < inner; i++)
        sum += a[i] * (transposed ? b[(long)column * inner + i] : b[(long)i * columns + column]);
    out[(long)blockIdx.z * rows * columns + (long)row * columns + column] = sum;
}

extern "C" __global__ void sim_sum(float *out, const float *in, long count)
{
    __shared__ float partial[256];
    float total = 0.0f;
    for (long i = threadIdx.x; i < count; i += blockDim.x)
        total += in[i];
    partial[threadIdx.x] = total;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = partial[0];
}

// A copy by a kernel, as PyTorch makes it of what is not contiguous: a transposed square.
extern "C" __global__ void sim_transpose_copy(float *out, const float *in, int rows, int columns)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < (long)rows * columns)
        out[i % columns * rows + i / columns] = in[i];
}
