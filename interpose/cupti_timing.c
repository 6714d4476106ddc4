/*
 * cupti_timing.c - see cupti_timing.h. Buffer callbacks run on CUPTI's own thread, the switching on the analysis
 * thread; the lock covers only the switching.
 */
#include "interpose/cupti_timing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "interpose/debug.h"
#include "interpose/emit.h"

/* A record of a copy takes about 100 bytes; CUPTI fills one buffer while it hands over another. */
enum { BUFFER_BYTES = 256 * 1024, DEVICE_BUFFER_BYTES = 1024 * 1024, DEVICE_BUFFER_LIMIT = 8 };

/* How long records are collected after a new stack's first copy, and how many stacks are told apart. */
enum { WINDOW_MS = 1000, STACKS = 1 << 16 };

static struct {
    const struct cs_cupti_library *cupti; /* set once: a buffer may be handed over even after we stopped */
    bool ours;                            /* CUPTI is */
    pthread_mutex_t lock;
    bool collecting;
    int64_t until_ms;
    _Atomic bool wanted;
    _Atomic uint8_t seen[STACKS / 8];
} timing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void CUPTIAPI on_buffer_requested(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *records = 0;
}

static void note_time(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes)
{
    struct cs_copy_time *event = end ? cs_emit_begin(CS_EVENT_COPY_TIME, sizeof *event) : NULL;
    if (!event)
        return;
    event->head.correlation = correlation;
    event->start_ns = start;
    event->end_ns = end;
    event->bytes = bytes;
    cs_emit_end(event);
}

static void note_record(const CUpti_Activity *record)
{
    /* Records grow at their end; these fields are where CUDA 11's are. */
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *copy = (const void *)record;
        note_time(copy->correlationId, copy->start, copy->end, copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
        const CUpti_ActivityMemcpyPtoP4 *copy = (const void *)record;
        note_time(copy->correlationId, copy->start, copy->end, copy->bytes);
    }
}

static void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    CUpti_Activity *record = NULL;
    while (buffer && timing.cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        note_record(record);
    free(buffer);
}

static void limit_device_buffers(void)
{
    size_t width = sizeof(size_t), bytes = DEVICE_BUFFER_BYTES, limit = DEVICE_BUFFER_LIMIT, ahead = 1;
    timing.cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &width, &bytes);
    timing.cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &width, &limit);
    timing.cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, &width, &ahead);
}

/* ---- switching ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool collect(bool on)
{
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2};
    bool done = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        done = (on ? timing.cupti->cuptiActivityEnable(kinds[i]) : timing.cupti->cuptiActivityDisable(kinds[i])) ==
                   CUPTI_SUCCESS &&
               done;
    timing.collecting = on && done;
    cs_debug(CS_DEBUG_cupti, 2, "timing of copies %s%s", on ? "on" : "off", done ? "" : " refused");
    return done;
}

bool cs_timing_start(const struct cs_cupti_library *library)
{
    pthread_mutex_lock(&timing.lock);
    timing.cupti = library;
    limit_device_buffers();
    bool started = library->cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed) == CUPTI_SUCCESS &&
                   collect(true);
    timing.until_ms = now_ms() + WINDOW_MS;
    timing.ours = started;
    pthread_mutex_unlock(&timing.lock);
    return started;
}

void cs_timing_copy_made(uint32_t stack)
{
    stack %= STACKS;
    uint8_t bit = (uint8_t)(1u << stack % 8);
    _Atomic uint8_t *seen = &timing.seen[stack / 8];
    if (atomic_load_explicit(seen, memory_order_relaxed) & bit)
        return;
    atomic_fetch_or(seen, bit);
    atomic_store(&timing.wanted, true);
}

void cs_timing_tick(void)
{
    pthread_mutex_lock(&timing.lock);
    int64_t now = now_ms();
    if (timing.ours && atomic_exchange(&timing.wanted, false)) {
        timing.until_ms = now + WINDOW_MS;
        if (!timing.collecting)
            collect(true);
    }
    if (timing.ours && timing.collecting && now >= timing.until_ms) {
        timing.cupti->cuptiActivityFlushAll(0);
        collect(false);
    }
    pthread_mutex_unlock(&timing.lock);
}

void cs_timing_flush(void)
{
    pthread_mutex_lock(&timing.lock);
    if (timing.ours)
        timing.cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_unlock(&timing.lock);
}

void cs_timing_stop(void)
{
    pthread_mutex_lock(&timing.lock);
    if (timing.ours) {
        collect(false);
        timing.cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
        timing.ours = false;
    }
    pthread_mutex_unlock(&timing.lock);
}
