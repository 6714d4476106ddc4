/*
 * ledger.h - the copies that are waiting for their verdict, and what was decided of the settled ones, by call stack.
 *
 * A copy is a compact record attached to its two objects only for as long as something can still decide it: at most one
 * record per destination alive, plus a bounded number per source that has not been read since. Settled copies are
 * counters of their site.
 *
 * Threads: the analysis thread.
 */
#ifndef COPYSPY_ANALYSIS_VERDICTS_LEDGER_H
#define COPYSPY_ANALYSIS_VERDICTS_LEDGER_H

#include "analysis/map64.h"
#include "analysis/verdicts/verdict.h"

/* What a person can check of one redundant copy. */
struct cs_evidence {
    struct cs_actor writer, consumer, ender;
    uint64_t copy, death; /* sequence numbers */
    uint64_t source_size, source_address, destination_address;
    bool overwritten; /* else freed */
    bool filled;      /* the destination had been filled before */
};

/* All copies with one call stack. */
struct cs_site {
    uint32_t stack, device;
    uint64_t copies, bytes;
    uint64_t captured; /* more copies, recorded into graphs */
    uint64_t pending, redundant;
    uint64_t whys[CS_WHY_COUNT];
    struct cs_actor actors[CS_WHY_COUNT]; /* of the first copy with that why */
    enum cs_confidence confidence;        /* the lowest of the redundant ones */
    struct cs_evidence evidence;          /* of the first redundant one */
    uint64_t timed, timed_ns;             /* copies whose time on the device is known */
};

struct cs_ledger {
    struct cs_site *sites;
    size_t site_count, site_capacity;
    struct cs_map64 by_stack;
};

/* So many copies of one source may wait, nothing having read it since: every access to it looks at each of them. More
 * are not judged. */
#define CS_LEDGER_UNREAD_MAX 512

/* One device-to-device copy, as the objects' side found it. Objects are NULL where its bytes lie in no single object.
 */
struct cs_copied {
    struct cs_object *source, *destination;
    struct cs_span from, to;
    struct cs_actor actor; /* the copy call */
    uint32_t correlation, device;
    enum cs_why why; /* already known to be beyond judgement; CS_WHY_NONE: judge it */
};

/* A copy was made; called before its accesses are applied to the objects. Returns the open record, or NULL. */
struct cs_pending *cs_ledger_copied(struct cs_analysis *analysis, const struct cs_copied *copied);
/* A device-to-device copy was recorded into a graph. */
void cs_ledger_captured(struct cs_analysis *analysis, uint32_t stack, uint32_t device);
/* Opens the record: after the accesses of the copy itself were applied. */
void cs_ledger_open(struct cs_pending *copy);

/* The bytes of `span` (NULL: any byte) are read in the object. */
void cs_ledger_read(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                    const struct cs_actor *actor);
/* A copy or fill overwrites the bytes of `span` in the object. */
void cs_ledger_overwritten(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                           const struct cs_actor *actor);
/* A kernel is given this address in the object: where it lies behind the copied bytes, the destination holds more than
 * those. */
void cs_ledger_pointed(struct cs_analysis *analysis, struct cs_object *object, uint64_t address);
/* A copy from `source` into `destination` is made: do bytes that came from the destination go back? */
void cs_ledger_returned(struct cs_analysis *analysis, struct cs_object *source, struct cs_object *destination,
                        const struct cs_actor *actor);
/* The launch that stamped its objects accessed `object`: is its copy's source among them, and one of the two written?
 */
void cs_ledger_shared(struct cs_analysis *analysis, struct cs_object *object, const struct cs_actor *actor);
/* The object was freed (seen) or vanished. object->death is set. */
void cs_ledger_died(struct cs_analysis *analysis, struct cs_object *object, bool seen);
/* The object leaves the map without a judgement (the program has ended, or the analysis is freed). */
void cs_ledger_abandon(struct cs_object *object);

/* The device's own timing of a copy. */
void cs_ledger_timed(struct cs_ledger *ledger, uint32_t site, uint64_t nanoseconds);

void cs_ledger_release(struct cs_ledger *ledger);

#endif
