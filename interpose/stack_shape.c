/*
 * stack_shape.c - see stack_shape.h. cs_shape_matches is the hot path of every capture.
 */
#include "interpose/stack_shape.h"

#include <string.h>

enum { PYTHON_WORDS = sizeof(struct cs_python_frame) / sizeof(uint64_t) };

static size_t word_count(const struct cs_shape *shape)
{
    return shape->returns + shape->bases + (size_t)shape->python * PYTHON_WORDS;
}

struct cs_shape *cs_shape_new(struct cs_arena *arena, uint32_t id, const struct cs_native_walk *walk,
                              const struct cs_python_frame *python, size_t python_count)
{
    size_t natives = walk->returns + walk->bases;
    size_t bytes = natives * (sizeof(uint64_t) + sizeof(uint32_t)) + python_count * sizeof *python;
    struct cs_shape *shape = cs_arena_take(arena, sizeof *shape + bytes);
    if (!shape)
        return NULL;
    shape->id = id;
    shape->returns = (uint16_t)walk->returns;
    shape->bases = (uint16_t)walk->bases;
    shape->python = (uint16_t)python_count;
    uint32_t *offsets = (uint32_t *)(shape->words + word_count(shape));
    for (size_t i = 0; i < natives; i++) {
        const struct cs_native_word *word = i < walk->returns ? &walk->at_return[i] : &walk->at_base[i - walk->returns];
        shape->words[i] = word->value;
        offsets[i] = word->offset;
        if (word->offset + 8 > shape->reach)
            shape->reach = word->offset + 8;
    }
    if (python_count)
        memcpy(shape->words + natives, python, python_count * sizeof *python);
    return shape;
}

/* Words of other frames: a sanitizer would call them out of bounds. */
__attribute__((no_sanitize("address", "thread"))) static inline uint64_t stack_word(const char *base, uint32_t offset)
{
    return *(const volatile uint64_t *)(base + offset);
}

/* Compares without a branch a word, four words a round: half the instructions of a loop that stops at the first
 * difference. */
__attribute__((no_sanitize("address", "thread"))) static bool natives_match(const struct cs_shape *shape,
                                                                            const char *base)
{
    const uint32_t *offsets = (const uint32_t *)(shape->words + word_count(shape));
    const uint64_t *words = shape->words;
    size_t i = 0, natives = (size_t)shape->returns + shape->bases;
    uint64_t different = 0;
    for (; i + 4 <= shape->returns; i += 4) {
        different |= (stack_word(base, offsets[i]) ^ words[i]) | (stack_word(base, offsets[i + 1]) ^ words[i + 1]) |
                     (stack_word(base, offsets[i + 2]) ^ words[i + 2]) |
                     (stack_word(base, offsets[i + 3]) ^ words[i + 3]);
    }
    for (; i < shape->returns; i++)
        different |= stack_word(base, offsets[i]) ^ words[i];
    for (; i < natives; i++)
        different |= (stack_word(base, offsets[i]) - (uintptr_t)base) ^ words[i];
    return different == 0;
}

bool cs_shape_matches(const struct cs_shape *shape, const void *base, const struct cs_stack_bounds *bounds,
                      const struct cs_python_frame *python, size_t python_count)
{
    uintptr_t start = (uintptr_t)base;
    if (shape->python != python_count || start < bounds->start || start >= bounds->end ||
        shape->reach > bounds->end - start)
        return false;
    const uint64_t *expected = shape->words + shape->returns + shape->bases;
    return memcmp(expected, python, python_count * sizeof *python) == 0 && natives_match(shape, base);
}

void cs_shape_follow(struct cs_shape *shape, const struct cs_arena *arena, const struct cs_shape *next)
{
    uint32_t place = cs_arena_place(arena, next);
    uint32_t latest = atomic_load_explicit(&shape->followers[0], memory_order_acquire);
    if (latest == place)
        return;
    atomic_store_explicit(&shape->followers[1], latest, memory_order_release);
    atomic_store_explicit(&shape->followers[0], place, memory_order_release);
}
