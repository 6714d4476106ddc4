/*
 * runtime_register.c - what nvcc's host code does at start-up and at each launch: fat binaries, functions, variables,
 * launch configurations; and the launches.
 *
 * A fat binary is handed to the driver (cuLibraryLoadData) when one of its kernels or variables is first needed.
 *
 * Threads: any; one lock for the tables, not held over driver calls.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/runtime.h"

#define BUCKETS 1024
#define CONFIGURATIONS 16

struct fat_binary {
    const void *wrapper;
    CUlibrary library;
};

enum named_kind { FUNCTION, VARIABLE, MANAGED };

struct named {
    const void *host; /* the stub's or the shadow's address */
    const char *name; /* in the program's read-only data */
    struct fat_binary *binary;
    enum named_kind kind;
    _Atomic(CUkernel) kernel;
    CUdeviceptr managed;
    size_t size;
    struct named *next;
};

static struct {
    pthread_mutex_t lock;
    struct named *buckets[BUCKETS];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- registration ---- */

static struct named **bucket(const void *host)
{
    uintptr_t address = (uintptr_t)host;
    return &registry.buckets[(address >> 4 ^ address >> 14) % BUCKETS];
}

static struct named *find(const void *host)
{
    pthread_mutex_lock(&registry.lock);
    struct named *entry = *bucket(host);
    while (entry && entry->host != host)
        entry = entry->next;
    pthread_mutex_unlock(&registry.lock);
    return entry;
}

static void add(void **handle, const void *host, const char *name, enum named_kind kind, size_t size)
{
    struct named *entry = calloc(1, sizeof *entry);
    if (!entry)
        return;
    entry->host = host;
    entry->name = name;
    entry->binary = (struct fat_binary *)handle;
    entry->kind = kind;
    entry->size = size;
    pthread_mutex_lock(&registry.lock);
    entry->next = *bucket(host);
    *bucket(host) = entry;
    pthread_mutex_unlock(&registry.lock);
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *fatCubin)
{
    struct fat_binary *binary = calloc(1, sizeof *binary);
    if (binary)
        binary->wrapper = fatCubin;
    return (void **)binary;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

static void forget(struct fat_binary *binary)
{
    pthread_mutex_lock(&registry.lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct named **link = &registry.buckets[i]; *link;) {
            struct named *entry = *link;
            if (entry->binary != binary) {
                link = &entry->next;
                continue;
            }
            *link = entry->next;
            free(entry);
        }
    }
    pthread_mutex_unlock(&registry.lock);
}

SIM_EXPORT void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct fat_binary *binary = (struct fat_binary *)fatCubinHandle;
    if (!binary)
        return;
    forget(binary);
    if (binary->library)
        sim_driver()->cuLibraryUnload(binary->library);
    free(binary);
}

SIM_EXPORT void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                       const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim,
                                       dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    add(fatCubinHandle, hostFun, deviceName, FUNCTION, 0);
}

SIM_EXPORT void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName,
                                  int ext, size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle, hostVar, deviceName, VARIABLE, size);
}

SIM_EXPORT void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                                         const char *deviceName, int ext, size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    add(fatCubinHandle, hostVarPtrAddress, deviceName, MANAGED, size);
}

SIM_EXPORT void __cudaRegisterHostVar(void **fatCubinHandle, const char *deviceName, char *hostVar, size_t size)
{
    (void)fatCubinHandle, (void)deviceName, (void)hostVar, (void)size;
}

SIM_EXPORT void __cudaRegisterUnifiedTable(void **fatCubinHandle, void *table)
{
    (void)fatCubinHandle, (void)table;
}

/* ---- loading ---- */

static CUlibrary library_of(struct fat_binary *binary)
{
    pthread_mutex_lock(&registry.lock);
    CUlibrary library = binary->library;
    pthread_mutex_unlock(&registry.lock);
    if (library)
        return library;
    if (sim_runtime_ready() != cudaSuccess || sim_runtime_bind() != cudaSuccess ||
        sim_driver()->cuLibraryLoadData(&library, binary->wrapper, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS)
        return NULL;
    pthread_mutex_lock(&registry.lock);
    CUlibrary first = binary->library;
    if (!first)
        binary->library = library;
    pthread_mutex_unlock(&registry.lock);
    if (first)
        sim_driver()->cuLibraryUnload(library);
    return first ? first : library;
}

/* Managed variables get their memory before main, as the stub code dereferences them without a call. */
static void place_managed(struct named *entry)
{
    CUlibrary library = library_of(entry->binary);
    CUdeviceptr initial, memory;
    size_t size;
    if (!library || sim_driver()->cuMemAllocManaged(&memory, entry->size, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
        return;
    memset((void *)memory, 0, entry->size);
    if (sim_driver()->cuLibraryGetGlobal(&initial, &size, library, entry->name) == CUDA_SUCCESS && size == entry->size)
        memcpy((void *)memory, (void *)initial, size);
    entry->managed = memory;
    *(void **)entry->host = (void *)memory;
}

SIM_EXPORT char __cudaInitModule(void **fatCubinHandle)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct named *entry = registry.buckets[i]; entry; entry = entry->next)
            if (entry->kind == MANAGED && entry->binary == (struct fat_binary *)fatCubinHandle && !entry->managed)
                place_managed(entry);
    return 1;
}

static bool driver_handle(const void *function)
{
    static bool (*is_handle)(const void *);
    if (!is_handle)
        *(void **)&is_handle = sim_driver_symbol("sim_is_kernel_handle");
    return is_handle && is_handle(function);
}

CUkernel sim_runtime_kernel(const void *function)
{
    struct named *entry = function ? find(function) : NULL;
    if (!entry)
        return function && driver_handle(function) ? (CUkernel)function : NULL;
    CUkernel kernel = atomic_load_explicit(&entry->kernel, memory_order_acquire);
    if (kernel || entry->kind != FUNCTION)
        return kernel;
    CUlibrary library = library_of(entry->binary);
    if (!library || sim_driver()->cuLibraryGetKernel(&kernel, library, entry->name) != CUDA_SUCCESS)
        return NULL;
    atomic_store(&entry->kernel, kernel);
    return kernel;
}

const char *sim_runtime_kernel_name(const void *function)
{
    struct named *entry = function ? find(function) : NULL;
    if (entry)
        return entry->kind == FUNCTION ? entry->name : NULL;
    static const char *(*name_of)(const void *);
    if (!name_of)
        *(void **)&name_of = sim_driver_symbol("sim_handle_name");
    return name_of && function && driver_handle(function) ? name_of(function) : NULL;
}

cudaError_t sim_runtime_symbol(const void *symbol, CUdeviceptr *address, size_t *size)
{
    struct named *entry = symbol ? find(symbol) : NULL;
    if (!entry || entry->kind == FUNCTION)
        return cudaErrorInvalidSymbol;
    if (entry->kind == MANAGED) {
        *address = entry->managed;
        *size = entry->size;
        return cudaSuccess;
    }
    CUlibrary library = library_of(entry->binary);
    if (!library)
        return cudaErrorNoKernelImageForDevice;
    return sim_error(sim_driver()->cuLibraryGetGlobal(address, size, library, entry->name));
}

/* ---- launch configurations ---- */

struct configuration {
    dim3 grid, block;
    size_t shared;
    void *stream;
};

static _Thread_local struct configuration configurations[CONFIGURATIONS];
static _Thread_local int configuration_depth;

SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, void *stream)
{
    if (configuration_depth == CONFIGURATIONS)
        return cudaErrorMissingConfiguration;
    configurations[configuration_depth++] = (struct configuration){gridDim, blockDim, sharedMem, stream};
    return cudaSuccess;
}

SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream)
{
    if (!configuration_depth)
        return cudaErrorMissingConfiguration;
    const struct configuration *top = &configurations[--configuration_depth];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared;
    *(void **)stream = top->stream;
    return cudaSuccess;
}

/* ---- launches ---- */

SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entryFuncAddr)
{
    if (sim_runtime_ready() != cudaSuccess)
        return sim_runtime_record(sim_runtime_ready());
    *kernel = (cudaKernel_t)sim_runtime_kernel(entryFuncAddr);
    return *kernel ? cudaSuccess : sim_runtime_record(cudaErrorInvalidDeviceFunction);
}

/* A kernel without a host function is what a device function unknown to the runtime would be. */
static cudaError_t launch_error(CUresult result)
{
    if (result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return cudaErrorInvalidDeviceFunction;
    return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : sim_error(result);
}

static cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return launch_error(SIM_TWIN(cuLaunchKernel, ptsz)((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                                       block.z, (unsigned)shared, stream, args, NULL));
}

cudaError_t sim_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                 cudaStream_t stream)
{
    return launch(sim_runtime_kernel(func), gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t sim___cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                   cudaStream_t stream)
{
    return launch((CUkernel)kernel, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t sim_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                            size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel = sim_runtime_kernel(func);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return launch_error(SIM_TWIN(cuLaunchCooperativeKernel, ptsz)((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z,
                                                                  blockDim.x, blockDim.y, blockDim.z,
                                                                  (unsigned)sharedMem, stream, args));
}

cudaError_t sim_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    CUkernel kernel = sim_runtime_kernel(func);
    if (!config || !kernel)
        return config ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    CUlaunchConfig driver_config = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
    return launch_error(SIM_TWIN(cuLaunchKernelEx, ptsz)(&driver_config, (CUfunction)kernel, args, NULL));
}
