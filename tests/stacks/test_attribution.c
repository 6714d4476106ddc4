/*
 * test_attribution.c - from captured stacks to names, lines, inlined calls, operators and the user's own frame. The
 * stacks are real: captured below functions of the sample libraries and handed to the analysis as events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/stacks/names.h"
#include "analysis/stacks/origin.h"
#include "analysis/stacks/stacks.h"
#include "tests/stacks/recorder.h"

/* Where the sample libraries are; the first argument of the program. */
static const char *folder;
static uint32_t captured;

static void capture(void)
{
    captured = recorder_capture();
    __asm__ volatile("");
}

/* Calls `function` of a sample library with recorder_capture itself, so that the library's frame is the innermost. */
static void call(const char *library, const char *function)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void (*entry)(void (*)(void));
    *(void **)&entry = dlsym(handle, function);
    assert_non_null(entry);
    entry(capture);
    assert_int_not_equal(captured, 0);
}

static struct cs_stacks *all_events(void)
{
    struct cs_stacks *stacks = cs_stacks_new();
    for (size_t i = 0; i < recorder_count(); i++)
        cs_stacks_event(stacks, recorder_event(i));
    return stacks;
}

static const struct cs_attribution *resolve(struct cs_stacks *stacks, uint32_t stack)
{
    cs_stacks_want(stacks, stack);
    cs_stacks_resolve(stacks);
    return cs_stacks_attribution(stacks, stack);
}

static const struct cs_frame *frame_named(const struct cs_attribution *found, const char *function)
{
    for (size_t i = 0; i < found->python_count + found->native_count; i++) {
        if (strcmp(found->frames[i].function, function) == 0)
            return &found->frames[i];
    }
    return NULL;
}

/* The line of sample.c that holds the mark. */
static int marked(const char *mark)
{
    char line[256];
    int number = 0;
    FILE *file = fopen(SAMPLE_SOURCE, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        number++;
        if (strstr(line, mark))
            break;
    }
    fclose(file);
    return number;
}

static void assert_line(const struct cs_attribution *found, const char *function, const char *mark)
{
    const struct cs_frame *frame = frame_named(found, function);
    assert_non_null(frame);
    assert_int_equal(frame->line, marked(mark));
    assert_string_equal(strrchr(frame->file, '/'), "/sample.c");
    assert_true(frame->column > 0);
    assert_true(frame->user);
    assert_false(frame->python);
}

static void debug_information_gives_lines_and_inlined_calls(void **state)
{
    (void)state;
    call("libsample_debug.so", "sample_call");
    struct cs_stacks *stacks = all_events();
    const struct cs_attribution *found = resolve(stacks, captured);
    assert_non_null(found);
    assert_line(found, "inlined", "SAMPLE_INLINED_LINE");
    assert_line(found, "local", "SAMPLE_LOCAL_LINE");
    assert_line(found, "sample_call", "SAMPLE_CALL_LINE");
    assert_string_equal(strrchr(frame_named(found, "local")->module, '/'), "/libsample_debug.so");
    assert_ptr_equal(frame_named(found, "inlined") + 1, frame_named(found, "local"));
    assert_string_equal(found->site->function, "capture"); /* this test's own, which has lines too */
    assert_non_null(frame_named(found, "main"));
    assert_int_equal(found->operator_count, 0);
    assert_null(found->autograd_node);
    cs_stacks_free(stacks);
}

static void without_debug_information_there_are_names(void **state)
{
    (void)state;
    call("libsample_plain.so", "sample_call");
    struct cs_stacks *stacks = all_events();
    const struct cs_attribution *found = resolve(stacks, captured);
    assert_non_null(frame_named(found, "sample_call"));
    assert_non_null(frame_named(found, "local")); /* from .symtab */
    assert_null(frame_named(found, "inlined"));
    assert_false(frame_named(found, "local")->user);
    assert_int_equal(frame_named(found, "local")->line, 0);
    assert_int_equal(frame_named(found, "local")->column, -1);
    cs_stacks_free(stacks);
}

static void in_a_stripped_file_a_local_function_takes_nobodys_name(void **state)
{
    (void)state;
    call("libsample_stripped.so", "sample_call");
    struct cs_stacks *stacks = all_events();
    const struct cs_attribution *found = resolve(stacks, captured);
    assert_non_null(frame_named(found, "sample_call"));
    assert_null(frame_named(found, "local"));
    const struct cs_frame *local = frame_named(found, "sample_call") - 1;
    assert_string_equal(local->function, "");
    assert_non_null(strstr(local->module, "libsample_stripped.so"));
    cs_stacks_free(stacks);
}

static jmp_buf back;

static void capture_and_leave(void)
{
    capture();
    longjmp(back, 1);
}

static void a_call_at_the_end_of_a_function_belongs_to_it(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/libsample_debug.so", folder);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    void (*entry)(void (*)(void));
    *(void **)&entry = dlsym(handle, "sample_no_return");
    if (setjmp(back) == 0)
        entry(capture_and_leave);
    struct cs_stacks *stacks = all_events();
    assert_non_null(frame_named(resolve(stacks, captured), "sample_no_return"));
    cs_stacks_free(stacks);
}

/* The loader puts a library where the one closed before it was; the third call's address lay in the second's file. */
static void a_place_that_two_libraries_had_in_turn(void **state)
{
    (void)state;
    static const char *const turns[][2] = {{"libsample_plain.so", "sample_call"},
                                           {"liboperators.so", "run_backward"},
                                           {"libsample_plain.so", "sample_second"}};
    enum { TURNS = sizeof turns / sizeof *turns };
    uint32_t ids[TURNS];
    void *places[TURNS];
    for (int i = 0; i < TURNS; i++) {
        char path[4096];
        Dl_info info;
        snprintf(path, sizeof path, "%s/%s", folder, turns[i][0]);
        void *handle = dlopen(path, RTLD_NOW);
        assert_non_null(handle);
        void (*entry)(void (*)(void));
        *(void **)&entry = dlsym(handle, turns[i][1]);
        assert_int_not_equal(dladdr((void *)(uintptr_t)entry, &info), 0);
        places[i] = info.dli_fbase;
        entry(capture);
        ids[i] = captured;
        dlclose(handle);
    }
    if (places[0] != places[1] || places[1] != places[2])
        printf("the loader chose different places: %p %p %p\n", places[0], places[1], places[2]);
    struct cs_stacks *stacks = all_events();
    for (int i = 0; i < TURNS; i++) {
        const struct cs_frame *frame = frame_named(resolve(stacks, ids[i]), turns[i][1]);
        assert_non_null(frame);
        assert_string_equal(strrchr(frame->module, '/') + 1, turns[i][0]);
    }
    cs_stacks_free(stacks);
}

static void operators_and_backward_node_come_from_names(void **state)
{
    (void)state;
    call("liboperators.so", "run_backward");
    struct cs_stacks *stacks = all_events();
    const struct cs_attribution *found = resolve(stacks, captured);
    assert_int_equal(found->operator_count, 3);
    assert_string_equal(found->operators[0], "masked_fill.Scalar");
    assert_string_equal(found->operators[1], "clone");
    assert_string_equal(found->operators[2], "copy_");
    assert_string_equal(found->autograd_node, "MaskedFillBackward0");
    assert_non_null(frame_named(found, "at::native::Loop<float>::run"));
    cs_stacks_free(stacks);
}

/* ---- made-up definitions ---- */

static void feed_file(struct cs_stacks *stacks, const char *path, uint64_t start, uint64_t end, uint64_t bias)
{
    size_t size = (sizeof(struct cs_object_file) + strlen(path) + 8) & ~(size_t)7;
    struct cs_object_file *file = calloc(1, size);
    *file = (struct cs_object_file){.head = {.size = (uint32_t)size, .kind = CS_EVENT_OBJECT_FILE},
                                    .id = 1,
                                    .start = start,
                                    .end = end,
                                    .bias = bias};
    strcpy(file->path, path);
    cs_stacks_event(stacks, &file->head);
    free(file);
}

static void feed_python(struct cs_stacks *stacks, uint32_t id, const char *path, const char *function)
{
    size_t file = strlen(path) + 1, name = strlen(function) + 1;
    size_t size = (sizeof(struct cs_python_frame_def) + file + name + 7) & ~(size_t)7;
    struct cs_python_frame_def *frame = calloc(1, size);
    *frame = (struct cs_python_frame_def){.head = {.size = (uint32_t)size, .kind = CS_EVENT_PYTHON_FRAME},
                                          .id = id,
                                          .line = 7,
                                          .end_line = 8,
                                          .column = 4,
                                          .end_column = 9,
                                          .file_bytes = (uint32_t)file,
                                          .function_bytes = (uint32_t)name};
    memcpy(frame->text, path, file);
    memcpy(frame->text + file, function, name);
    cs_stacks_event(stacks, &frame->head);
    free(frame);
}

static void feed_stack(struct cs_stacks *stacks, uint32_t id, uint32_t natives, uint32_t pythons,
                       const uint64_t *frames)
{
    size_t size = sizeof(struct cs_stack_def) + (natives + pythons) * sizeof *frames;
    struct cs_stack_def *stack = calloc(1, size);
    *stack = (struct cs_stack_def){.head = {.size = (uint32_t)size, .kind = CS_EVENT_STACK},
                                   .id = id,
                                   .native_count = natives,
                                   .python_count = pythons};
    memcpy(stack->frames, frames, (natives + pythons) * sizeof *frames);
    cs_stacks_event(stacks, &stack->head);
    free(stack);
}

static void the_site_is_the_innermost_python_frame_of_the_users(void **state)
{
    (void)state;
    struct cs_stacks *stacks = cs_stacks_new();
    feed_python(stacks, 1, "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", "Module._call_impl");
    feed_python(stacks, 2, "/home/user/attention.py", "Attention.forward");
    feed_python(stacks, 3, "/home/user/train.py", "<module>");
    feed_python(stacks, 4, "<string>", "<module>");
    feed_python(stacks, 5, "<frozen runpy>", "_run_code");
    feed_stack(stacks, 1, 1, 5, (uint64_t[]){0x1234, 1, 2, 1, 3, 5});
    feed_stack(stacks, 2, 0, 3, (uint64_t[]){1, 4, 5});
    feed_stack(stacks, 3, 0, 2, (uint64_t[]){5, 1});
    feed_stack(stacks, 4, 0, 1, (uint64_t[]){99});
    feed_stack(stacks, 5, 1, 0, (uint64_t[]){0x1234});
    for (uint32_t i = 1; i <= 6; i++)
        cs_stacks_want(stacks, i);
    cs_stacks_resolve(stacks);
    const struct cs_frame *site = cs_stacks_attribution(stacks, 1)->site;
    assert_string_equal(site->function, "Attention.forward");
    assert_true(site->user && site->python);
    assert_int_equal(site->line * 1000 + site->end_line * 100 + site->column * 10 + site->end_column, 7849);
    assert_string_equal(cs_stacks_attribution(stacks, 2)->site->file, "<string>");
    assert_string_equal(cs_stacks_attribution(stacks, 3)->site->function, "_run_code");
    assert_null(cs_stacks_attribution(stacks, 4)->site);
    assert_null(cs_stacks_attribution(stacks, 5)->site);
    assert_int_equal(cs_stacks_attribution(stacks, 5)->native_count, 1);
    assert_null(cs_stacks_attribution(stacks, 6));
    assert_null(cs_stacks_attribution(stacks, 77777));
    cs_stacks_free(stacks);
}

static void files_that_are_gone_or_another_leave_frames_unnamed(void **state)
{
    (void)state;
    char debug[4096];
    snprintf(debug, sizeof debug, "%s/libsample_debug.so", folder);
    struct cs_stacks *stacks = cs_stacks_new();
    feed_file(stacks, "/nonexistent/libgone.so", 0x10000, 0x20000, 0x10000);
    feed_file(stacks, debug, 0x30000, 0x30010, 0x30000); /* not the size that the file has now */
    feed_file(stacks, "", 0x40000, 0x50000, 0x40000);
    feed_file(stacks, SAMPLE_SOURCE, 0x50000, 0x60000, 0x50000); /* no ELF file */
    feed_stack(stacks, 1, 4, 0, (uint64_t[]){0x11000, 0x30008, 0x41000, 0x51000});
    const struct cs_attribution *found = resolve(stacks, 1);
    assert_int_equal(found->native_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(found->frames[i].function, "");
    assert_string_equal(found->frames[0].module, "/nonexistent/libgone.so");
    assert_null(found->site);
    cs_stacks_free(stacks);
}

static void definitions_that_lie_about_their_size_are_ignored(void **state)
{
    (void)state;
    struct cs_stacks *stacks = cs_stacks_new();
    struct cs_stack_def stack = {
        .head = {.size = sizeof stack, .kind = CS_EVENT_STACK}, .id = 1, .native_count = 0xffffffff, .python_count = 2};
    cs_stacks_event(stacks, &stack.head);
    stack.id = 0xfffffff0;
    stack.native_count = stack.python_count = 0;
    cs_stacks_event(stacks, &stack.head);
    struct cs_python_frame_def frame = {.head = {.size = sizeof frame, .kind = CS_EVENT_PYTHON_FRAME},
                                        .id = 1,
                                        .file_bytes = 0xffffffff,
                                        .function_bytes = 2};
    cs_stacks_event(stacks, &frame.head);
    assert_null(resolve(stacks, 1));
    assert_null(resolve(stacks, 0xfffffff0));
    cs_stacks_free(stacks);
}

/* ---- names and owners ---- */

static void operator_names_are_split_where_the_overload_begins(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"masked_fill_Scalar", "masked_fill.Scalar"},
        {"masked_fill__Scalar", "masked_fill_.Scalar"},
        {"_softmax", "_softmax"},
        {"copy_", "copy_"},
        {"clone", "clone"},
        {"add_Tensor", "add.Tensor"},
        {"sum_dim_IntList", "sum.dim_IntList"},
        {"to_dtype_layout", "to.dtype_layout"},
        {"_to_copy", "_to_copy"},
        {"softmax_int", "softmax.int"},
        {"mul_out", "mul.out"},
        {"div_Tensor_mode", "div.Tensor_mode"},
        {"split_with_sizes", "split_with_sizes"},
        {"clamp_min", "clamp_min"},
        {"new_full", "new_full"},
        {"_local_scalar_dense", "_local_scalar_dense"},
        {"take_along_dim", "take_along_dim"},
        {"take_along_dim_out", "take_along_dim.out"},
        {"_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention"},
        {"bmm", "bmm"},
    };
    char function[256], found[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(function, sizeof function, "at::_ops::%s::%s", names[i][0], i % 2 ? "call" : "redispatch");
        assert_true(cs_name_operator(function, found, sizeof found));
        assert_string_equal(found, names[i][1]);
    }
    assert_false(cs_name_operator("at::_ops::clone::schema", found, sizeof found));
    assert_false(cs_name_operator("at::native::clone::call", found, sizeof found));
    assert_false(cs_name_autograd_node("torch::autograd::Engine::run", found, sizeof found));
    assert_false(cs_name_autograd_node("torch::autograd::generated::X::apply_with_saved", found, sizeof found));
}

static void readable_names_have_neither_parameters_nor_return_types(void **state)
{
    (void)state;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(library);
    cs_demangle_fn *demangle;
    *(void **)&demangle = dlsym(library, "__cxa_demangle");
    static const char *const names[][2] = {
        {"_ZN2at4_ops18masked_fill_Scalar4callERKNS_6TensorES4_RKN3c106ScalarE", "at::_ops::masked_fill_Scalar::call"},
        {"_ZN5torch8autograd9generated12MulBackward05applyEOSt6vectorIN2at6TensorESaIS5_EE",
         "torch::autograd::generated::MulBackward0::apply"},
        {"_ZNK4Tens4sizeEv", "Tens::size"},
        {"_Z4runxi", "runx"},
        {"_ZN12_GLOBAL__N_16helperEi", "(anonymous namespace)::helper"},
        {"_Z3addIfET_S0_S0_", "add<float>"},
        {"_ZN1AclEv", "A::operator()"},
        {"_ZN1AC2Ev", "A::A"},
        {"_Z3fooPFviE", "foo"},
        {"main", "main"},
        {"local.isra.0", "local"},
        {"_ZN2at6native4LoopIfE3runEPFvvEf.isra.0", "at::native::Loop<float>::run"},
        {"_Zbroken", "_Zbroken"},
    };
    char found[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cs_name_readable(names[i][0], demangle, found, sizeof found);
        assert_string_equal(found, names[i][1]);
    }
    /* Without a demangler: nested names all the same, others unchanged. */
    cs_name_readable(names[0][0], NULL, found, sizeof found);
    assert_string_equal(found, names[0][1]);
    cs_name_readable(names[5][0], NULL, found, sizeof found);
    assert_string_equal(found, names[5][0]);
    char small[8];
    cs_name_readable(names[0][0], NULL, small, sizeof small);
    assert_string_equal(small, "at::_op");
}

static void owners_of_files(void **state)
{
    (void)state;
    static const struct {
        enum cs_origin what;
        const char *path;
        bool user;
    } files[] = {
        {CS_ORIGIN_PYTHON, "/home/user/train.py", true},
        {CS_ORIGIN_PYTHON, "train.py", true},
        {CS_ORIGIN_PYTHON, "/tmp/ipykernel_12/34.py", true},
        {CS_ORIGIN_PYTHON, "<ipython-input-1-abc>", true},
        {CS_ORIGIN_PYTHON, "/usr/lib/python3/dist-packages/numpy/core.py", false},
        {CS_ORIGIN_PYTHON, "/opt/conda/lib/python3.11/threading.py", false},
        {CS_ORIGIN_PYTHON, "/v/lib/python3.11/site-packages/torch/_tensor.py", false},
        {CS_ORIGIN_PYTHON, "<frozen importlib._bootstrap>", false},
        {CS_ORIGIN_PYTHON, "<string>", false},
        {CS_ORIGIN_PYTHON, "/tmp/torchinductor_user/ab/cabc.py", false},
        {CS_ORIGIN_PYTHON, "", false},
        {CS_ORIGIN_MODULE, "/home/user/attention", true},
        {CS_ORIGIN_MODULE, "/home/user/libkernels.so", true},
        {CS_ORIGIN_MODULE, "/home/user/lib/libcudart.so.13", false},
        {CS_ORIGIN_MODULE, "/usr/lib/x86_64-linux-gnu/libc.so.6", false},
        {CS_ORIGIN_MODULE, "/usr/local/cuda-13.0/lib64/libcublas.so", false},
        {CS_ORIGIN_MODULE, "/home/user/.pyenv/versions/3.12.1/bin/python3.12", false},
        {CS_ORIGIN_MODULE, "/home/user/build/lib/libcopyspy.so", false},
        {CS_ORIGIN_SOURCE, "/home/user/attention.cu", true},
        {CS_ORIGIN_SOURCE, "/usr/src/app/attention.cu", true},
        {CS_ORIGIN_SOURCE, "/usr/local/cuda/targets/x86_64-linux/include/cuda_runtime.h", false},
        {CS_ORIGIN_SOURCE, "/build/nvidia/cu13/include/cuda_runtime.h", false},
        {CS_ORIGIN_SOURCE, "/tmp/tmpxft_00001_00000000-6_a.cudafe1.stub.c", false},
        {CS_ORIGIN_SOURCE, "/usr/include/c++/12/bits/stl_vector.h", false},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (cs_origin_is_user(files[i].what, files[i].path) != files[i].user)
            fail_msg("%s should%s be the user's", files[i].path, files[i].user ? "" : " not");
    }
}

/* ---- size ---- */

enum { MANY = 200000, WANTED = 2000 };

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* libmany.so has MANY functions f<i> of 4 bytes in its dynamic symbol table. */
static void two_hundred_thousand_symbols_take_less_than_200_ms(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/libmany.so", folder);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    char *first = dlsym(library, "f0");
    assert_non_null(first);
    Dl_info info;
    assert_int_not_equal(dladdr(first, &info), 0);
    /* Ask the recorder for the file's range: the stack module emits it for a real stack. */
    void (*entry)(void (*)(void));
    *(void **)&entry = dlsym(library, "many_call");
    entry(capture);
    struct cs_stacks *stacks = all_events();
    uint64_t *frames = calloc(WANTED, sizeof *frames);
    for (size_t i = 0; i < WANTED; i++)
        frames[i] = (uintptr_t)first + 4 * (i * (MANY / WANTED)) + 1 + 1;
    feed_stack(stacks, 500000, WANTED, 0, frames);
    double start = milliseconds();
    const struct cs_attribution *found = resolve(stacks, 500000);
    double spent = milliseconds() - start;
    printf("%d of %d symbols found in %.1f ms\n", WANTED, MANY, spent);
    for (size_t i = 0; i < WANTED; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%zu", i * (MANY / WANTED));
        assert_string_equal(found->frames[i].function, name);
    }
    assert_true(spent < 200);
    free(frames);
    cs_stacks_free(stacks);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    folder = arguments[1];
    recorder_start("/nonexistent");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_that_two_libraries_had_in_turn), /* first: nothing else is open yet */
        cmocka_unit_test(debug_information_gives_lines_and_inlined_calls),
        cmocka_unit_test(without_debug_information_there_are_names),
        cmocka_unit_test(in_a_stripped_file_a_local_function_takes_nobodys_name),
        cmocka_unit_test(a_call_at_the_end_of_a_function_belongs_to_it),
        cmocka_unit_test(operators_and_backward_node_come_from_names),
        cmocka_unit_test(the_site_is_the_innermost_python_frame_of_the_users),
        cmocka_unit_test(files_that_are_gone_or_another_leave_frames_unnamed),
        cmocka_unit_test(definitions_that_lie_about_their_size_are_ignored),
        cmocka_unit_test(operator_names_are_split_where_the_overload_begins),
        cmocka_unit_test(readable_names_have_neither_parameters_nor_return_types),
        cmocka_unit_test(owners_of_files),
        cmocka_unit_test(two_hundred_thousand_symbols_take_less_than_200_ms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
