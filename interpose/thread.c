/*
 * thread.c - makes, lists and reaps the per-thread structures (thread.h).
 *
 * A structure and its ring are one anonymous mapping, made at the thread's first event and released by the analysis
 * thread after the thread ended and its ring was drained. Any thread makes its own; only the analysis thread reaps.
 */
#include "interpose/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "interpose/state.h"

static __thread struct cs_thread *self;

static struct {
    _Atomic(struct cs_thread *) list;
    _Atomic uint32_t numbers;
    uint64_t ring_bytes;
    pthread_key_t ended;
    bool has_key;
} threads;

static size_t mapping_bytes(void)
{
    return sizeof(struct cs_thread) + threads.ring_bytes;
}

static void on_thread_end(void *thread)
{
    self = NULL;
    atomic_store_explicit(&((struct cs_thread *)thread)->ended, true, memory_order_release);
}

void cs_thread_start(uint64_t ring_bytes)
{
    threads.ring_bytes = 4096;
    while (threads.ring_bytes < ring_bytes)
        threads.ring_bytes *= 2;
    threads.has_key = pthread_key_create(&threads.ended, on_thread_end) == 0;
}

struct cs_thread *cs_thread_peek(void)
{
    return self;
}

static struct cs_thread *make_thread(void)
{
    struct cs_thread *thread =
        mmap(NULL, mapping_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (thread == MAP_FAILED)
        return NULL;
    thread->ring.bytes = (unsigned char *)(thread + 1);
    thread->ring.capacity = threads.ring_bytes;
    thread->number = atomic_fetch_add(&threads.numbers, 1) + 1;
    thread->device = UINT32_MAX;
    self = thread;
    if (threads.has_key)
        pthread_setspecific(threads.ended, thread);
    thread->next = atomic_load(&threads.list);
    while (!atomic_compare_exchange_weak(&threads.list, &thread->next, thread))
        ;
    return thread;
}

struct cs_thread *cs_thread_self(void)
{
    if (self)
        return self;
    if (!cs_state_active())
        return NULL;
    int saved = errno;
    struct cs_thread *thread = make_thread();
    errno = saved;
    return thread;
}

struct cs_thread *cs_thread_list(void)
{
    return atomic_load_explicit(&threads.list, memory_order_acquire);
}

static bool finished(struct cs_thread *thread)
{
    return atomic_load_explicit(&thread->ended, memory_order_acquire) &&
           atomic_load_explicit(&thread->ring.head, memory_order_acquire) == atomic_load(&thread->ring.tail);
}

void cs_thread_reap(void)
{
    /* The list's first element may be raced by a push, so it is left for a later round. */
    struct cs_thread *before = cs_thread_list();
    while (before && before->next) {
        struct cs_thread *thread = before->next;
        if (finished(thread)) {
            before->next = thread->next;
            munmap(thread, mapping_bytes());
        } else {
            before = thread;
        }
    }
}

void cs_thread_after_fork(void)
{
    self = NULL;
    atomic_store(&threads.list, NULL);
}
