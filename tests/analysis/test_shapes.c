/*
 * test_shapes.c - the programs of the case collection as event streams: each shape of copy gets its known verdict.
 */
#include "tests/analysis/testing.h"

enum { ZERO = 1, SCALE, MASK, SOFTMAX, GATHER, SUM, ADD, MUL, BACKWARD, STEP, GEMM, DIV };

static int start(void **state)
{
    static struct stream stream;
    *state = &stream;
    stream_start(&stream);
    stream_kernel(&stream, ZERO, "_Z4zeroPf", "w");
    stream_kernel(&stream, SCALE, "_Z5scalePfPKf", "wr");
    stream_kernel(&stream, MASK, "_ZN2at6native11masked_fillEPfPKb", "ur");
    stream_kernel(&stream, SOFTMAX, "_Z7softmaxPfPKf", "wr");
    stream_kernel(&stream, GATHER, "_Z6gatherPfPKf", "wr");
    stream_kernel(&stream, SUM, "_Z3sumPfPKf", "ur");
    stream_kernel(&stream, ADD, "_Z3addPf", "u");
    stream_kernel(&stream, MUL, "_Z3mulPf", "u");
    stream_kernel(&stream, BACKWARD, "_Z8backwardPfPKf", "wr");
    stream_kernel(&stream, STEP, "_Z4stepPKfPf", "rw");
    stream_kernel(&stream, GEMM, "_Z4gemmPfPKfS1_", "wrr");
    stream_kernel(&stream, DIV, "_Z3divPfPKf", "ur");
    for (uint32_t line = 1; line < 40; line++)
        stream_stack(line, "case.py", (int)line, "");
    stream_alloc(&stream, POOL, 64 * MIB, CS_ALLOCATOR_PLAIN);
    return 0;
}

/* Out-of-place masking: the clone of the scores, masked in place; the scores are freed when the name is bound again. */
static void attend(struct stream *stream, bool out_of_place)
{
    uint64_t scores = A, masked = out_of_place ? B : A;
    block(stream, scores);
    at_line(stream, 9);
    LAUNCH(stream, SCALE, scores, C);
    at_line(stream, 11);
    if (out_of_place) {
        block(stream, masked);
        stream_copy(stream, masked, scores, MIB);
    }
    LAUNCH(stream, MASK, masked, D);
    if (out_of_place)
        unblock(stream, scores);
    at_line(stream, 14);
    LAUNCH(stream, SOFTMAX, E, masked);
    unblock(stream, masked);
}

static void attention(struct stream *stream, bool out_of_place)
{
    block(stream, C);
    block(stream, D);
    block(stream, E);
    for (int i = 0; i < 10; i++)
        attend(stream, out_of_place);
}

static void A1_out_of_place_masking_is_ten_redundant_copies_proven(void **state)
{
    struct stream *stream = *state;
    attention(stream, true);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 1);
    const struct cs_finding *finding = &report->findings.items[0];
    assert_string_equal(finding->reason, "source-dead");
    assert_string_equal(finding->confidence, "proven");
    assert_int_equal(finding->at.line, 11);
    assert_int_equal(finding->copies, 10);
    assert_int_equal(finding->bytes, 10 * MIB);
    assert_int_equal(finding->pending, 0);
    assert_int_equal(report->totals.redundant_bytes, 10 * MIB);
}

static void A1_in_place_masking_has_no_finding(void **state)
{
    struct stream *stream = *state;
    attention(stream, false);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 0);
    assert_int_equal(report->totals.copies, 0);
}

static void P02_two_lines_are_two_findings(void **state)
{
    struct stream *stream = *state;
    block(stream, D);
    for (int i = 0; i < 5; i++) {
        block(stream, A);
        LAUNCH(stream, SCALE, A, D);
        for (uint64_t from = A, line = 6; line <= 7; line++, from += SLOT) {
            block(stream, from + SLOT);
            at_line(stream, (uint32_t)line);
            stream_copy(stream, from + SLOT, from, MIB);
            LAUNCH(stream, MASK, from + SLOT, D);
            unblock(stream, from);
        }
        unblock(stream, A + 2 * SLOT);
    }
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 2);
    assert_int_equal(stream_finding(report, 6)->copies, 5);
    assert_int_equal(stream_finding(report, 7)->copies, 5);
}

static void P06_addmm_seed_is_a_remark_where_its_input_lives_and_redundant_where_it_dies(void **state)
{
    struct stream *stream = *state;
    stream_stack(5, "case.py", 5, "addmm>copy_");
    stream_stack(7, "case.py", 7, "addmm>copy_");
    block(stream, B);
    block(stream, C);
    LAUNCH(stream, ZERO, C);
    for (int i = 0; i < 4; i++) {
        block(stream, A);
        at_line(stream, 5);
        stream_copy(stream, A, C, MIB);
        LAUNCH(stream, GEMM, A, B, B);
        unblock(stream, A);
        block(stream, D);
        at_line(stream, 6);
        LAUNCH(stream, SCALE, D, C);
        block(stream, E);
        at_line(stream, 7);
        stream_copy(stream, E, D, MIB);
        LAUNCH(stream, GEMM, E, B, B);
        unblock(stream, D);
        unblock(stream, E);
    }
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 1);
    assert_int_equal(report->findings.items[0].at.line, 7);
    assert_int_equal(report->remarks.count, 1);
    assert_int_equal(report->remarks.items[0].at.line, 5);
    assert_string_equal(report->remarks.items[0].kind, "library-seed");
}

static void P07_an_unread_clone_of_a_living_source_is_not_judged(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    LAUNCH(stream, ZERO, A);
    at_line(stream, 4);
    block(stream, B);
    stream_copy(stream, B, A, MIB);
    unblock(stream, B);
    stream_simple(stream, CS_EVENT_END);
    assert_string_equal(stream_verdict(stream, 4), "not judged");
}

static void P35_copying_into_an_existing_buffer_is_not_judged(void **state)
{
    struct stream *stream = *state;
    block(stream, B);
    block(stream, C);
    for (int i = 0; i < 10; i++) {
        block(stream, A);
        LAUNCH(stream, GEMM, A, C, C);
        at_line(stream, 5);
        stream_copy(stream, B, A, MIB);
        unblock(stream, A);
        LAUNCH(stream, SUM, C, B);
    }
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 0);
    assert_string_equal(stream_site(report, 5)->verdict, "not judged");
    assert_int_equal(report->remarks.count, 1); /* the first one was the buffer's birth: a share, no finding */
}

/* p.clone().div_(...): the clone dies before p does; without `keep`, p dies when its name is bound again. */
static void sample(struct stream *stream, bool keep)
{
    block(stream, C);
    block(stream, E);
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t p = POOL + 32 * MIB + (keep ? i : i % 2) * SLOT;
        block(stream, p);
        LAUNCH(stream, SOFTMAX, p, C);
        if (!keep && i)
            unblock(stream, POOL + 32 * MIB + (i - 1) % 2 * SLOT);
        block(stream, B);
        at_line(stream, 6);
        stream_copy(stream, B, p, MIB);
        LAUNCH(stream, DIV, B, E);
        LAUNCH(stream, SUM, E, B);
        unblock(stream, B);
    }
}

static void P37_clone_edited_while_the_original_only_waits_to_die_is_redundant(void **state)
{
    struct stream *stream = *state;
    sample(stream, false);
    stream_simple(stream, CS_EVENT_END);
    const struct cs_finding *finding = stream_finding(stream_report(stream), 6);
    assert_non_null(finding);
    assert_int_equal(finding->copies, 5);
    assert_int_equal(finding->pending, 1);
}

static void P37_keep_the_originals_are_read_at_the_end_so_no_finding(void **state)
{
    struct stream *stream = *state;
    sample(stream, true);
    for (uint64_t i = 0; i < 5; i++)
        LAUNCH(stream, SUM, E, POOL + 32 * MIB + i * SLOT);
    for (uint64_t i = 0; i < 5; i++)
        unblock(stream, POOL + 32 * MIB + i * SLOT);
    assert_int_equal(stream_report(stream)->findings.count, 0);
    assert_string_equal(stream_verdict(stream, 6), "necessary");
}

static void P45_copies_around_a_graph_are_not_judged(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    block(stream, B);
    LAUNCH(stream, ZERO, A);
    stream_simple(stream, CS_EVENT_CAPTURE_BEGIN);
    stream->flags = CS_FLAG_CAPTURED;
    LAUNCH(stream, GEMM, B, A, A);
    stream->flags = 0;
    stream_simple(stream, CS_EVENT_CAPTURE_END);
    for (int i = 0; i < 4; i++) {
        block(stream, C);
        LAUNCH(stream, ZERO, C);
        at_line(stream, 10);
        stream_copy(stream, A, C, MIB);
        unblock(stream, C);
        stream_simple(stream, CS_EVENT_GRAPH_LAUNCH);
        block(stream, D);
        at_line(stream, 11);
        stream_copy(stream, D, B, MIB);
        unblock(stream, D);
    }
    unblock(stream, B);
    struct cs_report *report = stream_report(stream);
    assert_int_equal(report->findings.count, 0);
    assert_string_equal(stream_site(report, 10)->verdict, "not judged");
    assert_string_equal(stream_site(report, 11)->verdict, "not judged");
    assert_int_equal(report->unseen.graph_launches, 4);
}

static void N01_one_kernel_reads_the_clone_and_writes_the_original(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    block(stream, D);
    LAUNCH(stream, ZERO, A);
    for (int i = 0; i < 4; i++) {
        block(stream, B);
        at_line(stream, 5);
        stream_copy(stream, B, A, MIB);
        LAUNCH(stream, GATHER, A, B);
        unblock(stream, B);
    }
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, 5), "necessary");
    assert_int_equal(stream_report(stream)->findings.count, 0);
}

static void N06_second_clone_of_a_dying_mask_is_redundant(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    block(stream, C);
    LAUNCH(stream, SCALE, A, C); /* the expanded view is materialised by a kernel */
    LAUNCH(stream, ADD, A);
    block(stream, B);
    at_line(stream, 5);
    stream_copy(stream, B, A, MIB);
    unblock(stream, A);
    LAUNCH(stream, ADD, B);
    assert_int_equal(stream_report(stream)->findings.count, 1);
    assert_string_equal(stream_verdict(stream, 5), "redundant");
}

static void N08_backward_reads_the_original_after_the_clone_was_edited(void **state)
{
    struct stream *stream = *state;
    block(stream, C);
    block(stream, D);
    for (int i = 0; i < 3; i++) {
        block(stream, A);
        LAUNCH(stream, SCALE, A, C);
        block(stream, B);
        at_line(stream, 5);
        stream_copy(stream, B, A, MIB);
        LAUNCH(stream, ADD, B);
        LAUNCH(stream, BACKWARD, D, A);
        unblock(stream, A);
        unblock(stream, B);
    }
    assert_string_equal(stream_verdict(stream, 5), "necessary");
}

static void N10_a_snapshot_that_is_restored_is_necessary_and_so_is_the_restoring(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    block(stream, D);
    LAUNCH(stream, ZERO, A);
    for (int i = 0; i < 3; i++) {
        block(stream, B);
        at_line(stream, 6);
        stream_copy(stream, B, A, MIB);
        LAUNCH(stream, ADD, A);
        LAUNCH(stream, SUM, D, A);
        at_line(stream, 8);
        stream_copy(stream, A, B, MIB);
        LAUNCH(stream, ADD, A);
        unblock(stream, B);
    }
    assert_string_equal(stream_verdict(stream, 6), "necessary");
    assert_string_equal(stream_verdict(stream, 8), "necessary");
    assert_int_equal(stream_report(stream)->findings.count, 0);
}

static void N29_clones_that_diverge_are_necessary(void **state)
{
    struct stream *stream = *state;
    block(stream, A);
    block(stream, D);
    LAUNCH(stream, ZERO, A);
    for (int i = 0; i < 4; i++) {
        block(stream, B);
        at_line(stream, 4);
        stream_copy(stream, B, A, MIB);
        LAUNCH(stream, ADD, A);
        LAUNCH(stream, MUL, B);
        LAUNCH(stream, SUM, D, A);
        unblock(stream, B);
    }
    unblock(stream, A);
    assert_string_equal(stream_verdict(stream, 4), "necessary");
}

static void plain(struct stream *stream, uint64_t address)
{
    stream_alloc(stream, address, MIB, CS_ALLOCATOR_PLAIN);
    stream_fill(stream, address, MIB);
}

static void C01_copying_back_after_each_sweep_is_not_judged(void **state)
{
    struct stream *stream = *state;
    plain(stream, P);
    plain(stream, Q);
    at_line(stream, 14);
    for (int i = 0; i < 10; i++) {
        LAUNCH(stream, STEP, P, Q);
        stream_copy(stream, P, Q, MIB);
    }
    stream_simple(stream, CS_EVENT_END);
    assert_string_equal(stream_verdict(stream, 14), "not judged");
}

static void C02_a_kernels_result_copied_into_a_buffer_is_not_judged(void **state)
{
    struct stream *stream = *state;
    plain(stream, P);
    plain(stream, Q);
    plain(stream, R);
    at_line(stream, 16);
    for (int i = 0; i < 5; i++) {
        LAUNCH(stream, STEP, P, Q);
        stream_copy(stream, R, Q, MIB);
        LAUNCH(stream, SUM, P, R);
    }
    stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    assert_int_equal(stream_report(stream)->findings.count, 0);
    assert_string_equal(stream_verdict(stream, 16), "not judged");
}

static void C09_a_backup_that_is_never_restored_is_not_source_dead(void **state)
{
    struct stream *stream = *state;
    plain(stream, P);
    plain(stream, Q);
    at_line(stream, 30);
    for (int i = 0; i < 5; i++) {
        stream_copy(stream, Q, P, MIB);
        LAUNCH(stream, ADD, P);
    }
    stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    assert_int_equal(stream_report(stream)->findings.count, 0);
}

static void C10_copy_construction_instead_of_a_move_is_redundant(void **state)
{
    struct stream *stream = *state;
    plain(stream, R);
    at_line(stream, 32);
    for (int i = 0; i < 4; i++) {
        plain(stream, P);
        LAUNCH(stream, ADD, P);
        plain(stream, Q); /* filled with zeros: nobody reads them */
        stream_copy(stream, Q, P, MIB);
        LAUNCH(stream, SUM, R, Q);
        stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
        stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    }
    const struct cs_finding *finding = stream_finding(stream_report(stream), 32);
    assert_non_null(finding);
    assert_int_equal(finding->copies, 4);
    assert_string_equal(finding->confidence, "proven");
}

static void C10_fix_without_the_copy_has_no_finding(void **state)
{
    struct stream *stream = *state;
    plain(stream, P);
    LAUNCH(stream, ADD, P);
    LAUNCH(stream, SUM, R, P);
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    assert_int_equal(stream_report(stream)->findings.count, 0);
}

static void C11_a_backup_restored_on_even_steps_is_necessary(void **state)
{
    struct stream *stream = *state;
    plain(stream, P);
    plain(stream, Q);
    for (int i = 0; i < 6; i++) {
        at_line(stream, 35);
        stream_copy(stream, Q, P, MIB);
        LAUNCH(stream, ADD, P);
        if (i % 2 == 0)
            stream_copy(stream, P, Q, MIB);
        LAUNCH(stream, SUM, R, P);
    }
    stream_free(stream, P, CS_ALLOCATOR_PLAIN);
    stream_free(stream, Q, CS_ALLOCATOR_PLAIN);
    assert_int_equal(stream_report(stream)->findings.count, 0);
    assert_string_equal(stream_verdict(stream, 35), "necessary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(A1_out_of_place_masking_is_ten_redundant_copies_proven),
        TEST(A1_in_place_masking_has_no_finding),
        TEST(P02_two_lines_are_two_findings),
        TEST(P06_addmm_seed_is_a_remark_where_its_input_lives_and_redundant_where_it_dies),
        TEST(P07_an_unread_clone_of_a_living_source_is_not_judged),
        TEST(P35_copying_into_an_existing_buffer_is_not_judged),
        TEST(P37_clone_edited_while_the_original_only_waits_to_die_is_redundant),
        TEST(P37_keep_the_originals_are_read_at_the_end_so_no_finding),
        TEST(P45_copies_around_a_graph_are_not_judged),
        TEST(N01_one_kernel_reads_the_clone_and_writes_the_original),
        TEST(N06_second_clone_of_a_dying_mask_is_redundant),
        TEST(N08_backward_reads_the_original_after_the_clone_was_edited),
        TEST(N10_a_snapshot_that_is_restored_is_necessary_and_so_is_the_restoring),
        TEST(N29_clones_that_diverge_are_necessary),
        TEST(C01_copying_back_after_each_sweep_is_not_judged),
        TEST(C02_a_kernels_result_copied_into_a_buffer_is_not_judged),
        TEST(C09_a_backup_that_is_never_restored_is_not_source_dead),
        TEST(C10_copy_construction_instead_of_a_move_is_redundant),
        TEST(C10_fix_without_the_copy_has_no_finding),
        TEST(C11_a_backup_restored_on_even_steps_is_necessary),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
