/*
 * ledger.c - see ledger.h. The analysis thread.
 */
#include "analysis/verdicts/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/objects/map.h"
#include "analysis/sass/summary.h"
#include "analysis/state.h"

/* ---- sites ---- */

static struct cs_site *site_of(struct cs_ledger *ledger, uint32_t stack, uint32_t device)
{
    uint64_t *known = cs_map64_get(&ledger->by_stack, stack);
    if (known)
        return &ledger->sites[*known];
    if (ledger->site_count == ledger->site_capacity) {
        size_t capacity = ledger->site_capacity ? ledger->site_capacity * 2 : 16;
        struct cs_site *sites = realloc(ledger->sites, capacity * sizeof *sites);
        if (!sites)
            return NULL;
        ledger->sites = sites;
        ledger->site_capacity = capacity;
    }
    if (cs_map64_put(&ledger->by_stack, stack, ledger->site_count))
        return NULL;
    struct cs_site *site = &ledger->sites[ledger->site_count++];
    *site = (struct cs_site){.stack = stack, .device = device, .confidence = CS_CONFIDENCE_PROVEN};
    return site;
}

void cs_ledger_timed(struct cs_ledger *ledger, uint32_t site, uint64_t nanoseconds)
{
    ledger->sites[site].timed++;
    ledger->sites[site].timed_ns += nanoseconds;
}

static void count_why(struct cs_site *site, enum cs_why why, const struct cs_actor *actor)
{
    if (!site->whys[why]++)
        site->actors[why] = *actor;
}

static void count_redundant(struct cs_site *site, const struct cs_pending *copy, enum cs_confidence confidence)
{
    if (confidence < site->confidence)
        site->confidence = confidence;
    if (site->redundant++)
        return;
    site->evidence = (struct cs_evidence){
        .writer = copy->writer,
        .consumer = copy->consumer,
        .ender = copy->ender,
        .copy = copy->sequence,
        .death = copy->overwritten ? copy->overwritten : copy->source->death,
        .source_size = copy->source->size,
        .source_address = copy->from.address,
        .destination_address = copy->to.address,
        .overwritten = copy->overwritten != 0,
        .filled = copy->destination->filled_to != 0,
    };
}

/* ---- records ---- */

static void unlist(struct cs_pending *copy)
{
    if (!copy->listed)
        return;
    copy->listed = false;
    copy->source->unread_count--;
    if (copy->previous)
        copy->previous->next = copy->next;
    else
        copy->source->unread = copy->next;
    if (copy->next)
        copy->next->previous = copy->previous;
}

static void forget(struct cs_pending *copy)
{
    unlist(copy);
    if (copy->destination->born == copy)
        copy->destination->born = NULL;
    cs_object_drop(copy->source);
    cs_object_drop(copy->destination);
    free(copy);
}

/* Tells the reasons of a moment; settles the copy if one decides. Returns whether it is settled (and gone). */
static bool tell(struct cs_analysis *analysis, struct cs_pending *copy, enum cs_moment moment,
                 const struct cs_actor *actor)
{
    struct cs_outcome outcome = cs_verdict_judge(analysis, copy, moment, actor);
    struct cs_site *site = &analysis->ledger.sites[copy->site];
    if (outcome.decision == CS_DECISION_OPEN)
        return false;
    if (outcome.decision == CS_DECISION_REDUNDANT)
        count_redundant(site, copy, outcome.confidence);
    else
        count_why(site, outcome.why, &outcome.actor);
    site->pending--;
    forget(copy);
    return true;
}

/* Where the destination holds more than the copied bytes, the source would have to hold that, too. */
static struct cs_span watched(const struct cs_copied *copied)
{
    const struct cs_object *from = copied->source, *to = copied->destination;
    struct cs_span all_to = cs_span_run(to->address, to->size);
    return cs_span_covers(&copied->to, &all_to) ? copied->from : cs_span_run(from->address, from->size);
}

static struct cs_pending *new_record(const struct cs_copied *copied)
{
    bool room = copied->source->unread_count < CS_LEDGER_UNREAD_MAX;
    struct cs_pending *copy = room ? calloc(1, sizeof *copy) : NULL;
    if (!copy)
        return NULL;
    copy->source = cs_object_hold(copied->source);
    copy->destination = cs_object_hold(copied->destination);
    copy->from = copied->from;
    copy->to = copied->to;
    copy->watched = watched(copied);
    copy->sequence = copied->actor.sequence;
    copy->writer = copied->source->writer;
    return copy;
}

/* Whether the source holds bytes that had been copied from the destination. */
static bool restores(const struct cs_copied *copied)
{
    for (size_t i = 0; i < CS_ORIGINS; i++)
        if (copied->source->origins[i] == copied->destination)
            return true;
    return false;
}

struct cs_pending *cs_ledger_copied(struct cs_analysis *analysis, const struct cs_copied *copied)
{
    struct cs_ledger *ledger = &analysis->ledger;
    struct cs_site *site = site_of(ledger, copied->actor.stack, copied->device);
    if (!site) {
        cs_unseen_everything(analysis, CS_WHY_LOST, NULL);
        return NULL;
    }
    uint32_t index = (uint32_t)(site - ledger->sites);
    site->copies++;
    site->bytes += cs_span_bytes(&copied->to);
    cs_timing_await(&analysis->timing, ledger, copied->correlation, index);
    enum cs_why why = copied->why;
    if (!why && copied->source != copied->destination && restores(copied))
        why = CS_WHY_RESTORES;
    struct cs_pending *copy = why ? NULL : new_record(copied);
    if (!copy) {
        count_why(site, why ? why : CS_WHY_TOO_MANY, &copied->actor);
        return NULL;
    }
    copy->site = index;
    site->pending++;
    return tell(analysis, copy, CS_MOMENT_COPY, &copied->actor) ? NULL : copy;
}

void cs_ledger_captured(struct cs_analysis *analysis, uint32_t stack, uint32_t device)
{
    struct cs_site *site = site_of(&analysis->ledger, stack, device);
    if (site)
        site->captured++;
}

void cs_ledger_open(struct cs_pending *copy)
{
    copy->destination->born = copy;
    copy->destination->changed = 0;
    copy->next = copy->source->unread;
    if (copy->next)
        copy->next->previous = copy;
    copy->source->unread = copy;
    copy->source->unread_count++;
    copy->listed = true;
}

/* ---- moments ---- */

static void note_consumer(struct cs_pending *copy, const struct cs_actor *actor)
{
    if (!copy->consumer.kind)
        copy->consumer = *actor;
}

static void source_read(struct cs_analysis *analysis, struct cs_pending *copy, const struct cs_actor *actor)
{
    copy->read_again = actor->sequence;
    copy->reader = *actor;
    if (!tell(analysis, copy, CS_MOMENT_SOURCE_READ, actor))
        unlist(copy);
}

void cs_ledger_read(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                    const struct cs_actor *actor)
{
    for (struct cs_pending *copy = object->unread, *next; copy; copy = next) {
        next = copy->next;
        if (!span || cs_span_overlap(span, &copy->watched))
            source_read(analysis, copy, actor);
    }
    if (object->born)
        note_consumer(object->born, actor);
    if (object->born)
        tell(analysis, object->born, CS_MOMENT_DESTINATION_READ, actor);
}

/* Settles what no reason can decide any more. */
static void give_up(struct cs_analysis *analysis, struct cs_pending *copy, const struct cs_actor *actor)
{
    struct cs_site *site = &analysis->ledger.sites[copy->site];
    count_why(site, CS_WHY_GONE, actor);
    site->pending--;
    forget(copy);
}

/* The bytes that the object got by the copy it was born for are no more. */
static void destination_gone(struct cs_analysis *analysis, struct cs_object *object, const struct cs_actor *actor)
{
    struct cs_pending *copy = object->born;
    copy->gone = actor->sequence;
    if (tell(analysis, copy, CS_MOMENT_DESTINATION_GONE, actor))
        return;
    object->born = NULL;
    if (!copy->listed)
        give_up(analysis, copy, actor);
}

void cs_ledger_overwritten(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                           const struct cs_actor *actor)
{
    if (object->born)
        note_consumer(object->born, actor);
    if (object->born && cs_span_covers(span, &object->born->to))
        destination_gone(analysis, object, actor);
    else if (object->born && !cs_span_covers(&object->born->to, span))
        tell(analysis, object->born, CS_MOMENT_DESTINATION_EXTENDED, actor);
    for (struct cs_pending *copy = object->unread, *next; copy; copy = next) {
        next = copy->next;
        if (!cs_span_covers(span, &copy->from))
            continue;
        copy->overwritten = actor->sequence;
        copy->ender = *actor;
        if (!tell(analysis, copy, CS_MOMENT_SOURCE_OVERWRITTEN, actor))
            unlist(copy);
    }
}

void cs_ledger_pointed(struct cs_analysis *analysis, struct cs_object *object, uint64_t address)
{
    if (object->born && address >= cs_span_end(&object->born->to))
        tell(analysis, object->born, CS_MOMENT_DESTINATION_EXTENDED, NULL);
}

static void returned_from(struct cs_analysis *analysis, struct cs_object *from, struct cs_object *into,
                          const struct cs_actor *actor)
{
    if (from && from->born && from->born->source == into)
        tell(analysis, from->born, CS_MOMENT_RETURNED, actor);
}

void cs_ledger_returned(struct cs_analysis *analysis, struct cs_object *source, struct cs_object *destination,
                        const struct cs_actor *actor)
{
    returned_from(analysis, source, destination, actor);
    for (size_t i = 0; i < CS_ORIGINS; i++)
        returned_from(analysis, source->origins[i], destination, actor);
}

void cs_ledger_shared(struct cs_analysis *analysis, struct cs_object *object, const struct cs_actor *actor)
{
    struct cs_pending *copy = object->born;
    if (!copy)
        return;
    note_consumer(copy, actor);
    if (copy->source->stamp == object->stamp && (copy->source->stamp_access | object->stamp_access) & CS_ACCESS_WRITE)
        tell(analysis, copy, CS_MOMENT_SHARED, actor);
}

static void source_died(struct cs_analysis *analysis, struct cs_pending *copy, bool seen, const struct cs_actor *actor)
{
    if (!seen || !tell(analysis, copy, CS_MOMENT_SOURCE_FREED, actor))
        give_up(analysis, copy, actor);
}

void cs_ledger_died(struct cs_analysis *analysis, struct cs_object *object, bool seen)
{
    struct cs_actor nobody = {.sequence = object->death};
    for (struct cs_pending *copy = object->unread, *next; copy; copy = next) {
        next = copy->next;
        source_died(analysis, copy, seen, &nobody);
    }
    if (object->born)
        destination_gone(analysis, object, &nobody);
}

void cs_ledger_abandon(struct cs_object *object)
{
    while (object->unread)
        forget(object->unread);
    if (object->born && !object->born->listed)
        forget(object->born);
    object->born = NULL;
}

void cs_ledger_release(struct cs_ledger *ledger)
{
    free(ledger->sites);
    cs_map64_release(&ledger->by_stack);
    memset(ledger, 0, sizeof *ledger);
}
