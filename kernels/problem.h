/*
 * problem.h - one attention problem with its data on both sides: what the harness and the demo run their steps on.
 *
 * Threads: plain data and blocking CUDA calls; one problem is used by one thread at a time.
 */
#ifndef COPYSPY_KERNELS_PROBLEM_H
#define COPYSPY_KERNELS_PROBLEM_H

#include "kernels/attention.h"

struct cs_problem {
    struct cs_attention_shape shape;
    struct cs_attention_tensors device;                       /* output is poisoned before each run */
    struct cs_attention_tensors host;                         /* output as last fetched */
    size_t query_count, key_count, value_count, output_count; /* floats, gaps between rows included */
};

/*
 * Allocates both sides, fills query, key and value with random numbers of mean 0 and variance 1 that follow from the
 * seed alone, and copies them to the device. Returns 0, or -1 with the message and nothing left allocated.
 */
int cs_problem_create(const struct cs_attention_shape *shape, uint64_t seed, struct cs_problem *problem,
                      struct cs_attention_error *error);

/* Copies the host's query, key and value to the device again, after a change. */
int cs_problem_upload(struct cs_problem *problem, struct cs_attention_error *error);

/* Fills the device's output with NaNs, so that whatever a step forgets to write is seen. */
int cs_problem_poison(struct cs_problem *problem, struct cs_attention_error *error);

/* Waits for the device and copies its output to the host. */
int cs_problem_fetch(struct cs_problem *problem, struct cs_attention_error *error);

/*
 * Bytes between the rows of the fetched output that no longer hold the poison: a step wrote where it must not. SIZE_MAX
 * when memory ran out.
 */
size_t cs_problem_strays(const struct cs_problem *problem);

void cs_problem_free(struct cs_problem *problem);

/* The next number of a sequence; equal states give equal sequences on every machine. In [0, 1). */
double cs_problem_random(uint64_t *state);

#endif
