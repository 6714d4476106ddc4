/*
 * stack_shape.h - recognising a stack without unwinding it.
 *
 * A shape is what one full unwind found, as seen from the capturing frame's base: where each return address lies and
 * what it is, which saved frame pointers those places depend on, and the thread's Python frames. If all of these words
 * are the same again, the stack is the same. The argument, from the inside out: the base's own return address is at a
 * fixed place. A return address names the call and with it the function that will go on; that function's layout at that
 * call says where its own return address is: at a fixed distance, or one that follows from its saved frame pointer,
 * which the shape compares too. So each compared word is where the true unwind would look, and every word is compared.
 * Two calls at the same depth differ in a return address and thus in the shape.
 *
 * Its limit: a function that is laid out in a third way (by a register other than rsp and rbp, which no compiler does
 * for C and C++ on x86-64, or by hand-written assembly) could put its return address elsewhere while an equal stale
 * word lies at the remembered place, and this for every frame further out.
 *
 * Which shape to compare with: each remembers the two that followed it last (a training loop repeats its sequence of
 * calls), and a table knows the last one with the same Python frames at the same depth. Measured with 3 Python and 15
 * native frames (tests/stacks/bench.py): the stack that is expected takes 45 ns and 600 instructions, half of which
 * read the Python frames; one found by its Python frames 95 ns; unwinding and looking up by contents 540 ns.
 *
 * Threads: shapes are written once, then shared; the two followers are hints that any thread may overwrite.
 */
#ifndef COPYSPY_INTERPOSE_STACK_SHAPE_H
#define COPYSPY_INTERPOSE_STACK_SHAPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/python.h"
#include "interpose/stack_native.h"
#include "interpose/stack_table.h"

struct cs_shape {
    uint32_t id;                     /* of the stack */
    uint32_t reach;                  /* bytes from the base to the end of the highest word compared */
    uint16_t returns, bases, python; /* how many of each */
    _Atomic uint32_t followers[2];   /* places of shapes, the latest first; 0 none */
    uint64_t words[];                /* returns, bases, Python frames; then 4-byte offsets of returns and bases */
};

/* The part of the calling thread's stack that may be read: up to `end`, from anything inside it. */
struct cs_stack_bounds {
    uintptr_t start, end;
};

/* NULL when the arena is full. */
struct cs_shape *cs_shape_new(struct cs_arena *arena, uint32_t id, const struct cs_native_walk *walk,
                              const struct cs_python_frame *python, size_t python_count);

/* Is the stack above `base`, with these Python frames, the one of the shape? Reads only inside *bounds. */
bool cs_shape_matches(const struct cs_shape *shape, const void *base, const struct cs_stack_bounds *bounds,
                      const struct cs_python_frame *python, size_t python_count);

/* Notes that `next` came after `shape`. */
void cs_shape_follow(struct cs_shape *shape, const struct cs_arena *arena, const struct cs_shape *next);

#endif
