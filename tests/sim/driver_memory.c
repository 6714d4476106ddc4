/*
 * driver_memory.c - allocation, pools, arrays, pointer attributes.
 *
 * Stream-ordered allocation and freeing happen at the call, like all work here. In a capture they become nodes without
 * work: the block is allocated at capture and stays for the replays.
 *
 * Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core.h"

struct CUmemPoolHandle_st {
    int device;
    cuuint64_t threshold;
};

static struct CUmemPoolHandle_st default_pools[SIM_MAX_DEVICES];

/* ---- plain ---- */

static CUresult allocate(enum sim_memory_kind kind, size_t size, unsigned flags, void **out)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result == CUDA_SUCCESS)
        result = sim_capture_allows_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = sim_memory_allocate(kind, context->device, size, flags, false);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = memory;
    sim_count_allocation();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result == CUDA_SUCCESS) {
        *free_bytes = sim_memory_free_bytes(context->device);
        *total = sim_memory_total();
    }
    return result;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    return allocate(SIM_MEMORY_DEVICE, bytesize, 0, (void **)dptr);
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    return allocate(SIM_MEMORY_MANAGED, bytesize, flags, (void **)dptr);
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                unsigned int ElementSizeBytes)
{
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = (WidthInBytes + 511) & ~(size_t)511;
    CUresult result = sim_cuMemAlloc_v2(dptr, pitch * Height);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

CUresult sim_cuMemFree_v2(CUdeviceptr dptr)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    result = sim_capture_allows_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_memory_release((void *)dptr, SIM_MEMORY_DEVICE) && !sim_memory_release((void *)dptr, SIM_MEMORY_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    sim_count_free();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct sim_block block;
    if (!sim_memory_find((void *)dptr, 1, &block))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = block.base;
    if (psize)
        *psize = block.size;
    return CUDA_SUCCESS;
}

/* ---- host ---- */

CUresult sim_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return allocate(SIM_MEMORY_PINNED, bytesize, Flags, pp);
}

CUresult sim_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return sim_cuMemHostAlloc(pp, bytesize, 0);
}

CUresult sim_cuMemFreeHost(void *p)
{
    CUresult result = sim_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_memory_release(p, SIM_MEMORY_PINNED))
        return CUDA_ERROR_INVALID_VALUE;
    sim_count_free();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p || !bytesize)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_memory_register(p, bytesize, Flags) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult sim_cuMemHostUnregister(void *p)
{
    return sim_memory_release(p, SIM_MEMORY_REGISTERED) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

static bool find_host(const void *pointer, struct sim_block *block)
{
    return sim_memory_find(pointer, 1, block) &&
           (block->kind == SIM_MEMORY_PINNED || block->kind == SIM_MEMORY_REGISTERED ||
            block->kind == SIM_MEMORY_MANAGED);
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct sim_block block;
    if (Flags != 0 || !pdptr || !find_host(p, &block))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct sim_block block;
    if (!pFlags || !find_host(p, &block))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = block.flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    struct sim_block block;
    (void)advice, (void)location;
    return sim_memory_find((void *)devPtr, count, &block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    struct sim_block block;
    (void)dstDevice;
    if (!sim_stream_of(hStream))
        return CUDA_ERROR_INVALID_HANDLE;
    bool managed = sim_memory_find((void *)devPtr, count, &block) && block.kind == SIM_MEMORY_MANAGED;
    return managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                   CUstream hStream)
{
    (void)flags;
    return sim_cuMemPrefetchAsync(devPtr, count, location.id, hStream);
}

/* ---- stream-ordered ---- */

static CUresult empty_node(CUstream stream)
{
    struct sim_operation operation = {.kind = SIM_EMPTY, .asynchronous = true};
    return sim_submit(stream, &operation);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!dptr || !bytesize)
        return CUDA_ERROR_INVALID_VALUE;
    int device = pool ? pool->device : stream->context->device;
    void *memory = sim_memory_allocate(SIM_MEMORY_DEVICE, device, bytesize, 0, true);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = empty_node(hStream);
    if (result != CUDA_SUCCESS) {
        sim_memory_release(memory, SIM_MEMORY_DEVICE);
        return result;
    }
    *dptr = (CUdeviceptr)memory;
    sim_count_allocation();
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return sim_cuMemAllocFromPoolAsync(dptr, bytesize, NULL, hStream);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    struct sim_block block;
    if (!sim_memory_find((void *)dptr, 1, &block) || block.base != dptr || block.kind != SIM_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
        return empty_node(hStream);
    sim_memory_release((void *)dptr, SIM_MEMORY_DEVICE);
    sim_count_free();
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    if (!pool_out || !sim_device_valid(dev))
        return pool_out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    default_pools[dev].device = dev;
    *pool_out = &default_pools[dev];
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return sim_cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    return pool && sim_device_valid(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    if (!pool || !poolProps || !sim_device_valid(poolProps->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    *pool = calloc(1, sizeof **pool);
    if (!*pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*pool)->device = poolProps->location.id;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        if (pool == &default_pools[i])
            return CUDA_ERROR_INVALID_VALUE;
    free(pool);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (!pool || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(cuuint64_t *)value;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (!pool || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        *(int *)value = 1;
    else
        *(cuuint64_t *)value = attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? pool->threshold : 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    return pool && (map || !count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    if (!flags || !memPool || !location)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

/* ---- pointer attributes ---- */

static CUresult owner_attribute(void *data, CUpointer_attribute attribute, const struct sim_block *block)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = block->pooled ? NULL : sim_current_context();
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = block->kind >= SIM_MEMORY_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = block->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = block->kind == SIM_MEMORY_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = block->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = block->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = block->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = block->pooled ? &default_pools[block->device] : NULL;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    CUresult result = sim_initialized();
    struct sim_block block;
    if (result != CUDA_SUCCESS)
        return result;
    if (!data || !sim_memory_find((void *)ptr, 1, &block))
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) {
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    }
    if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
        *(void **)data = (void *)ptr;
        return block.kind == SIM_MEMORY_DEVICE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    return owner_attribute(data, attribute, &block);
}

/* Unlike the single form, memory unknown to CUDA is no error here: its attributes read as zero. */
CUresult sim_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                    CUdeviceptr ptr)
{
    CUresult result = sim_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; i++) {
        if (sim_cuPointerGetAttribute(data[i], attributes[i], ptr) == CUDA_SUCCESS)
            continue;
        bool word = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED || attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = -2;
        else
            memset(data[i], 0, word ? 4 : 8);
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_block block;
    bool good = value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && sim_memory_find((void *)ptr, 1, &block);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- arrays: linear storage with a pitch ---- */

static size_t format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

CUresult sim_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    size_t element = pAllocateArray ? format_bytes(pAllocateArray->Format) * pAllocateArray->NumChannels : 0;
    if (!pHandle || !element || !pAllocateArray->Width)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUarray_st *array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->descriptor = *pAllocateArray;
    array->element_bytes = element;
    array->pitch = (pAllocateArray->Width * element + 511) & ~(size_t)511;
    array->rows = pAllocateArray->Height ? pAllocateArray->Height : 1;
    size_t depth = pAllocateArray->Depth ? pAllocateArray->Depth : 1;
    CUresult result = sim_cuMemAlloc_v2((CUdeviceptr *)&array->data, array->pitch * array->rows * depth);
    if (result != CUDA_SUCCESS) {
        free(array);
        return result;
    }
    *pHandle = array;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {pAllocateArray->Width,  pAllocateArray->Height,      0,
                                          pAllocateArray->Format, pAllocateArray->NumChannels, 0};
    return sim_cuArray3DCreate_v2(pHandle, &descriptor);
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    if (!pArrayDescriptor || !hArray)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = hArray->descriptor;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    if (!pArrayDescriptor || !hArray)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){hArray->descriptor.Width, hArray->descriptor.Height,
                                                hArray->descriptor.Format, hArray->descriptor.NumChannels};
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
    if (!hArray)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = sim_cuMemFree_v2((CUdeviceptr)hArray->data);
    free(hArray);
    return result;
}
