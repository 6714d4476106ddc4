/*
 * sim.h - what a test may say to the stand-in beyond CUDA's own interface.
 *
 * The stand-in (libcudart, libcuda, libcupti of tests/sim) runs kernels as host functions found by the kernel's mangled
 * name. Libraries named in SIM_KERNELS (colon-separated paths) are opened at cuInit and their sim_kernels_init called.
 *
 * Environment, read at cuInit: SIM_KERNELS as above; SIM_CUPTI=off makes cuptiSubscribe fail as under another tool
 * (error 39); SIM_NO_DEVICE=1 makes cuInit fail with CUDA_ERROR_NO_DEVICE; SIM_DEVICES=n (default 1).
 *
 * Threads: as CUDA. Host functions run on the launching thread.
 */
#ifndef COPYSPY_TESTS_SIM_SIM_H
#define COPYSPY_TESTS_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

struct sim_launch {
    const char *name;
    unsigned grid[3], block[3], shared_bytes;
    size_t parameter_count;
    void *const *parameters; /* by ordinal: where each parameter's value lies */
};
typedef void (*sim_kernel)(const struct sim_launch *launch);

/* Exported by the stand-in's libcuda.so.1. The name is copied. A later registration replaces an earlier one. */
void sim_register_kernel(const char *mangled_name, sim_kernel kernel);

/* To be exported by each library in SIM_KERNELS. */
void sim_kernels_init(void);

/* The stand-in's own truth, for tests: what really happened in this process. */
struct sim_counts {
    uint64_t launches, copies_d2d, bytes_d2d, copies_h2d, copies_d2h, fills, allocations, frees, graph_launches;
};
void sim_counts(struct sim_counts *counts);

#endif
