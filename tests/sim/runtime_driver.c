/*
 * runtime_driver.c - libcudart's way to the driver: opening it, contexts, last errors.
 *
 * Threads: any; the last error and the device are per thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/runtime.h"

static struct {
    pthread_once_t once;
    void *library;
    struct sim_driver driver;
    bool (*per_thread)(void);
    CUcontext (*current)(void);
    _Atomic bool ready;
    CUcontext contexts[SIM_MAX_DEVICES];
    pthread_mutex_t lock;
} state = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current_device;
static _Thread_local cudaError_t last_error;

/* Beside this library: where dlopen is intercepted (by a sanitizer, say), our run path does not count. */
static void *open_beside(void)
{
    Dl_info self;
    char path[4096];
    const char *slash = dladdr((void *)open_beside, &self) ? strrchr(self.dli_fname, '/') : NULL;
    if (!slash)
        return NULL;
    snprintf(path, sizeof path, "%.*s/libcuda.so.1", (int)(slash - self.dli_fname), self.dli_fname);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void open_driver(void)
{
    state.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!state.library)
        state.library = open_beside();
    if (!state.library)
        return;
#define FETCH(name) *(void **)&state.driver.name = dlsym(state.library, #name);
#define DRIVER(name, parameters, arguments) FETCH(name)
#define DRIVER_VOID(name) FETCH(name)
#define DRIVER_PTSZ(name, parameters, arguments) FETCH(name) FETCH(name##_ptsz)
#define DRIVER_PTDS(name, parameters, arguments) FETCH(name) FETCH(name##_ptds)
#define DRIVER_LAUNCH(name, parameters, arguments, handle) FETCH(name) FETCH(name##_ptsz)
#include "tests/sim/driver_api.def"
#undef DRIVER
#undef DRIVER_VOID
#undef DRIVER_PTSZ
#undef DRIVER_PTDS
#undef DRIVER_LAUNCH
    *(void **)&state.per_thread = dlsym(state.library, "sim_call_per_thread");
    *(void **)&state.current = dlsym(state.library, "sim_current_context");
}

const struct sim_driver *sim_driver(void)
{
    pthread_once(&state.once, open_driver);
    return state.library ? &state.driver : NULL;
}

void *sim_driver_symbol(const char *name)
{
    return sim_driver() ? dlsym(state.library, name) : NULL;
}

bool sim_runtime_per_thread(void)
{
    return state.per_thread();
}

cudaError_t sim_runtime_ready(void)
{
    if (atomic_load_explicit(&state.ready, memory_order_acquire))
        return cudaSuccess;
    const struct sim_driver *driver = sim_driver();
    if (!driver || !driver->cuInit || !state.per_thread || !state.current)
        return cudaErrorInsufficientDriver;
    cudaError_t result = sim_error(driver->cuInit(0));
    if (result == cudaSuccess)
        atomic_store(&state.ready, true);
    return result;
}

CUcontext sim_runtime_context(int device)
{
    int count = 0;
    sim_driver()->cuDeviceGetCount(&count);
    if (device < 0 || device >= count)
        return NULL;
    pthread_mutex_lock(&state.lock);
    CUcontext context = state.contexts[device];
    pthread_mutex_unlock(&state.lock);
    if (context)
        return context;
    /* Retaining calls back into CUPTI, so it is done without the lock; a second reference does no harm. */
    if (sim_driver()->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return NULL;
    pthread_mutex_lock(&state.lock);
    state.contexts[device] = context;
    pthread_mutex_unlock(&state.lock);
    return context;
}

cudaError_t sim_runtime_bind(void)
{
    if (state.current()) /* not through the API: the real runtime makes no visible call here */
        return cudaSuccess;
    CUcontext context = sim_runtime_context(current_device);
    return context ? sim_error(sim_driver()->cuCtxSetCurrent(context)) : cudaErrorInvalidDevice;
}

cudaError_t sim_runtime_record(cudaError_t result)
{
    if (result != cudaSuccess)
        last_error = result;
    return result;
}

SIM_EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t result = last_error;
    last_error = cudaSuccess;
    return result;
}

SIM_EXPORT cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t sim_cudaSetDevice(int device)
{
    CUcontext context = sim_runtime_context(device);
    if (!context)
        return cudaErrorInvalidDevice;
    current_device = device;
    return sim_error(sim_driver()->cuCtxSetCurrent(context));
}

cudaError_t sim_cudaGetDevice(int *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = current_device;
    if (state.current())
        sim_driver()->cuCtxGetDevice(device);
    return cudaSuccess;
}

cudaError_t sim_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    (void)deviceFlags, (void)flags;
    return sim_runtime_context(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t sim_cudaDeviceSynchronize(void)
{
    return sim_error(sim_driver()->cuCtxSynchronize());
}

cudaError_t sim_cudaDeviceReset(void)
{
    int device = 0;
    sim_cudaGetDevice(&device);
    pthread_mutex_lock(&state.lock);
    state.contexts[device] = NULL;
    pthread_mutex_unlock(&state.lock);
    sim_driver()->cuCtxSetCurrent(NULL);
    return sim_error(sim_driver()->cuDevicePrimaryCtxReset_v2(device));
}
