/*
 * test_layout.c - which Python versions are read, and how what they publish is taken. offsets.c compares with installed
 * interpreters; this covers versions that no test machine has, and lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "interpose/python_layout.h"

/* struct _Py_DebugOffsets of 3.14, as its parts follow each other; every part begins with a size. Read in
 * pycore_debug_offsets.h. */
struct debug_offsets_3_14 {
    char cookie[8];
    uint64_t version, free_threaded;
    struct {
        uint64_t size, finalizing, interpreters_head;
    } runtime;
    struct {
        uint64_t size, id, next, threads_head, threads_main, gc, imports_modules, sysdict, builtins, ceval_gil;
        uint64_t gil_state, gil_enabled, gil_locked, gil_holder, code_generation, tlbc_generation;
    } interpreter;
    struct {
        uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk, status;
    } thread;
    struct {
        uint64_t size, previous, executable, instr_ptr, localsplus, owner, stackpointer, tlbc_index;
    } frame;
    struct {
        uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, names, kinds, adaptive, tlbc;
    } code;
    struct {
        uint64_t size, type;
    } object;
    uint64_t type_object[4], tuple_object[3], list_object[3], set_object[4], dict_object[3], float_object[2];
    uint64_t long_object[3];
    struct {
        uint64_t size, ob_size, data;
    } bytes;
    struct {
        uint64_t size, state, length, ascii;
    } text;
    uint64_t rest[16];
};

static struct debug_offsets_3_14 published(void)
{
    struct debug_offsets_3_14 words;
    memset(&words, 0x7f, sizeof words);
    memcpy(words.cookie, "xdebugpy", 8);
    words.version = 0x030e00f0;
    words.free_threaded = 0;
    words.thread.current_frame = 72;
    words.frame.previous = 8;
    words.frame.executable = 0;
    words.frame.instr_ptr = 56;
    words.frame.owner = 74;
    words.frame.tlbc_index = 76;
    words.code.filename = 112;
    words.code.qualname = 128;
    words.code.linetable = 136;
    words.code.firstlineno = 68;
    words.code.adaptive = 208;
    words.code.tlbc = 200;
    words.object.type = 8;
    words.bytes.ob_size = 16;
    words.bytes.data = 32;
    words.text.state = 32;
    words.text.length = 16;
    words.text.ascii = 40;
    return words;
}

static void what_3_14_publishes_is_taken(void **state)
{
    (void)state;
    struct debug_offsets_3_14 words = published();
    struct cs_python_layout layout;
    assert_true(cs_python_layout_find(&layout, 14, &words));
    assert_int_equal(layout.thread_frame, 72);
    assert_int_equal(layout.cframe_frame, CS_PYTHON_NONE);
    assert_int_equal(layout.previous, 8);
    assert_int_equal(layout.code, 0);
    assert_int_equal(layout.instruction, 56);
    assert_int_equal(layout.owner, 74);
    assert_int_equal(layout.tlbc_index, CS_PYTHON_NONE);
    assert_int_equal(layout.file, 112);
    assert_int_equal(layout.name, 128);
    assert_int_equal(layout.table, 136);
    assert_int_equal(layout.first_line, 68);
    assert_int_equal(layout.start, 208);
    assert_int_equal(layout.type, 8);
    assert_int_equal(layout.size, 16);
    assert_int_equal(layout.data, 32);
    assert_int_equal(layout.state, 32);
    assert_int_equal(layout.length, 16);
    assert_int_equal(layout.ascii, 40);
    assert_int_equal(layout.compact, 56);
    assert_int_equal(layout.kind_shift, 16);
    assert_int_equal(layout.version, CS_PYTHON_NONE);
    assert_int_equal(layout.table_kind, CS_PYTHON_LOCATIONS);
    assert_int_equal(layout.frames, CS_PYTHON_PUBLISHED);
}

static void free_threads_have_their_own_instructions(void **state)
{
    (void)state;
    struct debug_offsets_3_14 words = published();
    struct cs_python_layout layout;
    words.free_threaded = 1;
    assert_true(cs_python_layout_find(&layout, 14, &words));
    assert_int_equal(layout.tlbc_index, 76);
    assert_int_equal(layout.tlbc, 200);
}

static void unknown_versions_are_not_read(void **state)
{
    (void)state;
    struct debug_offsets_3_14 words = published();
    struct cs_python_layout layout;
    static const unsigned minors[] = {0, 6, 7, 8, 15, 16, 99};
    for (size_t i = 0; i < sizeof minors / sizeof *minors; i++)
        assert_false(cs_python_layout_find(&layout, minors[i], &words));
    assert_false(cs_python_layout_find(&layout, 13, &words)); /* another version's offsets */
    assert_false(cs_python_layout_find(&layout, 14, NULL));
}

static void implausible_offsets_are_not_read(void **state)
{
    (void)state;
    struct cs_python_layout layout;
    struct debug_offsets_3_14 words = published();
    words.cookie[0] = 'y';
    assert_false(cs_python_layout_find(&layout, 14, &words));
    words = published();
    words.code.filename = 1 << 20;
    assert_false(cs_python_layout_find(&layout, 14, &words));
    words = published();
    words.text.ascii = 8;
    assert_false(cs_python_layout_find(&layout, 14, &words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_3_14_publishes_is_taken),
        cmocka_unit_test(free_threads_have_their_own_instructions),
        cmocka_unit_test(unknown_versions_are_not_read),
        cmocka_unit_test(implausible_offsets_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
