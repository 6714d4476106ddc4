/*
 * testing.h - what every test of the analysis includes: cmocka, the stream builder, addresses to play with. Each test
 * program has a `start` that puts its stream into *state.
 */
#ifndef COPYSPY_TESTS_ANALYSIS_TESTING_H
#define COPYSPY_TESTS_ANALYSIS_TESTING_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/analysis/stream.h"

#define MIB ((uint64_t)1 << 20)
#define SLOT (2 * MIB)

/* A pool that a framework hands out blocks of, blocks in it, and plain allocations elsewhere. */
#define POOL ((uint64_t)0x7f0000000000)
#define A POOL
#define B (POOL + 4 * SLOT)
#define C (POOL + 8 * SLOT)
#define D (POOL + 10 * SLOT)
#define E (POOL + 12 * SLOT)
#define P ((uint64_t)0x30000000)
#define Q ((uint64_t)0x40000000)
#define R ((uint64_t)0x50000000)

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

static inline int stop(void **state)
{
    stream_stop(*state);
    return 0;
}

static inline void block(struct stream *stream, uint64_t address)
{
    stream_alloc(stream, address, MIB, CS_ALLOCATOR_C10);
}

static inline void unblock(struct stream *stream, uint64_t address)
{
    stream_free(stream, address, CS_ALLOCATOR_C10);
}

/* Stacks of the tests have the line as their id. */
static inline void at_line(struct stream *stream, uint32_t line)
{
    stream->stack = line;
}

#endif
