/*
 * verdict.h - what a reason for calling a copy redundant looks like: one function that is told of each moment in a
 * copy's life and says whether that decides. One file per reason; the table of reasons is in verdict.c.
 *
 * The ledger (ledger.h) keeps the copies that are open and brings the moments.
 *
 * Threads: the analysis thread; a reason has no state.
 */
#ifndef COPYSPY_ANALYSIS_VERDICTS_VERDICT_H
#define COPYSPY_ANALYSIS_VERDICTS_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/objects/object.h"
#include "analysis/objects/span.h"

struct cs_analysis;

enum cs_why {
    CS_WHY_NONE,
#define CS_WHY(NAME, VERDICT, text) CS_WHY_##NAME,
#include "analysis/verdicts/whys.def"
#undef CS_WHY
    CS_WHY_COUNT
};

enum cs_decision {
    CS_DECISION_OPEN,      /* go on watching */
    CS_DECISION_REDUNDANT, /* with a confidence */
    CS_DECISION_NECESSARY, /* with a why */
    CS_DECISION_UNJUDGED   /* with a why */
};

/* Ordered: the lowest of a site's copies is the site's. */
enum cs_confidence { CS_CONFIDENCE_POSSIBLE, CS_CONFIDENCE_LIKELY, CS_CONFIDENCE_PROVEN };

struct cs_outcome {
    enum cs_decision decision;
    enum cs_why why;
    enum cs_confidence confidence;
    struct cs_actor actor; /* who, where the why names somebody */
};

/* Moments in a copy's life, in the order in which they may come. */
enum cs_moment {
    CS_MOMENT_COPY,               /* it is made; nothing has been changed by it yet */
    CS_MOMENT_SOURCE_READ,        /* one of the copied bytes is read in the source again */
    CS_MOMENT_SHARED,             /* one kernel accessed source and destination, and wrote one of them */
    CS_MOMENT_RETURNED,           /* bytes that came from the destination were copied into the source */
    CS_MOMENT_SOURCE_OVERWRITTEN, /* all copied bytes were overwritten in the source by a copy or fill */
    CS_MOMENT_SOURCE_FREED,
    CS_MOMENT_DESTINATION_READ,
    CS_MOMENT_DESTINATION_EXTENDED, /* something accessed bytes of the destination that are not the copied ones */
    CS_MOMENT_DESTINATION_GONE /* freed, or its copied bytes were overwritten by a copy or fill: copy->gone is set */
};

/* A copy that is not settled. */
struct cs_pending {
    struct cs_object *source, *destination; /* references */
    struct cs_pending *next, *previous;     /* in source->unread, while nothing has read the source */
    bool listed;                            /* it is in source->unread */
    struct cs_span from, to;
    struct cs_span
        watched; /* reads of the source that count: of what was copied, or, where the destination holds more, of all */
    uint64_t sequence;
    uint32_t site;            /* index in the ledger */
    uint64_t read_again;      /* when the source was read again; 0: not yet */
    uint64_t gone;            /* when the copied bytes in the destination came to their end; 0: not yet */
    uint64_t overwritten;     /* when the copied bytes in the source were overwritten; 0: not */
    struct cs_actor writer;   /* who wrote the source last before the copy */
    struct cs_actor reader;   /* who read the source again */
    struct cs_actor consumer; /* who accessed the destination first after the copy */
    struct cs_actor ender;    /* who overwrote the source */
};

struct cs_verdict {
    const char *reason;   /* as in reports: "source-dead" */
    const char *headline; /* one line: what is wrong with such a copy */
    /* `actor` is who brings the moment about. Called once per copy and moment until it decides. */
    struct cs_outcome (*judge)(const struct cs_analysis *analysis, const struct cs_pending *copy, enum cs_moment moment,
                               const struct cs_actor *actor);
};

/* The first reason that decides a moment, or OPEN. */
struct cs_outcome cs_verdict_judge(const struct cs_analysis *analysis, const struct cs_pending *copy,
                                   enum cs_moment moment, const struct cs_actor *actor);

/* The reason that redundant copies have. */
const struct cs_verdict *cs_verdict_redundant(void);

/* A why's text, with one %s or none, and whether it makes a copy necessary. */
const char *cs_why_text(enum cs_why why);
bool cs_why_necessary(enum cs_why why);
const char *cs_confidence_name(enum cs_confidence confidence);

static inline struct cs_outcome cs_open(void)
{
    return (struct cs_outcome){.decision = CS_DECISION_OPEN};
}

/* NECESSARY or UNJUDGED, as the table of whys says. `actor` may be NULL. */
struct cs_outcome cs_stands(enum cs_why why, const struct cs_actor *actor);

#endif
