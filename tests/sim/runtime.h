/*
 * runtime.h - what the parts of the stand-in's libcudart share. Built once for each soname: SIM_CUDA_MAJOR is 12 or 13.
 *
 * Like the real runtime it opens libcuda.so.1 when it is first used and works through the driver's exported functions,
 * so that CUPTI's driver callbacks fire inside the runtime's.
 *
 * Threads: any, unless it says otherwise.
 */
#ifndef COPYSPY_TESTS_SIM_RUNTIME_H
#define COPYSPY_TESTS_SIM_RUNTIME_H

#include "tests/sim/core.h"

/* These have another signature in the other major: keep the header's declarations out of the way. */
#if SIM_CUDA_MAJOR == 12
#define cudaGetDeviceProperties header_cudaGetDeviceProperties
#define cudaStreamGetCaptureInfo header_cudaStreamGetCaptureInfo
#define cudaMemcpyBatchAsync header_cudaMemcpyBatchAsync
#define cudaMemcpy3DBatchAsync header_cudaMemcpy3DBatchAsync
#define cudaMemPrefetchAsync header_cudaMemPrefetchAsync
#define cudaMemAdvise header_cudaMemAdvise
#endif
#include <cuda_runtime_api.h>
#if SIM_CUDA_MAJOR == 12
#undef cudaGetDeviceProperties
#undef cudaStreamGetCaptureInfo
#undef cudaMemcpyBatchAsync
#undef cudaMemcpy3DBatchAsync
#undef cudaMemPrefetchAsync
#undef cudaMemAdvise
#endif

/* cudaDeviceProp of CUDA 12: as 13's, with seven more fields in between (layout from the 12.8 headers). */
struct sim_properties_12;

/* Every function of the runtime, without its export: sim_cudaX does the work of cudaX and of its twins. */
#define RUNTIME(name, id, parameters, arguments) cudaError_t sim_##name parameters;
#define RUNTIME_HOST RUNTIME
#define RUNTIME_PTSZ(name, id, twin, parameters, arguments) cudaError_t sim_##name parameters;
#define RUNTIME_PTDS RUNTIME_PTSZ
#define RUNTIME_LAUNCH(name, id, twin, parameters, arguments, function) cudaError_t sim_##name parameters;
#define RUNTIME_VOID(name, id) cudaError_t sim_##name(void);
#define RUNTIME_ABSENT(name)
#include "tests/sim/runtime_api.def"
#undef RUNTIME
#undef RUNTIME_HOST
#undef RUNTIME_PTSZ
#undef RUNTIME_PTDS
#undef RUNTIME_LAUNCH
#undef RUNTIME_VOID
#undef RUNTIME_ABSENT

/* The driver's exported functions, by name. */
struct sim_driver {
#define DRIVER(name, parameters, arguments) CUresult(*name) parameters;
#define DRIVER_VOID(name) CUresult (*name)(void);
#define DRIVER_PTSZ(name, parameters, arguments)                                                                       \
    CUresult(*name) parameters;                                                                                        \
    CUresult(*name##_ptsz) parameters;
#define DRIVER_PTDS(name, parameters, arguments)                                                                       \
    CUresult(*name) parameters;                                                                                        \
    CUresult(*name##_ptds) parameters;
#define DRIVER_LAUNCH(name, parameters, arguments, handle) DRIVER_PTSZ(name, parameters, arguments)
#include "tests/sim/driver_api.def"
#undef DRIVER
#undef DRIVER_VOID
#undef DRIVER_PTSZ
#undef DRIVER_PTDS
#undef DRIVER_LAUNCH
};

/* runtime_driver.c */

/* The driver; opened at the first call. NULL when there is no libcuda.so.1. */
const struct sim_driver *sim_driver(void);
void *sim_driver_symbol(const char *name);

/* Opens and initialises the driver. cudaSuccess, else what every call returns. */
cudaError_t sim_runtime_ready(void);
/* Makes the thread's device's primary context current, when no context is. */
cudaError_t sim_runtime_bind(void);
/* Keeps a failure for cudaGetLastError and returns it. */
cudaError_t sim_runtime_record(cudaError_t result);
/* The primary context of a device; NULL when the device does not exist. */
CUcontext sim_runtime_context(int device);
/* Is the running call one of the _ptsz or _ptds twins? */
bool sim_runtime_per_thread(void);

/* A driver function by the running call's kind: the twin inside a twin. */
#define SIM_TWIN(name, suffix) (sim_runtime_per_thread() ? sim_driver()->name##_##suffix : sim_driver()->name)

/* Results have the same numbers in both APIs. */
static inline cudaError_t sim_error(CUresult result)
{
    return (cudaError_t)result;
}

/* runtime_register.c */

/* The kernel of a host stub, or the handle itself when it is one; NULL when it is neither. Loads the library. */
CUkernel sim_runtime_kernel(const void *function);
/* As above, for callbacks: the name, without loading anything. NULL when unknown. */
const char *sim_runtime_kernel_name(const void *function);
/* Where a __device__ variable lives, by the address of its host shadow. */
cudaError_t sim_runtime_symbol(const void *symbol, CUdeviceptr *address, size_t *size);

#endif
