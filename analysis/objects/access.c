/*
 * access.c - see access.h. The analysis thread.
 */
#include "analysis/objects/access.h"

#include "analysis/objects/map.h"
#include "analysis/state.h"

static void note_stream(const struct cs_analysis *analysis, struct cs_object *object)
{
    object->read_elsewhere |= object->read && object->read_stream != analysis->stream;
    if (!object->read)
        object->read_stream = analysis->stream;
    object->read = true;
}

void cs_access_read(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                    const struct cs_actor *actor)
{
    cs_ledger_read(analysis, object, span, actor);
    object->reader = *actor;
    object->used = true;
    note_stream(analysis, object);
}

static void note_write(struct cs_object *object, const struct cs_actor *actor)
{
    object->version++;
    object->writer = *actor;
    if (object->born && !object->changed)
        object->changed = actor->sequence;
}

void cs_access_write(struct cs_analysis *analysis, struct cs_object *object, const struct cs_actor *actor)
{
    (void)analysis;
    note_write(object, actor);
    object->used = true;
}

static bool covers_object(const struct cs_span *span, const struct cs_object *object)
{
    struct cs_span whole = cs_span_run(object->address, object->size);
    return cs_span_covers(span, &whole);
}

static size_t add_origin(struct cs_object **origins, size_t count, struct cs_object *origin,
                         const struct cs_object *self)
{
    if (!origin || origin == self || count == CS_ORIGINS)
        return count;
    for (size_t i = 0; i < count; i++)
        if (origins[i] == origin)
            return count;
    origins[count] = cs_object_hold(origin);
    return count + 1;
}

/* The source, what it came from, and, unless all of it was overwritten, what was there before. */
static void note_origins(struct cs_object *object, const struct cs_span *span, struct cs_object *source)
{
    struct cs_object *origins[CS_ORIGINS] = {0}, *old[CS_ORIGINS];
    bool whole = covers_object(span, object);
    size_t count = 0;
    if (!source && !whole)
        return;
    count = add_origin(origins, count, source, object);
    for (size_t i = 0; source && i < CS_ORIGINS; i++)
        count = add_origin(origins, count, source->origins[i], object);
    for (size_t i = 0; !whole && i < CS_ORIGINS; i++)
        count = add_origin(origins, count, object->origins[i], object);
    for (size_t i = 0; i < CS_ORIGINS; i++) {
        old[i] = object->origins[i];
        object->origins[i] = origins[i];
    }
    for (size_t i = 0; i < CS_ORIGINS; i++)
        cs_object_drop(old[i]);
}

static void note_fill(struct cs_object *object, const struct cs_span *span)
{
    uint64_t end = cs_span_end(span);
    if (!object->filled_to || span->address < object->filled_from)
        object->filled_from = span->address;
    if (end > object->filled_to)
        object->filled_to = end;
}

void cs_access_overwrite(struct cs_analysis *analysis, struct cs_object *object, const struct cs_span *span,
                         struct cs_object *source, const struct cs_actor *actor)
{
    cs_ledger_overwritten(analysis, object, span, actor);
    note_write(object, actor);
    note_origins(object, span, source);
    if (actor->kind == CS_ACTOR_FILL)
        note_fill(object, span);
    else
        object->used = true;
}

void cs_access_stray(struct cs_analysis *analysis, struct cs_object *allocation)
{
    allocation->strayed = analysis->sequence;
    analysis->unseen.strays++;
}

/* The blocks of [low, high); returns how many of its bytes lie in them. */
static uint64_t each_block(struct cs_analysis *analysis, uint64_t low, uint64_t high,
                           void (*each)(void *context, struct cs_object *object), void *context, size_t *count)
{
    uint64_t bytes = 0;
    struct cs_object *block;
    while (low < high && (block = cs_map_first_block(&analysis->map, low, high))) {
        uint64_t from = block->address > low ? block->address : low;
        uint64_t to = cs_object_end(block) < high ? cs_object_end(block) : high;
        bytes += to - from;
        low = cs_object_end(block);
        each(context, block);
        ++*count;
    }
    return bytes;
}

size_t cs_access_each(struct cs_analysis *analysis, uint64_t low, uint64_t high,
                      void (*each)(void *context, struct cs_object *object), void *context)
{
    size_t count = 0;
    if (each_block(analysis, low, high, each, context, &count) == high - low)
        return count;
    struct cs_object *allocation;
    while (low < high && (allocation = cs_map_first_allocation(&analysis->map, low, high))) {
        low = cs_object_end(allocation);
        each(context, allocation);
        count++;
    }
    return count;
}
