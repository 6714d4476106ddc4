/*
 * c10.h - the stand-in for PyTorch's memory: libc10.so (the report function) and libc10_cuda.so (a caching allocator).
 *
 * Threads: any.
 */
#ifndef COPYSPY_TESTS_SIM_C10_H
#define COPYSPY_TESTS_SIM_C10_H

#include <stddef.h>
#include <stdint.h>

#define SIM_C10_EXPORT __attribute__((visibility("default")))
#define SIM_C10_CUDA 1 /* c10::DeviceType::CUDA */

struct sim_c10_device {
    int8_t type, index;
};

/* libc10.so */
void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t size, size_t allocated,
                                                           size_t reserved, struct sim_c10_device device);

/*
 * libc10_cuda.so. A block of at least `size` bytes on the current device, its size a multiple of 512; blocks come from
 * segments of 2 MiB and more that are taken with cudaMalloc. NULL when size is 0 or memory ran out.
 */
void *sim_c10_alloc(size_t size);

/* Gives a block back; it is handed out again, without CUDA being told. Aborts on a pointer that is no live block. */
void sim_c10_free(void *pointer);

/* Gives segments without live blocks back with cudaFree. */
void sim_c10_empty_cache(void);

/* Bytes in live blocks and in segments. */
void sim_c10_usage(size_t *allocated, size_t *reserved);

#endif
