/*
 * test_rules.c - each rule of source-dead, on both sides of its boundary.
 */
#include "tests/analysis/testing.h"

enum { WRITE = 1, READ, UPDATE, READ_WRITE, READ_READ, UNKNOWN, OPAQUE };
#define LINE 7

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, WRITE, "write", "w");
    stream_kernel(&stream, READ, "read", "r");
    stream_kernel(&stream, UPDATE, "update", "u");
    stream_kernel(&stream, READ_WRITE, "read_write", "rw");
    stream_kernel(&stream, READ_READ, "read_read", "rr");
    stream_kernel(&stream, UNKNOWN, "unknown", "?");
    stream_kernel(&stream, OPAQUE, "opaque", "r*");
    for (uint32_t line = 1; line < 40; line++)
        stream_stack(line, "rules.py", (int)line, "");
    stream_alloc(&stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    return 0;
}

/* A source that was written, and a fresh destination. */
static void prepare(struct stream *stream)
{
    block(stream, A);
    at_line(stream, 3);
    LAUNCH(stream, WRITE, A);
    block(stream, B);
}

static void copy_ab(struct stream *stream)
{
    at_line(stream, LINE);
    stream_copy(stream, B, A, MIB);
    at_line(stream, 9);
}

static void prepare_and_copy(struct stream *stream)
{
    prepare(stream);
    copy_ab(stream);
}

static void expect(struct stream *stream, const char *verdict)
{
    assert_string_equal(stream_verdict(stream, LINE), verdict);
    assert_int_equal(stream_report(stream)->findings.count, !strcmp(verdict, "redundant"));
}

static const char *reason(struct stream *stream)
{
    return stream_site(stream_report(stream), LINE)->reason;
}

/* ---- (a) the destination was born for the copy ---- */

static void a_source_that_is_freed_unread_is_redundant(void **state)
{
    prepare_and_copy(*state);
    unblock(*state, A);
    expect(*state, "redundant");
}

static void a_destination_that_a_kernel_wrote_before_is_not_judged(void **state)
{
    prepare(*state);
    LAUNCH((struct stream *)*state, WRITE, B);
    copy_ab(*state);
    unblock(*state, A);
    expect(*state, "not judged");
}

static void a_destination_that_a_copy_wrote_before_is_not_judged(void **state)
{
    prepare(*state);
    stream_upload(*state, B, MIB);
    copy_ab(*state);
    unblock(*state, A);
    expect(*state, "not judged");
}

static void a_destination_filled_and_read_before_is_not_judged(void **state)
{
    prepare(*state);
    stream_fill(*state, B, MIB);
    LAUNCH((struct stream *)*state, READ, B);
    copy_ab(*state);
    unblock(*state, A);
    expect(*state, "not judged");
}

static void a_destination_filled_but_never_read_is_redundant(void **state)
{
    prepare(*state);
    stream_fill(*state, B, MIB);
    copy_ab(*state);
    unblock(*state, A);
    expect(*state, "redundant");
}

static void a_fill_that_the_copy_does_not_hide_is_not_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream_fill(stream, B, MIB);
    at_line(stream, LINE);
    stream_copy(stream, B, A, MIB / 2);
    unblock(stream, A);
    expect(stream, "not judged");
}

static void a_copy_into_a_part_of_a_larger_destination_is_not_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream_alloc(stream, C, 2 * MIB + MIB, CS_ALLOCATOR_C10);
    at_line(stream, LINE);
    stream_copy(stream, C, A, MIB);
    unblock(stream, A);
    expect(stream, "not judged");
}

static void a_copy_that_fills_its_block_up_to_the_allocators_rounding_is_redundant(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    at_line(stream, LINE);
    stream_copy(stream, B, A + 256, MIB - 400);
    unblock(stream, A);
    expect(stream, "redundant");
}

static void a_copy_that_leaves_more_than_rounding_is_not_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    at_line(stream, LINE);
    stream_copy(stream, B, A + 512, MIB - 512);
    unblock(stream, A);
    expect(stream, "not judged");
}

/* k = cat(k, new) by copies: the second one shows that what looked like rounding is part of the tensor. */
static void a_destination_that_is_the_source_and_more_is_not_judged(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 3 * MIB, CS_ALLOCATOR_C10);
    LAUNCH(stream, WRITE, C);
    stream_alloc(stream, C + 4 * MIB, 3 * MIB + 4096, CS_ALLOCATOR_C10);
    at_line(stream, LINE);
    stream_copy(stream, C + 4 * MIB, C, 3 * MIB);
    at_line(stream, 8);
    stream_upload(stream, C + 4 * MIB + 3 * MIB, 4096);
    unblock(stream, C);
    expect(stream, "not judged");
}

static void a_kernel_pointed_behind_the_copied_bytes_shows_that_the_destination_is_larger(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 3 * MIB, CS_ALLOCATOR_C10);
    LAUNCH(stream, WRITE, C);
    stream_alloc(stream, C + 4 * MIB, 3 * MIB + 4096, CS_ALLOCATOR_C10);
    at_line(stream, LINE);
    stream_copy(stream, C + 4 * MIB, C, 3 * MIB);
    LAUNCH(stream, WRITE, C + 4 * MIB + 3 * MIB);
    unblock(stream, C);
    expect(stream, "not judged");
}

static void a_large_block_with_an_unused_rest_is_redundant(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 3 * MIB, CS_ALLOCATOR_C10);
    LAUNCH(stream, WRITE, C);
    stream_alloc(stream, C + 4 * MIB, 3 * MIB + 4096, CS_ALLOCATOR_C10);
    at_line(stream, LINE);
    stream_copy(stream, C + 4 * MIB, C, 3 * MIB);
    at_line(stream, 8);
    stream_upload(stream, C + 4 * MIB, 4096);
    unblock(stream, C);
    expect(stream, "redundant");
}

static void a_copy_into_a_padded_destination_is_not_judged(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 3 * MIB, CS_ALLOCATOR_C10);
    LAUNCH(stream, WRITE, C);
    stream_alloc(stream, C + 4 * MIB, 3 * MIB + 4096, CS_ALLOCATOR_C10);
    stream_fill(stream, C + 4 * MIB, 3 * MIB + 512);
    at_line(stream, LINE);
    stream_copy(stream, C + 4 * MIB, C, 3 * MIB);
    unblock(stream, C);
    expect(stream, "not judged");
}

static void a_buffer_moved_into_one_of_its_own_capacity_is_redundant(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy(stream, Q, P, MIB / 2);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    expect(stream, "redundant");
}

/* ---- (b) the source is never read again ---- */

static void a_source_that_a_kernel_reads_again_is_not_judged(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, READ, A);
    unblock(*state, A);
    unblock(*state, B);
    expect(*state, "not judged");
    assert_string_equal(reason(*state), "the source is read again later: kernel `read` at rules.py:9");
}

static void a_source_that_is_copied_to_the_host_again_is_not_judged(void **state)
{
    prepare_and_copy(*state);
    stream_download(*state, A, MIB);
    unblock(*state, A);
    unblock(*state, B);
    expect(*state, "not judged");
}

static void a_read_of_other_bytes_of_the_source_does_not_matter(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 2 * MIB, CS_ALLOCATOR_C10);
    block(stream, B);
    at_line(stream, LINE);
    stream_copy(stream, B, C, MIB);
    stream_download(stream, C + MIB, MIB);
    unblock(stream, C);
    expect(stream, "redundant");
}

static void a_read_of_one_copied_byte_matters(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 2 * MIB, CS_ALLOCATOR_C10);
    block(stream, B);
    at_line(stream, LINE);
    stream_copy(stream, B, C, MIB);
    stream_download(stream, C + MIB - 1, MIB);
    unblock(stream, C);
    unblock(stream, B);
    expect(stream, "not judged");
}

static void other_columns_of_a_pitched_source_do_not_matter(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    stream_alloc(stream, Q, MIB / 2, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy_2d(stream, Q, 512, A, 1024, 512, 1024);
    at_line(stream, 8);
    stream_alloc(stream, R, MIB / 2, CS_ALLOCATOR_PLAIN);
    stream_copy_2d(stream, R, 512, A + 512, 1024, 512, 1024);
    unblock(stream, A);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 2);
}

static void a_shared_column_of_a_pitched_source_matters(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    stream_alloc(stream, Q, MIB / 2, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy_2d(stream, Q, 512, A, 1024, 512, 1024);
    at_line(stream, 8);
    stream_alloc(stream, R, MIB / 2, CS_ALLOCATOR_PLAIN);
    stream_copy_2d(stream, R, 512, A + 511, 1024, 512, 1024);
    stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
    assert_string_equal(stream_verdict(stream, 8), "redundant"); /* the second copy is the last reader */
}

static void a_kernels_write_does_not_save_the_source(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, WRITE, A);
    unblock(*state, A);
    expect(*state, "redundant");
}

static void a_source_overwritten_in_full_is_redundant_once_the_destination_died(void **state)
{
    prepare_and_copy(*state);
    stream_upload(*state, A, MIB);
    LAUNCH((struct stream *)*state, READ, A);
    assert_int_equal(stream_report(*state)->findings.count, 0); /* it could still be restored */
    LAUNCH((struct stream *)*state, READ, B);
    unblock(*state, B);
    expect(*state, "redundant");
}

static void a_source_filled_over_is_redundant_once_the_destination_died(void **state)
{
    prepare_and_copy(*state);
    stream_fill(*state, A, MIB);
    unblock(*state, B);
    expect(*state, "redundant");
}

static void a_source_overwritten_but_for_one_byte_and_then_read_is_not_judged(void **state)
{
    prepare_and_copy(*state);
    stream_fill(*state, A, MIB - 1);
    LAUNCH((struct stream *)*state, READ, A);
    unblock(*state, B);
    expect(*state, "not judged");
}

/* ---- (c) hazards ---- */

static void one_kernel_that_reads_the_destination_and_writes_the_source_makes_it_necessary(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, READ_WRITE, B, A);
    unblock(*state, A);
    expect(*state, "necessary");
    assert_string_equal(reason(*state),
                        "one kernel reads one side and writes the other: kernel `read_write` at rules.py:9");
}

static void one_kernel_that_reads_the_source_and_writes_the_destination_makes_it_necessary(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, READ_WRITE, A, B);
    unblock(*state, A);
    expect(*state, "necessary");
}

static void one_kernel_that_reads_both_sides_is_no_hazard(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, READ_READ, A, B);
    unblock(*state, A);
    unblock(*state, B);
    expect(*state, "not judged");
}

static void two_kernels_that_write_one_side_each_are_no_hazard(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, WRITE, A);
    LAUNCH((struct stream *)*state, UPDATE, B);
    unblock(*state, A);
    expect(*state, "redundant");
}

static void a_restoring_kernel_after_the_source_was_overwritten_is_a_hazard(void **state)
{
    prepare_and_copy(*state);
    stream_upload(*state, A, MIB);
    LAUNCH((struct stream *)*state, READ_WRITE, B, A);
    unblock(*state, B);
    unblock(*state, A);
    expect(*state, "necessary");
}

/* ---- (d) the bytes come back ---- */

static void a_snapshot_restored_by_a_copy_is_necessary(void **state)
{
    prepare_and_copy(*state);
    stream_upload(*state, A, MIB);
    stream_copy(*state, A, B, MIB);
    unblock(*state, B);
    unblock(*state, A);
    expect(*state, "necessary");
}

static void a_snapshot_restored_through_a_third_buffer_is_necessary(void **state)
{
    prepare_and_copy(*state);
    stream_upload(*state, A, MIB);
    block(*state, C);
    stream_copy(*state, C, B, MIB);
    stream_copy(*state, A, C, MIB);
    unblock(*state, B);
    unblock(*state, C);
    unblock(*state, A);
    expect(*state, "necessary");
}

static void a_snapshot_copied_on_before_it_died_is_not_judged(void **state)
{
    prepare_and_copy(*state);
    block(*state, C);
    stream_copy(*state, C, B, MIB);
    unblock(*state, B);
    stream_copy(*state, A, C, MIB);
    unblock(*state, C);
    unblock(*state, A);
    assert_string_equal(stream_verdict(*state, LINE), "not judged");
}

static void a_move_within_one_buffer_through_a_temporary_is_necessary_both_ways(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 2 * MIB, CS_ALLOCATOR_C10);
    block(stream, B);
    at_line(stream, LINE);
    stream_copy(stream, B, C, MIB);
    at_line(stream, 8);
    stream_copy(stream, C + 4096, B, MIB);
    unblock(stream, B);
    unblock(stream, C);
    assert_string_equal(stream_verdict(stream, LINE), "necessary");
    assert_string_equal(stream_verdict(stream, 8), "necessary");
}

/* ---- (e) different memory of one device ---- */

static void a_copy_within_one_allocation_is_not_judged(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, 2 * MIB, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy(stream, P + MIB, P, MIB);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    expect(stream, "not judged");
}

/* ---- pending, shares, confidence ---- */

static void what_the_end_cuts_off_is_no_evidence(void **state)
{
    prepare_and_copy(*state);
    stream_simple(*state, CS_EVENT_END);
    unblock(*state, A);
    unblock(*state, B);
    struct cs_report *report = stream_report(*state);
    assert_int_equal(report->findings.count, 0);
    assert_string_equal(stream_site(report, LINE)->verdict, "not judged");
    assert_int_equal(stream_site(report, LINE)->pending, 1);
}

static void a_site_with_a_settled_and_a_pending_copy_is_a_finding_that_says_so(void **state)
{
    prepare_and_copy(*state);
    unblock(*state, A);
    unblock(*state, B);
    prepare_and_copy(*state);
    const struct cs_finding *finding = stream_finding(stream_report(*state), LINE);
    assert_non_null(finding);
    assert_int_equal(finding->copies, 2);
    assert_int_equal(finding->pending, 1);
}

static void a_site_of_which_only_some_are_redundant_is_a_remark_with_the_share(void **state)
{
    for (int i = 0; i < 3; i++) {
        prepare_and_copy(*state);
        if (!i)
            LAUNCH((struct stream *)*state, READ, A);
        unblock(*state, A);
        unblock(*state, B);
    }
    struct cs_report *report = stream_report(*state);
    assert_int_equal(report->findings.count, 0);
    assert_int_equal(report->totals.redundant_copies, 0);
    assert_int_equal(report->remarks.count, 1);
    assert_string_equal(report->remarks.items[0].text,
                        "2 of 3 settled copies here were source-dead, the others were not");
}

static void confidence_of(struct stream *stream, const char *confidence)
{
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 1);
    assert_string_equal(report->findings.items[0].confidence, confidence);
}

static void a_kernel_that_follows_addresses_meanwhile_makes_it_only_likely(void **state)
{
    prepare_and_copy(*state);
    LAUNCH((struct stream *)*state, OPAQUE, B);
    unblock(*state, A);
    confidence_of(*state, "likely");
}

static void a_kernel_that_follows_addresses_before_the_copy_does_not_matter(void **state)
{
    prepare(*state);
    LAUNCH((struct stream *)*state, OPAQUE, A);
    copy_ab(*state);
    unblock(*state, A);
    confidence_of(*state, "proven");
}

static void a_small_part_kept_of_a_large_buffer_is_only_possible_and_not_counted(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, C, 3 * MIB, CS_ALLOCATOR_C10);
    block(stream, B);
    at_line(stream, LINE);
    stream_copy(stream, B, C, MIB);
    unblock(stream, C);
    confidence_of(stream, "possible");
    struct cs_report *report = stream_report(stream);
    assert_int_equal(cs_report_findings(report), 0);
    assert_int_equal(report->totals.redundant_copies, 0);
    assert_string_equal(stream_site(report, LINE)->verdict, "not judged");
}

static void managed_memory_that_the_host_may_read_is_only_possible(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_MANAGED);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy_default(stream, Q, P, MIB);
    stream_free(stream, P, CS_ALLOCATOR_MANAGED);
    confidence_of(stream, "possible");
}

/* ---- (g) and the other sides of (a), (e) and (f) ---- */

static void a_source_that_another_stream_reads_is_not_judged(void **state)
{
    struct stream *stream = *state;
    prepare(stream);
    stream->on_stream = 2;
    LAUNCH(stream, READ, A);
    stream->on_stream = 1;
    copy_ab(stream);
    unblock(stream, A);
    expect(stream, "not judged");
}

static void blocks_whose_device_is_not_known_are_not_judged(void **state)
{
    struct stream *stream = *state;
    stream->on_device = CS_DEVICE_UNKNOWN;
    prepare(stream);
    copy_ab(stream);
    unblock(stream, A);
    expect(stream, "not judged");
}

static void the_rest_of_a_source_that_is_needed_keeps_it_from_standing_in(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    at_line(stream, LINE);
    stream_copy(stream, Q, P, MIB / 2);
    at_line(stream, 9);
    stream_upload(stream, Q + MIB / 2, MIB / 2);
    stream_download(stream, P + MIB / 2, MIB / 2);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    expect(stream, "necessary");
}

static void a_lost_event_may_have_been_recorded_into_a_graph(void **state)
{
    struct stream *stream = *state;
    stream_simple(stream, CS_EVENT_CAPTURE_BEGIN);
    stream_lost(stream, 1);
    stream_simple(stream, CS_EVENT_CAPTURE_END);
    prepare_and_copy(stream);
    stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
    unblock(stream, A);
    expect(stream, "not judged");
}

/* ---- whose code made the copy ---- */

static void what_a_librarys_own_thread_copies_is_a_remark(void **state)
{
    struct stream *stream = *state;
    stream_stack_library(LINE);
    prepare_and_copy(stream);
    unblock(stream, A);
    expect(stream, "not judged");
    const struct cs_report *report = stream_report(stream);
    assert_int_equal(report->remarks.count, 1);
    assert_string_equal(report->remarks.items[0].kind, "library");
    assert_int_equal(report->totals.redundant_copies, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_source_that_is_freed_unread_is_redundant),
        TEST(a_destination_that_a_kernel_wrote_before_is_not_judged),
        TEST(a_destination_that_a_copy_wrote_before_is_not_judged),
        TEST(a_destination_filled_and_read_before_is_not_judged),
        TEST(a_destination_filled_but_never_read_is_redundant),
        TEST(a_fill_that_the_copy_does_not_hide_is_not_judged),
        TEST(a_copy_into_a_part_of_a_larger_destination_is_not_judged),
        TEST(a_copy_that_fills_its_block_up_to_the_allocators_rounding_is_redundant),
        TEST(a_copy_that_leaves_more_than_rounding_is_not_judged),
        TEST(a_destination_that_is_the_source_and_more_is_not_judged),
        TEST(a_kernel_pointed_behind_the_copied_bytes_shows_that_the_destination_is_larger),
        TEST(a_large_block_with_an_unused_rest_is_redundant),
        TEST(a_copy_into_a_padded_destination_is_not_judged),
        TEST(a_buffer_moved_into_one_of_its_own_capacity_is_redundant),
        TEST(a_source_that_a_kernel_reads_again_is_not_judged),
        TEST(a_source_that_is_copied_to_the_host_again_is_not_judged),
        TEST(a_read_of_other_bytes_of_the_source_does_not_matter),
        TEST(a_read_of_one_copied_byte_matters),
        TEST(other_columns_of_a_pitched_source_do_not_matter),
        TEST(a_shared_column_of_a_pitched_source_matters),
        TEST(a_kernels_write_does_not_save_the_source),
        TEST(a_source_overwritten_in_full_is_redundant_once_the_destination_died),
        TEST(a_source_filled_over_is_redundant_once_the_destination_died),
        TEST(a_source_overwritten_but_for_one_byte_and_then_read_is_not_judged),
        TEST(one_kernel_that_reads_the_destination_and_writes_the_source_makes_it_necessary),
        TEST(one_kernel_that_reads_the_source_and_writes_the_destination_makes_it_necessary),
        TEST(one_kernel_that_reads_both_sides_is_no_hazard),
        TEST(two_kernels_that_write_one_side_each_are_no_hazard),
        TEST(a_restoring_kernel_after_the_source_was_overwritten_is_a_hazard),
        TEST(a_snapshot_restored_by_a_copy_is_necessary),
        TEST(a_snapshot_restored_through_a_third_buffer_is_necessary),
        TEST(a_snapshot_copied_on_before_it_died_is_not_judged),
        TEST(a_move_within_one_buffer_through_a_temporary_is_necessary_both_ways),
        TEST(a_copy_within_one_allocation_is_not_judged),
        TEST(what_the_end_cuts_off_is_no_evidence),
        TEST(a_site_with_a_settled_and_a_pending_copy_is_a_finding_that_says_so),
        TEST(a_site_of_which_only_some_are_redundant_is_a_remark_with_the_share),
        TEST(a_kernel_that_follows_addresses_meanwhile_makes_it_only_likely),
        TEST(a_kernel_that_follows_addresses_before_the_copy_does_not_matter),
        TEST(a_small_part_kept_of_a_large_buffer_is_only_possible_and_not_counted),
        TEST(managed_memory_that_the_host_may_read_is_only_possible),
        TEST(what_a_librarys_own_thread_copies_is_a_remark),
        TEST(a_source_that_another_stream_reads_is_not_judged),
        TEST(blocks_whose_device_is_not_known_are_not_judged),
        TEST(the_rest_of_a_source_that_is_needed_keeps_it_from_standing_in),
        TEST(a_lost_event_may_have_been_recorded_into_a_graph),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
