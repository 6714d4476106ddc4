/*
 * python.h - the calling thread's Python frames, read from its thread state without the GIL.
 *
 * Everything read is kept alive by the calling thread itself: its thread state, its chain of frames, and the code
 * objects which those frames hold. While the thread is inside our call nobody else changes them. Nothing of Python is
 * called that allocates, takes a lock or touches a reference count.
 *
 * Threads: any; cs_python_find once before the others or again later, from any thread.
 */
#ifndef COPYSPY_INTERPOSE_PYTHON_H
#define COPYSPY_INTERPOSE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/python_location.h"

/* One frame: which code object, the byte offset of the instruction that it executes, and what tells the code object
 * from a later one at the same address (names, tables, sizes). Equal frames have equal bytes. */
struct cs_python_frame {
    uint64_t code, instruction, fingerprint;
};

/* A frame in words; valid while the frame is. */
struct cs_python_names {
    struct cs_python_location location;
    const void *file, *function; /* str objects, for cs_python_name */
};

/*
 * Looks for an interpreter in this process, until one is found. An unknown version is not read: one warning. Takes the
 * loader's lock.
 */
void cs_python_find(void);

/*
 * Writes the calling thread's frames, innermost first, at most `capacity`. Returns their number: 0 without Python, on
 * threads that run none, and once the interpreter is going away. *truncated is set when frames were left out.
 */
size_t cs_python_frames(struct cs_python_frame *frames, size_t capacity, bool *truncated);

/* Line, columns and names of a frame that cs_python_frames has just returned on this thread. */
struct cs_python_names cs_python_describe(const struct cs_python_frame *frame);

/* Copies one of those names as cs_python_text does. */
size_t cs_python_name(const void *name, char *buffer, size_t size);

/* No Python memory is read from now on. */
void cs_python_end(void);

#endif
