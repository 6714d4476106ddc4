/*
 * unseen.c - see unseen.h. The analysis thread.
 */
#include "analysis/objects/unseen.h"

#include <string.h>

#include "analysis/state.h"

void cs_unseen_everything(struct cs_analysis *analysis, enum cs_why why, const struct cs_actor *actor)
{
    struct cs_unseen *unseen = &analysis->unseen;
    unseen->everything = analysis->sequence;
    unseen->everything_why = why;
    unseen->everything_by = actor ? *actor : (struct cs_actor){0};
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Since when a kernel that follows loaded addresses may reach the object; 0: it cannot. */
static uint64_t escaped_since(const struct cs_unseen *unseen, const struct cs_object *object)
{
    uint64_t escaped = object->escaped ? object->escaped : (object->parent ? object->parent->escaped : 0);
    if (escaped)
        return escaped;
    return object->birth < unseen->escaped_all ? object->birth : 0;
}

static uint64_t graphed_since(const struct cs_object *object)
{
    return object->graphed ? object->graphed : (object->parent ? object->parent->graphed : 0);
}

bool cs_unseen_in_graph(const struct cs_object *object)
{
    return graphed_since(object) != 0;
}

static enum cs_why touched_by_opaque(const struct cs_unseen *unseen, const struct cs_object *object, uint64_t since,
                                     struct cs_actor *who)
{
    uint64_t escaped = escaped_since(unseen, object);
    const struct cs_actor *kernels[] = {&unseen->opaque_read, &unseen->opaque_write};
    for (size_t i = 0; escaped && i < 2; i++)
        if (kernels[i]->sequence > later(since, escaped)) {
            *who = *kernels[i];
            return CS_WHY_OPAQUE;
        }
    return CS_WHY_NONE;
}

enum cs_why cs_unseen_touched(const struct cs_analysis *analysis, const struct cs_object *object, uint64_t since,
                              struct cs_actor *who)
{
    const struct cs_unseen *unseen = &analysis->unseen;
    *who = (struct cs_actor){0};
    if (unseen->blind)
        return CS_WHY_BLIND;
    if (unseen->everything > since) {
        *who = unseen->everything_by;
        return unseen->everything_why;
    }
    if (graphed_since(object) && unseen->graph_launch > later(since, graphed_since(object)))
        return CS_WHY_GRAPH;
    if (object->parent && object->parent->strayed > since)
        return CS_WHY_STRAY;
    return touched_by_opaque(unseen, object, since, who);
}

void cs_unseen_graphed(struct cs_analysis *analysis, struct cs_object *object)
{
    if (!object->graphed)
        object->graphed = analysis->sequence;
}

void cs_on_capture_begin(struct cs_analysis *analysis, const struct cs_event *event)
{
    (void)event;
    analysis->unseen.capture_seen = true;
    analysis->unseen.captures++;
}

/* A graph's nodes are not replayed one by one: it reads and writes all that a capture could reach. */
void cs_on_graph_launch(struct cs_analysis *analysis, const struct cs_event *event)
{
    struct cs_unseen *unseen = &analysis->unseen;
    unseen->graph_launches++;
    if (unseen->capture_seen && !unseen->graph_reaches_all) {
        unseen->graph_launch = event->sequence;
        return;
    }
    unseen->graph_launches_unfollowed++;
    cs_unseen_everything(analysis, CS_WHY_GRAPH, NULL);
}

void cs_on_blind_begin(struct cs_analysis *analysis, const struct cs_event *event)
{
    uint32_t reason = ((const struct cs_blind *)event)->reason;
    analysis->unseen.blind = true;
    if (reason < CS_BLIND_REASON_COUNT)
        analysis->unseen.blind_periods[reason]++;
    cs_unseen_everything(analysis, CS_WHY_BLIND, NULL);
}

void cs_on_blind_end(struct cs_analysis *analysis, const struct cs_event *event)
{
    (void)event;
    analysis->unseen.blind = false;
    cs_unseen_everything(analysis, CS_WHY_BLIND, NULL);
}

void cs_on_lost(struct cs_analysis *analysis, const struct cs_event *event)
{
    analysis->unseen.lost += ((const struct cs_lost *)event)->count;
    analysis->unseen.graph_reaches_all = true; /* it may have been recorded into a graph */
    cs_unseen_everything(analysis, CS_WHY_LOST, NULL);
}
