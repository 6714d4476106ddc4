/*
 * emit.h - how a fact gets from any thread of the program into the analysis.
 *
 * The record is written in place in the calling thread's ring: begin, fill, end. Between the two nothing may call back
 * into the program or into CUDA. Takes no lock, allocates nothing in the steady state (a thread's first event maps its
 * ring).
 *
 * Threads: any, including inside CUPTI callbacks; not inside signal handlers.
 */
#ifndef COPYSPY_INTERPOSE_EMIT_H
#define COPYSPY_INTERPOSE_EMIT_H

#include <stddef.h>

#include "analysis/event.h"

/*
 * Reserves a record of `size` bytes (rounded up to 8; at most CS_EMIT_MAX). The header's size, kind and thread are
 * filled in, the rest is zero. NULL when there is no room after a bounded wait: the loss is counted, and told to
 * the analysis by a CS_EVENT_LOST; the caller just goes on.
 */
void *cs_emit_begin(enum cs_event_kind kind, size_t size);

/* Gives the record its sequence number and publishes it. */
void cs_emit_end(void *record);

#define CS_EMIT_MAX 65536u

#endif
