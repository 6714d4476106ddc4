/*
 * activity.c - activity records of the stand-in's CUPTI and the clock they are stamped with.
 *
 * Times come from a model, not from this machine: an operation takes 1 us plus its bytes at 1 TB/s (a kernel: 1 us plus
 * 1 ns per 100 threads), one after the other. Records go straight into the client's buffers; a buffer is completed when
 * it is full or at a flush.
 *
 * Threads: any; the lock is recursive because the client's buffer callbacks may call us.
 */
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

static struct {
    pthread_mutex_t lock;
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    uint8_t *buffer;
    size_t size, used, records, limit, dropped;
    void *names;
} activity = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static _Atomic unsigned char enabled_kinds[CUPTI_ACTIVITY_KIND_COUNT];
static _Atomic uint64_t now_ns = 1000000000;

uint64_t sim_clock(void)
{
    return atomic_load(&now_ns);
}

uint64_t sim_clock_advance(uint64_t nanoseconds)
{
    return atomic_fetch_add(&now_ns, nanoseconds);
}

/* ---- buffers ---- */

size_t sim_cupti_record_size(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    default:
        return 0;
    }
}

static void complete(void)
{
    uint8_t *buffer = activity.buffer;
    size_t size = activity.size, used = activity.used;
    activity.buffer = NULL;
    if (buffer)
        activity.completed(NULL, 0, buffer, size, used);
}

static bool room(size_t size)
{
    if (activity.buffer && (activity.used + size > activity.size || activity.records == activity.limit))
        complete();
    if (!activity.buffer) {
        uint8_t *buffer = NULL;
        size_t bytes = 0, records = 0;
        activity.requested(&buffer, &bytes, &records);
        activity.buffer = buffer;
        activity.size = bytes;
        activity.limit = records ? records : SIZE_MAX;
        activity.used = activity.records = 0;
    }
    return activity.buffer && activity.used + size <= activity.size;
}

static void emit(const void *record, size_t size)
{
    pthread_mutex_lock(&activity.lock);
    if (activity.requested && room(size)) {
        memcpy(activity.buffer + activity.used, record, size);
        activity.used += size;
        activity.records++;
    } else {
        activity.dropped++;
    }
    pthread_mutex_unlock(&activity.lock);
}

CUptiResult sim_cupti_register_buffers(CUpti_BuffersCallbackRequestFunc requested,
                                       CUpti_BuffersCallbackCompleteFunc completed)
{
    if (!requested || !completed)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&activity.lock);
    if (activity.completed)
        complete();
    activity.requested = requested;
    activity.completed = completed;
    pthread_mutex_unlock(&activity.lock);
    return CUPTI_SUCCESS;
}

CUptiResult sim_cupti_activity_enable(CUpti_ActivityKind kind, bool enable)
{
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    atomic_store(&enabled_kinds[kind], enable);
    return CUPTI_SUCCESS;
}

CUptiResult sim_cupti_flush(void)
{
    pthread_mutex_lock(&activity.lock);
    if (activity.completed)
        complete();
    pthread_mutex_unlock(&activity.lock);
    return CUPTI_SUCCESS;
}

CUptiResult sim_cupti_dropped(size_t *dropped)
{
    if (!dropped)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&activity.lock);
    *dropped = activity.dropped;
    activity.dropped = 0;
    pthread_mutex_unlock(&activity.lock);
    return CUPTI_SUCCESS;
}

/* ---- records ---- */

static uint64_t transfer_time(uint64_t bytes)
{
    return 1000 + bytes / 1000;
}

static uint8_t memory_kind(enum sim_memory_kind kind)
{
    static const uint8_t kinds[] = {
        [SIM_MEMORY_PAGEABLE] = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
        [SIM_MEMORY_PINNED] = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
        [SIM_MEMORY_REGISTERED] = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
        [SIM_MEMORY_DEVICE] = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
        [SIM_MEMORY_MANAGED] = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
        [SIM_MEMORY_MAPPED] = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
    };
    return kinds[kind];
}

static uint8_t copy_kind(enum sim_memory_kind destination, enum sim_memory_kind source)
{
    bool to_device = destination >= SIM_MEMORY_DEVICE, from_device = source >= SIM_MEMORY_DEVICE;
    if (to_device)
        return from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    return from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

static void peer_record(struct CUstream_st *stream, uint64_t bytes, uint64_t start, int destination, int source,
                        uint8_t flags, uint32_t graph_id, uint64_t node_id)
{
    CUpti_ActivityMemcpyPtoP4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                        .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                        .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                        .flags = flags,
                                        .bytes = bytes,
                                        .start = start,
                                        .end = start + transfer_time(bytes),
                                        .deviceId = (uint32_t)stream->context->device,
                                        .contextId = stream->context->uid,
                                        .streamId = stream->id,
                                        .srcDeviceId = (uint32_t)source,
                                        .dstDeviceId = (uint32_t)destination,
                                        .correlationId = sim_call_correlation(),
                                        .graphNodeId = node_id,
                                        .graphId = graph_id};
    emit(&record, sizeof record);
}

void sim_trace_copy(struct CUstream_st *stream, const struct sim_copy *copy, bool asynchronous, uint32_t graph_id,
                    uint64_t node_id)
{
    uint64_t bytes = (uint64_t)copy->width * copy->height * copy->depth;
    uint64_t start = sim_clock_advance(transfer_time(bytes));
    if (!atomic_load(&enabled_kinds[copy->peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 : CUPTI_ACTIVITY_KIND_MEMCPY]))
        return;
    enum sim_memory_kind source, destination;
    int source_device, destination_device;
    sim_memory_usable(copy->source, 1, &source, &source_device);
    sim_memory_usable(copy->destination, 1, &destination, &destination_device);
    uint8_t flags = asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    if (copy->peer) {
        peer_record(stream, bytes, start, destination_device, source_device, flags, graph_id, node_id);
        return;
    }
    CUpti_ActivityMemcpy6 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                    .copyKind = copy_kind(destination, source),
                                    .srcKind = memory_kind(source),
                                    .dstKind = memory_kind(destination),
                                    .flags = flags,
                                    .bytes = bytes,
                                    .start = start,
                                    .end = start + transfer_time(bytes),
                                    .deviceId = (uint32_t)stream->context->device,
                                    .contextId = stream->context->uid,
                                    .streamId = stream->id,
                                    .correlationId = sim_call_correlation(),
                                    .graphNodeId = node_id,
                                    .graphId = graph_id,
                                    .copyCount = 1};
    emit(&record, sizeof record);
}

void sim_trace_fill(struct CUstream_st *stream, const struct sim_fill *fill, bool asynchronous, uint32_t graph_id,
                    uint64_t node_id)
{
    uint64_t bytes = (uint64_t)fill->width * fill->height * fill->element_bytes;
    uint64_t start = sim_clock_advance(transfer_time(bytes));
    if (!atomic_load(&enabled_kinds[CUPTI_ACTIVITY_KIND_MEMSET]))
        return;
    enum sim_memory_kind kind;
    int device;
    sim_memory_usable(fill->destination, 1, &kind, &device);
    CUpti_ActivityMemset4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                    .value = fill->value,
                                    .bytes = bytes,
                                    .start = start,
                                    .end = start + transfer_time(bytes),
                                    .deviceId = (uint32_t)stream->context->device,
                                    .contextId = stream->context->uid,
                                    .streamId = stream->id,
                                    .correlationId = sim_call_correlation(),
                                    .flags = asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE,
                                    .memoryKind = memory_kind(kind),
                                    .graphNodeId = node_id,
                                    .graphId = graph_id};
    emit(&record, sizeof record);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* A copy of the name that outlives its module, as a record's name does. */
static const char *interned(const char *name)
{
    pthread_mutex_lock(&activity.lock);
    void *node = tfind(name, &activity.names, compare_names);
    if (!node) {
        char *copy = strdup(name);
        node = copy ? tsearch(copy, &activity.names, compare_names) : NULL;
    }
    const char *kept = node ? *(const char **)node : "";
    pthread_mutex_unlock(&activity.lock);
    return kept;
}

void sim_trace_kernel(struct CUstream_st *stream, const struct sim_work *work, uint32_t graph_id, uint64_t node_id)
{
    uint64_t threads =
        (uint64_t)work->grid[0] * work->grid[1] * work->grid[2] * work->block[0] * work->block[1] * work->block[2];
    uint64_t duration = 1000 + threads / 100, start = sim_clock_advance(duration);
    CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    if (!atomic_load(&enabled_kinds[kind])) {
        kind = CUPTI_ACTIVITY_KIND_KERNEL;
        if (!atomic_load(&enabled_kinds[kind]))
            return;
    }
    CUpti_ActivityKernel10 record = {.kind = kind,
                                     .registersPerThread = (uint16_t)work->kernel->image->registers,
                                     .start = start,
                                     .end = start + duration,
                                     .deviceId = (uint32_t)stream->context->device,
                                     .contextId = stream->context->uid,
                                     .streamId = stream->id,
                                     .gridX = (int32_t)work->grid[0],
                                     .gridY = (int32_t)work->grid[1],
                                     .gridZ = (int32_t)work->grid[2],
                                     .blockX = (int32_t)work->block[0],
                                     .blockY = (int32_t)work->block[1],
                                     .blockZ = (int32_t)work->block[2],
                                     .staticSharedMemory = (int32_t)work->kernel->image->shared_bytes,
                                     .dynamicSharedMemory = (int32_t)work->shared_bytes,
                                     .correlationId = sim_call_correlation(),
                                     .name = interned(work->kernel->image->name),
                                     .graphNodeId = node_id,
                                     .graphId = graph_id};
    emit(&record, sizeof record);
}
