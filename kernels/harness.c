/*
 * harness.c - holds every step of steps.def against the reference, then times it.
 *
 * Each step runs on each shape of the table with fresh random inputs (the seed is printed, and --seed repeats it) into
 * an output full of NaNs. A step passes with a relative L2 distance below 1e-5 from the double-precision truth, written
 * so that NaN fails, and with nothing written between the output's rows. Timing is by events on the device, the median
 * of many runs, held against the bytes that the step's floor in steps.def says it must move. Runs on the main thread.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/problem.h"

#define TOLERANCE 1e-5
#define WARMUPS 3
#define RUNS 21

static const struct step {
    const char *name, *idea;
    int floor;
    cs_attention_step run;
} steps[] = {
#define CS_STEP(number, name, floor, idea) {#name, idea, floor, cs_attention_##name},
#include "kernels/steps.def"
#undef CS_STEP
};
#define STEP_COUNT (sizeof(steps) / sizeof(steps[0]))

/* How a test shape differs from a dense causal one. */
enum twist {
    PLAIN = 0,
    FULL = 1,        /* not causal */
    INTERLEAVED = 2, /* batch, row, head, element: what a projection gives */
    GAPS = 4,        /* three elements between rows */
    DOMINANT = 8     /* key 0 takes nearly all the weight, with scores past 1e4 */
};

static const struct trial {
    int64_t batch, query_heads, key_heads, query_length, key_length, head_dim;
    unsigned twist;
    const char *proves;
} trials[] = {
    {1, 1, 1, 1, 1, 8, PLAIN, "one query, one key"},
    {1, 2, 2, 64, 64, 32, PLAIN, "whole tiles"},
    {2, 3, 3, 65, 65, 64, PLAIN, "one row past a tile"},
    {2, 2, 2, 127, 127, 128, PLAIN, "one row short of two tiles, widest head"},
    {1, 4, 2, 33, 130, 40, PLAIN, "more keys than queries, two query heads a key head"},
    {1, 4, 1, 130, 33, 24, PLAIN, "more queries than keys: 97 rows see nothing and must be zero"},
    {1, 2, 1, 70, 99, 16, FULL, "no mask, keys no multiple of four"},
    {2, 4, 2, 48, 50, 64, INTERLEAVED, "heads interleaved as a projection leaves them"},
    {1, 2, 2, 37, 41, 20, GAPS, "gaps between rows stay untouched"},
    {1, 2, 2, 100, 100, 64, DOMINANT, "scores past 1e4, the first key dominates"},
    {1, 1, 1, 5, 1030, 8, FULL, "a row longer than one block's reach"},
};

static const struct trial timings[] = {
    {8, 12, 12, 1024, 1024, 64, PLAIN, ""},
    {2, 16, 16, 2048, 2048, 128, PLAIN, ""},
    {8, 12, 12, 4096, 4096, 64, PLAIN, ""},
};

static struct cs_attention_strides interleaved(int64_t heads, int64_t rows, int64_t dim)
{
    return (struct cs_attention_strides){rows * heads * dim, dim, heads * dim};
}

static struct cs_attention_strides gapped(int64_t heads, int64_t rows, int64_t dim)
{
    return (struct cs_attention_strides){heads * rows * (dim + 3), rows * (dim + 3), dim + 3};
}

static struct cs_attention_shape shape_of(const struct trial *t)
{
    struct cs_attention_shape shape =
        cs_attention_dense(t->batch, t->query_heads, t->key_heads, t->query_length, t->key_length, t->head_dim);
    struct cs_attention_strides (*strides)(int64_t, int64_t, int64_t) = t->twist & INTERLEAVED ? interleaved : gapped;

    if (t->twist & FULL)
        shape.causal = 0;
    if (t->twist & (INTERLEAVED | GAPS)) {
        shape.query = shape.output = strides(t->query_heads, t->query_length, t->head_dim);
        shape.key = shape.value = strides(t->key_heads, t->key_length, t->head_dim);
    }
    return shape;
}

/* Makes key 0 of every head the one that all queries point to. */
static void make_dominant(struct cs_problem *problem)
{
    float *query = (float *)problem->host.query, *key = (float *)problem->host.key;
    const struct cs_attention_shape *shape = &problem->shape;

    for (size_t i = 0; i < problem->query_count; i++)
        query[i] += 40.0f;
    for (int64_t head = 0; head < shape->batch * shape->key_heads; head++)
        for (int64_t d = 0; d < shape->head_dim; d++)
            key[head * shape->key.head + d] = 40.0f;
}

static int run_trial(const struct step *step, struct cs_problem *problem, struct cs_attention_error *error)
{
    if (cs_problem_poison(problem, error) || step->run(&problem->shape, &problem->device, 0, error))
        return -1;
    return cs_problem_fetch(problem, error);
}

/* Returns whether the step passed; prints one line. */
static bool verify(const struct step *step, const struct trial *trial, uint64_t seed)
{
    struct cs_attention_shape shape = shape_of(trial);
    struct cs_attention_error error = {""};
    struct cs_problem problem;
    double distance;
    size_t strays;
    bool passed;

    if (cs_problem_create(&shape, seed, &problem, &error)) {
        printf("FAIL %-10s %s: %s\n", step->name, trial->proves, error.message);
        return false;
    }
    if (trial->twist & DOMINANT)
        make_dominant(&problem);
    if (cs_problem_upload(&problem, &error) || run_trial(step, &problem, &error)) {
        printf("FAIL %-10s %s: %s\n", step->name, trial->proves, error.message);
        cs_problem_free(&problem);
        return false;
    }
    distance = cs_attention_distance(&shape, &problem.host, 1);
    strays = cs_problem_strays(&problem);
    passed = distance < TOLERANCE && strays == 0; /* NaN compares false */
    printf("%s %-10s %-64s relative L2 %.2e", passed ? "ok  " : "FAIL", step->name, trial->proves, distance);
    if (strays)
        printf(", %zu bytes written between rows", strays);
    putchar('\n');
    cs_problem_free(&problem);
    return passed;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Milliseconds of one run, or -1. */
static float time_once(const struct step *step, struct cs_problem *problem, cudaEvent_t begin, cudaEvent_t end,
                       struct cs_attention_error *error)
{
    float milliseconds = -1.0f;

    if (cudaEventRecord(begin, 0) != cudaSuccess || step->run(&problem->shape, &problem->device, 0, error) ||
        cudaEventRecord(end, 0) != cudaSuccess || cudaEventSynchronize(end) != cudaSuccess ||
        cudaEventElapsedTime(&milliseconds, begin, end) != cudaSuccess)
        return -1.0f;
    return milliseconds;
}

/* Median milliseconds, or -1 with the message. */
static float time_step(const struct step *step, struct cs_problem *problem, struct cs_attention_error *error)
{
    cudaEvent_t begin = NULL, end = NULL;
    float runs[RUNS] = {0}, median = -1.0f;
    bool failed = cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess;

    for (int i = -WARMUPS; i < RUNS && !failed; i++) {
        float milliseconds = time_once(step, problem, begin, end, error);

        failed = milliseconds < 0.0f;
        runs[i < 0 ? 0 : i] = milliseconds;
    }
    if (!failed) {
        qsort(runs, RUNS, sizeof(runs[0]), ascending);
        median = runs[RUNS / 2];
    } else if (!error->message[0]) {
        snprintf(error->message, sizeof(error->message), "timing: %s", cudaGetErrorString(cudaGetLastError()));
    }
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return median;
}

/* Stream-ordered memory goes back to the system at every wait unless told otherwise; that is not what is timed here. */
static void keep_pool_memory(void)
{
    cudaMemPool_t pool;
    uint64_t threshold = UINT64_MAX;

    if (cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess)
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
}

static bool measure(const struct step *step, const struct trial *trial, uint64_t seed)
{
    struct cs_attention_shape shape = shape_of(trial);
    struct cs_attention_error error = {""};
    struct cs_problem problem;
    double bytes =
        4.0 * step->floor * (double)(shape.batch * shape.query_heads * shape.query_length) * (double)shape.key_length;
    float milliseconds;

    if (cs_problem_create(&shape, seed, &problem, &error)) {
        printf("FAIL %-10s timing: %s\n", step->name, error.message);
        return false;
    }
    milliseconds = time_step(step, &problem, &error);
    cs_problem_free(&problem);
    if (milliseconds < 0.0f) {
        printf("FAIL %-10s timing: %s\n", step->name, error.message);
        return false;
    }
    printf("time %-10s %lldx%lldx%lldx%lld fp32 causal: median %.3f ms of %d; floor %.0f bytes, %.0f GB/s\n",
           step->name, (long long)shape.batch, (long long)shape.query_heads, (long long)shape.query_length,
           (long long)shape.head_dim, milliseconds, RUNS, bytes, bytes / milliseconds * 1e-6);
    return true;
}

struct options {
    bool verify_only;
    uint64_t seed;
    const char *step; /* NULL: all */
};

static int parse(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--verify-only")) {
            options->verify_only = true;
        } else if (!strcmp(arguments[i], "--seed") && i + 1 < count) {
            options->seed = strtoull(arguments[++i], NULL, 0);
        } else if (!strcmp(arguments[i], "--step") && i + 1 < count) {
            options->step = arguments[++i];
        } else {
            fprintf(stderr, "usage: %s [--verify-only] [--seed N] [--step NAME]\n", arguments[0]);
            return -1;
        }
    }
    return 0;
}

/* Returns how many checks failed. */
static int run_step(const struct step *step, const struct options *options)
{
    int failures = 0;

    printf("step %s: %s\n", step->name, step->idea);
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
        failures += !verify(step, &trials[i], options->seed + i);
    if (failures || options->verify_only)
        return failures;
    keep_pool_memory();
    for (size_t i = 0; i < sizeof(timings) / sizeof(timings[0]); i++)
        failures += !measure(step, &timings[i], options->seed + i);
    return failures;
}

int main(int count, char **arguments)
{
    struct options options = {false, (uint64_t)time(NULL), NULL};
    int failures = 0, ran = 0;

    if (parse(count, arguments, &options))
        return 2;
    printf("seed %llu\n", (unsigned long long)options.seed);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        if (options.step && strcmp(options.step, steps[i].name))
            continue;
        failures += run_step(&steps[i], &options);
        ran++;
    }
    if (!ran) {
        fprintf(stderr, "no step is called %s\n", options.step);
        return 2;
    }
    printf("%d steps, %d failed checks\n", ran, failures);
    return failures ? 1 : 0;
}
