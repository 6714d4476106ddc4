/*
 * driver_stream.c - streams, events and stream capture.
 *
 * Work runs at the call, so a stream is always idle and an event always complete. A capturing stream appends operations
 * to a graph instead; waiting for an event that was recorded in a capture makes the waiting stream part of it.
 *
 * Threads: any; one lock for the lists. The per-thread default stream is thread-local.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

#define LEGACY_STREAM_ID 7 /* as CUPTI shows it */

static struct {
    pthread_mutex_t lock;
    struct CUstream_st *streams;
    struct sim_capture *captures;
    unsigned long long next_capture;
    _Atomic unsigned capturing; /* captures under way */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_capture = 1};

static _Thread_local struct CUstream_st *own_stream;
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static _Thread_local unsigned own_captures; /* begun by this thread, not relaxed */

/* ---- handles ---- */

static struct CUstream_st *new_stream(struct CUctx_st *context, unsigned flags, int priority, uint32_t id)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct CUstream_st){.context = context, .flags = flags, .priority = priority, .id = id, .live = true};
    pthread_mutex_lock(&state.lock);
    stream->next = state.streams;
    state.streams = stream;
    pthread_mutex_unlock(&state.lock);
    return stream;
}

static struct CUstream_st *legacy_stream(struct CUctx_st *context)
{
    struct CUstream_st *stream = __atomic_load_n(&context->legacy, __ATOMIC_ACQUIRE);
    if (stream)
        return stream;
    struct CUstream_st *made = new_stream(context, 0, 0, LEGACY_STREAM_ID);
    if (!made)
        return NULL;
    made->legacy = true;
    if (__atomic_compare_exchange_n(&context->legacy, &stream, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    made->live = false; /* another thread was first */
    return stream;
}

static struct CUstream_st *per_thread_stream(struct CUctx_st *context)
{
    if (!own_stream || own_stream->context != context)
        own_stream = new_stream(context, 0, 0, atomic_fetch_add(&context->next_stream_id, 1));
    return own_stream;
}

struct CUstream_st *sim_stream_of(CUstream stream)
{
    CUcontext context = NULL;
    if (stream != NULL && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
        return stream->live ? stream : NULL;
    if (sim_need_context(&context) != CUDA_SUCCESS)
        return NULL;
    bool per_thread = stream == CU_STREAM_PER_THREAD || (stream == NULL && sim_call_per_thread());
    return per_thread ? per_thread_stream(context) : legacy_stream(context);
}

/* ---- capture ---- */

static void break_captures(bool only_own)
{
    pthread_mutex_lock(&state.lock);
    for (struct sim_capture *capture = state.captures; capture; capture = capture->next)
        if (!only_own || capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
            capture->broken = true;
    pthread_mutex_unlock(&state.lock);
}

static bool global_capture(void)
{
    pthread_mutex_lock(&state.lock);
    bool found = false;
    for (struct sim_capture *capture = state.captures; capture; capture = capture->next)
        found |= capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    pthread_mutex_unlock(&state.lock);
    return found;
}

CUresult sim_capture_allows_unsafe(void)
{
    if (!atomic_load_explicit(&state.capturing, memory_order_relaxed) || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    bool forbidden = own_captures || (thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && global_capture());
    if (!forbidden)
        return CUDA_SUCCESS;
    break_captures(!own_captures);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult sim_capture_allows_wait(struct CUstream_st *stream)
{
    if (!stream->capture)
        return CUDA_SUCCESS;
    stream->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* Work on the legacy stream would wait for every blocking stream, capturing ones included. */
static bool legacy_forbidden(struct CUstream_st *stream)
{
    if (!stream->legacy || !atomic_load_explicit(&state.capturing, memory_order_relaxed))
        return false;
    bool found = false;
    pthread_mutex_lock(&state.lock);
    for (struct CUstream_st *other = state.streams; other; other = other->next) {
        if (!other->capture || other->context != stream->context || (other->flags & CU_STREAM_NON_BLOCKING))
            continue;
        other->capture->broken = true;
        found = true;
    }
    pthread_mutex_unlock(&state.lock);
    return found;
}

static bool set_tail(struct CUgraphNode_st ***tail, size_t *count, struct CUgraphNode_st *const *nodes, size_t added,
                     bool keep)
{
    size_t kept = keep ? *count : 0;
    struct CUgraphNode_st **grown = realloc(*tail, (kept + added + 1) * sizeof *grown);
    if (!grown)
        return false;
    if (added)
        memcpy(grown + kept, nodes, added * sizeof *grown);
    *tail = grown;
    *count = kept + added;
    return true;
}

static CUgraphNodeType node_type(const struct sim_operation *operation)
{
    static const CUgraphNodeType types[] = {
        [SIM_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY, [SIM_LAUNCH] = CU_GRAPH_NODE_TYPE_KERNEL,
        [SIM_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY, [SIM_FILL] = CU_GRAPH_NODE_TYPE_MEMSET,
        [SIM_HOST] = CU_GRAPH_NODE_TYPE_HOST,   [SIM_CHILD] = CU_GRAPH_NODE_TYPE_GRAPH};
    return types[operation->kind];
}

static CUresult append(struct CUstream_st *stream, const struct sim_operation *operation)
{
    if (stream->capture->broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    struct CUgraphNode_st *node =
        sim_graph_append(stream->capture->graph, operation, node_type(operation), stream->tail, stream->tail_count);
    if (!node || !set_tail(&stream->tail, &stream->tail_count, &node, 1, false))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult sim_submit(CUstream handle, const struct sim_operation *operation)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) {
        if (legacy_forbidden(stream))
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        return sim_operation_run(stream, operation, 0, 0);
    }
    CUresult result = sim_operation_check(operation);
    return result == CUDA_SUCCESS ? append(stream, operation) : result;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct sim_capture *capture = calloc(1, sizeof *capture);
    struct CUgraph_st *graph = sim_graph_new();
    if (!capture || !graph) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&state.lock);
    *capture = (struct sim_capture){
        .next = state.captures, .graph = graph, .origin = stream, .mode = mode, .id = state.next_capture++};
    state.captures = capture;
    stream->capture = capture;
    stream->tail_count = 0;
    pthread_mutex_unlock(&state.lock);
    atomic_fetch_add(&state.capturing, 1);
    own_captures += mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return CUDA_SUCCESS;
}

/* Is `node` one of `tail` or before one of it? */
static bool reaches(struct CUgraphNode_st *const *tail, size_t count, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < count; i++)
        if (tail[i] == node ||
            (tail[i]->id > node->id && reaches(tail[i]->dependencies, tail[i]->dependency_count, node)))
            return true;
    return false;
}

/* Ends every stream's part in the capture; false when a stream's work was not joined to the origin. */
static bool release_streams(struct sim_capture *capture)
{
    bool joined = true;
    for (struct CUstream_st *stream = state.streams; stream; stream = stream->next) {
        if (stream->capture != capture || stream == capture->origin)
            continue;
        for (size_t i = 0; i < stream->tail_count; i++)
            joined &= reaches(capture->origin->tail, capture->origin->tail_count, stream->tail[i]);
        stream->capture = NULL;
        stream->tail_count = 0;
    }
    capture->origin->capture = NULL;
    capture->origin->tail_count = 0;
    struct sim_capture **link = &state.captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    return joined;
}

CUresult sim_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    struct sim_capture *capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    pthread_mutex_lock(&state.lock);
    bool joined = release_streams(capture);
    pthread_mutex_unlock(&state.lock);
    atomic_fetch_sub(&state.capturing, 1);
    if (own_captures && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        own_captures--;
    CUresult result = capture->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : joined        ? CUDA_SUCCESS
                                      : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    struct CUgraph_st *graph = capture->graph;
    free(capture);
    if (result != CUDA_SUCCESS) {
        sim_cuGraphDestroy(graph);
        graph = NULL;
    }
    if (phGraph)
        *phGraph = graph;
    return result;
}

CUresult sim_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !captureStatus)
        return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (legacy_forbidden(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *captureStatus = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
                     : stream->capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                               : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                       CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                       const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    CUresult result = sim_cuStreamIsCapturing(hStream, captureStatus_out);
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (result != CUDA_SUCCESS || !stream->capture)
        return result;
    if (id_out)
        *id_out = stream->capture->id;
    if (graph_out)
        *graph_out = stream->capture->graph;
    if (dependencies_out)
        *dependencies_out = stream->tail;
    if (edgeData_out)
        *edgeData_out = NULL;
    if (numDependencies_out)
        *numDependencies_out = stream->tail_count;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                       CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                       size_t *numDependencies_out)
{
    return sim_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, NULL,
                                         numDependencies_out);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* ---- streams ---- */

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phStream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    *phStream = new_stream(context, flags, priority, atomic_fetch_add(&context->next_stream_id, 1));
    if (!*phStream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_trace_stream(CUPTI_CBID_RESOURCE_STREAM_CREATED, *phStream);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return sim_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream hStream)
{
    struct CUstream_st *stream = hStream ? sim_stream_of(hStream) : NULL;
    if (!stream || stream->legacy || stream == own_stream)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_trace_stream(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream);
    pthread_mutex_lock(&state.lock);
    stream->live = false;
    stream->tail_count = 0;
    if (stream->capture)
        stream->capture->broken = true;
    pthread_mutex_unlock(&state.lock);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !priority)
        return CUDA_ERROR_INVALID_HANDLE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !flags)
        return CUDA_ERROR_INVALID_HANDLE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !streamId)
        return CUDA_ERROR_INVALID_HANDLE;
    *streamId = stream->id;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !pctx)
        return CUDA_ERROR_INVALID_HANDLE;
    *pctx = stream->context;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!stream || !device)
        return CUDA_ERROR_INVALID_HANDLE;
    *device = stream->context->device;
    return CUDA_SUCCESS;
}

static CUresult wait_for(CUstream handle)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (legacy_forbidden(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return sim_capture_allows_wait(stream);
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
    return wait_for(hStream);
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    CUresult result = wait_for(hStream);
    if (result == CUDA_SUCCESS)
        sim_trace_synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, sim_stream_of(hStream)->context, hStream);
    return result;
}

CUresult sim_cuCtxSynchronize(void)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result == CUDA_SUCCESS)
        result = sim_capture_allows_unsafe();
    if (result == CUDA_SUCCESS)
        sim_trace_synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, context, NULL);
    return result;
}

CUresult sim_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    CUresult result = wait_for(hStream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    callback(hStream, CUDA_SUCCESS, userData);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    (void)dptr, (void)length, (void)flags;
    return sim_stream_of(hStream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- events ---- */

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *phEvent = calloc(1, sizeof **phEvent);
    if (!*phEvent)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*phEvent)->flags = Flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!hEvent || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (legacy_forbidden(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    hEvent->capture = stream->capture;
    hEvent->capture_id = stream->capture ? stream->capture->id : 0;
    if (stream->capture)
        return set_tail(&hEvent->tail, &hEvent->tail_count, stream->tail, stream->tail_count, false)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_OUT_OF_MEMORY;
    hEvent->recorded = true;
    hEvent->time_ns = sim_clock();
    return CUDA_SUCCESS;
}

CUresult sim_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    (void)flags;
    return sim_cuEventRecord(hEvent, hStream);
}

/* The capture that the event was recorded in, when it is still under way. */
static struct sim_capture *event_capture(const struct CUevent_st *event)
{
    struct sim_capture *found = NULL;
    pthread_mutex_lock(&state.lock);
    for (struct sim_capture *capture = state.captures; capture; capture = capture->next)
        if (capture == event->capture && capture->id == event->capture_id)
            found = capture;
    pthread_mutex_unlock(&state.lock);
    return found;
}

CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    (void)Flags;
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!hEvent || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!hEvent->capture)
        return legacy_forbidden(stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
    struct sim_capture *capture = event_capture(hEvent);
    if (!capture)
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (stream->capture && stream->capture != capture)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    bool joins = stream->capture == NULL;
    stream->capture = capture;
    bool kept = set_tail(&stream->tail, &stream->tail_count, hEvent->tail, hEvent->tail_count, !joins);
    return kept ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
    if (!hEvent)
        return CUDA_ERROR_INVALID_HANDLE;
    return hEvent->capture && event_capture(hEvent) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
    return sim_cuEventQuery(hEvent);
}

CUresult sim_cuEventDestroy_v2(CUevent hEvent)
{
    if (!hEvent)
        return CUDA_ERROR_INVALID_HANDLE;
    free(hEvent->tail);
    free(hEvent);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    if (!pMilliseconds || !hStart || !hEnd)
        return CUDA_ERROR_INVALID_VALUE;
    bool untimed = (hStart->flags | hEnd->flags) & CU_EVENT_DISABLE_TIMING;
    if (untimed || !hStart->recorded || !hEnd->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    *pMilliseconds = (float)((double)(int64_t)(hEnd->time_ns - hStart->time_ns) / 1e6);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return sim_cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}
