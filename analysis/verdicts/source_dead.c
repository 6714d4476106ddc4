/*
 * source_dead.c - source-dead: the source is never read again after the copy, so the program could have gone on in the
 * source's own memory.
 *
 * A copy is source-dead when
 * - (a) its destination was born for it: nothing but a fill, which nobody read and the copy hides, wrote there before,
 *   and the copy gives the destination all that it holds;
 * - (b) none of the copied bytes is read in the source again until it is freed, or until a copy or fill that does not
 *   come from the destination has overwritten them all;
 * - (c) no kernel accessed both sides with a write on one of them;
 * - (d) the bytes never came back from the destination into the source;
 * - (e) the two are different memory of one device;
 * - (f) nothing that cannot be followed may have touched either side in the meantime;
 * - (g) the source was read on one stream only, the copy's: else the copy may keep a later write from overtaking a
 * read.
 *
 * A kernel's write to the source does not save it: it only makes the old bytes unreadable.
 */
#include "analysis/objects/map.h"
#include "analysis/state.h"
#include "analysis/verdicts/verdict.h"

/* (a) A block's size is rounded up by PyTorch's allocator: to 512 bytes, and above 1 MiB by up to 1 MiB more, since so
 * small a rest is not split off. */
static uint64_t slack(const struct cs_object *object)
{
    const uint64_t mebibyte = 1 << 20;
    if (object->allocator != CS_ALLOCATOR_C10)
        return 0;
    return object->size > mebibyte ? mebibyte + 511 : 511;
}

static bool fills_destination(const struct cs_pending *copy)
{
    const struct cs_object *to = copy->destination;
    struct cs_span whole = cs_span_run(to->address, to->size - (to->size > slack(to) ? slack(to) : 0));
    return cs_span_covers(&copy->to, &whole);
}

/* The source has room for all that the destination could hold: it can stand in for it where it dies as a whole. */
static bool has_room(const struct cs_pending *copy)
{
    const struct cs_object *from = copy->source, *to = copy->destination;
    return copy->from.address == from->address && copy->to.address == to->address && from->size >= to->size;
}

static bool hides_fills(const struct cs_pending *copy)
{
    const struct cs_object *to = copy->destination;
    struct cs_span filled = cs_span_run(to->filled_from, to->filled_to - to->filled_from);
    return !to->filled_to || cs_span_covers(&copy->to, &filled);
}

static struct cs_outcome born_for_this(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    const struct cs_object *to = copy->destination;
    struct cs_actor who;
    enum cs_why unseen = cs_unseen_touched(analysis, to, to->birth, &who);
    if (to->used)
        return cs_stands(CS_WHY_DESTINATION_OLD, NULL);
    if (unseen)
        return cs_stands(unseen, &who);
    bool fits = hides_fills(copy) && (fills_destination(copy) || has_room(copy));
    return fits ? cs_open() : cs_stands(CS_WHY_DESTINATION_LARGER, NULL);
}

static bool on_two_devices(const struct cs_object *a, const struct cs_object *b)
{
    return a->device != b->device || a->device == CS_DEVICE_UNKNOWN;
}

/* What goes on in the destination could overtake a read of the source on another stream; the copy may be there for
 * that. */
static bool read_on_two_streams(const struct cs_object *source)
{
    return source->read_elsewhere;
}

/* (e), (f) for the copy itself, then (a) */
static struct cs_outcome at_copy(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    if (copy->source == copy->destination)
        return cs_stands(CS_WHY_SAME_MEMORY, NULL);
    if (on_two_devices(copy->source, copy->destination))
        return cs_stands(CS_WHY_TWO_DEVICES, NULL);
    if (analysis->unseen.blind)
        return cs_stands(CS_WHY_BLIND, NULL);
    return born_for_this(analysis, copy);
}

/* (b) failed. Whether the copy is even needed: yes if the destination had been changed by then. */
static struct cs_outcome at_source_read(const struct cs_pending *copy, const struct cs_actor *actor)
{
    if (copy->destination->changed)
        return cs_stands(CS_WHY_DIVERGED, actor);
    return copy->gone ? cs_stands(CS_WHY_READ_AGAIN, actor) : cs_open();
}

/* The source was read again and has been changed since the copy: the destination's reader needs the old bytes. */
static struct cs_outcome at_destination_read(const struct cs_pending *copy, const struct cs_actor *actor)
{
    bool source_changed = copy->source->writer.sequence > copy->sequence;
    return copy->read_again && source_changed ? cs_stands(CS_WHY_DIVERGED, actor) : cs_open();
}

/* What seemed to be the block's rounding is used: the destination is the source and more (a growing cat, a padded
 * copy). A buffer of the program's own that has the same room could have taken that, too. */
static struct cs_outcome at_destination_extended(const struct cs_pending *copy)
{
    bool own_room = copy->source->allocator != CS_ALLOCATOR_C10 && has_room(copy);
    return own_room ? cs_open() : cs_stands(CS_WHY_DESTINATION_LARGER, NULL);
}

static bool was_followed_address_nearby(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    return analysis->unseen.opaque_read.sequence > copy->sequence ||
           analysis->unseen.opaque_write.sequence > copy->sequence;
}

/*
 * Proven: every access, extent and lifetime is exact. Likely: mapped memory, whose extent is that of a mapping; a
 * destination that is larger than the source, by what seems to be the allocator's rounding; or a
 * kernel ran that follows addresses in memory and none is known to lead here. Possible: the source is far larger than
 * what was copied, and freeing it may be what the copy is for; or it is managed memory, which the host may read unseen.
 */
static enum cs_confidence confidence(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    const struct cs_object *from = copy->source, *to = copy->destination;
    if (from->size / 2 > to->size || from->allocator == CS_ALLOCATOR_MANAGED)
        return CS_CONFIDENCE_POSSIBLE;
    if (from->allocator == CS_ALLOCATOR_MAPPED || to->allocator == CS_ALLOCATOR_MAPPED || to->size > from->size ||
        was_followed_address_nearby(analysis, copy))
        return CS_CONFIDENCE_LIKELY;
    return CS_CONFIDENCE_PROVEN;
}

/* (b) holds, and with it (c) and (d), or the copy would have been settled before; (f) remains. */
static struct cs_outcome source_is_dead(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    struct cs_actor who;
    enum cs_why unseen = cs_unseen_touched(analysis, copy->source, copy->sequence, &who);
    if (unseen)
        return cs_stands(unseen, &who);
    if (read_on_two_streams(copy->source))
        return cs_stands(CS_WHY_TWO_STREAMS, NULL);
    return (struct cs_outcome){.decision = CS_DECISION_REDUNDANT, .confidence = confidence(analysis, copy)};
}

static struct cs_outcome at_source_freed(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    return copy->read_again ? cs_open() : source_is_dead(analysis, copy);
}

/*
 * The source's memory lives on with other bytes. Until the destination's bytes are gone the old ones could still come
 * back (a snapshot that is restored only later), and even after that if they were copied on.
 */
static struct cs_outcome at_source_overwritten(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    if (!fills_destination(copy))
        return cs_stands(CS_WHY_DESTINATION_LARGER, NULL); /* the rest of the source's memory may live on */
    if (cs_unseen_in_graph(copy->source))
        return cs_stands(CS_WHY_FIXED_ADDRESS, NULL); /* what comes next must come here, nowhere else */
    if (copy->destination->copied_on)
        return cs_stands(CS_WHY_COPIED_ON, NULL);
    return copy->gone ? source_is_dead(analysis, copy) : cs_open();
}

static struct cs_outcome at_destination_gone(const struct cs_analysis *analysis, const struct cs_pending *copy)
{
    if (copy->overwritten)
        return at_source_overwritten(analysis, copy);
    if (!copy->read_again)
        return cs_open(); /* the source lives on, unread */
    bool differed = copy->destination->changed && copy->source->reader.sequence > copy->destination->changed;
    return cs_stands(differed ? CS_WHY_DIVERGED : CS_WHY_READ_AGAIN, differed ? &copy->source->reader : &copy->reader);
}

static struct cs_outcome judge(const struct cs_analysis *analysis, const struct cs_pending *copy, enum cs_moment moment,
                               const struct cs_actor *actor)
{
    switch (moment) {
    case CS_MOMENT_COPY:
        return at_copy(analysis, copy);
    case CS_MOMENT_SOURCE_READ:
        return at_source_read(copy, actor);
    case CS_MOMENT_SHARED:
        return cs_stands(CS_WHY_HAZARD, actor);
    case CS_MOMENT_RETURNED:
        return cs_stands(CS_WHY_RETURNED, actor);
    case CS_MOMENT_SOURCE_OVERWRITTEN:
        return at_source_overwritten(analysis, copy);
    case CS_MOMENT_SOURCE_FREED:
        return at_source_freed(analysis, copy);
    case CS_MOMENT_DESTINATION_READ:
        return at_destination_read(copy, actor);
    case CS_MOMENT_DESTINATION_EXTENDED:
        return at_destination_extended(copy);
    case CS_MOMENT_DESTINATION_GONE:
        return at_destination_gone(analysis, copy);
    }
    return cs_open();
}

const struct cs_verdict cs_source_dead = {
    .reason = "source-dead",
    .headline = "redundant copy: its source is never read again",
    .judge = judge,
};
