/*
 * runtime_copy.c - the runtime's copies, each through the driver function that the real runtime uses for its kind.
 *
 * Threads: any.
 */
#include <string.h>

#include "tests/sim/runtime.h"

static bool valid_kind(enum cudaMemcpyKind kind)
{
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

/* ---- one dimension ---- */

cudaError_t sim_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return sim_error(SIM_TWIN(cuMemcpyHtoD_v2, ptds)(to, src, count));
    case cudaMemcpyDeviceToHost:
        return sim_error(SIM_TWIN(cuMemcpyDtoH_v2, ptds)(dst, from, count));
    case cudaMemcpyDeviceToDevice:
        return sim_error(SIM_TWIN(cuMemcpyDtoD_v2, ptds)(to, from, count));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return sim_error(SIM_TWIN(cuMemcpy, ptds)(to, from, count));
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t sim_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return sim_error(SIM_TWIN(cuMemcpyHtoDAsync_v2, ptsz)(to, src, count, stream));
    case cudaMemcpyDeviceToHost:
        return sim_error(SIM_TWIN(cuMemcpyDtoHAsync_v2, ptsz)(dst, from, count, stream));
    case cudaMemcpyDeviceToDevice:
        return sim_error(SIM_TWIN(cuMemcpyDtoDAsync_v2, ptsz)(to, from, count, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return sim_error(SIM_TWIN(cuMemcpyAsync, ptsz)(to, from, count, stream));
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t in_symbol(const void *symbol, size_t count, size_t offset, void **address)
{
    CUdeviceptr base;
    size_t size;
    cudaError_t result = sim_runtime_symbol(symbol, &base, &size);
    if (result != cudaSuccess)
        return result;
    if (offset > size || count > size - offset)
        return cudaErrorInvalidValue;
    *address = (void *)(base + offset);
    return cudaSuccess;
}

cudaError_t sim_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    void *address;
    cudaError_t result = in_symbol(symbol, count, offset, &address);
    return result == cudaSuccess ? sim_cudaMemcpy(address, src, count, kind) : result;
}

cudaError_t sim_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *address;
    cudaError_t result = in_symbol(symbol, count, offset, &address);
    return result == cudaSuccess ? sim_cudaMemcpyAsync(address, src, count, kind, stream) : result;
}

cudaError_t sim_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                     enum cudaMemcpyKind kind)
{
    void *address;
    cudaError_t result = in_symbol(symbol, count, offset, &address);
    return result == cudaSuccess ? sim_cudaMemcpy(dst, address, count, kind) : result;
}

cudaError_t sim_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *address;
    cudaError_t result = in_symbol(symbol, count, offset, &address);
    return result == cudaSuccess ? sim_cudaMemcpyAsync(dst, address, count, kind, stream) : result;
}

cudaError_t sim_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    CUcontext to = sim_runtime_context(dstDevice), from = sim_runtime_context(srcDevice);
    if (!to || !from)
        return cudaErrorInvalidDevice;
    return sim_error(SIM_TWIN(cuMemcpyPeer, ptds)((CUdeviceptr)dst, to, (CUdeviceptr)src, from, count));
}

cudaError_t sim_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                    cudaStream_t stream)
{
    CUcontext to = sim_runtime_context(dstDevice), from = sim_runtime_context(srcDevice);
    if (!to || !from)
        return cudaErrorInvalidDevice;
    return sim_error(SIM_TWIN(cuMemcpyPeerAsync, ptsz)((CUdeviceptr)dst, to, (CUdeviceptr)src, from, count, stream));
}

/* ---- two dimensions ---- */

static CUmemorytype side(enum cudaMemcpyKind kind, bool destination)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    bool device = destination ? kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice
                              : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static void to_pointer(CUDA_MEMCPY2D *copy, void *dst, size_t pitch, enum cudaMemcpyKind kind)
{
    copy->dstMemoryType = side(kind, true);
    copy->dstHost = dst;
    copy->dstDevice = (CUdeviceptr)dst;
    copy->dstPitch = pitch;
}

static void from_pointer(CUDA_MEMCPY2D *copy, const void *src, size_t pitch, enum cudaMemcpyKind kind)
{
    copy->srcMemoryType = side(kind, false);
    copy->srcHost = src;
    copy->srcDevice = (CUdeviceptr)src;
    copy->srcPitch = pitch;
}

static void to_array(CUDA_MEMCPY2D *copy, cudaArray_t array, size_t x, size_t y)
{
    copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->dstArray = (CUarray)array;
    copy->dstXInBytes = x;
    copy->dstY = y;
}

static void from_array(CUDA_MEMCPY2D *copy, cudaArray_const_t array, size_t x, size_t y)
{
    copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->srcArray = (CUarray)array;
    copy->srcXInBytes = x;
    copy->srcY = y;
}

static cudaError_t run_2d(const CUDA_MEMCPY2D *copy, enum cudaMemcpyKind kind, bool asynchronous, cudaStream_t stream)
{
    if (!valid_kind(kind))
        return cudaErrorInvalidMemcpyDirection;
    if ((copy->dstPitch && copy->dstPitch < copy->WidthInBytes) ||
        (copy->srcPitch && copy->srcPitch < copy->WidthInBytes))
        return cudaErrorInvalidPitchValue;
    return sim_error(asynchronous ? SIM_TWIN(cuMemcpy2DAsync_v2, ptsz)(copy, stream)
                                  : SIM_TWIN(cuMemcpy2DUnaligned_v2, ptds)(copy));
}

static cudaError_t copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, bool asynchronous, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = width, .Height = height};
    if (dpitch < width || spitch < width)
        return cudaErrorInvalidPitchValue;
    to_pointer(&copy, dst, dpitch, kind);
    from_pointer(&copy, src, spitch, kind);
    return run_2d(&copy, kind, asynchronous, stream);
}

cudaError_t sim_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind)
{
    return copy_2d(dst, dpitch, src, spitch, width, height, kind, false, NULL);
}

cudaError_t sim_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                  enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_2d(dst, dpitch, src, spitch, width, height, kind, true, stream);
}

static cudaError_t into_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, bool asynchronous, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = width, .Height = height};
    to_array(&copy, dst, x, y);
    from_pointer(&copy, src, spitch, kind);
    return run_2d(&copy, kind, asynchronous, stream);
}

static cudaError_t out_of_array(void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                                size_t height, enum cudaMemcpyKind kind, bool asynchronous, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = width, .Height = height};
    to_pointer(&copy, dst, dpitch, kind);
    from_array(&copy, src, x, y);
    return run_2d(&copy, kind, asynchronous, stream);
}

cudaError_t sim_cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                    size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return into_array(dst, wOffset, hOffset, src, spitch, width, height, kind, false, NULL);
}

cudaError_t sim_cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                         size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    return into_array(dst, wOffset, hOffset, src, spitch, width, height, kind, true, stream);
}

cudaError_t sim_cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                      size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return out_of_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, false, NULL);
}

cudaError_t sim_cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                           size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return out_of_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, true, stream);
}

cudaError_t sim_cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                         size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = width, .Height = height};
    to_array(&copy, dst, wOffsetDst, hOffsetDst);
    from_array(&copy, src, wOffsetSrc, hOffsetSrc);
    return run_2d(&copy, kind, false, NULL);
}

static size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    static const struct {
        CUarray_format format;
        size_t bytes;
    } formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1}, {CU_AD_FORMAT_SIGNED_INT8, 1}, {CU_AD_FORMAT_UNSIGNED_INT16, 2},
                   {CU_AD_FORMAT_SIGNED_INT16, 2},  {CU_AD_FORMAT_HALF, 2},        {CU_AD_FORMAT_UNSIGNED_INT32, 4},
                   {CU_AD_FORMAT_SIGNED_INT32, 4},  {CU_AD_FORMAT_FLOAT, 4}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == descriptor->Format)
            return formats[i].bytes * descriptor->NumChannels;
    return 0;
}

static bool array_row_bytes(cudaArray_const_t array, size_t *element, size_t *row)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    if (!array || sim_driver()->cuArray3DGetDescriptor_v2(&descriptor, (CUarray)array) != CUDA_SUCCESS)
        return false;
    *element = element_bytes(&descriptor);
    *row = *element * descriptor.Width;
    return *row > 0;
}

/* A run of bytes through an array's rows: one row's part, or whole rows. */
static cudaError_t rows_of(cudaArray_const_t array, size_t x, size_t count, size_t *width, size_t *height)
{
    size_t element, row;
    if (!array_row_bytes(array, &element, &row))
        return cudaErrorInvalidValue;
    bool inside = x + count <= row;
    if (!inside && (x || count % row))
        return cudaErrorInvalidValue;
    *width = inside ? count : row;
    *height = inside ? 1 : count / row;
    return cudaSuccess;
}

cudaError_t sim_cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                  enum cudaMemcpyKind kind)
{
    size_t width, height;
    cudaError_t result = rows_of(dst, wOffset, count, &width, &height);
    return result == cudaSuccess ? into_array(dst, wOffset, hOffset, src, width, width, height, kind, false, NULL)
                                 : result;
}

cudaError_t sim_cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t width, height;
    cudaError_t result = rows_of(dst, wOffset, count, &width, &height);
    return result == cudaSuccess ? into_array(dst, wOffset, hOffset, src, width, width, height, kind, true, stream)
                                 : result;
}

cudaError_t sim_cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                    enum cudaMemcpyKind kind)
{
    size_t width, height;
    cudaError_t result = rows_of(src, wOffset, count, &width, &height);
    return result == cudaSuccess ? out_of_array(dst, width, src, wOffset, hOffset, width, height, kind, false, NULL)
                                 : result;
}

cudaError_t sim_cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t width, height;
    cudaError_t result = rows_of(src, wOffset, count, &width, &height);
    return result == cudaSuccess ? out_of_array(dst, width, src, wOffset, hOffset, width, height, kind, true, stream)
                                 : result;
}

cudaError_t sim_cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                       size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind)
{
    size_t width, height;
    cudaError_t result = rows_of(src, wOffsetSrc, count, &width, &height);
    if (result != cudaSuccess)
        return result;
    return sim_cudaMemcpy2DArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind);
}

/* ---- three dimensions ---- */

/* Fills one side of a driver copy; the runtime counts x in elements where an array takes part on that side. */
#define FILL_SIDE(copy, which, array, pointer, position, type)                                                         \
    do {                                                                                                               \
        size_t scale = 1, row;                                                                                         \
        if ((array) && !array_row_bytes(array, &scale, &row))                                                          \
            return false;                                                                                              \
        (copy)->which##MemoryType = (array) ? CU_MEMORYTYPE_ARRAY : (type);                                            \
        (copy)->which##Array = (CUarray)(array);                                                                       \
        (copy)->which##Host = (pointer).ptr;                                                                           \
        (copy)->which##Device = (CUdeviceptr)(pointer).ptr;                                                            \
        (copy)->which##Pitch = (pointer).pitch;                                                                        \
        (copy)->which##Height = (pointer).ysize;                                                                       \
        (copy)->which##XInBytes = (position).x * scale;                                                                \
        (copy)->which##Y = (position).y;                                                                               \
        (copy)->which##Z = (position).z;                                                                               \
        if (array)                                                                                                     \
            width_scale = scale;                                                                                       \
    } while (0)

static bool driver_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *copy)
{
    size_t width_scale = 1;
    memset(copy, 0, sizeof *copy);
    FILL_SIDE(copy, dst, p->dstArray, p->dstPtr, p->dstPos, side(p->kind, true));
    FILL_SIDE(copy, src, p->srcArray, p->srcPtr, p->srcPos, side(p->kind, false));
    copy->WidthInBytes = p->extent.width * width_scale;
    copy->Height = p->extent.height;
    copy->Depth = p->extent.depth;
    return true;
}

static bool driver_3d_peer(const struct cudaMemcpy3DPeerParms *p, CUDA_MEMCPY3D_PEER *copy)
{
    size_t width_scale = 1;
    memset(copy, 0, sizeof *copy);
    FILL_SIDE(copy, dst, p->dstArray, p->dstPtr, p->dstPos, CU_MEMORYTYPE_DEVICE);
    FILL_SIDE(copy, src, p->srcArray, p->srcPtr, p->srcPos, CU_MEMORYTYPE_DEVICE);
    copy->WidthInBytes = p->extent.width * width_scale;
    copy->Height = p->extent.height;
    copy->Depth = p->extent.depth;
    copy->dstContext = sim_runtime_context(p->dstDevice);
    copy->srcContext = sim_runtime_context(p->srcDevice);
    return copy->dstContext && copy->srcContext;
}

cudaError_t sim_cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    if (!p || !driver_3d(p, &copy))
        return cudaErrorInvalidValue;
    return valid_kind(p->kind) ? sim_error(SIM_TWIN(cuMemcpy3D_v2, ptds)(&copy)) : cudaErrorInvalidMemcpyDirection;
}

cudaError_t sim_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy;
    if (!p || !driver_3d(p, &copy))
        return cudaErrorInvalidValue;
    return valid_kind(p->kind) ? sim_error(SIM_TWIN(cuMemcpy3DAsync_v2, ptsz)(&copy, stream))
                               : cudaErrorInvalidMemcpyDirection;
}

cudaError_t sim_cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    CUDA_MEMCPY3D_PEER copy;
    if (!p || !driver_3d_peer(p, &copy))
        return cudaErrorInvalidValue;
    return sim_error(SIM_TWIN(cuMemcpy3DPeer, ptds)(&copy));
}

cudaError_t sim_cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER copy;
    if (!p || !driver_3d_peer(p, &copy))
        return cudaErrorInvalidValue;
    return sim_error(SIM_TWIN(cuMemcpy3DPeerAsync, ptsz)(&copy, stream));
}

/* ---- batches: the structures are the same in both APIs ---- */

#if SIM_CUDA_MAJOR == 13
cudaError_t sim_cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                     struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                     cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemcpyBatchAsync_v2, ptsz)((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, (size_t *)sizes,
                                                           count, (CUmemcpyAttributes *)attrs, attrsIdxs, numAttrs,
                                                           stream));
}

cudaError_t sim_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                                       cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemcpy3DBatchAsync_v2, ptsz)(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, flags, stream));
}
#else
cudaError_t sim_cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
                                     struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                     size_t *failIdx, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuMemcpyBatchAsync, ptsz)((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count,
                                                        (CUmemcpyAttributes *)attrs, attrsIdxs, numAttrs, failIdx,
                                                        stream));
}

cudaError_t sim_cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, size_t *failIdx,
                                       unsigned long long flags, cudaStream_t stream)
{
    return sim_error(
        SIM_TWIN(cuMemcpy3DBatchAsync, ptsz)(numOps, (CUDA_MEMCPY3D_BATCH_OP *)opList, failIdx, flags, stream));
}
#endif
