/*
 * ring.h - the two ends of the rings that only this library's own parts use; everybody else emits through emit.h.
 */
#ifndef COPYSPY_INTERPOSE_RING_H
#define COPYSPY_INTERPOSE_RING_H

#include "interpose/emit.h"

/* As cs_emit_begin, but what follows the header is left as it was: for records that are filled in completely. Any
 * thread. */
void *cs_emit_begin_raw(enum cs_event_kind kind, size_t size);

/* Sequence number of the last event; 0 when there was none. Any thread. */
uint64_t cs_emit_count(void);

/* How many events were dropped so far. Any thread. */
uint64_t cs_emit_lost(void);

/*
 * Gives `take` published events in the order of their sequence numbers, until the rings are empty or CS_DRAIN_MAX were
 * given, so that a busy program does not keep its caller from everything else. Waits a bounded moment for a number that
 * was taken but not yet published. Returns how many were given. Analysis thread only.
 */
uint64_t cs_ring_drain(void (*take)(void *context, const struct cs_event *event), void *context);

#define CS_DRAIN_MAX 65536u

#endif
