/*
 * attention.c - the demo: one step of kernels/ run a few times, as a program would, linked to the shared CUDA runtime.
 *
 * Prints a checksum and whether the result is right, nothing else, so that a run under copyspy can be compared with a
 * run without it. --exit picks the way in which it ends: a report must come out of each. Runs on the main thread.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/problem.h"

#define TOLERANCE 1e-5
#define VERIFIED_ROWS 32 /* of each head, about: the reference takes its time */

static const struct step {
    const char *name;
    cs_attention_step run;
} steps[] = {
#define CS_STEP(number, name, floor, idea) {#name, cs_attention_##name},
#include "kernels/steps.def"
#undef CS_STEP
};

static void end_by_return(int status)
{
    (void)status;
}

static void end_by_abort(int status)
{
    (void)status;
    abort();
}

static void end_by_sigterm(int status)
{
    raise(SIGTERM);
    _exit(status); /* not reached unless the signal is ignored */
}

static const struct ending {
    const char *name;
    void (*end)(int status);
} endings[] = {
    {"return", end_by_return}, {"exit", exit}, {"_exit", _exit}, {"abort", end_by_abort}, {"sigterm", end_by_sigterm},
};

struct options {
    const struct step *step;
    const struct ending *ending;
    int iterations;
    bool verify;
    long long batch, heads, length, dim;
};

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--step naive|inplace] [--iterations N] [--shape BATCHxHEADSxLENGTHxDIM] [--no-verify]\n"
            "       [--exit return|exit|_exit|abort|sigterm]\n",
            program);
    return 2;
}

static bool choose_step(struct options *options, const char *name)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (!strcmp(steps[i].name, name))
            return (options->step = &steps[i]) != NULL;
    return false;
}

static bool choose_ending(struct options *options, const char *name)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (!strcmp(endings[i].name, name))
            return (options->ending = &endings[i]) != NULL;
    return false;
}

static bool choose_shape(struct options *options, const char *text)
{
    char rest;

    return sscanf(text, "%lldx%lldx%lldx%lld%c", &options->batch, &options->heads, &options->length, &options->dim,
                  &rest) == 4;
}

static bool choose_iterations(struct options *options, const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);

    options->iterations = (int)count;
    return end != text && !*end && count >= 1 && count <= 1000000;
}

static bool parse(int count, char **arguments, struct options *options)
{
    static const struct {
        const char *name;
        bool (*choose)(struct options *options, const char *value);
    } table[] = {{"--step", choose_step},
                 {"--exit", choose_ending},
                 {"--shape", choose_shape},
                 {"--iterations", choose_iterations}};

    for (int i = 1; i < count; i++) {
        bool known = false;

        if (!strcmp(arguments[i], "--no-verify")) {
            options->verify = false;
            continue;
        }
        for (size_t row = 0; row < sizeof(table) / sizeof(table[0]) && !known; row++)
            if (!strcmp(arguments[i], table[row].name) && i + 1 < count)
                known = table[row].choose(options, arguments[++i]);
        if (!known)
            return false;
    }
    return true;
}

static double checksum(const struct cs_problem *problem)
{
    double sum = 0.0;

    for (size_t i = 0; i < problem->output_count; i++)
        sum += fabs((double)problem->host.output[i]);
    return sum;
}

/* Prints the result. Returns whether it is right. */
static bool report(const struct options *options, const struct cs_problem *problem)
{
    int64_t every = problem->shape.query_length / VERIFIED_ROWS;
    double distance;

    printf("attention %s, %lldx%lldx%lldx%lld fp32 causal, %d iterations: checksum %.9e\n", options->step->name,
           options->batch, options->heads, options->length, options->dim, options->iterations, checksum(problem));
    if (!options->verify)
        return true;
    distance = cs_attention_distance(&problem->shape, &problem->host, every ? every : 1);
    printf("%s: relative L2 distance %.2e from the reference\n", distance < TOLERANCE ? "correct" : "WRONG", distance);
    return distance < TOLERANCE;
}

static int run(const struct options *options, struct cs_problem *problem, struct cs_attention_error *error)
{
    if (cs_problem_poison(problem, error))
        return -1;
    for (int i = 0; i < options->iterations; i++)
        if (options->step->run(&problem->shape, &problem->device, 0, error))
            return -1;
    return cs_problem_fetch(problem, error);
}

int main(int count, char **arguments)
{
    struct options options = {&steps[0], &endings[0], 10, true, 8, 12, 1024, 64};
    struct cs_attention_error error = {""};
    struct cs_attention_shape shape;
    struct cs_problem problem;
    int status;

    if (!parse(count, arguments, &options))
        return usage(arguments[0]);
    shape =
        cs_attention_dense(options.batch, options.heads, options.heads, options.length, options.length, options.dim);
    if (cs_problem_create(&shape, 1, &problem, &error) || run(&options, &problem, &error)) {
        fprintf(stderr, "attention: %s\n", error.message);
        return 1;
    }
    status = report(&options, &problem) ? 0 : 1;
    cs_problem_free(&problem);
    fflush(stdout);
    options.ending->end(status);
    return status;
}
