/*
 * test_memory.c - memory is bounded by what is alive and by distinct call sites and kernels, never by how long a
 * program runs.
 */
#include <malloc.h>

#include "analysis/verdicts/ledger.h"
#include "tests/analysis/testing.h"

enum { WRITE = 1, MASK, READ, EVENTS = 10000000 };

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, WRITE, "write", "w");
    stream_kernel(&stream, MASK, "mask", "u");
    stream_kernel(&stream, READ, "read", "r");
    for (uint32_t line = 1; line < 10; line++)
        stream_stack(line, "memory.py", (int)line, "");
    stream_alloc(&stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    return 0;
}

static size_t used(void)
{
    return mallinfo2().uordblks;
}

/* One step of a program with every kind of copy: redundant, snapshot, never settled, into an old buffer. */
static void step(struct stream *stream, uint64_t i)
{
    uint64_t source = POOL + (i % 7) * SLOT, copy = POOL + (8 + i % 5) * SLOT;
    stream->correlation = (uint32_t)i | 1;
    block(stream, source);
    at_line(stream, 1);
    LAUNCH(stream, WRITE, source);
    block(stream, copy);
    at_line(stream, 2);
    stream_copy(stream, copy, source, MIB);
    stream_time(stream, stream->correlation, 100);
    LAUNCH(stream, MASK, copy);
    unblock(stream, source);
    at_line(stream, 3);
    stream_copy(stream, P, copy, MIB); /* into a buffer that lives on */
    at_line(stream, 4);
    block(stream, source);
    stream_copy(stream, source, P + SLOT, MIB); /* from one that lives on and is never read otherwise */
    unblock(stream, source);
    stream_copy(stream, P + SLOT, P, MIB);
    at_line(stream, 5);
    stream_upload(stream, P + 2 * SLOT, MIB);
    stream_copy(stream, copy, P + 2 * SLOT, MIB);
    LAUNCH(stream, READ, copy);
    unblock(stream, copy);
}

static void ten_million_events_need_no_more_memory_than_a_hundred_thousand(void **state)
{
    struct stream *stream = *state;
    for (uint64_t buffer = P; buffer < P + 3 * SLOT; buffer += SLOT)
        stream_alloc(stream, buffer, MIB, CS_ALLOCATOR_PLAIN);
    uint64_t i = 0;
    while (stream->sequence < 100000)
        step(stream, i++);
    size_t before = used();
    while (stream->sequence < EVENTS)
        step(stream, i++);
    size_t after = used();
    assert_true(after <= before + 4096);
    const struct cs_finding *finding = stream_finding(stream_report(stream), 2);
    assert_non_null(finding);
    assert_int_equal(finding->copies, i);
}

/* Copies of disjoint slices of one source that nobody ever reads are the worst case: each waits for the source's death.
 */
static void copies_that_wait_for_ever_are_bounded_too(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, Q, (uint64_t)1 << 34, CS_ALLOCATOR_PLAIN);
    at_line(stream, 6);
    for (uint64_t i = 0; i < CS_LEDGER_UNREAD_MAX + 1000; i++) {
        stream_alloc(stream, A, 1024, CS_ALLOCATOR_C10);
        stream_copy(stream, A, Q + i * 1024, 1024);
        unblock(stream, A);
    }
    const struct cs_copy_site *site = stream_site(stream_report(stream), 6);
    assert_int_equal(site->pending, CS_LEDGER_UNREAD_MAX);
    assert_int_equal(site->copies, CS_LEDGER_UNREAD_MAX + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ten_million_events_need_no_more_memory_than_a_hundred_thousand),
        TEST(copies_that_wait_for_ever_are_bounded_too),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
