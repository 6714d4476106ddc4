/*
 * stack.c - see stack.h: from the calling thread's stack to its number.
 *
 * A capture reads the thread's Python frames, then looks whether the stack is the one expected after the thread's last,
 * or the last one with these Python frames at this depth (stack_shape.h); only if not is it unwound and looked up by
 * its contents. Runs on every thread of the program inside the hooks. No lock of ours exists: tables are lock-free
 * (stack_table.h), and what two threads define at once is defined twice under the same number.
 */
#include "interpose/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "interpose/emit.h"
#include "interpose/python.h"
#include "interpose/stack_files.h"
#include "interpose/stack_native.h"
#include "interpose/stack_shape.h"
#include "interpose/stack_table.h"
#include "interpose/warn.h"

enum {
    NATIVE_DEPTH = 64, /* up to main, PyTorch 2.11 under Python 3.12 has 31 to 55 native frames in a small model */
    PYTHON_DEPTH = 64,
    OWN_FRAMES = 8, /* of this library and the unwinder, before the program's */
    PYTHON_WORDS = sizeof(struct cs_python_frame) / sizeof(uint64_t),
    KEY_WORDS = NATIVE_DEPTH + PYTHON_DEPTH * PYTHON_WORDS,
    ARENA_BYTES = 8 << 20, /* a stack with its shape takes some 700 bytes: about 10,000 distinct ones */
    STACK_SLOTS = 32768,
    PYTHON_SLOTS = 32768,
    FILE_SLOTS = 2048,
    HINT_BITS = 13,
    NAME_BYTES = 2048
};

#define NO_SHAPE UINT32_MAX /* among a stack's shapes: it cannot be walked, do not try again */

static struct {
    struct cs_arena arena;
    struct cs_table stacks, python, files;
    _Atomic uint32_t *hints;     /* places of shapes, by Python frames and depth; any thread may overwrite them */
    uint64_t own_start, own_end; /* this library's address range */
    _Atomic bool ready;
} stack;

/* What a thread remembers: its last stack, and how far its stack memory reaches. */
struct memory {
    struct cs_shape *last;
    struct cs_stack_bounds bounds;
    bool bounds_known;
};
static __thread struct memory memory __attribute__((tls_model("initial-exec")));

/* One capture on its way. */
struct capture {
    const void *base;        /* of cs_stack_capture's frame */
    uint64_t return_address; /* of cs_stack_capture */
    size_t raw_count, native_count, python_count;
    bool truncated;
    struct cs_python_frame python[PYTHON_DEPTH];
    uint64_t raw[OWN_FRAMES + NATIVE_DEPTH]; /* with our own frames */
};

/* ---- definitions ---- */

static bool emit_python(const struct cs_record *record, const struct cs_python_frame *frame)
{
    char file[NAME_BYTES], function[NAME_BYTES];
    struct cs_python_names names = cs_python_describe(frame);
    size_t file_bytes = cs_python_name(names.file, file, sizeof file);
    size_t function_bytes = cs_python_name(names.function, function, sizeof function);
    struct cs_python_frame_def *event =
        cs_emit_begin(CS_EVENT_PYTHON_FRAME, sizeof *event + file_bytes + function_bytes);
    if (!event)
        return false;
    event->id = record->id;
    event->line = names.location.line;
    event->end_line = names.location.end_line;
    event->column = names.location.column;
    event->end_column = names.location.end_column;
    event->file_bytes = (uint32_t)file_bytes;
    event->function_bytes = (uint32_t)function_bytes;
    memcpy(event->text, file, file_bytes);
    memcpy(event->text + file_bytes, function, function_bytes);
    cs_emit_end(event);
    return true;
}

/* The id of a Python frame, defined if need be; 0 when it cannot be. */
static uint32_t python_id(const struct cs_python_frame *frame)
{
    const uint64_t *key = (const uint64_t *)frame;
    struct cs_record *record = cs_table_intern(&stack.python, key, PYTHON_WORDS, cs_table_hash(key, PYTHON_WORDS));
    if (!record)
        return 0;
    if (!atomic_load_explicit(&record->defined, memory_order_acquire)) {
        if (!emit_python(record, frame))
            return 0;
        atomic_store_explicit(&record->defined, 1, memory_order_release);
    }
    return record->id;
}

/* Defines the stack and all it refers to. False when there was no room: it is tried again at the next sight. */
static bool define_stack(struct cs_record *record, const struct capture *capture)
{
    uint32_t ids[PYTHON_DEPTH];
    for (size_t i = 0; i < capture->python_count; i++) {
        if ((ids[i] = python_id(&capture->python[i])) == 0)
            return false;
    }
    cs_files_define(&stack.files, record->key, capture->native_count);
    size_t frames = capture->native_count + capture->python_count;
    struct cs_stack_def *event = cs_emit_begin(CS_EVENT_STACK, sizeof *event + frames * sizeof event->frames[0]);
    if (!event)
        return false;
    event->id = record->id;
    event->native_count = (uint32_t)capture->native_count;
    event->python_count = (uint32_t)capture->python_count;
    event->truncated = capture->truncated;
    memcpy(event->frames, record->key, capture->native_count * sizeof event->frames[0]);
    for (size_t i = 0; i < capture->python_count; i++)
        event->frames[capture->native_count + i] = ids[i];
    cs_emit_end(event);
    atomic_store_explicit(&record->defined, 1, memory_order_release);
    return true;
}

/* ---- the full way ---- */

/* The index of cs_stack_capture's own return address: before it lie the unwinder and whoever interposed it. */
static size_t caller_index(const struct capture *capture)
{
    for (size_t i = 0; i < capture->raw_count; i++) {
        if (capture->raw[i] == capture->return_address)
            return i;
    }
    return 0;
}

/* Unwinds; native frames without our own, then Python frames, innermost first, go to key. Returns its words. */
static size_t unwind(struct capture *capture, uint64_t *key)
{
    const size_t capacity = sizeof capture->raw / sizeof *capture->raw;
    capture->raw_count = cs_native_backtrace(capture->raw, capacity);
    size_t own = caller_index(capture);
    while (own < capture->raw_count && capture->raw[own] >= stack.own_start && capture->raw[own] < stack.own_end)
        own++;
    size_t count = capture->raw_count - own;
    capture->truncated |= capture->raw_count == capacity || count > NATIVE_DEPTH;
    capture->native_count = count < NATIVE_DEPTH ? count : NATIVE_DEPTH;
    memcpy(key, capture->raw + own, capture->native_count * sizeof *key);
    memcpy(key + capture->native_count, capture->python, capture->python_count * sizeof *capture->python);
    return capture->native_count + capture->python_count * PYTHON_WORDS;
}

static struct cs_record *intern(struct capture *capture)
{
    uint64_t key[KEY_WORDS];
    size_t words = unwind(capture, key);
    if (words == 0)
        return NULL;
    uint64_t hash = cs_table_hash(key, words);
    struct cs_record *record = cs_table_intern(&stack.stacks, key, words, hash);
    if (!record) {
        cs_warn_once("stacks-full", "too many different call stacks: later ones are not attributed");
        return NULL;
    }
    if (!atomic_load_explicit(&record->defined, memory_order_acquire)) {
        if (!define_stack(record, capture))
            return NULL;
        cs_python_find(); /* an interpreter may have been loaded since; its frames will be in the next capture */
    }
    return record;
}

/* ---- shapes ---- */

static void find_bounds(void)
{
    pthread_attr_t attributes;
    void *start;
    size_t size;
    memory.bounds_known = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0)
        memory.bounds = (struct cs_stack_bounds){(uintptr_t)start, (uintptr_t)start + size};
    pthread_attr_destroy(&attributes);
}

/* Walks the frames above the base; they must be the very ones that unw_backtrace found. */
static struct cs_shape *make_shape(uint32_t id, const struct capture *capture)
{
    struct cs_native_walk walk;
    const uint64_t *found = capture->raw + caller_index(capture);
    size_t depth = (size_t)(capture->raw + capture->raw_count - found);
    if (!cs_native_walk(&walk, capture->base, depth) || walk.returns != depth)
        return NULL;
    for (size_t i = 0; i < walk.returns; i++) {
        if (walk.at_return[i].value != found[i])
            return NULL;
    }
    return cs_shape_new(&stack.arena, id, &walk, capture->python, capture->python_count);
}

static bool is_now(const struct cs_shape *shape, const struct capture *capture)
{
    return cs_shape_matches(shape, capture->base, &memory.bounds, capture->python, capture->python_count);
}

/* The shape of an interned stack that fits now, made if there is none and the stack has not had its share; or NULL. */
static struct cs_shape *shape_of(struct cs_record *record, const struct capture *capture)
{
    const size_t share = sizeof record->attached / sizeof *record->attached;
    if (!memory.bounds_known)
        find_bounds();
    for (size_t i = 0; i < share; i++) {
        uint32_t place = atomic_load_explicit(&record->attached[i], memory_order_acquire);
        if (place == NO_SHAPE)
            return NULL;
        if (place == 0) {
            struct cs_shape *made = make_shape(record->id, capture);
            place = made ? cs_arena_place(&stack.arena, made) : NO_SHAPE;
            atomic_store_explicit(&record->attached[i], place, memory_order_release);
            return made;
        }
        struct cs_shape *shape = cs_arena_at(&stack.arena, place);
        if (is_now(shape, capture))
            return shape;
    }
    return NULL;
}

/* The stack that is expected after the thread's last one, if that is what it is; else NULL. */
static struct cs_shape *expected(const struct capture *capture)
{
    for (size_t i = 0; memory.last && i < 2; i++) {
        uint32_t place = atomic_load_explicit(&memory.last->followers[i], memory_order_acquire);
        if (place == 0)
            return NULL;
        struct cs_shape *shape = cs_arena_at(&stack.arena, place);
        if (is_now(shape, capture))
            return shape;
    }
    return NULL;
}

/* Where the last stack with the same Python frames at the same depth is noted, or another one that shares the entry. */
static _Atomic uint32_t *hint_of(const struct capture *capture)
{
    uint64_t key = (uintptr_t)capture->base ^ capture->return_address << 20;
    for (size_t i = 0; i < capture->python_count; i++) {
        const struct cs_python_frame *frame = &capture->python[i];
        key = (key ^ frame->fingerprint ^ frame->code ^ frame->instruction << 40) * 0x9e3779b97f4a7c15u;
        key ^= key >> 32;
    }
    return &stack.hints[key * 0xd6e8feb86659fd93u >> (64 - HINT_BITS)];
}

static struct cs_shape *hinted(const _Atomic uint32_t *hint, const struct capture *capture)
{
    uint32_t place = atomic_load_explicit(hint, memory_order_acquire);
    struct cs_shape *shape = place ? cs_arena_at(&stack.arena, place) : NULL;
    return shape && is_now(shape, capture) ? shape : NULL;
}

static void remember(struct cs_shape *shape)
{
    if (memory.last)
        cs_shape_follow(memory.last, &stack.arena, shape);
    memory.last = shape;
}

/* Everything but the expected case. */
static __attribute__((noinline)) uint32_t capture_in_full(struct capture *capture)
{
    _Atomic uint32_t *hint = hint_of(capture);
    struct cs_shape *shape = hinted(hint, capture);
    if (shape) {
        remember(shape);
        return shape->id;
    }
    int saved = errno;
    struct cs_record *record = intern(capture);
    if (record && (shape = shape_of(record, capture))) {
        remember(shape);
        atomic_store_explicit(hint, cs_arena_place(&stack.arena, shape), memory_order_release);
    }
    errno = saved;
    return record ? record->id : 0;
}

uint32_t cs_stack_capture(void)
{
    if (!atomic_load_explicit(&stack.ready, memory_order_acquire))
        return 0;
    struct capture capture;
    capture.base = __builtin_frame_address(0); /* keeps a frame pointer: its return address lies 8 above it */
    capture.return_address = (uintptr_t)__builtin_return_address(0);
    capture.truncated = false;
    capture.python_count = cs_python_frames(capture.python, PYTHON_DEPTH, &capture.truncated);
    struct cs_shape *shape = expected(&capture);
    if (!shape)
        return capture_in_full(&capture);
    memory.last = shape;
    return shape->id;
}

/* ---- life ---- */

static bool open_tables(void)
{
    return cs_arena_open(&stack.arena, ARENA_BYTES) == 0 &&
           (stack.hints = cs_arena_take(&stack.arena, sizeof *stack.hints << HINT_BITS)) != NULL &&
           cs_table_open(&stack.stacks, &stack.arena, STACK_SLOTS) == 0 &&
           cs_table_open(&stack.python, &stack.arena, PYTHON_SLOTS) == 0 &&
           cs_table_open(&stack.files, &stack.arena, FILE_SLOTS) == 0;
}

void cs_stack_start(const char *own_directory)
{
    int saved = errno;
    cs_native_open(own_directory);
    cs_python_find();
    cs_files_range((uintptr_t)&cs_stack_capture, &stack.own_start, &stack.own_end);
    if (open_tables())
        atomic_store_explicit(&stack.ready, true, memory_order_release);
    else
        cs_warn_once("stacks-memory", "no memory for call stacks: copies are not attributed");
    errno = saved;
}

void cs_stack_after_fork(void)
{
    if (!atomic_load(&stack.ready))
        return;
    memory.last = NULL;
    atomic_store(&stack.ready, open_tables()); /* the parent's tables stay mapped: only touched pages cost */
}

void cs_stack_python_ended(void)
{
    cs_python_end();
}
