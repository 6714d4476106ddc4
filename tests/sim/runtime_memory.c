/*
 * runtime_memory.c - the runtime's allocation, pools, arrays, pointer attributes and fills.
 *
 * Threads: any.
 */
#include <string.h>

#include "tests/sim/runtime.h"

/* ---- allocation ---- */

cudaError_t sim_cudaMalloc(void **devPtr, size_t size)
{
    if (!devPtr)
        return cudaErrorInvalidValue;
    if (size == 0) {
        *devPtr = NULL;
        return cudaSuccess;
    }
    return sim_error(sim_driver()->cuMemAlloc_v2((CUdeviceptr *)devPtr, size));
}

cudaError_t sim_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    if (!devPtr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudaErrorInvalidValue;
    return sim_error(sim_driver()->cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags));
}

cudaError_t sim_cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    return sim_error(sim_driver()->cuMemHostAlloc(pHost, size, flags));
}

cudaError_t sim_cudaMallocHost(void **ptr, size_t size)
{
    return sim_error(sim_driver()->cuMemAllocHost_v2(ptr, size));
}

cudaError_t sim_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (!devPtr || !pitch)
        return cudaErrorInvalidValue;
    return sim_error(sim_driver()->cuMemAllocPitch_v2((CUdeviceptr *)devPtr, pitch, width, height, 4));
}

cudaError_t sim_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    void *memory;
    size_t pitch;
    cudaError_t result = sim_cudaMallocPitch(&memory, &pitch, extent.width, extent.height * extent.depth);
    if (result == cudaSuccess)
        *pitchedDevPtr = (struct cudaPitchedPtr){memory, pitch, extent.width, extent.height};
    return result;
}

cudaError_t sim_cudaFree(void *devPtr)
{
    return sim_error(sim_driver()->cuMemFree_v2((CUdeviceptr)devPtr));
}

cudaError_t sim_cudaFreeHost(void *ptr)
{
    return ptr ? sim_error(sim_driver()->cuMemFreeHost(ptr)) : cudaSuccess;
}

cudaError_t sim_cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    return sim_error(sim_driver()->cuMemHostRegister_v2(ptr, size, flags));
}

cudaError_t sim_cudaHostUnregister(void *ptr)
{
    return sim_error(sim_driver()->cuMemHostUnregister(ptr));
}

cudaError_t sim_cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    return sim_error(sim_driver()->cuMemHostGetDevicePointer_v2((CUdeviceptr *)pDevice, pHost, flags));
}

cudaError_t sim_cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    return sim_error(sim_driver()->cuMemHostGetFlags(pFlags, pHost));
}

cudaError_t sim_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    return sim_error(sim_driver()->cuMemGetInfo_v2(free_bytes, total));
}

cudaError_t sim_cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    return sim_error(SIM_TWIN(cuMemAllocAsync, ptsz)((CUdeviceptr *)devPtr, size, hStream));
}

cudaError_t sim_cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemAllocFromPoolAsync, ptsz)((CUdeviceptr *)ptr, size, memPool, stream));
}

cudaError_t sim_cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    return sim_error(SIM_TWIN(cuMemFreeAsync, ptsz)((CUdeviceptr)devPtr, hStream));
}

/* ---- pools ---- */

cudaError_t sim_cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    return sim_error(sim_driver()->cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
}

cudaError_t sim_cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return sim_error(sim_driver()->cuMemPoolDestroy(memPool));
}

cudaError_t sim_cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return sim_error(sim_driver()->cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t sim_cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    return sim_error(sim_driver()->cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t sim_cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    return sim_error(sim_driver()->cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t sim_cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count)
{
    return sim_error(sim_driver()->cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count));
}

cudaError_t sim_cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                     struct cudaMemLocation *location)
{
    return sim_error(sim_driver()->cuMemPoolGetAccess((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location));
}

cudaError_t sim_cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return sim_error(sim_driver()->cuDeviceGetDefaultMemPool(memPool, device));
}

cudaError_t sim_cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return sim_error(sim_driver()->cuDeviceGetMemPool(memPool, device));
}

cudaError_t sim_cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return sim_error(sim_driver()->cuDeviceSetMemPool(device, memPool));
}

static cudaError_t prefetch(const void *pointer, size_t count, CUmemLocation location, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemPrefetchAsync_v2, ptsz)((CUdeviceptr)pointer, count, location, 0, stream));
}

static cudaError_t advise(const void *pointer, size_t count, int advice, CUmemLocation location)
{
    return sim_error(sim_driver()->cuMemAdvise_v2((CUdeviceptr)pointer, count, (CUmem_advise)advice, location));
}

static CUmemLocation driver_location(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

#if SIM_CUDA_MAJOR == 13
cudaError_t sim_cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                     unsigned int flags, cudaStream_t stream)
{
    (void)flags;
    return prefetch(devPtr, count, driver_location(location), stream);
}

cudaError_t sim_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    return advise(devPtr, count, (int)advice, driver_location(location));
}
#else
static CUmemLocation device_location(int device)
{
    return (CUmemLocation){.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                           .id = device < 0 ? 0 : device};
}

cudaError_t sim_cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream)
{
    return prefetch(devPtr, count, device_location(dstDevice), stream);
}

cudaError_t sim_cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, struct cudaMemLocation location,
                                        unsigned int flags, cudaStream_t stream)
{
    (void)flags;
    return prefetch(devPtr, count, driver_location(location), stream);
}

cudaError_t sim_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device)
{
    return advise(devPtr, count, (int)advice, device_location(device));
}

cudaError_t sim_cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location)
{
    return advise(devPtr, count, (int)advice, driver_location(location));
}
#endif

/* ---- pointers and symbols ---- */

cudaError_t sim_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    unsigned type = 0, managed = 0;
    int device = 0;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&type, &managed, &device};
    if (!attributes)
        return cudaErrorInvalidValue;
    cudaError_t result = sim_error(sim_driver()->cuPointerGetAttributes(3, asked, data, (CUdeviceptr)ptr));
    if (result != cudaSuccess)
        return result;
    memset(attributes, 0, sizeof *attributes);
    attributes->type = managed                        ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                       : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                                      : cudaMemoryTypeUnregistered;
    attributes->device = device;
    if (attributes->type != cudaMemoryTypeUnregistered)
        attributes->devicePointer = (void *)ptr;
    if (attributes->type != cudaMemoryTypeDevice)
        attributes->hostPointer = (void *)ptr;
    return cudaSuccess;
}

cudaError_t sim_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address;
    size_t size;
    cudaError_t result = sim_runtime_symbol(symbol, &address, &size);
    if (result == cudaSuccess)
        *devPtr = (void *)address;
    return result;
}

cudaError_t sim_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    return sim_runtime_symbol(symbol, &address, size);
}

/* ---- arrays ---- */

SIM_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

static CUarray_format array_format(const struct cudaChannelFormatDesc *desc)
{
    static const CUarray_format formats[3][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32},
        {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
    };
    int row = desc->f == cudaChannelFormatKindSigned ? 0 : desc->f == cudaChannelFormatKindUnsigned ? 1 : 2;
    return formats[row][desc->x == 8 ? 0 : desc->x == 16 ? 1 : 2];
}

cudaError_t sim_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned int flags)
{
    if (!array || !desc)
        return cudaErrorInvalidValue;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = extent.width,
                                          .Height = extent.height,
                                          .Depth = extent.depth,
                                          .Format = array_format(desc),
                                          .NumChannels = 1u + (desc->y > 0) + (desc->z > 0) + (desc->w > 0),
                                          .Flags = flags};
    return sim_error(sim_driver()->cuArray3DCreate_v2((CUarray *)array, &descriptor));
}

cudaError_t sim_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                                size_t height, unsigned int flags)
{
    return sim_cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t sim_cudaFreeArray(cudaArray_t array)
{
    return array ? sim_error(sim_driver()->cuArrayDestroy((CUarray)array)) : cudaSuccess;
}

cudaError_t sim_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!desc || sim_driver()->cuArray3DGetDescriptor_v2(&d, (CUarray)array) != CUDA_SUCCESS)
        return cudaErrorInvalidValue;
    int bits = d.Format == CU_AD_FORMAT_SIGNED_INT8 || d.Format == CU_AD_FORMAT_UNSIGNED_INT8 ? 8
               : d.Format == CU_AD_FORMAT_SIGNED_INT16 || d.Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                       d.Format == CU_AD_FORMAT_HALF
                   ? 16
                   : 32;
    bool is_float = d.Format == CU_AD_FORMAT_HALF || d.Format == CU_AD_FORMAT_FLOAT;
    bool is_signed = d.Format == CU_AD_FORMAT_SIGNED_INT8 || d.Format == CU_AD_FORMAT_SIGNED_INT16 ||
                     d.Format == CU_AD_FORMAT_SIGNED_INT32;
    *desc = (struct cudaChannelFormatDesc){bits, d.NumChannels > 1 ? bits : 0, d.NumChannels > 2 ? bits : 0,
                                           d.NumChannels > 3 ? bits : 0,
                                           is_float    ? cudaChannelFormatKindFloat
                                           : is_signed ? cudaChannelFormatKindSigned
                                                       : cudaChannelFormatKindUnsigned};
    return cudaSuccess;
}

cudaError_t sim_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                                 cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (sim_driver()->cuArray3DGetDescriptor_v2(&d, (CUarray)array) != CUDA_SUCCESS)
        return cudaErrorInvalidValue;
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return desc ? sim_cudaGetChannelDesc(desc, array) : cudaSuccess;
}

/* ---- fills ---- */

cudaError_t sim_cudaMemset(void *devPtr, int value, size_t count)
{
    return sim_error(SIM_TWIN(cuMemsetD8_v2, ptds)((CUdeviceptr)devPtr, (unsigned char)value, count));
}

cudaError_t sim_cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemsetD8Async, ptsz)((CUdeviceptr)devPtr, (unsigned char)value, count, stream));
}

cudaError_t sim_cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return sim_error(SIM_TWIN(cuMemsetD2D8_v2, ptds)((CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height));
}

cudaError_t sim_cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                  cudaStream_t stream)
{
    return sim_error(
        SIM_TWIN(cuMemsetD2D8Async, ptsz)((CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height, stream));
}

/* One driver fill when the planes are dense, else one for each plane, as they are not one pitched area. */
static cudaError_t fill_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent, bool asynchronous,
                           cudaStream_t stream)
{
    size_t planes = to.ysize == extent.height ? 1 : extent.depth,
           rows = extent.height * extent.depth / (planes ? planes : 1);
    cudaError_t result = cudaSuccess;
    for (size_t plane = 0; plane < planes && result == cudaSuccess; plane++) {
        char *start = (char *)to.ptr + plane * to.pitch * to.ysize;
        result = asynchronous ? sim_cudaMemset2DAsync(start, to.pitch, value, extent.width, rows, stream)
                              : sim_cudaMemset2D(start, to.pitch, value, extent.width, rows);
    }
    return result;
}

cudaError_t sim_cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return fill_3d(pitchedDevPtr, value, extent, false, NULL);
}

cudaError_t sim_cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                  cudaStream_t stream)
{
    return fill_3d(pitchedDevPtr, value, extent, true, stream);
}
