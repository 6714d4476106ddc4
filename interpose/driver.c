/*
 * driver.c - from a driver callback's parameters to facts, one row of driver_api.def each. Runs inside CUPTI's
 * callbacks, on the program's threads; calls no CUDA function but look-ups that CUPTI allows there.
 */
#include "interpose/driver.h"

#include <cuda.h>
#include <errno.h>
#include <string.h>

#include "interpose/device.h"
#include "interpose/facts.h"
#include "interpose/function.h"
#include "interpose/state.h"
#include "interpose/thread.h"

struct cs_driver_call {
    const CUpti_CallbackData *data;
};

/* cuda.h makes the plain names stand for their newest versions; the table means each name literally. */
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphKernelNodeSetParams

#define ANY CS_SPACE_UNKNOWN
#define DEVICE CS_SPACE_DEVICE
#define HOST CS_SPACE_HOST
#define ARRAY CS_SPACE_ARRAY
#define HOSTP(pointer) ((uint64_t)(uintptr_t)(pointer))

/* ---- copies and fills ---- */

static void linear(const struct cs_driver_call *call, uint64_t dst, enum cs_space dst_space, uint64_t src,
                   enum cs_space src_space, size_t bytes, const void *stream)
{
    struct cs_fact_side to = {dst, dst_space, 0, 0, CS_DEVICE_UNKNOWN};
    struct cs_fact_side from = {src, src_space, 0, 0, CS_DEVICE_UNKNOWN};
    struct cs_extent extent = {bytes, 1, 1};
    cs_fact_copy(&to, &from, &extent, stream, call->data->correlationId);
}

static void peer(const struct cs_driver_call *call, uint64_t dst, CUcontext dst_context, uint64_t src,
                 CUcontext src_context, size_t bytes, const void *stream)
{
    struct cs_fact_side to = {dst, CS_SPACE_DEVICE, 0, 0, cs_device_of(dst_context)};
    struct cs_fact_side from = {src, CS_SPACE_DEVICE, 0, 0, cs_device_of(src_context)};
    struct cs_extent extent = {bytes, 1, 1};
    cs_fact_copy(&to, &from, &extent, stream, call->data->correlationId);
}

static void batch(const struct cs_driver_call *call, const CUdeviceptr *dsts, const CUdeviceptr *srcs,
                  const size_t *sizes, size_t count, const void *stream)
{
    for (size_t i = 0; i < count; i++)
        linear(call, dsts[i], ANY, srcs[i], ANY, sizes[i], stream);
}

/* One side of CUDA_MEMCPY2D/3D. */
static struct cs_fact_side sided(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array, size_t x,
                                 size_t y, size_t z, size_t pitch, size_t height)
{
    struct cs_fact_side side = {0, CS_SPACE_UNKNOWN, pitch, pitch * height, CS_DEVICE_UNKNOWN};
    switch (type) {
    case CU_MEMORYTYPE_ARRAY:
        return (struct cs_fact_side){HOSTP(array), CS_SPACE_ARRAY, 0, 0, CS_DEVICE_UNKNOWN};
    case CU_MEMORYTYPE_HOST:
        side.space = CS_SPACE_HOST;
        side.address = HOSTP(host);
        break;
    case CU_MEMORYTYPE_DEVICE:
        side.space = CS_SPACE_DEVICE;
        side.address = device;
        break;
    default:
        side.address = device;
    }
    side.address += x + y * pitch + z * side.slice;
    return side;
}

static void copy_2d(const struct cs_driver_call *call, const CUDA_MEMCPY2D *c, const void *stream)
{
    struct cs_fact_side to =
        sided(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY, 0, c->dstPitch, 0);
    struct cs_fact_side from =
        sided(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY, 0, c->srcPitch, 0);
    struct cs_extent extent = {c->WidthInBytes, c->Height, 1};
    cs_fact_copy(&to, &from, &extent, stream, call->data->correlationId);
}

#define SIDES_3D(c)                                                                                                    \
    struct cs_fact_side to = sided(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY,   \
                                   c->dstZ, c->dstPitch, c->dstHeight);                                                \
    struct cs_fact_side from = sided(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY, \
                                     c->srcZ, c->srcPitch, c->srcHeight);                                              \
    struct cs_extent extent = {c->WidthInBytes, c->Height, c->Depth}

static void copy_3d(const struct cs_driver_call *call, const CUDA_MEMCPY3D *c, const void *stream)
{
    SIDES_3D(c);
    cs_fact_copy(&to, &from, &extent, stream, call->data->correlationId);
}

static void copy_3d_peer(const struct cs_driver_call *call, const CUDA_MEMCPY3D_PEER *c, const void *stream)
{
    SIDES_3D(c);
    to.device = cs_device_of(c->dstContext);
    from.device = cs_device_of(c->srcContext);
    cs_fact_copy(&to, &from, &extent, stream, call->data->correlationId);
}

static void fill(uint64_t dst, size_t width, size_t pitch, size_t height, uint32_t value, uint32_t element,
                 const void *stream)
{
    struct cs_extent extent = {width, height, 1};
    cs_fact_fill(dst, pitch, &extent, value, element, stream);
}

/* ---- launches ---- */

/* The packed parameter buffer of `extra` (CU_LAUNCH_PARAM_*); NULL when there is none. */
static const void *packed_parameters(void *const *extra, size_t *bytes)
{
    const void *buffer = NULL;
    *bytes = 0;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
        else
            return NULL;
    }
    return *bytes ? buffer : NULL;
}

static void gather_parameters(unsigned char *to, const struct cs_function *function, void *const *parameters)
{
    memset(to, 0, function->parameter_bytes);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        memcpy(to + function->parameters[i].offset, parameters[i], function->parameters[i].size);
}

static void launch(const struct cs_driver_call *call, CUfunction handle, void *const *parameters, void *const *extra,
                   const void *stream)
{
    const struct cs_function *function = cs_function_of(handle, call->data->symbolName);
    size_t packed_bytes;
    const void *packed = packed_parameters(extra, &packed_bytes);
    size_t bytes = packed ? packed_bytes : parameters && function ? function->parameter_bytes : 0;
    struct cs_launch *event = cs_fact_launch_begin(function ? function->id : 0, (uint32_t)bytes, stream);
    if (!event)
        return;
    event->head.correlation = call->data->correlationId;
    if (packed)
        memcpy(event->parameters, packed, bytes);
    else if (bytes)
        gather_parameters(event->parameters, function, parameters);
    cs_fact_launch_end(event);
}

/* ---- the table ---- */

enum moment { NEVER, ENTER, EXIT };

#define CS_DRIVER(name, variant, when, fact)                                                                           \
    static void on_##name(const struct cs_driver_call *call)                                                           \
    {                                                                                                                  \
        const name##_params *p = call->data->functionParams;                                                           \
        (void)call;                                                                                                    \
        fact;                                                                                                          \
    }
#include "interpose/driver_api.def"
#undef CS_DRIVER

static const struct row {
    enum moment moment;
    void (*note)(const struct cs_driver_call *call);
} rows[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#define ROW(symbol, name, when) [CUPTI_DRIVER_TRACE_CBID_##symbol] = {when, on_##name},
#define ROWS_PLAIN(name, when) ROW(name, name, when)
#define ROWS_PTDS(name, when) ROW(name, name, when) ROW(name##_ptds, name, when)
#define ROWS_PTSZ(name, when) ROW(name, name, when) ROW(name##_ptsz, name, when)
#define CS_DRIVER(name, variant, when, fact) ROWS_##variant(name, when)
#include "interpose/driver_api.def"
};

void cs_driver_each(void (*enable)(void *context, CUpti_CallbackId id), void *context)
{
    for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
        if (rows[id].note)
            enable(context, id);
}

static void follow_context(struct cs_thread *thread, CUcontext context)
{
    if (thread->context == context)
        return;
    thread->context = context;
    thread->device = cs_device_of(context);
}

static bool is_outermost_now(struct cs_thread *thread, CUpti_ApiCallbackSite site)
{
    if (site == CUPTI_API_ENTER)
        return thread->driver_depth++ == 0;
    return thread->driver_depth == 0 || --thread->driver_depth == 0;
}

void cs_driver_callback(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    struct cs_thread *thread = cs_thread_self();
    if (!thread || thread->guard || id >= CUPTI_DRIVER_TRACE_CBID_SIZE || !rows[id].note)
        return;
    bool outermost = is_outermost_now(thread, data->callbackSite);
    enum moment now = data->callbackSite == CUPTI_API_ENTER ? ENTER : EXIT;
    if (!outermost || rows[id].moment != now || !cs_state_active())
        return;
    if (now == EXIT && *(const CUresult *)data->functionReturnValue != CUDA_SUCCESS)
        return;
    int saved = errno;
    follow_context(thread, data->context);
    struct cs_driver_call call = {data};
    thread->driver_events++;
    rows[id].note(&call);
    errno = saved;
}
