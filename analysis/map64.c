/*
 * map64.c - see map64.h. One thread at a time.
 */
#include "analysis/map64.h"

#include <stdlib.h>

struct cs_map64_slot {
    uint64_t key, value;
    bool used;
};

static size_t home(const struct cs_map64 *map, uint64_t key)
{
    return cs_mix64(key) & (map->capacity - 1);
}

/* The slot that holds `key`, or the empty one where it would go. */
static size_t probe(const struct cs_map64 *map, uint64_t key)
{
    size_t at = home(map, key);
    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

uint64_t *cs_map64_get(const struct cs_map64 *map, uint64_t key)
{
    if (!map->count)
        return NULL;
    struct cs_map64_slot *slot = &map->slots[probe(map, key)];
    return slot->used ? &slot->value : NULL;
}

static int grow(struct cs_map64 *map)
{
    struct cs_map64 larger = {.capacity = map->capacity ? map->capacity * 2 : 64, .count = map->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            larger.slots[probe(&larger, map->slots[i].key)] = map->slots[i];
    free(map->slots);
    *map = larger;
    return 0;
}

int cs_map64_put(struct cs_map64 *map, uint64_t key, uint64_t value)
{
    if (map->count + 1 > map->capacity / 4 * 3 && grow(map))
        return -1;
    struct cs_map64_slot *slot = &map->slots[probe(map, key)];
    map->count += !slot->used;
    *slot = (struct cs_map64_slot){key, value, true};
    return 0;
}

void cs_map64_remove(struct cs_map64 *map, uint64_t key)
{
    if (!map->count)
        return;
    size_t mask = map->capacity - 1, hole = probe(map, key);
    if (!map->slots[hole].used)
        return;
    for (size_t at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask)
        if (((at - home(map, map->slots[at].key)) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    map->slots[hole].used = false;
    map->count--;
}

void cs_map64_each(const struct cs_map64 *map, void (*each)(void *context, uint64_t key, uint64_t value), void *context)
{
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            each(context, map->slots[i].key, map->slots[i].value);
}

void cs_map64_release(struct cs_map64 *map)
{
    free(map->slots);
    *map = (struct cs_map64){0};
}
