/*
 * test_structures.c - spans, the object map and the hash table against the plainest possible models of them.
 */
#include <stdlib.h>

#include "analysis/map64.h"
#include "analysis/objects/map.h"
#include "analysis/objects/span.h"
#include "tests/analysis/testing.h"

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = cs_mix64(seed);
    return seed % below;
}

/* ---- spans, byte by byte ---- */

enum { BYTES = 512 };

static void paint(const struct cs_span *span, bool *bytes)
{
    memset(bytes, 0, BYTES);
    for (uint64_t s = 0; s < span->depth; s++)
        for (uint64_t r = 0; r < span->height; r++)
            for (uint64_t i = 0; i < span->width; i++)
                bytes[span->address + s * span->slice + r * span->pitch + i] = true;
}

static struct cs_span random_span(void)
{
    struct cs_extent extent = {1 + draw(12), 1 + draw(4), 1 + draw(3)};
    struct cs_place place = {.address = draw(60)};
    place.pitch = extent.width + draw(6);
    place.slice = place.pitch * extent.height + draw(10);
    return cs_span(&place, &extent);
}

static void overlap_and_cover_agree_with_the_bytes(void **state)
{
    static bool a[BYTES], b[BYTES];
    (void)state;
    for (int round = 0; round < 200000; round++) {
        struct cs_span x = random_span(), y = draw(4) ? random_span() : x;
        bool both = false, all = true;
        paint(&x, a);
        paint(&y, b);
        for (int i = 0; i < BYTES; i++) {
            both |= a[i] && b[i];
            all &= a[i] || !b[i];
        }
        assert_int_equal(cs_span_overlap(&x, &y), both);
        assert_int_equal(cs_span_overlap(&y, &x), both);
        if (cs_span_covers(&x, &y))
            assert_true(all); /* it may miss a cover, it never invents one */
    }
}

static void a_span_covers_itself_and_runs_cover_exactly(void **state)
{
    struct cs_span run = cs_span_run(100, 50), rows = random_span();
    (void)state;
    assert_true(cs_span_covers(&rows, &rows));
    for (uint64_t low = 90; low < 110; low++)
        for (uint64_t bytes = 1; bytes < 80; bytes++) {
            struct cs_span other = cs_span_run(low, bytes);
            assert_int_equal(cs_span_covers(&run, &other), low >= 100 && low + bytes <= 150);
        }
}

static void rows_that_touch_are_one_run(void **state)
{
    struct cs_extent extent = {16, 8, 4};
    struct cs_place place = {.address = 64, .pitch = 16, .slice = 128};
    struct cs_span span = cs_span(&place, &extent);
    (void)state;
    assert_int_equal(span.width, 16 * 8 * 4);
    assert_int_equal(span.height, 1);
    assert_int_equal(cs_span_end(&span), 64 + 512);
}

/* ---- the object map ---- */

enum { CELLS = 256 };

/* Random births and deaths of disjoint objects; after each step every address finds what the array says. */
static void the_map_finds_what_an_array_finds(void **state)
{
    struct cs_map map = {0};
    struct cs_object *cells[CELLS] = {0};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint64_t at = draw(CELLS), size = 1 + draw(8);
        bool free = at + size <= CELLS;
        for (uint64_t i = at; free && i < at + size; i++)
            free = !cells[i];
        if (free) {
            struct cs_object *object = cs_map_add(&map, at + 1000, size, CS_ALLOCATOR_PLAIN);
            for (uint64_t i = at; i < at + size; i++)
                cells[i] = object;
        } else if (cells[at]) {
            struct cs_object *object = cells[at];
            for (int i = 0; i < CELLS; i++)
                cells[i] = cells[i] == object ? NULL : cells[i];
            cs_map_remove(&map, object);
        }
        uint64_t probe = draw(CELLS), end = probe + 1 + draw(20);
        assert_ptr_equal(cs_map_find(&map, probe + 1000), cells[probe]);
        struct cs_object *first = NULL;
        for (uint64_t i = probe; i < end && i < CELLS && !first; i++)
            first = cells[i];
        assert_ptr_equal(cs_map_first_allocation(&map, probe + 1000, end + 1000), first);
    }
    assert_null(cs_map_find(&map, 999));
    assert_null(cs_map_find(&map, 1000 + CELLS));
    cs_map_release(&map);
}

static void an_object_stays_while_somebody_holds_it(void **state)
{
    struct cs_map map = {0};
    (void)state;
    struct cs_object *object = cs_object_hold(cs_map_add(&map, 4096, 64, CS_ALLOCATOR_C10));
    cs_map_remove(&map, object);
    assert_null(cs_map_block(&map, 4096));
    assert_int_equal(object->size, 64);
    cs_object_drop(object);
    cs_map_release(&map);
}

/* ---- the hash table ---- */

static void the_table_holds_what_an_array_holds(void **state)
{
    enum { KEYS = 1000 };
    static uint64_t values[KEYS];
    static bool there[KEYS];
    struct cs_map64 map = {0};
    size_t count = 0;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        uint64_t key = draw(KEYS);
        if (draw(2)) {
            count += !there[key];
            values[key] = draw(1u << 30);
            there[key] = true;
            assert_int_equal(cs_map64_put(&map, key, values[key]), 0);
        } else {
            count -= there[key];
            there[key] = false;
            cs_map64_remove(&map, key);
        }
        uint64_t probe = draw(KEYS), *found = cs_map64_get(&map, probe);
        assert_int_equal(found != NULL, there[probe]);
        if (found)
            assert_int_equal(*found, values[probe]);
    }
    assert_int_equal(map.count, count);
    assert_true(map.capacity <= 4096);
    cs_map64_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_and_cover_agree_with_the_bytes),
        cmocka_unit_test(a_span_covers_itself_and_runs_cover_exactly),
        cmocka_unit_test(rows_that_touch_are_one_run),
        cmocka_unit_test(the_map_finds_what_an_array_finds),
        cmocka_unit_test(an_object_stays_while_somebody_holds_it),
        cmocka_unit_test(the_table_holds_what_an_array_holds),
    };
    return cmocka_run_group_tests_name("structures", tests, NULL, NULL);
}
