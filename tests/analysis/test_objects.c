/*
 * test_objects.c - lifetimes and addresses: recycled, nested, missed; where a copy's sides live; what loaded code says.
 */
#include "tests/analysis/testing.h"

enum { WRITE = 1, READ, NOWHERE, LATE };
#define LINE 7

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, WRITE, "write", "w");
    stream_kernel(&stream, READ, "read", "r");
    for (uint32_t line = 1; line < 40; line++)
        stream_stack(line, "objects.py", (int)line, "");
    at_line(&stream, LINE);
    return 0;
}

static void recycled_addresses_are_new_objects(void **state)
{
    struct stream *stream = *state;
    for (int i = 0; i < 3; i++) {
        stream_alloc(stream, P, MIB, CS_ALLOCATOR_ASYNC);
        stream_alloc(stream, Q, MIB, CS_ALLOCATOR_ASYNC);
        stream_copy(stream, Q, P, MIB);
        LAUNCH(stream, READ, Q);
        stream_free(stream, P, CS_ALLOCATOR_ASYNC);
        stream_alloc(stream, P, MIB, CS_ALLOCATOR_ASYNC); /* a read of it is no read of the old one */
        LAUNCH(stream, READ, P);
        stream_free(stream, P, CS_ALLOCATOR_ASYNC);
        stream_free(stream, Q, CS_ALLOCATOR_ASYNC);
    }
    const struct cs_finding *finding = stream_finding(stream_report(stream), LINE);
    assert_non_null(finding);
    assert_int_equal(finding->copies, 3);
}

static void a_framework_block_is_finer_than_the_allocation_around_it(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    block(stream, A);
    block(stream, B);
    stream_copy(stream, B, A, MIB);
    LAUNCH(stream, READ, B); /* in the same allocation, in another block */
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, LINE), "redundant");
}

static void freeing_the_allocation_frees_the_blocks_in_it(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    block(stream, A);
    stream_copy(stream, P, A, MIB);
    stream_free(stream, POOL, CS_ALLOCATOR_PLAIN);
    assert_string_equal(stream_verdict(stream, LINE), "redundant");
}

static void a_source_whose_free_was_missed_is_not_judged(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, MIB);
    stream_alloc(stream, P - 4096, MIB, CS_ALLOCATOR_PLAIN);
    struct cs_report *report = stream_report(stream);
    assert_string_equal(stream_site(report, LINE)->verdict, "not judged");
    assert_string_equal(stream_site(report, LINE)->reason, "the end of the source was not seen");
}

static void a_free_of_an_address_inside_an_object_frees_nothing(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, MIB);
    stream_free(stream, P + 256, CS_ALLOCATOR_PLAIN);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    assert_string_equal(stream_verdict(stream, LINE), "redundant");
}

static void a_copy_from_memory_that_was_never_seen_is_counted_but_not_judged(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, MIB);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->totals.copies, 1);
    assert_int_equal(report->totals.bytes, MIB);
    assert_string_equal(stream_site(report, LINE)->reason, "the allocation of its source or destination was not seen");
}

static void a_copy_over_several_blocks_reads_each_of_them(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    block(stream, A);
    stream_alloc(stream, A + MIB, MIB, CS_ALLOCATOR_C10);
    stream_copy(stream, P, A + MIB, MIB);
    at_line(stream, 8);
    stream_download(stream, A, 2 * MIB);
    unblock(stream, A + MIB);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    assert_string_equal(stream_verdict(stream, LINE), "not judged");
}

static void the_object_map_decides_where_an_undeclared_copy_goes(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, R, MIB, CS_ALLOCATOR_HOST);
    stream_copy_default(stream, Q, P, MIB);
    stream_copy_default(stream, R, Q, MIB);          /* pinned host memory */
    stream_copy_default(stream, P, 0x70000000, MIB); /* pageable host memory is in no map */
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->totals.copies, 1);
}

static void an_empty_copy_is_no_copy(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, 0);
    assert_int_equal(stream_report(stream)->totals.copies, 0);
}

static void records_that_are_too_short_are_ignored(void **state)
{
    struct stream *stream = *state;
    struct cs_event event = {.size = sizeof event, .kind = CS_EVENT_COPY, .sequence = 1000};
    cs_analysis_event(stream->analysis, &event);
    struct {
        struct cs_launch launch;
    } record = {{.head = {.size = sizeof record, .kind = CS_EVENT_LAUNCH, .sequence = 1001}, .parameter_bytes = 4096}};
    cs_analysis_event(stream->analysis, &record.launch.head);
    event.kind = 60000;
    cs_analysis_event(stream->analysis, &event);
    assert_int_equal(stream_report(stream)->totals.copies, 0);
    assert_int_equal(stream_report(stream)->self.events, 2 + 4 + 3);
}

/* ---- code ---- */

static void copy_pq(struct stream *stream)
{
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, MIB);
}

static void expect_after_free(struct stream *stream, const char *verdict)
{
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    assert_string_equal(stream_verdict(stream, LINE), verdict);
}

static void a_kernel_without_code_touches_everything(void **state)
{
    struct stream *stream = *state;
    stream_kernel_without_code(stream, NOWHERE, "nowhere");
    copy_pq(stream);
    LAUNCH(stream, NOWHERE, R);
    expect_after_free(stream, "not judged");
    assert_string_equal(stream_report(stream)->unseen.kernels.items[0].why, "its machine code was not seen");
}

static void code_that_comes_later_reopens_the_question(void **state)
{
    struct stream *stream = *state;
    stream_kernel_without_code(stream, LATE, "late");
    LAUNCH(stream, LATE, R);
    stream_code(stream, "late", "r", 90);
    copy_pq(stream);
    LAUNCH(stream, LATE, Q);
    expect_after_free(stream, "redundant");
}

static void the_same_name_in_two_modules_does_what_either_does(void **state)
{
    struct stream *stream = *state;
    stream_kernel(stream, LATE, "twice", "r-");
    LAUNCH(stream, LATE, R, 0);
    stream_code(stream, "twice", "-r", 90);
    copy_pq(stream);
    LAUNCH(stream, LATE, Q, P);
    expect_after_free(stream, "not judged");
}

static void code_for_another_architecture_is_not_looked_at(void **state)
{
    struct stream *stream = *state;
    stream_kernel(stream, LATE, "arch", "r-");
    stream_code(stream, "arch", "rr", 80);
    stream_code(stream, "arch", "rr", 100);
    copy_pq(stream);
    LAUNCH(stream, LATE, Q, P);
    expect_after_free(stream, "redundant");
}

static void equal_code_is_summarised_once_and_images_are_unmapped(void **state)
{
    struct stream *stream = *state;
    stream_kernel(stream, 20, "one", "rw");
    stream_kernel(stream, 21, "two", "rw");
    for (int i = 0; i < 100; i++) {
        LAUNCH(stream, 20, P, Q);
        LAUNCH(stream, 21, P, Q);
    }
    assert_int_equal(stream_summaries(), 1);
    assert_int_equal(stream_mapped(), 0);
    assert_true(stream_mappings() <= 6); /* four for names, two for code */
}

static void an_image_that_is_gone_makes_its_kernel_not_understood(void **state)
{
    struct stream *stream = *state;
    stream_kernel_without_code(stream, LATE, "gone");
    stream_code_gone(stream_code(stream, "gone", "r", 90));
    copy_pq(stream);
    LAUNCH(stream, LATE, Q);
    expect_after_free(stream, "not judged");
    assert_int_equal(stream_report(stream)->unseen.unreadable_modules, 1);
}

static void an_unloaded_module_leaves_what_was_learned_from_it(void **state)
{
    struct stream *stream = *state;
    struct cs_code code = {.head = {.size = sizeof code, .kind = CS_EVENT_CODE_UNLOADED}};
    stream_kernel_without_code(stream, LATE, "brief");
    code.id = stream_code(stream, "brief", "r", 90);
    LAUNCH(stream, LATE, R);
    code.head.sequence = ++stream->sequence;
    cs_analysis_event(stream->analysis, &code.head);
    copy_pq(stream);
    LAUNCH(stream, LATE, Q);
    expect_after_free(stream, "redundant");
}

/* ---- time ---- */

static void device_times_join_by_correlation_whichever_comes_first(void **state)
{
    struct stream *stream = *state;
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream_time(stream, 11, 300);
    stream->correlation = 11;
    stream_alloc(stream, Q, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, Q, P, MIB);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    stream_alloc(stream, P, MIB, CS_ALLOCATOR_PLAIN);
    stream->correlation = 12;
    stream_alloc(stream, R, MIB, CS_ALLOCATOR_PLAIN);
    stream_copy(stream, R, P, MIB);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    stream_time(stream, 12, 500);
    stream_time(stream, 12, 500); /* told twice */
    stream_time(stream, 99, 7000);
    const struct cs_finding *finding = stream_finding(stream_report(stream), LINE);
    assert_int_equal(finding->gpu_ns, 800);
    assert_int_equal(finding->gpu_ns_measured, 800);
    assert_int_equal(finding->copies_measured, 2);
}

static void a_site_measured_in_part_is_scaled_up(void **state)
{
    struct stream *stream = *state;
    stream->correlation = 21;
    for (int i = 0; i < 4; i++) {
        copy_pq(stream);
        stream->correlation = 0;
        stream_free(stream, P, CS_ALLOCATOR_PLAIN);
        stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    }
    stream_time(stream, 21, 250);
    const struct cs_finding *finding = stream_finding(stream_report(stream), LINE);
    assert_int_equal(finding->gpu_ns, 1000);
    assert_int_equal(finding->gpu_ns_measured, 250);
    assert_int_equal(finding->copies_measured, 1);
}

static void a_site_without_times_is_estimated_from_the_bandwidth(void **state)
{
    struct stream *stream = *state;
    copy_pq(stream);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    const struct cs_finding *finding = stream_finding(stream_report(stream), LINE);
    assert_int_equal(finding->gpu_ns, 2467); /* 2 * 2^20 / (0.85 * 1e12) seconds */
    assert_int_equal(finding->copies_measured, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(recycled_addresses_are_new_objects),
        TEST(a_framework_block_is_finer_than_the_allocation_around_it),
        TEST(freeing_the_allocation_frees_the_blocks_in_it),
        TEST(a_source_whose_free_was_missed_is_not_judged),
        TEST(a_free_of_an_address_inside_an_object_frees_nothing),
        TEST(a_copy_from_memory_that_was_never_seen_is_counted_but_not_judged),
        TEST(a_copy_over_several_blocks_reads_each_of_them),
        TEST(the_object_map_decides_where_an_undeclared_copy_goes),
        TEST(an_empty_copy_is_no_copy),
        TEST(records_that_are_too_short_are_ignored),
        TEST(a_kernel_without_code_touches_everything),
        TEST(code_that_comes_later_reopens_the_question),
        TEST(the_same_name_in_two_modules_does_what_either_does),
        TEST(code_for_another_architecture_is_not_looked_at),
        TEST(equal_code_is_summarised_once_and_images_are_unmapped),
        TEST(an_image_that_is_gone_makes_its_kernel_not_understood),
        TEST(an_unloaded_module_leaves_what_was_learned_from_it),
        TEST(device_times_join_by_correlation_whichever_comes_first),
        TEST(a_site_measured_in_part_is_scaled_up),
        TEST(a_site_without_times_is_estimated_from_the_bandwidth),
    };
    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
