/*
 * host_kernels.c - what the kernels of kernels.cu do, as host functions for the stand-in (SIM_KERNELS).
 *
 * Threads: each runs on the launching thread; no state.
 */
#include <math.h>

#include "tests/sim/core.h"

/* The value of parameter `ordinal` as a `type`. */
#define P(type, ordinal) (*(type *)launch->parameters[ordinal])

static void fill(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 2); i++)
        P(float *, 0)[i] = P(float, 1);
}

static void iota(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 2); i++)
        P(float *, 0)[i] = P(float, 1) * (float)(i % 1013 - 506);
}

static void mul(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 3); i++)
        P(float *, 0)[i] = P(float *, 1)[i] * P(float, 2);
}

static void add(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 4); i++)
        P(float *, 0)[i] = P(float *, 1)[i] + P(float, 3) * P(float *, 2)[i];
}

static void relu(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 2); i++)
        P(float *, 0)[i] = P(float *, 1)[i] > 0.0f ? P(float *, 1)[i] : 0.0f;
}

static void triu(const struct sim_launch *launch)
{
    long side = P(long, 1);
    for (long i = 0; i < side * side; i++)
        P(unsigned char *, 0)[i] = i % side > i / side;
}

static void masked_fill(const struct sim_launch *launch)
{
    for (long i = 0; i < P(long, 3); i++)
        if (P(unsigned char *, 1)[i % P(long, 4)])
            P(float *, 0)[i] = P(float, 2);
}

static void softmax(const struct sim_launch *launch)
{
    long columns = P(long, 2);
    for (long row = 0; row < launch->grid[0]; row++) {
        const float *in = P(float *, 1) + row * columns;
        float *out = P(float *, 0) + row * columns, largest = in[0], total = 0.0f;
        for (long i = 1; i < columns; i++)
            largest = fmaxf(largest, in[i]);
        for (long i = 0; i < columns; i++)
            total += expf(in[i] - largest);
        for (long i = 0; i < columns; i++)
            out[i] = expf(in[i] - largest) / total;
    }
}

static void matmul(const struct sim_launch *launch)
{
    int rows = P(int, 3), inner = P(int, 4), columns = P(int, 5), transposed = P(int, 6);
    for (long batch = 0; batch < launch->grid[2]; batch++) {
        const float *a = P(float *, 1) + batch * rows * inner, *b = P(float *, 2) + batch * inner * columns;
        float *out = P(float *, 0) + batch * rows * columns;
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                float sum = 0.0f;
                for (int i = 0; i < inner; i++)
                    sum += a[row * inner + i] * (transposed ? b[column * inner + i] : b[i * columns + column]);
                out[row * columns + column] = sum;
            }
        }
    }
}

static void sum(const struct sim_launch *launch)
{
    double total = 0.0;
    for (long i = 0; i < P(long, 2); i++)
        total += P(float *, 1)[i];
    *P(float *, 0) = (float)total;
}

static void transpose_copy(const struct sim_launch *launch)
{
    int rows = P(int, 2), columns = P(int, 3);
    for (long i = 0; i < (long)rows * columns; i++)
        P(float *, 0)[i % columns * rows + i / columns] = P(float *, 1)[i];
}

SIM_EXPORT void sim_kernels_init(void)
{
    static const struct {
        const char *name;
        sim_kernel function;
    } kernels[] = {
        {"sim_fill", fill},
        {"sim_iota", iota},
        {"sim_mul", mul},
        {"sim_add", add},
        {"sim_relu", relu},
        {"sim_triu", triu},
        {"sim_masked_fill", masked_fill},
        {"sim_softmax", softmax},
        {"sim_matmul", matmul},
        {"sim_sum", sum},
        {"sim_transpose_copy", transpose_copy},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        sim_register_kernel(kernels[i].name, kernels[i].function);
}
