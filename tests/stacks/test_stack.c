/*
 * test_stack.c - the numbers of native stacks. Linked to the recorder, which holds the code under test, so that "our
 * own frames" are the recorder's and the program's are those of this file and trees.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <alloca.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stacks/recorder.h"
#include "tests/stacks/trees.h"

#define FRAME __attribute__((noinline, noclone))
/* Forgets what is known of the counter, so that a loop is not split: its calls are to stay one place. */
#define ONE_LOOP(counter) __asm__ volatile("" : "+r"(counter))

FRAME static uint32_t site(int second)
{
    uint32_t id;
    if (second) {
        id = recorder_capture();
        __asm__ volatile("# the second");
    } else {
        id = recorder_capture();
        __asm__ volatile("# the first");
    }
    return id;
}

static void two_calls_at_equal_depth_get_two_numbers(void **state)
{
    (void)state;
    uint32_t ids[2] = {0};
    for (int i = 0; i < 2000; i++) { /* one call of site, so that only the innermost address differs */
        ONE_LOOP(i);
        uint32_t id = site(i & 1);
        assert_int_not_equal(id, 0);
        if (i < 2)
            ids[i] = id;
        assert_int_equal(id, ids[i & 1]);
    }
    assert_int_not_equal(ids[0], ids[1]);
}

/* Which id each stack had, by the hash of what glibc's unwinder found. */
enum { SEEN = 1 << 16 };
static struct {
    uint64_t hash;
    uint32_t id;
} seen[SEEN];

static void same_stack_same_number(const struct leaf *leaf)
{
    uint64_t hash = leaf_hash(leaf);
    size_t i = hash % SEEN;
    while (seen[i].id && seen[i].hash != hash)
        i = (i + 1) % SEEN;
    if (seen[i].id)
        assert_int_equal(leaf->id, seen[i].id);
    for (size_t j = 0; j < SEEN && !seen[i].id; j++)
        assert_int_not_equal(seen[j].id, leaf->id);
    seen[i].hash = hash;
    seen[i].id = leaf->id;
}

static void numbers_agree_with_another_unwinder(void **state)
{
    (void)state;
    struct leaf leaf;
    srand(1);
    for (int i = 0; i < 60000; i++) {
        /* few shapes, often repeated, in changing order and with changing layouts */
        uint64_t choices = (uint64_t)(rand() % 40) * 0x9e3779b97f4a7c15u;
        for (int times = rand() % 4; times >= 0; times--) {
            ONE_LOOP(times);
            tree_run((struct tree){choices, (uint32_t)rand(), 6}, &leaf);
            assert_int_not_equal(leaf.id, 0);
            same_stack_same_number(&leaf);
        }
    }
}

enum { IMAGE = 1536 };

/*
 * A frame that alloca lays out. From `save` on it keeps what lies above its block: the rest of its frame and its
 * callers'. With `image`, its block holds such bytes: a perfect stale copy of another stack where that stack had its
 * words.
 */
__attribute__((no_sanitize("address"))) FRAME static uint32_t laid_out_by_alloca(size_t size, const char *image,
                                                                                 char *save)
{
    volatile char *room = alloca(size);
    for (size_t i = 0; i < IMAGE && (image || save); i++) {
        if (image)
            room[i] = image[i];
        else
            save[i] = room[i];
    }
    uint32_t id = recorder_capture();
    __asm__ volatile("" ::: "memory");
    return id;
}

/* Runs in a thread of its own, whose whole stack above the block is smaller than an image. Fills ids with both numbers.
 */
static void *deceive(void *argument)
{
    static char image[IMAGE];
    uint32_t *ids = argument;
    for (int i = 0; i < 40; i++) {
        uint32_t id;
        ONE_LOOP(i);
        if (i % 4 == 3) { /* after three of the others, so that another of them is expected */
            id = laid_out_by_alloca(2 * IMAGE, image, NULL);
            __asm__ volatile("# a call");
        } else {
            id = laid_out_by_alloca(64, NULL, image);
            __asm__ volatile("# another call");
        }
        if (i >= 4 && ids[i % 4 == 3] != id)
            ids[0] = ids[1] = 0;
        ids[i % 4 == 3] = id;
    }
    return NULL;
}

static void stale_copies_of_another_stack_do_not_deceive(void **state)
{
    (void)state;
    uint32_t ids[2] = {0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, deceive, ids), 0);
    pthread_join(thread, NULL);
    assert_int_not_equal(ids[0], 0);
    assert_int_not_equal(ids[0], ids[1]);
}

static void errno_is_kept(void **state)
{
    (void)state;
    struct leaf leaf;
    errno = 4711;
    recorder_capture();
    assert_int_equal(errno, 4711);
    for (int i = 0; i < 20; i++) {
        errno = 4711;
        tree_run((struct tree){0x123456789abcdef * (uint64_t)i, 0, 7}, &leaf);
        assert_int_equal(errno, 4711);
    }
}

static const struct cs_stack_def *definition(uint32_t id)
{
    const struct cs_event *event = recorder_find(CS_EVENT_STACK, id);
    assert_non_null(event);
    return (const struct cs_stack_def *)event;
}

static void definitions_name_the_files_and_not_our_own_frames(void **state)
{
    (void)state;
    const struct cs_stack_def *stack = definition(site(0));
    char self[4096] = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    const struct cs_object_file *own = NULL;
    for (size_t i = 0; i < recorder_count(); i++) {
        const struct cs_object_file *file = (const struct cs_object_file *)recorder_event(i);
        if (file->head.kind == CS_EVENT_OBJECT_FILE && file->head.sequence < stack->head.sequence &&
            stack->frames[0] >= file->start && stack->frames[0] < file->end)
            own = file;
    }
    assert_non_null(own);
    assert_string_equal(own->path, self); /* the innermost frame is this program's, not the recorder's */
    assert_int_equal(stack->python_count, 0);
    assert_int_equal(stack->truncated, 0);
    assert_int_equal(stack->head.size, sizeof *stack + 8 * stack->native_count);
}

FRAME static uint32_t descend(int depth)
{
    uint32_t id = depth == 0 ? recorder_capture() : descend(depth - 1);
    __asm__ volatile("");
    return id;
}

static void deep_stacks_are_cut_and_say_so(void **state)
{
    (void)state;
    uint32_t id = descend(300);
    const struct cs_stack_def *stack = definition(id);
    assert_int_equal(stack->native_count, 64);
    assert_int_equal(stack->truncated, 1);
    assert_int_equal(descend(300), id);
}

static void what_found_no_room_is_defined_later(void **state)
{
    (void)state;
    struct leaf leaf;
    struct tree tree = {0x1fedcba987654321, 0, 9};
    for (size_t room = 0; room < 3; room++) {
        recorder_room(room);
        tree_run(tree, &leaf);
        if (leaf.id == 0)
            break;
        recorder_room(SIZE_MAX);
        tree.choices += 0x3333;
    }
    recorder_room(0);
    tree.choices ^= 0x555555;
    tree_run(tree, &leaf);
    assert_int_equal(leaf.id, 0);
    recorder_room(SIZE_MAX);
    tree_run(tree, &leaf);
    assert_int_not_equal(leaf.id, 0);
    definition(leaf.id);
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    struct leaf leaf;
    size_t before = 0, events = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        ONE_LOOP(i);
        if (i == 200) { /* each of the 20 stacks has been met ten times */
            before = mallinfo2().uordblks;
            events = recorder_count();
        }
        ONE_LOOP(i);
        tree_run((struct tree){(i % 20) * 0x9e3779b97f4a7c15u, 0, 5}, &leaf);
    }
    assert_int_equal(recorder_count(), events);
    assert_int_equal(mallinfo2().uordblks, before);
}

/* Always the same stack, as long as it is called from one place. */
FRAME static uint32_t again(void (*before)(void), size_t *defined)
{
    uint32_t id = 0;
    for (int i = 0; i < 2; i++) {
        size_t events = recorder_count();
        ONE_LOOP(i);
        if (i == 1)
            before();
        ONE_LOOP(i);
        id = site(1);
        *defined = recorder_count() - events;
    }
    return id;
}

static void fork_and_wait(void)
{
    pid_t child = fork();
    if (child == 0) {
        recorder_after_fork();
        return; /* the child goes on as the parent would */
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_forked_child_defines_anew(void **state)
{
    (void)state;
    size_t defined = 0;
    pid_t parent = getpid();
    uint32_t id = again(fork_and_wait, &defined);
    if (getpid() != parent) /* its first stack, defined with the files anew */
        _exit(id == 1 && defined >= 2 ? 0 : 1);
    assert_int_not_equal(id, 0);
    assert_int_equal(defined, 0);
}

static void fill_the_tables(void)
{
    struct leaf leaf;
    unsigned refused = 0, warnings = recorder_warnings();
    for (uint64_t i = 0; i < 40000; i++) {
        tree_run((struct tree){i * 8191, 0, 10}, &leaf);
        refused += leaf.id == 0;
    }
    assert_true(refused > 0);
    assert_true(recorder_warnings() > warnings);
}

/* Last: it fills the tables for good. */
static void full_tables_give_zero_and_a_warning_and_keep_what_is_known(void **state)
{
    (void)state;
    size_t defined = 1;
    assert_int_not_equal(again(fill_the_tables, &defined), 0);
}

int main(int count, char **arguments)
{
    /* With an argument: a folder whose libunwind.so.8 is none. */
    recorder_start(count > 1 ? arguments[1] : "/nonexistent");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_calls_at_equal_depth_get_two_numbers),
        cmocka_unit_test(numbers_agree_with_another_unwinder),
        cmocka_unit_test(stale_copies_of_another_stack_do_not_deceive),
        cmocka_unit_test(errno_is_kept),
        cmocka_unit_test(definitions_name_the_files_and_not_our_own_frames),
        cmocka_unit_test(deep_stacks_are_cut_and_say_so),
        cmocka_unit_test(what_found_no_room_is_defined_later),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(a_forked_child_defines_anew),
        cmocka_unit_test(full_tables_give_zero_and_a_warning_and_keep_what_is_known),
    };
    if ((count > 1) != (recorder_warnings() == 1)) {
        printf("libunwind %s, but %u warnings\n", count > 1 ? "is missing" : "is there", recorder_warnings());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
