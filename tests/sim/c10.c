/*
 * c10.c - libc10.so: the function through which PyTorch's allocators tell of every block, as PyTorch exports it.
 *
 * It does nothing; it is there to be interposed. The mangled name is c10::reportMemoryUsageToProfiler(void *, int64_t,
 * size_t, size_t, c10::Device); a Device is two bytes, passed in a register.
 *
 * Threads: any.
 */
#include "tests/sim/c10.h"

SIM_C10_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t size, size_t allocated,
                                                                          size_t reserved, struct sim_c10_device device)
{
    (void)pointer, (void)size, (void)allocated, (void)reserved, (void)device;
}
