/*
 * driver_kernel.c - what the driver says of a kernel: names, parameters, attributes, occupancy.
 *
 * A CUfunction and a CUkernel are two handles of one kernel; launches take either, questions about the one refuse the
 * other with CUDA_ERROR_INVALID_HANDLE, as the driver does. A question may load the kernel's module, which calls back.
 *
 * Threads: any.
 */
#include <string.h>

#include "tests/sim/core.h"

#define THREADS_PER_BLOCK 1024
#define THREADS_PER_MULTIPROCESSOR 2048
#define SHARED_PER_MULTIPROCESSOR 233472
#define SHARED_DEFAULT 49152

struct CUkern_st *sim_kernel_of(const void *handle)
{
    const enum sim_tag *tag = handle;
    if (!tag)
        return NULL;
    if (*tag == SIM_TAG_KERNEL)
        return (struct CUkern_st *)handle;
    return *tag == SIM_TAG_FUNCTION ? ((const struct CUfunc_st *)handle)->kernel : NULL;
}

const char *sim_kernel_name(const void *handle)
{
    struct CUkern_st *kernel = sim_kernel_of(handle);
    return kernel ? kernel->image->name : NULL;
}

/* The kernel behind a handle of exactly this kind, its module loaded; NULL when it is none. */
static struct CUkern_st *exactly(const void *handle, enum sim_tag tag)
{
    if (!handle || *(const enum sim_tag *)handle != tag)
        return NULL;
    struct CUkern_st *kernel = sim_kernel_of(handle);
    sim_module_ensure_loaded(kernel->module);
    return kernel;
}

static CUresult parameter_info(struct CUkern_st *kernel, size_t index, size_t *offset, size_t *size)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!offset || index >= kernel->image->parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = kernel->image->parameters[index].offset;
    if (size)
        *size = kernel->image->parameters[index].size;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    return parameter_info(exactly(kernel, SIM_TAG_KERNEL), paramIndex, paramOffset, paramSize);
}

CUresult sim_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    return parameter_info(exactly(func, SIM_TAG_FUNCTION), paramIndex, paramOffset, paramSize);
}

static CUresult name_of(struct CUkern_st *kernel, const char **name)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = kernel->image->name;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
    return name_of(exactly(hfunc, SIM_TAG_KERNEL), name);
}

CUresult sim_cuFuncGetName(const char **name, CUfunction hfunc)
{
    return name_of(exactly(hfunc, SIM_TAG_FUNCTION), name);
}

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    struct CUkern_st *known = exactly(kernel, SIM_TAG_KERNEL);
    if (!known)
        return CUDA_ERROR_INVALID_HANDLE;
    *pFunc = &known->function;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    if (!kernel || kernel->tag != SIM_TAG_KERNEL)
        return CUDA_ERROR_INVALID_HANDLE;
    *pLib = (CUlibrary)kernel->module;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct CUkern_st *kernel = exactly(hfunc, SIM_TAG_FUNCTION);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *hmod = kernel->module;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct CUkern_st *kernel = sim_kernel_of(function);
    if (!kernel || !state)
        return CUDA_ERROR_INVALID_HANDLE;
    *state = kernel->module->loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncLoad(CUfunction function)
{
    return exactly(function, SIM_TAG_FUNCTION) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- attributes ---- */

static CUresult attribute(struct CUkern_st *kernel, CUfunction_attribute which, int *value)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = THREADS_PER_BLOCK;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)kernel->image->shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)kernel->image->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value =
            kernel->max_dynamic_shared ? kernel->max_dynamic_shared : SHARED_DEFAULT - (int)kernel->image->shared_bytes;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

static CUresult set_attribute(struct CUkern_st *kernel, CUfunction_attribute which, int value)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (value < 0 || (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > SHARED_PER_MULTIPROCESSOR))
        return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        kernel->max_dynamic_shared = value;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    return sim_device_valid(dev) ? attribute(exactly(kernel, SIM_TAG_KERNEL), attrib, pi) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    return sim_device_valid(dev) ? set_attribute(exactly(kernel, SIM_TAG_KERNEL), attrib, val)
                                 : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    (void)config, (void)dev;
    return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    return attribute(sim_kernel_of(hfunc), attrib, pi);
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    return set_attribute(sim_kernel_of(hfunc), attrib, value);
}

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    (void)config;
    return sim_kernel_of(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- occupancy: by threads and shared memory only ---- */

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                                  size_t dynamicSMemSize, unsigned int flags)
{
    struct CUkern_st *kernel = sim_kernel_of(func);
    (void)flags;
    if (!kernel || !numBlocks || blockSize <= 0)
        return kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    size_t by_threads = blockSize > THREADS_PER_BLOCK ? 0 : THREADS_PER_MULTIPROCESSOR / (size_t)blockSize;
    size_t shared = kernel->image->shared_bytes + dynamicSMemSize;
    size_t by_shared = shared ? SHARED_PER_MULTIPROCESSOR / shared : 32,
           blocks = by_threads < by_shared ? by_threads : by_shared;
    *numBlocks = (int)(blocks > 32 ? 32 : blocks);
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                         size_t dynamicSMemSize)
{
    return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                       CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                       size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    int limit = blockSizeLimit > 0 && blockSizeLimit < THREADS_PER_BLOCK ? blockSizeLimit : THREADS_PER_BLOCK,
        blocks = 0;
    size_t shared = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(limit) : dynamicSMemSize;
    CUresult result = sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, func, limit, shared, flags);
    if (result == CUDA_SUCCESS) {
        *blockSize = limit;
        *minGridSize = 132 * (blocks ? blocks : 1);
    }
    return result;
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                              int blockSizeLimit)
{
    return sim_cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                         dynamicSMemSize, blockSizeLimit, 0);
}

CUresult sim_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                     int blockSize)
{
    struct CUkern_st *kernel = sim_kernel_of(func);
    if (!kernel || numBlocks <= 0 || blockSize <= 0)
        return kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    size_t share = SHARED_PER_MULTIPROCESSOR / (size_t)numBlocks;
    *dynamicSmemSize = share > kernel->image->shared_bytes ? share - kernel->image->shared_bytes : 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    if (!sim_kernel_of(func) || !config)
        return CUDA_ERROR_INVALID_VALUE;
    *numClusters = 16;
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    if (!sim_kernel_of(func) || !config)
        return CUDA_ERROR_INVALID_VALUE;
    *clusterSize = 8;
    return CUDA_SUCCESS;
}
