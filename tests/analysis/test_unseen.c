/*
 * test_unseen.c - what cannot be followed: it is never taken for "dead", and the report says so.
 */
#include "tests/analysis/testing.h"

enum { WRITE = 1, READ, UPDATE, INCOMPLETE, OPAQUE_READ, OPAQUE_WRITE, STORE, TABLE, MAP };
#define LINE 7

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, WRITE, "write", "w");
    stream_kernel(&stream, READ, "read", "r");
    stream_kernel(&stream, UPDATE, "update", "u");
    stream_kernel(&stream, INCOMPLETE, "incomplete", "?");
    stream_kernel(&stream, OPAQUE_READ, "follows", "-*");
    stream_kernel(&stream, OPAQUE_WRITE, "scatters", "-!");
    stream_kernel(&stream, STORE, "keeps", "s");
    stream_kernel(&stream, TABLE, "batched", "t");
    stream_kernel(&stream, MAP, "tma", "m");
    for (uint32_t line = 1; line < 40; line++)
        stream_stack(line, "unseen.py", (int)line, "");
    stream_alloc(&stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    return 0;
}

static void prepare(struct stream *stream)
{
    block(stream, A);
    LAUNCH(stream, WRITE, A);
    block(stream, B);
}

static void copy_ab(struct stream *stream)
{
    at_line(stream, LINE);
    stream_copy(stream, B, A, MIB);
    at_line(stream, 9);
}

static void expect_after_free(struct stream *stream, const char *verdict, const char *reason)
{
    unblock(stream, A);
    struct cs_report *report = stream_report(stream);
    assert_string_equal(stream_site(report, LINE)->verdict, verdict);
    assert_string_equal(stream_site(report, LINE)->reason, reason);
}

static void a_blind_window_between_copy_and_death_saves_the_source(void **state)
{
    prepare(*state);
    copy_ab(*state);
    stream_blind(*state, CS_EVENT_BLIND_BEGIN);
    stream_blind(*state, CS_EVENT_BLIND_END);
    expect_after_free(*state, "not judged", "launches may have gone unseen in the meantime");
    assert_int_equal(stream_report(*state)->unseen.blind_cupti_lent, 1);
}

static void a_copy_inside_a_blind_window_is_not_judged(void **state)
{
    stream_blind(*state, CS_EVENT_BLIND_BEGIN);
    prepare(*state);
    copy_ab(*state);
    expect_after_free(*state, "not judged", "launches may have gone unseen in the meantime");
    assert_true(stream_report(*state)->unseen.blind_at_end);
}

static void a_blind_window_that_ended_before_the_destinations_birth_does_not_matter(void **state)
{
    stream_blind(*state, CS_EVENT_BLIND_BEGIN);
    stream_blind(*state, CS_EVENT_BLIND_END);
    prepare(*state);
    copy_ab(*state);
    expect_after_free(*state, "redundant", "source-dead");
}

static void a_blind_window_during_the_destinations_life_before_the_copy_matters(void **state)
{
    prepare(*state);
    stream_blind(*state, CS_EVENT_BLIND_BEGIN);
    stream_blind(*state, CS_EVENT_BLIND_END);
    copy_ab(*state);
    expect_after_free(*state, "not judged", "launches may have gone unseen in the meantime");
}

static void a_blind_window_after_the_death_does_not_matter(void **state)
{
    prepare(*state);
    copy_ab(*state);
    unblock(*state, A);
    stream_blind(*state, CS_EVENT_BLIND_BEGIN);
    expect_after_free(*state, "redundant", "source-dead");
}

static void lost_events_save_the_source_and_are_counted(void **state)
{
    prepare(*state);
    copy_ab(*state);
    stream_lost(*state, 12);
    expect_after_free(*state, "not judged", "events were lost in the meantime");
    assert_int_equal(stream_report(*state)->unseen.lost_events, 12);
}

static void a_kernel_that_cannot_be_followed_touches_everything_and_is_named(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, INCOMPLETE, 0);
    expect_after_free(stream, "not judged",
                      "a kernel that is not understood ran in the meantime: kernel `incomplete` at unseen.py:9");
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->unseen.kernels.count, 1);
    assert_string_equal(report->unseen.kernels.items[0].name, "incomplete");
    assert_string_equal(report->unseen.kernels.items[0].why, "its machine code could not be followed");
    assert_int_equal(report->unseen.kernels.items[0].launches, 1);
}

static void a_launch_without_parameters_touches_everything(void **state)
{
    prepare(*state);
    copy_ab(*state);
    stream_launch(*state, READ, 0, NULL);
    unblock(*state, A);
    struct cs_report *report = stream_report(*state);
    assert_string_equal(stream_site(report, LINE)->verdict, "not judged");
    assert_string_equal(report->unseen.kernels.items[0].why, "its parameters were not known");
}

static void a_launch_of_an_unnamed_kernel_touches_everything_and_is_counted(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, 99, 0);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
    assert_int_equal(stream_report(stream)->unseen.unnamed_launches, 1);
}

static void a_kernel_that_follows_addresses_reads_an_escaped_source(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream_escape(stream, A + 64);
    copy_ab(stream);
    LAUNCH(stream, OPAQUE_READ, 0);
    expect_after_free(stream, "not judged",
                      "a kernel that follows addresses in memory may have reached it: kernel `follows` at unseen.py:9");
}

static void a_kernel_that_stores_an_address_lets_it_escape(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    LAUNCH(stream, STORE, A);
    copy_ab(stream);
    LAUNCH(stream, OPAQUE_READ, 0);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void an_address_that_escapes_after_the_following_kernel_was_out_of_its_reach(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, OPAQUE_READ, 0);
    stream_escape(stream, A);
    expect_after_free(stream, "redundant", "source-dead");
}

static void more_escapes_than_were_listed_are_escapes_of_all_that_lived(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    stream_escape(stream, 0);
    LAUNCH(stream, OPAQUE_READ, 0);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void an_object_born_after_such_an_escape_has_not_escaped(void **state)
{
    struct stream *stream = *state;
    stream_escape(stream, 0);
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, OPAQUE_READ, 0);
    expect_after_free(stream, "redundant", "source-dead");
}

static void a_scattering_kernel_may_have_written_an_escaped_destination(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream_escape(stream, B);
    LAUNCH(stream, OPAQUE_WRITE, 0);
    copy_ab(stream);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void a_table_of_addresses_reads_every_object_in_it(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, TABLE, 17, 0, B, A + 4096);
    unblock(stream, A);
    unblock(stream, B);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void words_of_a_table_in_no_live_block_are_nothing(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, TABLE, 17, C, 0x123456789000, B);
    expect_after_free(stream, "redundant", "source-dead");
    assert_int_equal(stream_report(stream)->unseen.unknown_addresses, 0);
}

static void a_tensor_map_writes_the_object_in_any_of_its_words(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    LAUNCH(stream, MAP, 0, 0, 0, B, 0, 0, 0, 0);
    copy_ab(stream);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void parameters_too_short_for_the_code_touch_everything(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, TABLE, B);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void a_pointer_into_free_space_of_the_pool_touches_all_its_blocks(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, READ, C);
    expect_after_free(stream, "not judged",
                      "something touched its allocation outside all known blocks in the meantime");
    assert_int_equal(stream_report(stream)->unseen.stray_accesses, 1);
}

static void a_pointer_into_another_pools_free_space_does_not_matter(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, 8 * MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_C10);
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, READ, P + 4 * MIB);
    expect_after_free(stream, "redundant", "source-dead");
}

static void an_address_in_no_known_memory_is_ignored_and_counted(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, READ, 0x123456789000);
    LAUNCH(stream, READ, 8); /* null and an offset */
    expect_after_free(stream, "redundant", "source-dead");
    assert_int_equal(stream_report(stream)->unseen.unknown_addresses, 1);
}

static void pinned_host_memory_is_ignored_and_not_counted(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_HOST);
    prepare(stream);
    copy_ab(stream);
    LAUNCH(stream, UPDATE, P);
    expect_after_free(stream, "redundant", "source-dead");
    assert_int_equal(stream_report(stream)->unseen.unknown_addresses, 0);
}

/* ---- graphs ---- */

static void capture(struct stream *stream, uint32_t kernel, uint64_t word)
{
    stream_simple(stream, CS_EVENT_CAPTURE_BEGIN);
    stream->flags = CS_FLAG_CAPTURED;
    LAUNCH(stream, kernel, word);
    stream->flags = 0;
    stream_simple(stream, CS_EVENT_CAPTURE_END);
}

static void a_graph_reads_and_writes_what_its_capture_reached(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    capture(stream, READ, A);
    copy_ab(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    expect_after_free(stream, "not judged", "a graph that may touch its memory was launched in the meantime");
}

static void a_graph_does_not_touch_what_its_capture_did_not_reach(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    capture(stream, UPDATE, P);
    prepare(stream);
    copy_ab(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    expect_after_free(stream, "redundant", "source-dead");
    assert_int_equal(stream_report(stream)->unseen.graph_launches, 1);
    assert_int_equal(stream_report(stream)->unseen.graph_launches_not_followed, 0);
}

static void capturing_is_not_executing(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    capture(stream, READ, A);
    expect_after_free(stream, "redundant", "source-dead");
}

static void a_graph_without_a_capture_touches_everything(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    copy_ab(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    expect_after_free(stream, "not judged", "a graph that may touch its memory was launched in the meantime");
    assert_int_equal(stream_report(stream)->unseen.graph_launches_not_followed, 1);
}

static void a_graph_with_a_kernel_that_is_not_understood_touches_everything(void **state)
{
    struct stream *stream = *state;
    capture(stream, INCOMPLETE, 0);
    prepare(stream);
    copy_ab(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void a_freed_block_that_a_graph_uses_taints_the_blocks_that_follow_it(void **state)
{
    struct stream *stream = *state;
    block(stream, C);
    capture(stream, UPDATE, C);
    unblock(stream, C);
    prepare(stream);
    copy_ab(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void a_source_overwritten_at_an_address_that_a_graph_uses_is_not_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    capture(stream, READ, A);
    copy_ab(stream);
    stream_upload(stream, A, MIB);
    unblock(stream, B);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
    assert_string_equal(stream_report(stream)->copy_sites.items[0].reason,
                        "the source lives on at an address that a recorded graph uses");
}

static void a_captured_copy_is_listed_but_neither_counted_nor_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream_simple(stream, CS_EVENT_CAPTURE_BEGIN);
    stream->flags = CS_FLAG_CAPTURED;
    copy_ab(stream);
    stream->flags = 0;
    stream_simple(stream, CS_EVENT_CAPTURE_END);
    unblock(stream, A);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->totals.copies, 0);
    assert_int_equal(report->totals.captured_copies, 1);
    assert_int_equal(report->totals.captured_bytes, MIB);
    assert_int_equal(stream_site(report, LINE)->captured, 1);
    assert_string_equal(stream_site(report, LINE)->verdict, "not judged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_blind_window_between_copy_and_death_saves_the_source),
        TEST(a_copy_inside_a_blind_window_is_not_judged),
        TEST(a_blind_window_that_ended_before_the_destinations_birth_does_not_matter),
        TEST(a_blind_window_during_the_destinations_life_before_the_copy_matters),
        TEST(a_blind_window_after_the_death_does_not_matter),
        TEST(lost_events_save_the_source_and_are_counted),
        TEST(a_kernel_that_cannot_be_followed_touches_everything_and_is_named),
        TEST(a_launch_without_parameters_touches_everything),
        TEST(a_launch_of_an_unnamed_kernel_touches_everything_and_is_counted),
        TEST(a_kernel_that_follows_addresses_reads_an_escaped_source),
        TEST(a_kernel_that_stores_an_address_lets_it_escape),
        TEST(an_address_that_escapes_after_the_following_kernel_was_out_of_its_reach),
        TEST(more_escapes_than_were_listed_are_escapes_of_all_that_lived),
        TEST(an_object_born_after_such_an_escape_has_not_escaped),
        TEST(a_scattering_kernel_may_have_written_an_escaped_destination),
        TEST(a_table_of_addresses_reads_every_object_in_it),
        TEST(words_of_a_table_in_no_live_block_are_nothing),
        TEST(a_tensor_map_writes_the_object_in_any_of_its_words),
        TEST(parameters_too_short_for_the_code_touch_everything),
        TEST(a_pointer_into_free_space_of_the_pool_touches_all_its_blocks),
        TEST(a_pointer_into_another_pools_free_space_does_not_matter),
        TEST(an_address_in_no_known_memory_is_ignored_and_counted),
        TEST(pinned_host_memory_is_ignored_and_not_counted),
        TEST(a_graph_reads_and_writes_what_its_capture_reached),
        TEST(a_graph_does_not_touch_what_its_capture_did_not_reach),
        TEST(capturing_is_not_executing),
        TEST(a_graph_without_a_capture_touches_everything),
        TEST(a_graph_with_a_kernel_that_is_not_understood_touches_everything),
        TEST(a_freed_block_that_a_graph_uses_taints_the_blocks_that_follow_it),
        TEST(a_source_overwritten_at_an_address_that_a_graph_uses_is_not_judged),
        TEST(a_captured_copy_is_listed_but_neither_counted_nor_judged),
    };
    return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
