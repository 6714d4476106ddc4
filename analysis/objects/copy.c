/*
 * copy.c - copies and fills as accesses, and device-to-device copies as entries of the ledger. The analysis thread.
 */
#include "analysis/objects/access.h"
#include "analysis/state.h"

/* One side of a copy, as the object map sees it. */
struct side {
    enum cs_space space;
    struct cs_span span;
    struct cs_object *object; /* that holds all of the span; NULL: several, none, or free space of a pool */
};

static bool on_host(const struct cs_object *object)
{
    return object && object->allocator == CS_ALLOCATOR_HOST;
}

static struct side locate(const struct cs_analysis *analysis, const struct cs_place *place,
                          const struct cs_extent *extent)
{
    struct side side = {.space = place->space, .span = cs_span(place, extent)};
    if (place->space == CS_SPACE_HOST || place->space == CS_SPACE_ARRAY)
        return side;
    struct cs_object *object = cs_map_find(&analysis->map, side.span.address);
    if (side.space == CS_SPACE_UNKNOWN)
        side.space = object && !on_host(object) ? CS_SPACE_DEVICE : CS_SPACE_HOST;
    if (object && !object->pooled && !on_host(object) && cs_span_end(&side.span) <= cs_object_end(object))
        side.object = object;
    return side;
}

/* What is done to each object of a span that does not lie in one. */
struct spread {
    struct cs_analysis *analysis;
    const struct cs_span *span;
    const struct cs_actor *actor;
    bool write, captured;
};

static void touch(void *context, struct cs_object *object)
{
    const struct spread *spread = context;
    if (on_host(object))
        return;
    if (spread->captured)
        cs_unseen_graphed(spread->analysis, object);
    else if (object->pooled)
        cs_access_stray(spread->analysis, object);
    else if (spread->write)
        cs_access_write(spread->analysis, object, spread->actor);
    else
        cs_access_read(spread->analysis, object, spread->span, spread->actor);
}

/* Applies a side that is not one object. */
static void touch_spread(struct cs_analysis *analysis, const struct side *side, const struct cs_actor *actor,
                         bool write, bool captured)
{
    struct spread spread = {analysis, &side->span, actor, write, captured};
    if (!cs_access_each(analysis, side->span.address, cs_span_end(&side->span), touch, &spread) && !captured)
        analysis->unseen.unknown_addresses++;
}

static void read_side(struct cs_analysis *analysis, const struct side *side, const struct cs_actor *actor)
{
    if (side->space != CS_SPACE_DEVICE)
        return;
    if (side->object)
        cs_access_read(analysis, side->object, &side->span, actor);
    else
        touch_spread(analysis, side, actor, false, false);
}

static void write_side(struct cs_analysis *analysis, const struct side *side, struct cs_object *source,
                       const struct cs_actor *actor)
{
    if (side->space != CS_SPACE_DEVICE)
        return;
    if (side->object)
        cs_access_overwrite(analysis, side->object, &side->span, source, actor);
    else
        touch_spread(analysis, side, actor, true, false);
}

static void record_side(struct cs_analysis *analysis, const struct side *side)
{
    if (side->space == CS_SPACE_DEVICE)
        touch_spread(analysis, side, NULL, false, true);
}

static bool between_devices(const struct cs_copy *copy)
{
    return copy->src.device != CS_DEVICE_UNKNOWN && copy->dst.device != CS_DEVICE_UNKNOWN &&
           copy->src.device != copy->dst.device;
}

static uint32_t device_of(const struct cs_copy *copy, const struct side *to)
{
    if (copy->head.device != CS_DEVICE_UNKNOWN)
        return copy->head.device;
    return to->object ? to->object->device : CS_DEVICE_UNKNOWN;
}

static struct cs_copied describe(const struct cs_copy *copy, const struct side *to, const struct side *from,
                                 const struct cs_actor *actor)
{
    struct cs_copied copied = {
        .source = from->object,
        .destination = to->object,
        .from = from->span,
        .to = to->span,
        .actor = *actor,
        .correlation = copy->head.correlation,
        .device = device_of(copy, to),
    };
    if (between_devices(copy))
        copied.why = CS_WHY_TWO_DEVICES;
    else if (!from->object || !to->object)
        copied.why = CS_WHY_UNKNOWN_MEMORY;
    return copied;
}

static void record_copy(struct cs_analysis *analysis, const struct cs_event *event, const struct side *to,
                        const struct side *from)
{
    record_side(analysis, from);
    record_side(analysis, to);
    if (from->space != CS_SPACE_DEVICE || to->space != CS_SPACE_DEVICE)
        return;
    analysis->unseen.captured_copies++;
    analysis->unseen.captured_bytes += cs_span_bytes(&to->span);
    cs_ledger_captured(analysis, event->stack, event->device);
}

static void apply_copy(struct cs_analysis *analysis, const struct cs_copy *copy, const struct side *to,
                       const struct side *from, struct cs_actor *actor)
{
    bool device_to_device = from->space == CS_SPACE_DEVICE && to->space == CS_SPACE_DEVICE;
    struct cs_pending *pending = NULL;
    actor->kind = device_to_device ? CS_ACTOR_COPY : to->space == CS_SPACE_DEVICE ? CS_ACTOR_UPLOAD : CS_ACTOR_DOWNLOAD;
    if (device_to_device) {
        struct cs_copied copied = describe(copy, to, from, actor);
        pending = cs_ledger_copied(analysis, &copied);
    }
    read_side(analysis, from, actor);
    if (from->object && to->object)
        cs_ledger_returned(analysis, from->object, to->object, actor);
    write_side(analysis, to, from->object, actor);
    if (device_to_device && from->object)
        from->object->copied_on = true;
    if (pending)
        cs_ledger_open(pending);
    /* The hooks look for addresses in what the call itself says comes from the host. */
    if (actor->kind == CS_ACTOR_UPLOAD && copy->src.space == CS_SPACE_UNKNOWN)
        analysis->unseen.escaped_all = copy->head.sequence;
}

void cs_on_copy(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_copy *copy = (const struct cs_copy *)event;
    struct cs_actor actor = {.sequence = event->sequence, .stack = event->stack};
    if (!copy->extent.width || !copy->extent.height || !copy->extent.depth)
        return;
    struct side to = locate(analysis, &copy->dst, &copy->extent);
    struct side from = locate(analysis, &copy->src, &copy->extent);
    if (event->flags & CS_FLAG_CAPTURED)
        record_copy(analysis, event, &to, &from);
    else
        apply_copy(analysis, copy, &to, &from, &actor);
}

void cs_on_fill(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_fill *fill = (const struct cs_fill *)event;
    struct cs_actor actor = {.sequence = event->sequence, .kind = CS_ACTOR_FILL, .stack = event->stack};
    if (!fill->extent.width || !fill->extent.height || !fill->extent.depth)
        return;
    struct side to = locate(analysis, &fill->dst, &fill->extent);
    if (event->flags & CS_FLAG_CAPTURED)
        record_side(analysis, &to);
    else
        write_side(analysis, &to, NULL, &actor);
}
