/*
 * driver_device.c - cuInit, devices, contexts, error names.
 *
 * cuInit reads the environment, opens the SIM_KERNELS libraries and loads the injection library, as the driver does.
 *
 * Threads: any; the current context is a per-thread stack. Injection code runs without a lock of ours.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

#define STACK_DEPTH 64
#define DRIVER_VERSION 13000

static struct {
    pthread_mutex_t lock;
    struct CUctx_st primary[SIM_MAX_DEVICES];
    struct CUctx_st *created;
    uint32_t next_uid;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_uid = 1};

static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Atomic int init_state; /* 0 not yet, 1 under way or done, 2 failed */
static _Atomic int device_count;
static _Thread_local struct CUctx_st *context_stack[STACK_DEPTH];
static _Thread_local int context_depth;

/* ---- cuInit ---- */

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "sim: CUDA_INJECTION64_PATH: %s\n", dlerror());
        return;
    }
    int (*initialize)(void);
    *(void **)&initialize = dlsym(library, "InitializeInjection");
    if (initialize)
        initialize();
}

static int configured_devices(void)
{
    const char *none = getenv("SIM_NO_DEVICE"), *count = getenv("SIM_DEVICES");
    if (none && strcmp(none, "1") == 0)
        return 0;
    int devices = count ? atoi(count) : 1;
    return devices < 1 ? 1 : devices > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : devices;
}

CUresult sim_cuInit(unsigned int Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&init_lock);
    bool first = atomic_load(&init_state) == 0;
    if (first) {
        atomic_store(&device_count, configured_devices());
        atomic_store(&init_state, atomic_load(&device_count) ? 1 : 2);
        if (atomic_load(&init_state) == 1) {
            sim_open_kernels();
            inject();
        }
    }
    pthread_mutex_unlock(&init_lock);
    return atomic_load(&init_state) == 1 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult sim_initialized(void)
{
    return atomic_load(&init_state) == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* ---- errors ---- */

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define E(code, text)                                                                                                  \
    {                                                                                                                  \
        code, #code, text                                                                                              \
    }
    E(CUDA_SUCCESS, "no error"),
    E(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    E(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    E(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    E(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    E(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    E(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    E(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    E(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    E(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    E(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    E(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    E(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    E(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    E(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    E(CUDA_ERROR_NOT_READY, "device not ready"),
    E(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    E(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    E(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"),
    E(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    E(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    E(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not initiated in this stream"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    E(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
      "operation would make the legacy stream depend on a capturing blocking stream"),
    E(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef E
};

static CUresult describe(CUresult error, const char **text, bool name)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors && !*text; i++)
        if (errors[i].code == error)
            *text = name ? errors[i].name : errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorString(CUresult error, const char **pStr)
{
    return describe(error, pStr, false);
}

CUresult sim_cuGetErrorName(CUresult error, const char **pStr)
{
    return describe(error, pStr, true);
}

/* ---- devices ---- */

bool sim_device_valid(CUdevice device)
{
    return device >= 0 && device < atomic_load(&device_count);
}

static CUresult need_device(const void *out, CUdevice device)
{
    CUresult result = sim_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_device_valid(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = need_device(device, ordinal);
    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return result;
}

CUresult sim_cuDeviceGetCount(int *count)
{
    CUresult result = sim_initialized();
    if (result == CUDA_SUCCESS && !count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *count = atomic_load(&device_count);
    return result;
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    CUresult result = need_device(name, dev);
    if (result == CUDA_SUCCESS && len > 0)
        snprintf(name, (size_t)len, "stand-in device (host memory)");
    return result;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    CUresult result = need_device(uuid, dev);
    if (result == CUDA_SUCCESS) {
        memset(uuid, 0, sizeof *uuid);
        uuid->bytes[15] = (char)(dev + 1);
    }
    return result;
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    CUresult result = need_device(bytes, dev);
    if (result == CUDA_SUCCESS)
        *bytes = sim_memory_total();
    return result;
}

/* The figures that programs ask for, as an sm_90 device has them; the rest is 0. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
};

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    CUresult result = need_device(pi, dev);
    if (result != CUDA_SUCCESS)
        return result;
    *pi = attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ? dev + 1 : 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attrib)
            *pi = attributes[i].value;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    CUresult result = need_device(major && minor ? major : NULL, dev);
    if (result == CUDA_SUCCESS) {
        *major = 9;
        *minor = 0;
    }
    return result;
}

CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    CUresult result = need_device(pciBusId, dev);
    if (result == CUDA_SUCCESS && len < 13)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", (unsigned)dev + 1);
    return result;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned bus;
    CUresult result = need_device(dev, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pciBusId || sscanf(pciBusId, "%*x:%x", &bus) != 1 || !sim_device_valid((int)bus - 1))
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = (int)bus - 1;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult result = need_device(canAccessPeer, dev);
    if (result == CUDA_SUCCESS)
        result = need_device(canAccessPeer, peerDev);
    if (result == CUDA_SUCCESS)
        *canAccessPeer = dev != peerDev;
    return result;
}

CUresult sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    CUresult result = sim_cuDeviceCanAccessPeer(value, srcDevice, dstDevice);
    if (result == CUDA_SUCCESS && attrib == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)
        *value = 0;
    return result;
}

/* ---- contexts ---- */

static void open_context(struct CUctx_st *context, CUdevice device, bool primary)
{
    context->device = device;
    context->primary = primary;
    context->live = true;
    context->uid = contexts.next_uid++;
    context->next_stream_id =
        13; /* below are the ids of streams that a context has of itself, as seen in CUPTI traces */
}

CUcontext sim_current_context(void)
{
    return context_depth ? context_stack[context_depth - 1] : NULL;
}

CUresult sim_need_context(CUcontext *context)
{
    CUresult result = sim_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_current_context();
    return *context && (*context)->live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CUresult result = need_device(pctx, dev);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = &contexts.primary[dev];
    pthread_mutex_lock(&contexts.lock);
    bool created = context->references++ == 0;
    if (created)
        open_context(context, dev, true);
    pthread_mutex_unlock(&contexts.lock);
    *pctx = context;
    if (created)
        sim_trace_context(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context);
    return CUDA_SUCCESS;
}

static CUresult drop_primary(CUdevice dev, bool all)
{
    CUresult result = need_device(&dev, dev);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = &contexts.primary[dev];
    pthread_mutex_lock(&contexts.lock);
    bool live = context->references > 0;
    bool last = live && (all || context->references == 1);
    pthread_mutex_unlock(&contexts.lock);
    if (last)
        sim_trace_context(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context);
    pthread_mutex_lock(&contexts.lock);
    if (live)
        context->references = last ? 0 : context->references - 1;
    if (last)
        context->live = false;
    pthread_mutex_unlock(&contexts.lock);
    return live || all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return drop_primary(dev, false);
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return drop_primary(dev, true);
}

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    CUresult result = need_device(&dev, dev);
    if (result == CUDA_SUCCESS)
        contexts.primary[dev].flags = flags;
    return result;
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult result = need_device(flags && active ? flags : NULL, dev);
    if (result == CUDA_SUCCESS) {
        *flags = contexts.primary[dev].flags;
        *active = contexts.primary[dev].references > 0;
    }
    return result;
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext ctx)
{
    if (!ctx || !ctx->live || context_depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    context_stack[context_depth++] = ctx;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    if (!context_depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    context_depth--;
    if (pctx)
        *pctx = context_stack[context_depth];
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetCurrent(CUcontext ctx)
{
    if (context_depth)
        context_depth--;
    return ctx ? sim_cuCtxPushCurrent_v2(ctx) : CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *pctx)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = sim_current_context();
    return sim_initialized();
}

CUresult sim_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    CUresult result = need_device(pctx, dev);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *context = calloc(1, sizeof *context);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&contexts.lock);
    open_context(context, dev, false);
    context->flags = flags;
    context->next = contexts.created;
    contexts.created = context;
    pthread_mutex_unlock(&contexts.lock);
    *pctx = context;
    sim_cuCtxPushCurrent_v2(context);
    sim_trace_context(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    (void)ctxCreateParams;
    return sim_cuCtxCreate_v2(pctx, flags, dev);
}

/* The object stays, marked dead, so that a stale handle is an error and not a crash. */
CUresult sim_cuCtxDestroy_v2(CUcontext ctx)
{
    if (!ctx || !ctx->live || ctx->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_trace_context(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, ctx);
    ctx->live = false;
    if (sim_current_context() == ctx)
        context_depth--;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result == CUDA_SUCCESS)
        *device = context->device;
    return result;
}

CUresult sim_cuCtxGetFlags(unsigned int *flags)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result == CUDA_SUCCESS)
        *flags = context->flags;
    return result;
}

CUresult sim_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    CUcontext context = ctx;
    CUresult result = ctx ? sim_initialized() : sim_need_context(&context);
    if (result == CUDA_SUCCESS)
        *ctxId = context->uid;
    return result;
}

CUresult sim_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    (void)ctx;
    *version = 3020;
    return sim_initialized();
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)limit, (void)value;
    return sim_initialized();
}

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    *pvalue = limit == CU_LIMIT_STACK_SIZE ? 1024 : 8388608;
    return sim_initialized();
}

CUresult sim_cuCtxSetCacheConfig(CUfunc_cache config)
{
    (void)config;
    return sim_initialized();
}

CUresult sim_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    *pconfig = CU_FUNC_CACHE_PREFER_NONE;
    return sim_initialized();
}

CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return sim_initialized();
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    (void)Flags;
    return peerContext && peerContext->live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    return peerContext && peerContext->live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
