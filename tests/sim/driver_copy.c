/*
 * driver_copy.c - every copy and fill of the driver API, each turned into one operation of up to three dimensions.
 *
 * Threads: any.
 */
#include <string.h>

#include "tests/sim/core.h"

enum side { ANY, HOST, DEVICE };

/* A pointer that an API takes as a device address must be known to CUDA; one it takes as host memory may be anything.
 */
static bool known_to_cuda(const void *pointer, size_t size)
{
    struct sim_block block;
    return sim_memory_find(pointer, size, &block);
}

static CUresult submit_copy(CUstream stream, const struct sim_copy *copy, bool asynchronous)
{
    struct sim_operation operation = {.kind = SIM_COPY, .asynchronous = asynchronous, .copy = *copy};
    if (!sim_stream_of(stream))
        return sim_initialized() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
    if (!asynchronous) {
        CUresult result = sim_capture_allows_unsafe();
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (!copy->width || !copy->height || !copy->depth)
        return CUDA_SUCCESS;
    return sim_submit(stream, &operation);
}

static CUresult linear(const void *to, enum side to_side, const void *from, enum side from_side, size_t size,
                       CUstream stream, bool asynchronous)
{
    struct sim_copy copy = {.destination = (char *)to,
                            .source = from,
                            .destination_pitch = size,
                            .source_pitch = size,
                            .destination_slice = size,
                            .source_slice = size,
                            .width = size,
                            .height = 1,
                            .depth = 1};
    bool bad = (to_side == DEVICE && !known_to_cuda(to, size)) || (from_side == DEVICE && !known_to_cuda(from, size));
    if (size && bad && sim_current_context())
        return CUDA_ERROR_INVALID_VALUE;
    return submit_copy(stream, &copy, asynchronous);
}

/* The calls without a stream use the default one: the thread's own in the _ptds twins. */
#define DEFAULT NULL

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return linear((void *)dst, ANY, (void *)src, ANY, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return linear((void *)dst, ANY, (void *)src, ANY, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return linear((void *)dstDevice, DEVICE, srcHost, HOST, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return linear(dstHost, HOST, (void *)srcDevice, DEVICE, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return linear((void *)dstDevice, DEVICE, (void *)srcDevice, DEVICE, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return linear((void *)dstDevice, DEVICE, srcHost, HOST, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear(dstHost, HOST, (void *)srcDevice, DEVICE, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear((void *)dstDevice, DEVICE, (void *)srcDevice, DEVICE, ByteCount, hStream, true);
}

/* ---- arrays, by byte offset into their rows ---- */

/* Bytes of an array's rows are not contiguous in its storage, so a range that leaves the first row is refused. */
static char *in_array(CUarray array, size_t offset, size_t size)
{
    if (!array)
        return NULL;
    size_t row_bytes = array->descriptor.Width * array->element_bytes, row = offset / row_bytes,
           column = offset % row_bytes;
    return column + size <= row_bytes && row < array->rows ? array->data + row * array->pitch + column : NULL;
}

static CUresult array_copy(const void *to, const void *from, size_t size, CUstream stream, bool asynchronous)
{
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    return linear(to, ANY, from, ANY, size, stream, asynchronous);
}

CUresult sim_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    return array_copy(in_array(dstArray, dstOffset, ByteCount), (void *)srcDevice, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return array_copy((void *)dstDevice, in_array(srcArray, srcOffset, ByteCount), ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    return array_copy(in_array(dstArray, dstOffset, ByteCount), srcHost, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return array_copy(dstHost, in_array(srcArray, srcOffset, ByteCount), ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return array_copy(in_array(dstArray, dstOffset, ByteCount), in_array(srcArray, srcOffset, ByteCount), ByteCount,
                      DEFAULT, false);
}

CUresult sim_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                  CUstream hStream)
{
    return array_copy(in_array(dstArray, dstOffset, ByteCount), srcHost, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
    return array_copy(dstHost, in_array(srcArray, srcOffset, ByteCount), ByteCount, hStream, true);
}

/* ---- two and three dimensions ---- */

struct place {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

static bool locate(const struct place *place, size_t width, char **base, size_t *pitch, size_t *slice)
{
    const char *origin;
    *pitch = place->pitch ? place->pitch : width + place->x;
    size_t rows = place->height ? place->height : 1;
    switch (place->type) {
    case CU_MEMORYTYPE_HOST:
        origin = place->host;
        break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        origin = (const char *)place->device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        if (!place->array)
            return false;
        origin = place->array->data;
        *pitch = place->array->pitch;
        rows = place->array->rows;
        break;
    default:
        return false;
    }
    *slice = *pitch * rows;
    *base = (char *)origin + place->z * *slice + place->y * *pitch + place->x;
    return origin && *pitch >= width;
}

static CUresult shaped(const struct place *to, const struct place *from, size_t width, size_t height, size_t depth,
                       CUstream stream, bool asynchronous, bool peer)
{
    struct sim_copy copy = {.width = width, .height = height, .depth = depth, .peer = peer};
    char *source;
    if (!width || !height || !depth)
        return submit_copy(stream, &copy, asynchronous);
    if (!locate(to, width, &copy.destination, &copy.destination_pitch, &copy.destination_slice) ||
        !locate(from, width, &source, &copy.source_pitch, &copy.source_slice))
        return CUDA_ERROR_INVALID_VALUE;
    copy.source = source;
    return submit_copy(stream, &copy, asynchronous);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool asynchronous)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    struct place to = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY, 0,
                       p->dstPitch,      0};
    struct place from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcY, 0,
                         p->srcPitch,      0};
    return shaped(&to, &from, p->WidthInBytes, p->Height, 1, stream, asynchronous, false);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, DEFAULT, false);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, DEFAULT, false);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, true);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name their fields alike. */
#define PLACES(p)                                                                                                      \
    struct place to = {(p)->dstMemoryType, (p)->dstHost, (p)->dstDevice, (p)->dstArray, (p)->dstXInBytes,              \
                       (p)->dstY,          (p)->dstZ,    (p)->dstPitch,  (p)->dstHeight};                              \
    struct place from = {(p)->srcMemoryType, (p)->srcHost, (p)->srcDevice, (p)->srcArray, (p)->srcXInBytes,            \
                         (p)->srcY,          (p)->srcZ,    (p)->srcPitch,  (p)->srcHeight}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool asynchronous)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    PLACES(p);
    return shaped(&to, &from, p->WidthInBytes, p->Height, p->Depth, stream, asynchronous, false);
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, DEFAULT, false);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, true);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, bool asynchronous)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    PLACES(p);
    return shaped(&to, &from, p->WidthInBytes, p->Height, p->Depth, stream, asynchronous,
                  p->srcContext != p->dstContext);
}

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return copy_3d_peer(pCopy, DEFAULT, false);
}

CUresult sim_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(pCopy, hStream, true);
}

static CUresult peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                     CUstream stream, bool asynchronous)
{
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (size && (!known_to_cuda((void *)to, size) || !known_to_cuda((void *)from, size)))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_copy copy = {.destination = (char *)to,
                            .source = (const char *)from,
                            .destination_pitch = size,
                            .source_pitch = size,
                            .destination_slice = size,
                            .source_slice = size,
                            .width = size,
                            .height = 1,
                            .depth = 1,
                            .peer = to_context->device != from_context->device};
    return submit_copy(stream, &copy, asynchronous);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                          size_t ByteCount)
{
    return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, DEFAULT, false);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                               size_t ByteCount, CUstream hStream)
{
    return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true);
}

/* ---- batches; a batch may not be captured and may not go to the legacy stream ---- */

static CUresult batch_stream(CUstream stream)
{
    struct CUstream_st *resolved = sim_stream_of(stream);
    if (!resolved)
        return CUDA_ERROR_INVALID_HANDLE;
    if (resolved->legacy)
        return CUDA_ERROR_INVALID_VALUE;
    return resolved->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult sim_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
                                CUstream hStream)
{
    CUresult result = batch_stream(hStream);
    if (failIdx)
        *failIdx = SIZE_MAX;
    if (result != CUDA_SUCCESS)
        return result;
    if (!dsts || !srcs || !sizes || !count || !attrs || !attrsIdxs || !numAttrs || attrsIdxs[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = linear((void *)dsts[i], ANY, (void *)srcs[i], ANY, sizes[i], hStream, true);
        if (result != CUDA_SUCCESS && failIdx)
            *failIdx = i;
    }
    return result;
}

CUresult sim_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                   CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    return sim_cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream);
}

static struct place operand_place(const CUmemcpy3DOperand *operand)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct place){CU_MEMORYTYPE_ARRAY,
                              NULL,
                              0,
                              operand->op.array.array,
                              operand->op.array.offset.x,
                              operand->op.array.offset.y,
                              operand->op.array.offset.z,
                              0,
                              0};
    return (struct place){
        CU_MEMORYTYPE_UNIFIED,      NULL, operand->op.ptr.ptr, NULL, 0, 0, 0, operand->op.ptr.rowLength,
        operand->op.ptr.layerHeight};
}

CUresult sim_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                  unsigned long long flags, CUstream hStream)
{
    CUresult result = batch_stream(hStream);
    if (failIdx)
        *failIdx = SIZE_MAX;
    if (result != CUDA_SUCCESS)
        return result;
    if (!numOps || !opList || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numOps && result == CUDA_SUCCESS; i++) {
        struct place to = operand_place(&opList[i].dst), from = operand_place(&opList[i].src);
        result = shaped(&to, &from, opList[i].extent.width, opList[i].extent.height, opList[i].extent.depth, hStream,
                        true, false);
        if (result != CUDA_SUCCESS && failIdx)
            *failIdx = i;
    }
    return result;
}

CUresult sim_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                     CUstream hStream)
{
    return sim_cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream);
}

/* ---- fills ---- */

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                     CUstream stream, bool asynchronous)
{
    struct sim_operation operation = {.kind = SIM_FILL, .asynchronous = asynchronous};
    if (!sim_stream_of(stream))
        return sim_initialized() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
    if (to % element || (height > 1 && pitch < width * element))
        return CUDA_ERROR_INVALID_VALUE;
    if (!asynchronous) {
        CUresult result = sim_capture_allows_unsafe();
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (!width || !height)
        return CUDA_SUCCESS;
    operation.fill = (struct sim_fill){(char *)to, height > 1 ? pitch : width * element, width, height, value, element};
    return sim_submit(stream, &operation);
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return fill(dstDevice, 0, uc, 1, N, 1, DEFAULT, false);
}

CUresult sim_cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return fill(dstDevice, 0, us, 2, N, 1, DEFAULT, false);
}

CUresult sim_cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return fill(dstDevice, 0, ui, 4, N, 1, DEFAULT, false);
}

CUresult sim_cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, DEFAULT, false);
}

CUresult sim_cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, DEFAULT, false);
}

CUresult sim_cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, DEFAULT, false);
}

CUresult sim_cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    return fill(dstDevice, 0, uc, 1, N, 1, hStream, true);
}

CUresult sim_cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    return fill(dstDevice, 0, us, 2, N, 1, hStream, true);
}

CUresult sim_cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    return fill(dstDevice, 0, ui, 4, N, 1, hStream, true);
}

CUresult sim_cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                               CUstream hStream)
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true);
}

CUresult sim_cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                                CUstream hStream)
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, true);
}

CUresult sim_cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                                CUstream hStream)
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true);
}
