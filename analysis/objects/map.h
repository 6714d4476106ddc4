/*
 * map.h - which object holds an address. Two layers: allocations, and a framework's blocks inside them; the finer wins.
 *
 * Threads: the analysis thread. A zeroed struct is an empty map.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_MAP_H
#define COPYSPY_ANALYSIS_OBJECTS_MAP_H

#include "analysis/objects/object.h"

struct cs_map {
    struct cs_object *allocations, *blocks; /* treaps by address; no two objects of a layer overlap */
    uint64_t generations;
    size_t live;
};

/* A new live object, known to the map. The caller has removed what overlaps it. NULL when memory ran out. */
struct cs_object *cs_map_add(struct cs_map *map, uint64_t address, uint64_t size, uint32_t allocator);
/* Takes the object out and drops the map's reference. */
void cs_map_remove(struct cs_map *map, struct cs_object *object);

/* The allocation, or the block, that holds the address; or NULL. */
struct cs_object *cs_map_allocation(const struct cs_map *map, uint64_t address);
struct cs_object *cs_map_block(const struct cs_map *map, uint64_t address);
/* The finest object that holds the address, or NULL; for free space of a pooled allocation, that allocation. */
struct cs_object *cs_map_find(const struct cs_map *map, uint64_t address);

/* The first object of a layer with a byte in [low, high), or NULL. */
struct cs_object *cs_map_first_allocation(const struct cs_map *map, uint64_t low, uint64_t high);
struct cs_object *cs_map_first_block(const struct cs_map *map, uint64_t low, uint64_t high);

struct cs_object *cs_object_hold(struct cs_object *object);
/* Drops a reference; the last one frees it. NULL is allowed. */
void cs_object_drop(struct cs_object *object);

/* The object's bytes came from nowhere that matters any more. Whoever takes an object out of use calls it: origins may
 * form circles. */
void cs_object_forget_origins(struct cs_object *object);

/* Frees everything that is in the map. */
void cs_map_release(struct cs_map *map);

static inline uint64_t cs_object_end(const struct cs_object *object)
{
    return object->address + object->size;
}

#endif
