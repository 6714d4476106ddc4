/*
 * test_c10.c - the caching allocator: blocks, reuse, and that each block is reported to whoever interposes the report
 * function. This program does so by defining it, as a preloaded library would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/c10.h"
#include "tests/sim/sim.h"

static struct {
    void *pointer;
    int64_t size;
    size_t allocated, reserved;
    struct sim_c10_device device;
    unsigned calls;
} last;

SIM_C10_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t size, size_t allocated,
                                                                          size_t reserved, struct sim_c10_device device)
{
    last.pointer = pointer;
    last.size = size;
    last.allocated = allocated;
    last.reserved = reserved;
    last.device = device;
    last.calls++;
}

static void every_block_is_reported_by_its_rounded_size(void **state)
{
    (void)state;
    void *block = sim_c10_alloc(1000);
    assert_int_equal(last.calls, 1);
    assert_ptr_equal(last.pointer, block);
    assert_int_equal(last.size, 1024);
    assert_int_equal(last.allocated, 1024);
    assert_int_equal(last.reserved, 2 << 20);
    assert_int_equal(last.device.type, SIM_C10_CUDA);
    assert_int_equal(last.device.index, 0);
    sim_c10_free(block);
    assert_int_equal(last.calls, 2);
    assert_ptr_equal(last.pointer, block);
    assert_int_equal(last.size, -1024);
    assert_int_equal(last.allocated, 0);
}

static void freed_blocks_are_reused_without_cuda_being_told(void **state)
{
    struct sim_counts before, after;
    (void)state;
    sim_counts(&before);
    void *first = sim_c10_alloc(5000), *second = sim_c10_alloc(100);
    assert_ptr_equal((char *)first + 5120, second);
    sim_c10_free(first);
    assert_ptr_equal(sim_c10_alloc(5000), first);
    sim_c10_free(first);
    sim_c10_free(second);
    /* free neighbours have become one block again: all of the segment fits */
    void *whole = sim_c10_alloc((size_t)1 << 20), *rest = sim_c10_alloc((size_t)1 << 20);
    assert_ptr_equal(whole, first);
    assert_ptr_equal((char *)whole + (1 << 20), rest);
    sim_counts(&after);
    assert_int_equal(after.allocations, before.allocations);
    sim_c10_free(whole);
    sim_c10_free(rest);
}

static void large_blocks_have_segments_of_their_own_until_the_cache_is_emptied(void **state)
{
    size_t allocated, reserved;
    struct sim_counts before, after;
    (void)state;
    void *large = sim_c10_alloc((size_t)11 << 20);
    sim_c10_usage(&allocated, &reserved);
    assert_int_equal(allocated, 12 << 20); /* a rest of up to 1 MiB stays with its block */
    assert_int_equal(reserved, (2 << 20) + (12 << 20));
    sim_c10_free(large);
    sim_counts(&before);
    sim_c10_empty_cache();
    sim_counts(&after);
    assert_int_equal(after.frees - before.frees, 2);
    sim_c10_usage(&allocated, &reserved);
    assert_int_equal(reserved, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_reported_by_its_rounded_size),
        cmocka_unit_test(freed_blocks_are_reused_without_cuda_being_told),
        cmocka_unit_test(large_blocks_have_segments_of_their_own_until_the_cache_is_emptied),
    };
    return cmocka_run_group_tests_name("sim c10", tests, NULL, NULL);
}
