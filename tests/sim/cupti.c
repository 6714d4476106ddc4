/*
 * cupti.c - libcupti.so of both majors: CUPTI's entry points over the state that lives in libcuda.so.1.
 *
 * Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

#if SIM_CUDA_MAJOR == 13
#define API_VERSION CUPTI_API_VERSION
#else
#define API_VERSION 26 /* CUDA 12.8 */
#endif

SIM_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = API_VERSION;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *timestamp = sim_clock();
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
    static const struct {
        CUptiResult code;
        const char *name;
    } names[] = {
#define N(code) {code, #code}
        N(CUPTI_SUCCESS),
        N(CUPTI_ERROR_INVALID_PARAMETER),
        N(CUPTI_ERROR_INVALID_KIND),
        N(CUPTI_ERROR_MAX_LIMIT_REACHED),
        N(CUPTI_ERROR_INVALID_OPERATION),
        N(CUPTI_ERROR_NOT_INITIALIZED),
        N(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
#undef N
    };
    if (!str)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == result)
            return *str = names[i].name, CUPTI_SUCCESS;
    *str = "<unknown>";
    return CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str)
{
    return cuptiGetResultString(result, str);
}

SIM_EXPORT CUptiResult cuptiGetLastError(void)
{
    return CUPTI_SUCCESS;
}

/* ---- callbacks ---- */

SIM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
    return sim_cupti_subscribe(subscriber, callback, userdata);
}

SIM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    return sim_cupti_unsubscribe(subscriber);
}

SIM_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                           CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    return sim_cupti_enable_callback(enable, subscriber, domain, cbid);
}

SIM_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain)
{
    return sim_cupti_enable_domain(enable, subscriber, domain);
}

SIM_EXPORT CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber)
{
    CUptiResult result = CUPTI_SUCCESS;
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE && result == CUPTI_SUCCESS; domain++)
        result = sim_cupti_enable_domain(enable, subscriber, (CUpti_CallbackDomain)domain);
    return result;
}

SIM_EXPORT CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber,
                                             CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    return sim_cupti_callback_state(enable, subscriber, domain, cbid);
}

SIM_EXPORT CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                             CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};
    *domainCount = sizeof domains / sizeof *domains;
    *domainTable = domains;
    return CUPTI_SUCCESS;
}

/* Names as CUPTI gives them: a driver function's plain name, a runtime function's with its version. */
struct callback_name {
    CUpti_CallbackId id;
    const char *name;
};

#define DRIVER_NAME(function) {CUPTI_DRIVER_TRACE_CBID_##function, #function},
static const struct callback_name driver_names[] = {
#define DRIVER(name, parameters, arguments) DRIVER_NAME(name)
#define DRIVER_VOID(name) DRIVER_NAME(name)
#define DRIVER_PTSZ(name, parameters, arguments) DRIVER_NAME(name) DRIVER_NAME(name##_ptsz)
#define DRIVER_PTDS(name, parameters, arguments) DRIVER_NAME(name) DRIVER_NAME(name##_ptds)
#define DRIVER_LAUNCH(name, parameters, arguments, handle) DRIVER_NAME(name) DRIVER_NAME(name##_ptsz)
#include "tests/sim/driver_api.def"
};

#define RUNTIME_NAME(id) {CUPTI_RUNTIME_TRACE_CBID_##id, #id},
static const struct callback_name runtime_names[] = {
#define RUNTIME(name, id, parameters, arguments) RUNTIME_NAME(id)
#define RUNTIME_HOST(name, id, parameters, arguments) RUNTIME_NAME(id)
#define RUNTIME_PTSZ(name, id, twin, parameters, arguments) RUNTIME_NAME(id) RUNTIME_NAME(twin)
#define RUNTIME_PTDS(name, id, twin, parameters, arguments) RUNTIME_NAME(id) RUNTIME_NAME(twin)
#define RUNTIME_LAUNCH(name, id, twin, parameters, arguments, function) RUNTIME_NAME(id) RUNTIME_NAME(twin)
#define RUNTIME_VOID(name, id) RUNTIME_NAME(id)
#define RUNTIME_ABSENT(name)
#include "tests/sim/runtime_api.def"
};

static const char *find_name(const struct callback_name *names, size_t count, CUpti_CallbackId id)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].id == id)
            return names[i].name;
    return NULL;
}

SIM_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    if (!name)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = domain == CUPTI_CB_DOMAIN_DRIVER_API
                ? find_name(driver_names, sizeof driver_names / sizeof *driver_names, cbid)
            : domain == CUPTI_CB_DOMAIN_RUNTIME_API
                ? find_name(runtime_names, sizeof runtime_names / sizeof *runtime_names, cbid)
                : NULL;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- activity ---- */

SIM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                                      CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
    return sim_cupti_register_buffers(funcBufferRequested, funcBufferCompleted);
}

SIM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return sim_cupti_activity_enable(kind, true);
}

SIM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return sim_cupti_activity_enable(kind, false);
}

SIM_EXPORT CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return context ? sim_cupti_activity_enable(kind, true) : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
    return context ? sim_cupti_activity_enable(kind, false) : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    return sim_cupti_flush();
}

SIM_EXPORT CUptiResult cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
    (void)context, (void)streamId, (void)flag;
    return sim_cupti_flush();
}

SIM_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
    (void)time;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint8_t *next = buffer;
    if (*record) {
        size_t size = sim_cupti_record_size((*record)->kind);
        if (!size)
            return CUPTI_ERROR_INVALID_KIND;
        next = (uint8_t *)*record + size;
    }
    if (next < buffer || (size_t)(next - buffer) >= validBufferSizeBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
    (void)context, (void)streamId;
    return sim_cupti_dropped(dropped);
}

SIM_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    return valueSize && value && attr < CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_FORCE_INT ? CUPTI_SUCCESS
                                                                                    : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    if (!valueSize || !value || *valueSize < sizeof(size_t) || attr >= CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_FORCE_INT)
        return CUPTI_ERROR_INVALID_PARAMETER;
    memset(value, 0, *valueSize);
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
    (void)funcTimestamp;
    return CUPTI_ERROR_NOT_SUPPORTED;
}

SIM_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    (void)kind, (void)id;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
    (void)kind;
    if (lastId)
        *lastId = 0;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    (void)enable;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiFinalize(void)
{
    return sim_cupti_finalize();
}

/* ---- identities ---- */

SIM_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
    if (!context || !contextId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *contextId = context->uid;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
    if (!context || !deviceId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *deviceId = (uint32_t)context->device;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
                                          uint32_t *streamId)
{
    (void)context;
    struct CUstream_st *resolved = sim_cupti_stream(stream, perThreadStream);
    if (!streamId || !resolved)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *streamId = resolved->id;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
    return cuptiGetStreamIdEx(context, stream, 0, streamId);
}

SIM_EXPORT CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
    if (!graph || !pId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *pId = graph->id;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
    if (!graphExec || !pId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *pId = graphExec->id;
    return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
    if (!node || !nodeId)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *nodeId = node->id;
    return CUPTI_SUCCESS;
}
