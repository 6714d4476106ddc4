/*
 * drain.c - the consuming end of the rings: merges all threads' events by sequence number (ring.h). Analysis thread
 * only.
 */
#include <time.h>

#include "interpose/ring.h"
#include "interpose/thread.h"

/* A number that was taken is published within a few instructions; a preempted producer may take a scheduling quantum.
 */
enum { GAP_ROUNDS = 10000, GAP_NANOSECONDS = 50000 };

static uint64_t next_sequence = 1;

/* Dropped events: how many were told, and up to which number an event may come after one of them. */
static struct {
    uint64_t told, until;
} losses;

/* The first event of the ring, skipping fillers; NULL when it is empty. */
static const struct cs_event *front(struct cs_ring *ring)
{
    for (;;) {
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
            return NULL;
        const struct cs_event *event = (const struct cs_event *)(ring->bytes + tail % ring->capacity);
        if (event->kind != CS_EVENT_NONE)
            return event;
        atomic_store_explicit(&ring->tail, tail + event->size, memory_order_release);
    }
}

static void release(struct cs_ring *ring, const struct cs_event *event)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + event->size, memory_order_release);
}

/* The thread whose first event has the lowest sequence number; NULL when all rings are empty. */
static struct cs_thread *lowest(uint64_t *sequence)
{
    struct cs_thread *found = NULL;
    for (struct cs_thread *thread = cs_thread_list(); thread; thread = thread->next) {
        const struct cs_event *event = front(&thread->ring);
        if (event && (!found || event->sequence < *sequence)) {
            found = thread;
            *sequence = event->sequence;
            if (*sequence == next_sequence)
                break;
        }
    }
    return found;
}

static struct cs_thread *wait_for_next(uint64_t *sequence)
{
    struct cs_thread *thread = lowest(sequence);
    for (int round = 0; thread && *sequence > next_sequence && round < GAP_ROUNDS; round++) {
        struct timespec moment = {0, GAP_NANOSECONDS};
        nanosleep(&moment, NULL);
        thread = lowest(sequence);
    }
    return thread;
}

/*
 * A dropped event has no place in the order. It was dropped before its loss could be seen, so its place is before the
 * last number that was taken by then: the analysis is told ahead of each event up to there.
 */
static void tell_losses(void (*take)(void *context, const struct cs_event *event), void *context, uint64_t sequence)
{
    uint64_t lost = cs_emit_lost();
    if (lost == losses.told && sequence > losses.until)
        return;
    struct cs_lost event = {.head = {.size = sizeof event, .kind = CS_EVENT_LOST, .sequence = sequence},
                            .count = lost - losses.told};
    if (lost != losses.told)
        losses.until = cs_emit_count() + 1;
    losses.told = lost;
    take(context, &event.head);
}

uint64_t cs_ring_drain(void (*take)(void *context, const struct cs_event *event), void *context)
{
    uint64_t taken = 0, sequence = 0;
    struct cs_thread *thread;
    while (taken < CS_DRAIN_MAX && (thread = wait_for_next(&sequence))) {
        const struct cs_event *event;
        while (taken < CS_DRAIN_MAX && (event = front(&thread->ring)) && event->sequence <= sequence) {
            tell_losses(take, context, event->sequence);
            take(context, event);
            release(&thread->ring, event);
            if (++sequence > next_sequence)
                next_sequence = sequence;
            taken++;
        }
    }
    return taken;
}
