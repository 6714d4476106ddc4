/*
 * unseen.h - what could not be followed: when something may have touched everything, or everything of a kind.
 *
 * "Everything was touched" is one number, a sequence, not a walk over the objects: whoever needs to know whether an
 * object was left alone since some moment asks cs_unseen_touched.
 *
 * Threads: the analysis thread.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_UNSEEN_H
#define COPYSPY_ANALYSIS_OBJECTS_UNSEEN_H

#include "analysis/objects/object.h"
#include "analysis/verdicts/verdict.h"

struct cs_analysis;

struct cs_unseen {
    uint64_t everything; /* when something last may have touched all that lived then */
    enum cs_why everything_why;
    struct cs_actor everything_by;
    struct cs_actor opaque_read,
        opaque_write;      /* the last kernels that read or write through addresses found in memory */
    uint64_t escaped_all;  /* when more addresses escaped than were listed */
    uint64_t graph_launch; /* the last one whose reach is known */
    bool capture_seen, graph_reaches_all;
    bool blind;

    /* counts, for the report */
    uint64_t blind_periods[CS_BLIND_REASON_COUNT];
    uint64_t lost, graph_launches, graph_launches_unfollowed, captures;
    uint64_t captured_copies, captured_bytes; /* device to device */
    uint64_t unknown_addresses, strays, unnamed_launches;
};

/* From here on everything that is alive may have been read and written. `actor` may be NULL. */
void cs_unseen_everything(struct cs_analysis *analysis, enum cs_why why, const struct cs_actor *actor);

/* Why the object may have been touched without being named, after the event `since`; CS_WHY_NONE when it cannot. *who
 * gets who did it, if that is known. */
enum cs_why cs_unseen_touched(const struct cs_analysis *analysis, const struct cs_object *object, uint64_t since,
                              struct cs_actor *who);

/* Whether recorded graphs may use the object's address. */
bool cs_unseen_in_graph(const struct cs_object *object);

/* The object can be reached by graphs from now on (it was used while one was recorded). */
void cs_unseen_graphed(struct cs_analysis *analysis, struct cs_object *object);

#endif
