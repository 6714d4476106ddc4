/*
 * launch.c - a kernel launch as accesses: the words of its parameters that its code uses as addresses, looked up among
 * the objects. The analysis thread.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/objects/access.h"
#include "analysis/state.h"

/* Numbers this small are no addresses: null plus an offset. */
#define LOWEST_ADDRESS 4096

static void add_access(struct cs_analysis *analysis, struct cs_object *object, uint32_t access)
{
    if (object->stamp == analysis->sequence) {
        object->stamp_access |= access;
        return;
    }
    if (analysis->accessed_count == analysis->accessed_capacity) {
        size_t capacity = analysis->accessed_capacity ? analysis->accessed_capacity * 2 : 64;
        struct cs_object **grown = realloc(analysis->accessed, capacity * sizeof(struct cs_object *));
        if (!grown) {
            cs_unseen_everything(analysis, CS_WHY_LOST, NULL);
            return;
        }
        analysis->accessed = grown;
        analysis->accessed_capacity = capacity;
    }
    object->stamp = analysis->sequence;
    object->stamp_access = access;
    analysis->accessed[analysis->accessed_count++] = object;
}

/* The object behind a word, or NULL. */
static struct cs_object *device_object(struct cs_analysis *analysis, uint64_t word)
{
    struct cs_object *object = cs_map_find(&analysis->map, word);
    return object && object->allocator != CS_ALLOCATOR_HOST ? object : NULL;
}

static void through_pointer(struct cs_analysis *analysis, uint64_t word, uint32_t access)
{
    if (word < LOWEST_ADDRESS)
        return;
    struct cs_object *object = cs_map_find(&analysis->map, word);
    if (!object)
        analysis->unseen.unknown_addresses++;
    else if (object->pooled)
        cs_access_stray(analysis, object);
    else {
        analysis->host_memory_passed |= cs_object_is_shared(object);
        if (object->allocator == CS_ALLOCATOR_HOST)
            return;
        cs_ledger_pointed(analysis, object, word);
        add_access(analysis, object, access);
    }
}

/* One of these words is the address; the others may hold anything. */
static void through_any(struct cs_analysis *analysis, const uint8_t *words, uint32_t size, uint32_t access)
{
    for (uint32_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, words + at, sizeof word);
        struct cs_object *object = device_object(analysis, word);
        if (object && !object->pooled)
            add_access(analysis, object, access);
    }
}

/* Returns -1 when the slot lies outside the parameters that were passed. */
static int through_slot(struct cs_analysis *analysis, const struct cs_launch *launch, const struct cs_slot *slot)
{
    uint64_t word;
    if (!slot->access)
        return 0;
    if ((uint64_t)slot->offset + slot->size > launch->parameter_bytes ||
        (slot->kind == CS_SLOT_POINTER && slot->size < sizeof word))
        return -1;
    if (slot->kind == CS_SLOT_POINTER) {
        memcpy(&word, launch->parameters + slot->offset, sizeof word);
        through_pointer(analysis, word, slot->access);
    } else {
        /* words are aligned in the parameters, not in the slot */
        uint32_t skip = -slot->offset & 7;
        if (slot->size > skip)
            through_any(analysis, launch->parameters + slot->offset + skip, slot->size - skip, slot->access);
    }
    return 0;
}

static enum cs_gap collect(struct cs_analysis *analysis, const struct cs_launch *launch, const struct cs_kernel *kernel)
{
    if (!kernel->found)
        return CS_GAP_NO_CODE;
    if (kernel->incomplete)
        return CS_GAP_NOT_FOLLOWED;
    if (!launch->parameter_bytes && kernel->slot_count)
        return CS_GAP_NO_PARAMETERS;
    for (size_t i = 0; i < kernel->slot_count; i++)
        if (through_slot(analysis, launch, &kernel->slots[i]))
            return CS_GAP_NO_PARAMETERS;
    return CS_GAP_NONE;
}

static void apply(struct cs_analysis *analysis, const struct cs_actor *kernel)
{
    struct cs_actor actor = *kernel;
    for (size_t i = 0; i < analysis->accessed_count; i++) {
        struct cs_object *object = analysis->accessed[i];
        actor.access = object->stamp_access;
        cs_ledger_shared(analysis, object, &actor);
    }
    for (size_t i = 0; i < analysis->accessed_count; i++) {
        struct cs_object *object = analysis->accessed[i];
        actor.access = object->stamp_access;
        if (object->stamp_access & CS_ACCESS_STORED && !object->escaped)
            object->escaped = analysis->sequence;
        if (object->stamp_access & CS_ACCESS_READ)
            cs_access_read(analysis, object, NULL, &actor);
    }
    for (size_t i = 0; i < analysis->accessed_count; i++)
        if (analysis->accessed[i]->stamp_access & CS_ACCESS_WRITE) {
            actor.access = analysis->accessed[i]->stamp_access;
            cs_access_write(analysis, analysis->accessed[i], &actor);
        }
}

/* Recorded into a graph: not executed now, but whenever the graph is launched. */
static void record(struct cs_analysis *analysis, bool anything)
{
    if (anything)
        analysis->unseen.graph_reaches_all = true;
    for (size_t i = 0; i < analysis->accessed_count; i++)
        cs_unseen_graphed(analysis, analysis->accessed[i]);
}

static void not_understood(struct cs_analysis *analysis, struct cs_kernel *kernel, enum cs_gap gap,
                           const struct cs_actor *actor)
{
    if (kernel) {
        kernel->not_understood++;
        kernel->gap = gap;
    } else {
        analysis->unseen.unnamed_launches++;
    }
    cs_unseen_everything(analysis, CS_WHY_NOT_UNDERSTOOD, actor);
}

void cs_on_launch(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_launch *launch = (const struct cs_launch *)event;
    struct cs_actor actor = {event->sequence, CS_ACTOR_KERNEL, event->stack,
                             cs_kernels_launched(analysis, launch->kernel), 0};
    struct cs_kernel *kernel = actor.kernel == UINT32_MAX ? NULL : analysis->kernels.kernels[actor.kernel];
    bool captured = event->flags & CS_FLAG_CAPTURED;
    analysis->accessed_count = 0;
    analysis->host_memory_passed = false;
    enum cs_gap gap = kernel ? collect(analysis, launch, kernel) : CS_GAP_UNNAMED;
    if (captured) {
        record(analysis, gap || kernel->opaque_read || kernel->opaque_write);
        return;
    }
    apply(analysis, &actor);
    if (gap) {
        not_understood(analysis, kernel, gap, &actor);
        return;
    }
    /* Addresses that the host wrote into memory which both can reach were never copied, so nobody saw them. */
    if (analysis->host_memory_passed && (kernel->opaque_read || kernel->opaque_write))
        analysis->unseen.escaped_all = event->sequence;
    if (kernel->opaque_read)
        analysis->unseen.opaque_read = actor;
    if (kernel->opaque_write)
        analysis->unseen.opaque_write = actor;
}
