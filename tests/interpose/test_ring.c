/*
 * test_ring.c - events of several threads arrive complete and in the order of their sequence numbers, through rings
 * much smaller than what passes through them; what is dropped is told; ended threads' rings are drained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/ring.h"
#include "interpose/thread.h"

enum { THREADS = 4, EVENTS = 50000, RING = 65536 };

struct tally {
    uint64_t last_sequence, events, lost, told, out_of_order, damaged;
    uint64_t next[THREADS + 8];
};

/* Each launch carries its producer's counter and a length that depends on it, filled with a byte that depends on it. */
static void produce_one(uint64_t counter)
{
    uint32_t bytes = (uint32_t)(8 + counter * 37 % 700);
    struct cs_launch *launch = cs_emit_begin_raw(CS_EVENT_LAUNCH, sizeof *launch + bytes);
    if (!launch)
        return;
    launch->kernel = 7;
    launch->parameter_bytes = bytes;
    memcpy(launch->parameters, &counter, sizeof counter);
    memset(launch->parameters + 8, (int)(counter & 0xff), bytes - 8);
    cs_emit_end(launch);
}

static _Atomic int producing;

static void *produce(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < EVENTS; i++)
        produce_one(i);
    atomic_fetch_sub(&producing, 1);
    return NULL;
}

static bool is_whole(const struct cs_launch *launch, uint64_t counter)
{
    if (launch->parameter_bytes != 8 + counter * 37 % 700)
        return false;
    for (uint32_t i = 8; i < launch->parameter_bytes; i++)
        if (launch->parameters[i] != (unsigned char)(counter & 0xff))
            return false;
    return true;
}

static void count(void *context, const struct cs_event *event)
{
    struct tally *tally = context;
    if (event->kind == CS_EVENT_LOST) {
        tally->lost += ((const struct cs_lost *)event)->count;
        tally->told++;
        return;
    }
    tally->out_of_order += event->sequence <= tally->last_sequence;
    tally->last_sequence = event->sequence;
    tally->events++;
    if (event->kind != CS_EVENT_LAUNCH)
        return;
    const struct cs_launch *launch = (const struct cs_launch *)event;
    uint64_t counter;
    memcpy(&counter, launch->parameters, sizeof counter);
    tally->damaged += !is_whole(launch, counter) || counter < tally->next[event->thread];
    tally->next[event->thread] = counter + 1;
}

static void events_of_many_threads_arrive_whole_and_in_order(void **state)
{
    (void)state;
    struct tally tally = {0};
    pthread_t threads[THREADS];
    producing = THREADS;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, NULL), 0);
    while (producing) {
        cs_ring_drain(count, &tally);
        cs_thread_reap();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (cs_ring_drain(count, &tally))
        ;
    assert_int_equal(tally.out_of_order, 0);
    assert_int_equal(tally.damaged, 0);
    assert_int_equal(tally.events, cs_emit_count());
    assert_int_equal(tally.events + cs_emit_lost(), (uint64_t)THREADS * EVENTS);
    cs_thread_reap();
}

static void what_is_dropped_is_told_until_everything_that_may_follow_it_has_passed(void **state)
{
    (void)state;
    struct tally tally = {.last_sequence = cs_emit_count()};
    uint64_t start = cs_emit_count(), lost = cs_emit_lost();
    /* Nobody drains: the ring fills, one more event waits its bounded moment and is dropped. */
    while (cs_emit_lost() == lost)
        produce_one(100);
    uint64_t written = cs_emit_count() - start;
    assert_true(written <= CS_DRAIN_MAX);
    assert_int_equal(cs_ring_drain(count, &tally), written);
    assert_true(tally.lost >= 1);
    assert_int_equal(tally.told, written);
    produce_one(101); /* the first that came after the loss was seen */
    produce_one(102);
    cs_ring_drain(count, &tally);
    assert_int_equal(tally.told, written + 1);
    assert_int_equal(tally.out_of_order, 0);
}

static void a_record_too_large_for_the_ring_is_dropped_not_truncated(void **state)
{
    (void)state;
    uint64_t lost = cs_emit_lost();
    assert_null(cs_emit_begin(CS_EVENT_STACK, RING));
    assert_int_equal(cs_emit_lost(), lost + 1);
}

int main(void)
{
    cs_thread_start(RING);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_many_threads_arrive_whole_and_in_order),
        cmocka_unit_test(what_is_dropped_is_told_until_everything_that_may_follow_it_has_passed),
        cmocka_unit_test(a_record_too_large_for_the_ring_is_dropped_not_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
