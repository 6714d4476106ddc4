/*
 * object.h - one piece of device (or pinned) memory from its birth to its death.
 *
 * Addresses are recycled; an object is (address, generation). An object stays after its death for as long as a copy
 * that is not settled, or an object with bytes copied from it, refers to it; so memory is bounded by what is alive.
 *
 * Threads: the analysis thread.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_OBJECT_H
#define COPYSPY_ANALYSIS_OBJECTS_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/event.h"

struct cs_pending;

/* Who did something: kept where a person will be told of it. */
enum cs_actor_kind { CS_ACTOR_NONE, CS_ACTOR_KERNEL, CS_ACTOR_COPY, CS_ACTOR_UPLOAD, CS_ACTOR_DOWNLOAD, CS_ACTOR_FILL };
struct cs_actor {
    uint64_t sequence;
    uint32_t kind;   /* enum cs_actor_kind */
    uint32_t stack;  /* id of the call's stack */
    uint32_t kernel; /* CS_ACTOR_KERNEL: index in struct cs_kernels */
    uint32_t access; /* CS_ACCESS_* bits of a kernel */
};

#define CS_ORIGINS 4

struct cs_object {
    struct cs_object *left, *right; /* map.c: by address */
    uint64_t priority;
    uint32_t references; /* the map's own counts as one */
    uint32_t allocator;  /* enum cs_allocator */
    uint32_t device;
    bool pooled; /* a framework hands out blocks of it: what lies in no block is free space */
    uint64_t address, size, generation;
    struct cs_object *parent; /* of a framework block: the allocation it lies in; a reference; may be NULL */
    uint64_t birth, death;    /* sequence numbers; death 0: alive */

    uint64_t version;                /* how often it was written */
    uint64_t changed;                /* sequence of the first write after the copy it was born for */
    uint64_t filled_from, filled_to; /* the bytes that fills wrote lie in here; 0, 0: none */
    bool used;                       /* written otherwise, or read */
    bool copied_on;                  /* it was the source of a device-to-device copy */
    struct cs_actor writer, reader;  /* the last ones */

    uint64_t read_stream;      /* the stream of the first read... */
    bool read, read_elsewhere; /* ...if there was one; and whether another stream read it, too */

    uint64_t escaped; /* since when any kernel that follows loaded addresses may reach it; 0: not */
    uint64_t graphed; /* since when a recorded graph may touch it; 0: not */
    uint64_t strayed; /* of a pooled allocation: when something last touched it outside all blocks */

    uint64_t stamp; /* the launch that is being worked on, and its access */
    uint32_t stamp_access;

    uint32_t unread_count;
    struct cs_pending *unread;             /* copies from here, nothing having read the source since */
    struct cs_pending *born;               /* the open copy that was the first to write here */
    struct cs_object *origins[CS_ORIGINS]; /* references: whose bytes came here by copies, nearest first */
};

/* Memory that the host can write without a call that anybody sees. */
static inline bool cs_object_is_shared(const struct cs_object *object)
{
    return object->allocator == CS_ALLOCATOR_HOST || object->allocator == CS_ALLOCATOR_MANAGED;
}

#endif
