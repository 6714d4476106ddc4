/*
 * thread.h - everything the library keeps per thread of the program, in one structure.
 *
 * The owner thread writes its structure; the analysis thread reads the ring. A structure outlives its thread until its
 * ring is drained.
 */
#ifndef COPYSPY_INTERPOSE_THREAD_H
#define COPYSPY_INTERPOSE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Single producer (the owner), single consumer (the analysis thread). Positions only grow; index = position % capacity.
 */
struct cs_ring {
    unsigned char *bytes;
    uint64_t capacity;                  /* a power of two */
    uint64_t tail_seen;                 /* the producer's last look at tail */
    bool starved;                       /* the producer waited for room in vain, and there was none since */
    uint64_t reserved;                  /* position of the record between begin and end */
    _Alignas(64) _Atomic uint64_t head; /* published by the producer */
    _Alignas(64) _Atomic uint64_t tail; /* released by the consumer */
};

struct cs_thread {
    struct cs_ring ring;
    struct cs_thread *next; /* the list of all threads, push only; unlinked by the analysis thread */
    uint32_t number;        /* from 1 */
    uint32_t guard;         /* > 0: our own code runs; hooks and callbacks pass straight through */
    uint32_t hook_depth;    /* runtime hooks on the stack */
    uint32_t driver_depth;  /* driver callbacks between enter and exit */
    uint32_t driver_events; /* events that the driver plane emitted, ever: a hook compares before and after */
    uint32_t hook_stack;    /* stack id captured by the outermost hook; 0 none */
    const void *context;    /* the CUDA context last seen by this thread and its device ordinal */
    uint32_t device;
    _Atomic bool ended; /* the thread is gone; free when drained */
};

/* The calling thread's structure, made at first use; NULL when it cannot be made or the library is off. Keeps errno. */
struct cs_thread *cs_thread_self(void);

/* The calling thread's structure if it exists, else NULL. Costs one TLS load. */
struct cs_thread *cs_thread_peek(void);

/* All threads, newest first; for the analysis thread. */
struct cs_thread *cs_thread_list(void);

/* Unmaps threads that ended and whose rings are empty. Analysis thread only. */
void cs_thread_reap(void);

/* In the constructor: capacity of each ring in bytes (rounded up to a power of two). */
void cs_thread_start(uint64_t ring_bytes);

/* In a fork's child: this thread starts anew, the others are gone. */
void cs_thread_after_fork(void);

#endif
