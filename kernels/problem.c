/*
 * problem.c - see problem.h. Runs on the caller's thread.
 */
#include "kernels/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xff /* four of these bytes are a NaN */

/* splitmix64. */
double cs_problem_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Evenly distributed numbers of variance 1. Gaps between rows are filled too: they must not matter. */
static float *random_floats(size_t count, uint64_t *state)
{
    float *values = malloc(count * sizeof(float));

    for (size_t i = 0; values && i < count; i++)
        values[i] = (float)((cs_problem_random(state) * 2.0 - 1.0) * sqrt(3.0));
    return values;
}

static int upload(const struct cs_attention_shape *shape, const float *host, float *device, size_t count,
                  struct cs_attention_error *error)
{
    return cs_attention_cuda(cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice),
                             "cudaMemcpy to the device", shape, error);
}

int cs_problem_upload(struct cs_problem *problem, struct cs_attention_error *error)
{
    const struct cs_attention_shape *shape = &problem->shape;

    if (upload(shape, problem->host.query, (float *)problem->device.query, problem->query_count, error) ||
        upload(shape, problem->host.key, (float *)problem->device.key, problem->key_count, error) ||
        upload(shape, problem->host.value, (float *)problem->device.value, problem->value_count, error))
        return -1;
    return 0;
}

static float *device_floats(const struct cs_attention_shape *shape, size_t count, struct cs_attention_error *error)
{
    void *memory = NULL;

    if (cs_attention_cuda(cudaMalloc(&memory, count * sizeof(float)), "cudaMalloc", shape, error))
        return NULL;
    return memory;
}

static int allocate(struct cs_problem *problem, uint64_t seed, struct cs_attention_error *error)
{
    const struct cs_attention_shape *shape = &problem->shape;

    problem->host.query = random_floats(problem->query_count, &seed);
    problem->host.key = random_floats(problem->key_count, &seed);
    problem->host.value = random_floats(problem->value_count, &seed);
    problem->host.output = malloc(problem->output_count * sizeof(float));
    if (!problem->host.query || !problem->host.key || !problem->host.value || !problem->host.output)
        return cs_attention_cuda(cudaErrorMemoryAllocation, "malloc", shape, error);
    if (!(problem->device.query = device_floats(shape, problem->query_count, error)) ||
        !(problem->device.key = device_floats(shape, problem->key_count, error)) ||
        !(problem->device.value = device_floats(shape, problem->value_count, error)) ||
        !(problem->device.output = device_floats(shape, problem->output_count, error)))
        return -1;
    return 0;
}

int cs_problem_create(const struct cs_attention_shape *shape, uint64_t seed, struct cs_problem *problem,
                      struct cs_attention_error *error)
{
    int64_t batch = shape->batch, rows = shape->query_length, keys = shape->key_length, dim = shape->head_dim;

    memset(problem, 0, sizeof(*problem));
    if (cs_attention_check(shape, error))
        return -1;
    problem->shape = *shape;
    problem->query_count = cs_attention_span(&shape->query, batch, shape->query_heads, rows, dim);
    problem->key_count = cs_attention_span(&shape->key, batch, shape->key_heads, keys, dim);
    problem->value_count = cs_attention_span(&shape->value, batch, shape->key_heads, keys, dim);
    problem->output_count = cs_attention_span(&shape->output, batch, shape->query_heads, rows, dim);
    if (allocate(problem, seed, error) || cs_problem_upload(problem, error)) {
        cs_problem_free(problem);
        return -1;
    }
    return 0;
}

int cs_problem_poison(struct cs_problem *problem, struct cs_attention_error *error)
{
    return cs_attention_cuda(cudaMemset(problem->device.output, POISON, problem->output_count * sizeof(float)),
                             "cudaMemset", &problem->shape, error);
}

int cs_problem_fetch(struct cs_problem *problem, struct cs_attention_error *error)
{
    size_t bytes = problem->output_count * sizeof(float);

    if (cs_attention_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize", &problem->shape, error))
        return -1;
    return cs_attention_cuda(cudaMemcpy(problem->host.output, problem->device.output, bytes, cudaMemcpyDeviceToHost),
                             "cudaMemcpy from the device", &problem->shape, error);
}

/* Paints the rows of the output with the poison, so that whatever still differs lies between them. */
static void paint_rows(const struct cs_attention_shape *shape, float *output)
{
    for (int64_t b = 0; b < shape->batch; b++)
        for (int64_t h = 0; h < shape->query_heads; h++)
            for (int64_t i = 0; i < shape->query_length; i++)
                memset(output + b * shape->output.batch + h * shape->output.head + i * shape->output.row, POISON,
                       (size_t)shape->head_dim * sizeof(float));
}

size_t cs_problem_strays(const struct cs_problem *problem)
{
    size_t bytes = problem->output_count * sizeof(float), strays = 0;
    unsigned char *copy = malloc(bytes);

    if (!copy)
        return SIZE_MAX;
    memcpy(copy, problem->host.output, bytes);
    paint_rows(&problem->shape, (float *)copy);
    for (size_t i = 0; i < bytes; i++)
        strays += copy[i] != POISON;
    free(copy);
    return strays;
}

void cs_problem_free(struct cs_problem *problem)
{
    cudaFree((void *)problem->device.query);
    cudaFree((void *)problem->device.key);
    cudaFree((void *)problem->device.value);
    cudaFree(problem->device.output);
    free((void *)problem->host.query);
    free((void *)problem->host.key);
    free((void *)problem->host.value);
    free(problem->host.output);
    memset(problem, 0, sizeof(*problem));
}
