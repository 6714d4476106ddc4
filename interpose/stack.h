/*
 * stack.h - the calling thread's stack as a small number.
 *
 * Native return addresses (libunwind, opened at run time) and the thread's Python frames (read from the thread state,
 * read-only, without the GIL) are interned: the first time a stack is seen its definition is emitted
 * (CS_EVENT_OBJECT_FILE, CS_EVENT_PYTHON_FRAME, CS_EVENT_STACK); after that the same stack costs one look-up and
 * allocates nothing. A definition is emitted before its id can be found by another thread.
 *
 * Threads: any; takes no lock on a look-up that hits, none at all while unwinding or symbolising.
 */
#ifndef COPYSPY_INTERPOSE_STACK_H
#define COPYSPY_INTERPOSE_STACK_H

#include <stdint.h>

/* Opens what stacks are made with, from beside our own library first. Call once, before the first capture; what cannot
 * be opened is done without, after one warning through cs_warn_once. */
void cs_stack_start(const char *own_directory);

/* The id of the calling thread's stack without our own frames; 0 when it cannot be had. Keeps errno. */
uint32_t cs_stack_capture(void);

/* After fork, in the child: forget everything without freeing (locks may be held by threads that are gone). */
void cs_stack_after_fork(void);

/* From the start of interpreter finalization on, Python state must not be read. */
void cs_stack_python_ended(void);

#endif
