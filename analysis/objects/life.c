/*
 * life.c - births and deaths of objects, and addresses that escape. The analysis thread.
 */
#include "analysis/objects/access.h"
#include "analysis/state.h"

/* `seen`: the program freed it; else its memory is known to be used for something else. */
static void die(struct cs_analysis *analysis, struct cs_object *object, bool seen)
{
    object->death = analysis->sequence;
    if (analysis->ended)
        cs_ledger_abandon(object);
    else
        cs_ledger_died(analysis, object, seen);
    /* A graph goes on using its addresses after a block was freed: whoever gets memory there can be reached, too. */
    if (object->graphed && object->parent && !object->parent->graphed)
        object->parent->graphed = object->graphed;
    cs_object_forget_origins(object);
    cs_map_remove(&analysis->map, object);
}

static void clear_blocks(struct cs_analysis *analysis, uint64_t low, uint64_t high, bool seen)
{
    struct cs_object *object;
    while ((object = cs_map_first_block(&analysis->map, low, high)))
        die(analysis, object, seen);
}

static void clear_allocations(struct cs_analysis *analysis, uint64_t low, uint64_t high)
{
    struct cs_object *object;
    while ((object = cs_map_first_allocation(&analysis->map, low, high)))
        die(analysis, object, false);
}

static void adopt(struct cs_analysis *analysis, struct cs_object *block)
{
    struct cs_object *parent = cs_map_allocation(&analysis->map, block->address);
    if (!parent || parent->allocator == CS_ALLOCATOR_HOST)
        return;
    block->parent = cs_object_hold(parent);
    parent->pooled = true;
}

void cs_on_alloc(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_allocation *allocation = (const struct cs_allocation *)event;
    uint64_t low = allocation->address, high = low + allocation->size;
    bool framework = allocation->allocator == CS_ALLOCATOR_C10;
    if (!low || high <= low)
        return;
    clear_blocks(analysis, low, high, false);
    if (!framework)
        clear_allocations(analysis, low, high);
    struct cs_object *object = cs_map_add(&analysis->map, low, allocation->size, allocation->allocator);
    if (!object) {
        cs_unseen_everything(analysis, CS_WHY_LOST, NULL);
        return;
    }
    object->birth = event->sequence;
    object->device = event->device;
    if (framework)
        adopt(analysis, object);
}

void cs_on_free(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_allocation *allocation = (const struct cs_allocation *)event;
    bool framework = event->flags & CS_FLAG_FRAMEWORK || allocation->allocator == CS_ALLOCATOR_C10;
    struct cs_object *object = framework ? cs_map_block(&analysis->map, allocation->address)
                                         : cs_map_allocation(&analysis->map, allocation->address);
    if (!object || object->address != allocation->address)
        return;
    if (!framework)
        clear_blocks(analysis, object->address, cs_object_end(object), true);
    die(analysis, object, true);
}

void cs_on_escape(struct cs_analysis *analysis, const struct cs_event *event)
{
    uint64_t address = ((const struct cs_escape *)event)->address;
    if (!address) {
        analysis->unseen.escaped_all = event->sequence;
        return;
    }
    struct cs_object *object = cs_map_find(&analysis->map, address);
    if (object && !object->escaped)
        object->escaped = event->sequence;
}
