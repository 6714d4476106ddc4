/*
 * emit.c - writes records into the calling thread's ring (emit.h).
 *
 * Any thread. A record never wraps: what is left at the end of the ring is skipped with a record of kind CS_EVENT_NONE.
 * The sequence number is taken when the record is complete, so a thread that stalls half-way holds nobody up.
 */
#include "interpose/emit.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "interpose/engine.h"
#include "interpose/ring.h"
#include "interpose/state.h"
#include "interpose/thread.h"

/* How long a producer waits for room before it drops the event. */
enum { WAIT_ROUNDS = 200, WAIT_NANOSECONDS = 100000 };

static _Atomic uint64_t last_sequence, lost;

static uint64_t room(struct cs_ring *ring)
{
    return ring->capacity - (atomic_load_explicit(&ring->head, memory_order_relaxed) - ring->tail_seen);
}

/*
 * Waits for room, a bounded moment. A thread that waited in vain drops its further events at once until there is room
 * again, so that a stalled analysis costs the program one such moment and not one an event.
 */
static bool wait_for_room(struct cs_ring *ring, uint64_t bytes, bool patient)
{
    for (int round = 0; round <= WAIT_ROUNDS; round++) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (room(ring) >= bytes) {
            ring->starved = false;
            return true;
        }
        if (ring->starved || !patient)
            return false;
        int saved = errno;
        struct timespec moment = {0, WAIT_NANOSECONDS};
        nanosleep(&moment, NULL);
        errno = saved;
    }
    ring->starved = true;
    return false;
}

static void publish(struct cs_ring *ring, uint64_t position)
{
    atomic_store_explicit(&ring->head, position, memory_order_release);
}

/* Skips to the start of the ring when the record would not fit before its end. */
static bool reserve(struct cs_ring *ring, uint64_t bytes, bool patient)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t left = ring->capacity - head % ring->capacity;
    uint64_t need = bytes <= left ? bytes : left + bytes;
    if (room(ring) < need && !wait_for_room(ring, need, patient))
        return false;
    if (bytes > left) {
        struct cs_event *filler = (struct cs_event *)(ring->bytes + head % ring->capacity);
        filler->size = (uint32_t)left;
        filler->kind = CS_EVENT_NONE;
        publish(ring, head + left);
        head += left;
    }
    ring->reserved = head;
    return true;
}

/* A copy's time only makes the report finer: nobody waits for it, and its loss makes nothing unknown. It is emitted on
 * the analysis thread, too, which would wait for itself. */
static bool is_dispensable(enum cs_event_kind kind)
{
    return kind == CS_EVENT_COPY_TIME;
}

static void *open_record(struct cs_thread *thread, enum cs_event_kind kind, size_t bytes)
{
    if (!reserve(&thread->ring, bytes, !is_dispensable(kind)))
        return NULL;
    struct cs_event *event = (struct cs_event *)(thread->ring.bytes + thread->ring.reserved % thread->ring.capacity);
    memset(event, 0, sizeof *event);
    event->size = (uint32_t)bytes;
    event->kind = (uint16_t)kind;
    event->thread = thread->number;
    event->device = thread->device;
    return event;
}

/* The program used the device: not only a stack that was captured for a call that then failed, or CUPTI that was taken.
 */
static bool is_use(enum cs_event_kind kind)
{
    return (kind >= CS_EVENT_LAUNCH && kind <= CS_EVENT_ALLOC) || kind == CS_EVENT_GRAPH_LAUNCH;
}

void *cs_emit_begin_raw(enum cs_event_kind kind, size_t size)
{
    struct cs_thread *thread = cs_thread_self();
    if (!thread || !cs_state_active())
        return NULL;
    if (is_use(kind))
        cs_engine_wake();
    size_t bytes = (size + 7) & ~(size_t)7;
    void *record = bytes <= CS_EMIT_MAX && bytes <= thread->ring.capacity / 2 ? open_record(thread, kind, bytes) : NULL;
    if (!record && !is_dispensable(kind))
        atomic_fetch_add_explicit(&lost, 1, memory_order_release);
    return record;
}

void *cs_emit_begin(enum cs_event_kind kind, size_t size)
{
    struct cs_event *event = cs_emit_begin_raw(kind, size);
    if (event)
        memset(event + 1, 0, event->size - sizeof *event);
    return event;
}

void cs_emit_end(void *record)
{
    struct cs_thread *thread = cs_thread_peek();
    struct cs_event *event = record;
    event->sequence = atomic_fetch_add_explicit(&last_sequence, 1, memory_order_relaxed) + 1;
    publish(&thread->ring, thread->ring.reserved + event->size);
}

uint64_t cs_emit_count(void)
{
    return atomic_load_explicit(&last_sequence, memory_order_relaxed);
}

uint64_t cs_emit_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_acquire);
}
