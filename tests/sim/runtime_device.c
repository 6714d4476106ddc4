/*
 * runtime_device.c - the runtime's questions: devices, versions, errors, kernels' attributes, libraries, entry points.
 *
 * Threads: any.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/runtime.h"

#if SIM_CUDA_MAJOR == 13
#define RUNTIME_VERSION 13000
#else
#define RUNTIME_VERSION 12080
#endif

/* ---- errors ---- */

static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
#define E(code, text)                                                                                                  \
    {                                                                                                                  \
        code, #code, text                                                                                              \
    }
    E(cudaSuccess, "no error"),
    E(cudaErrorInvalidValue, "invalid argument"),
    E(cudaErrorMemoryAllocation, "out of memory"),
    E(cudaErrorInitializationError, "initialization error"),
    E(cudaErrorCudartUnloading, "driver shutting down"),
    E(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    E(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    E(cudaErrorInvalidSymbol, "invalid device symbol"),
    E(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    E(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    E(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    E(cudaErrorInvalidDeviceFunction, "invalid device function"),
    E(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    E(cudaErrorInvalidDevice, "invalid device ordinal"),
    E(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    E(cudaErrorDeviceUninitialized, "invalid device context"),
    E(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    E(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    E(cudaErrorSymbolNotFound, "named symbol not found"),
    E(cudaErrorNotReady, "device not ready"),
    E(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    E(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    E(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    E(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    E(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    E(cudaErrorLaunchFailure, "unspecified launch failure"),
    E(cudaErrorNotSupported, "operation not supported"),
    E(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    E(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    E(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream"),
    E(cudaErrorUnknown, "unknown error"),
#undef E
};

SIM_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            return errors[i].name;
    return "unrecognized error code";
}

SIM_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error)
            return errors[i].text;
    return "unrecognized error code";
}

/* ---- versions and entry points ---- */

cudaError_t sim_cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return cudaErrorInvalidValue;
    *runtimeVersion = RUNTIME_VERSION;
    return cudaSuccess;
}

cudaError_t sim_cudaDriverGetVersion(int *driverVersion)
{
    return sim_error(sim_driver()->cuDriverGetVersion(driverVersion));
}

cudaError_t sim_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                 unsigned long long flags,
                                                 enum cudaDriverEntryPointQueryResult *driverStatus)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    bool plain = flags == cudaEnableDefault && sim_runtime_per_thread();
    cuuint64_t driver_flags = plain ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : flags;
    cudaError_t result =
        sim_error(sim_driver()->cuGetProcAddress_v2(symbol, funcPtr, (int)cudaVersion, driver_flags, &status));
    if (driverStatus)
        *driverStatus = (enum cudaDriverEntryPointQueryResult)status;
    return result == cudaSuccess && !*funcPtr && !driverStatus ? cudaErrorSymbolNotFound : result;
}

cudaError_t sim_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return sim_cudaGetDriverEntryPointByVersion(symbol, funcPtr, RUNTIME_VERSION, flags, driverStatus);
}

SIM_EXPORT cudaError_t cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId)
{
    (void)pExportTableId;
    *ppExportTable = NULL;
    return cudaErrorNotSupported;
}

SIM_EXPORT cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

SIM_EXPORT cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

/* ---- devices ---- */

cudaError_t sim_cudaGetDeviceCount(int *count)
{
    return sim_error(sim_driver()->cuDeviceGetCount(count));
}

cudaError_t sim_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    return sim_error(sim_driver()->cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
}

/* Fields of cudaDeviceProp that the stand-in fills, with the attribute each comes from. */
#define PROPERTY_FIELDS(F)                                                                                             \
    F(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock)                                                           \
    F(regsPerBlock, cudaDevAttrMaxRegistersPerBlock)                                                                   \
    F(warpSize, cudaDevAttrWarpSize)                                                                                   \
    F(memPitch, cudaDevAttrMaxPitch)                                                                                   \
    F(maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock)                                                               \
    F(maxThreadsDim[0], cudaDevAttrMaxBlockDimX)                                                                       \
    F(maxThreadsDim[1], cudaDevAttrMaxBlockDimY)                                                                       \
    F(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ)                                                                       \
    F(maxGridSize[0], cudaDevAttrMaxGridDimX)                                                                          \
    F(maxGridSize[1], cudaDevAttrMaxGridDimY)                                                                          \
    F(maxGridSize[2], cudaDevAttrMaxGridDimZ)                                                                          \
    F(totalConstMem, cudaDevAttrTotalConstantMemory)                                                                   \
    F(major, cudaDevAttrComputeCapabilityMajor)                                                                        \
    F(minor, cudaDevAttrComputeCapabilityMinor)                                                                        \
    F(textureAlignment, cudaDevAttrTextureAlignment)                                                                   \
    F(texturePitchAlignment, cudaDevAttrTexturePitchAlignment)                                                         \
    F(multiProcessorCount, cudaDevAttrMultiProcessorCount)                                                             \
    F(canMapHostMemory, cudaDevAttrCanMapHostMemory)                                                                   \
    F(concurrentKernels, cudaDevAttrConcurrentKernels)                                                                 \
    F(pciDeviceID, cudaDevAttrPciDeviceId)                                                                             \
    F(asyncEngineCount, cudaDevAttrAsyncEngineCount)                                                                   \
    F(unifiedAddressing, cudaDevAttrUnifiedAddressing)                                                                 \
    F(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth)                                                                 \
    F(l2CacheSize, cudaDevAttrL2CacheSize)                                                                             \
    F(maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor)                                             \
    F(streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported)                                                 \
    F(sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor)                                         \
    F(regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor)                                                 \
    F(managedMemory, cudaDevAttrManagedMemory)                                                                         \
    F(concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess)                                                     \
    F(cooperativeLaunch, cudaDevAttrCooperativeLaunch)                                                                 \
    F(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin)                                                 \
    F(maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor)                                               \
    F(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported)                                                           \
    F(clusterLaunch, cudaDevAttrClusterLaunch)

static cudaError_t properties(struct cudaDeviceProp *prop, int device)
{
    int value = 0;
    if (!prop)
        return cudaErrorInvalidValue;
    cudaError_t result = sim_cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device);
    if (result != cudaSuccess)
        return result;
    memset(prop, 0, sizeof *prop);
    sim_driver()->cuDeviceGetName(prop->name, sizeof prop->name, device);
    sim_driver()->cuDeviceGetUuid_v2((CUuuid *)&prop->uuid, device);
    sim_driver()->cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
#define TAKE(field, attribute)                                                                                         \
    if (sim_cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess)                                          \
        prop->field = (__typeof__(prop->field))value;
    PROPERTY_FIELDS(TAKE)
#undef TAKE
    return cudaSuccess;
}

#if SIM_CUDA_MAJOR == 13
cudaError_t sim_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    return properties(prop, device);
}
#else
/* CUDA 12's structure up to the last field that is filled; in words that 13 dropped, as the 12.8 headers place them. */
struct sim_properties_12 {
    char name[256];
    unsigned char ids[16 + 8 + 4 + 4]; /* uuid, luid, node mask, padding */
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2],
        maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap,
        maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2],
        maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
        unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
        maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
        canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, reserved[63];
};
_Static_assert(sizeof(struct sim_properties_12) == 1032, "sizeof(cudaDeviceProp) in the 12.8 headers");

static cudaError_t properties_12(struct sim_properties_12 *prop, int device)
{
    struct cudaDeviceProp now;
    if (!prop)
        return cudaErrorInvalidValue;
    cudaError_t result = properties(&now, device);
    if (result != cudaSuccess)
        return result;
    memset(prop, 0, sizeof *prop);
    memcpy(prop->name, now.name, sizeof prop->name);
    memcpy(prop->ids, &now.uuid, 16);
    prop->totalGlobalMem = now.totalGlobalMem;
#define TAKE(field, attribute) prop->field = now.field;
    PROPERTY_FIELDS(TAKE)
#undef TAKE
    sim_cudaDeviceGetAttribute(&prop->clockRate, cudaDevAttrClockRate, device);
    sim_cudaDeviceGetAttribute(&prop->memoryClockRate, cudaDevAttrMemoryClockRate, device);
    return cudaSuccess;
}

cudaError_t sim_cudaGetDeviceProperties(struct sim_properties_12 *prop, int device)
{
    return properties_12(prop, device);
}

cudaError_t sim_cudaGetDeviceProperties_v2(struct sim_properties_12 *prop, int device)
{
    return properties_12(prop, device);
}
#endif

cudaError_t sim_cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    if (!device || !prop)
        return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}

cudaError_t sim_cudaSetValidDevices(int *device_arr, int len)
{
    return device_arr || !len ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t sim_cudaSetDeviceFlags(unsigned int flags)
{
    int device = 0;
    sim_cudaGetDevice(&device);
    return sim_error(sim_driver()->cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

cudaError_t sim_cudaGetDeviceFlags(unsigned int *flags)
{
    int device = 0, active;
    sim_cudaGetDevice(&device);
    return sim_error(sim_driver()->cuDevicePrimaryCtxGetState(device, flags, &active));
}

cudaError_t sim_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return sim_error(sim_driver()->cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t sim_cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return sim_error(sim_driver()->cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t sim_cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    return sim_error(sim_driver()->cuCtxGetCacheConfig((CUfunc_cache *)pCacheConfig));
}

cudaError_t sim_cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    return sim_error(sim_driver()->cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
}

cudaError_t sim_cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    return sim_error(sim_driver()->cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t sim_cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    return sim_error(sim_driver()->cuDeviceGetByPCIBusId(device, pciBusId));
}

cudaError_t sim_cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    return sim_error(sim_driver()->cuDeviceGetPCIBusId(pciBusId, len, device));
}

cudaError_t sim_cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    return sim_error(sim_driver()->cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
}

cudaError_t sim_cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    return sim_error(sim_driver()->cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t sim_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    return sim_error(sim_driver()->cuCtxEnablePeerAccess(sim_runtime_context(peerDevice), flags));
}

cudaError_t sim_cudaDeviceDisablePeerAccess(int peerDevice)
{
    return sim_error(sim_driver()->cuCtxDisablePeerAccess(sim_runtime_context(peerDevice)));
}

/* ---- kernels ---- */

/* The driver's function behind a host stub; NULL when there is none. */
static CUfunction function_of(const void *func)
{
    CUkernel kernel = sim_runtime_kernel(func);
    CUfunction function = NULL;
    if (kernel)
        sim_driver()->cuKernelGetFunction(&function, kernel);
    return function;
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = 0;
    sim_driver()->cuFuncGetAttribute(&value, which, function);
    return value;
}

cudaError_t sim_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUfunction function = function_of(func);
    if (!attr || !function)
        return attr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    memset(attr, 0, sizeof *attr);
    attr->sharedSizeBytes = (size_t)attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    attr->maxThreadsPerBlock = attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attr->numRegs = attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    attr->ptxVersion = attribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    attr->binaryVersion = attribute(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    attr->maxDynamicSharedSizeBytes = attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    return cudaSuccess;
}

cudaError_t sim_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    CUfunction function = function_of(func);
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    return sim_error(sim_driver()->cuFuncSetAttribute(function, (CUfunction_attribute)attr, value));
}

cudaError_t sim_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    (void)cacheConfig;
    return function_of(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaFuncGetName(const char **name, const void *func)
{
    CUkernel kernel = sim_runtime_kernel(func);
    return kernel ? sim_error(sim_driver()->cuKernelGetName(name, kernel)) : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    CUkernel kernel = sim_runtime_kernel(func);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    return sim_error(sim_driver()->cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
}

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                       size_t dynamicSMemSize, unsigned int flags)
{
    CUfunction function = function_of(func);
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    return sim_error(sim_driver()->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, function, blockSize,
                                                                                        dynamicSMemSize, flags));
}

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                              size_t dynamicSMemSize)
{
    return sim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

cudaError_t sim_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                          int blockSize)
{
    CUfunction function = function_of(func);
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    return sim_error(
        sim_driver()->cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function, numBlocks, blockSize));
}

cudaError_t sim_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    *functionPtr = function_of(symbolPtr);
    return *functionPtr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    *kernelPtr = (cudaKernel_t)sim_runtime_kernel(entryFuncAddr);
    return *kernelPtr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

/* ---- libraries ---- */

cudaError_t sim_cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jitOptions,
                                    void **jitOptionsValues, unsigned int numJitOptions,
                                    enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions)
{
    return sim_error(sim_driver()->cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jitOptions,
                                                     jitOptionsValues, numJitOptions, (CUlibraryOption *)libraryOptions,
                                                     libraryOptionValues, numLibraryOptions));
}

cudaError_t sim_cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions,
                                        void **jitOptionsValues, unsigned int numJitOptions,
                                        enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned int numLibraryOptions)
{
    return sim_error(sim_driver()->cuLibraryLoadFromFile(
        (CUlibrary *)library, fileName, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
        (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t sim_cudaLibraryUnload(cudaLibrary_t library)
{
    return sim_error(sim_driver()->cuLibraryUnload((CUlibrary)library));
}

cudaError_t sim_cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    return sim_error(sim_driver()->cuLibraryGetKernel((CUkernel *)pKernel, (CUlibrary)library, name));
}

cudaError_t sim_cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return sim_error(sim_driver()->cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name));
}

cudaError_t sim_cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    return sim_error(sim_driver()->cuLibraryGetKernelCount(count, (CUlibrary)lib));
}

cudaError_t sim_cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib)
{
    return sim_error(sim_driver()->cuLibraryEnumerateKernels((CUkernel *)kernels, numKernels, (CUlibrary)lib));
}

cudaError_t sim_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device)
{
    return sim_error(sim_driver()->cuKernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel, device));
}
