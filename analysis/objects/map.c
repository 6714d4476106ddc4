/*
 * map.c - see map.h. Treaps: balanced by priorities mixed from the generation, so the same events give the same shape.
 */
#include "analysis/objects/map.h"

#include <stdlib.h>

#include "analysis/map64.h"

static struct cs_object **layer(struct cs_map *map, uint32_t allocator)
{
    return allocator == CS_ALLOCATOR_C10 ? &map->blocks : &map->allocations;
}

/* Splits by address: *low gets what starts before it, *high the rest. */
static void split(struct cs_object *tree, uint64_t address, struct cs_object **low, struct cs_object **high)
{
    if (!tree) {
        *low = *high = NULL;
    } else if (tree->address < address) {
        *low = tree;
        split(tree->right, address, &tree->right, high);
    } else {
        *high = tree;
        split(tree->left, address, low, &tree->left);
    }
}

static struct cs_object *join(struct cs_object *low, struct cs_object *high)
{
    if (!low || !high)
        return low ? low : high;
    if (low->priority > high->priority) {
        low->right = join(low->right, high);
        return low;
    }
    high->left = join(low, high->left);
    return high;
}

static void insert(struct cs_object **tree, struct cs_object *object)
{
    while (*tree && (*tree)->priority >= object->priority)
        tree = object->address < (*tree)->address ? &(*tree)->left : &(*tree)->right;
    split(*tree, object->address, &object->left, &object->right);
    *tree = object;
}

struct cs_object *cs_map_add(struct cs_map *map, uint64_t address, uint64_t size, uint32_t allocator)
{
    struct cs_object *object = calloc(1, sizeof *object);
    if (!object)
        return NULL;
    object->references = 1;
    object->address = address;
    object->size = size;
    object->allocator = allocator;
    object->generation = ++map->generations;
    object->priority = cs_mix64(object->generation);
    insert(layer(map, allocator), object);
    map->live++;
    return object;
}

void cs_map_remove(struct cs_map *map, struct cs_object *object)
{
    struct cs_object **at = layer(map, object->allocator);
    while (*at && *at != object)
        at = object->address < (*at)->address ? &(*at)->left : &(*at)->right;
    if (!*at)
        return;
    *at = join(object->left, object->right);
    object->left = object->right = NULL;
    map->live--;
    cs_object_drop(object);
}

static struct cs_object *holder(struct cs_object *tree, uint64_t address)
{
    struct cs_object *best = NULL;
    while (tree) {
        if (tree->address <= address) {
            best = tree;
            tree = tree->right;
        } else {
            tree = tree->left;
        }
    }
    return best && address - best->address < best->size ? best : NULL;
}

static struct cs_object *first(struct cs_object *tree, uint64_t low, uint64_t high)
{
    struct cs_object *best = holder(tree, low);
    if (best)
        return best;
    while (tree) {
        if (tree->address >= low) {
            best = tree;
            tree = tree->left;
        } else {
            tree = tree->right;
        }
    }
    return best && best->address < high ? best : NULL;
}

struct cs_object *cs_map_allocation(const struct cs_map *map, uint64_t address)
{
    return holder(map->allocations, address);
}

struct cs_object *cs_map_block(const struct cs_map *map, uint64_t address)
{
    return holder(map->blocks, address);
}

struct cs_object *cs_map_find(const struct cs_map *map, uint64_t address)
{
    struct cs_object *block = cs_map_block(map, address);
    return block ? block : cs_map_allocation(map, address);
}

struct cs_object *cs_map_first_allocation(const struct cs_map *map, uint64_t low, uint64_t high)
{
    return first(map->allocations, low, high);
}

struct cs_object *cs_map_first_block(const struct cs_map *map, uint64_t low, uint64_t high)
{
    return first(map->blocks, low, high);
}

struct cs_object *cs_object_hold(struct cs_object *object)
{
    if (object)
        object->references++;
    return object;
}

void cs_object_forget_origins(struct cs_object *object)
{
    for (size_t i = 0; i < CS_ORIGINS; i++) {
        struct cs_object *origin = object->origins[i];
        object->origins[i] = NULL;
        cs_object_drop(origin);
    }
}

void cs_object_drop(struct cs_object *object)
{
    if (!object || --object->references)
        return;
    cs_object_forget_origins(object);
    cs_object_drop(object->parent);
    free(object);
}

/* Two objects that were copied into each other hold each other. */
static void forget_all_origins(struct cs_object *tree)
{
    if (!tree)
        return;
    forget_all_origins(tree->left);
    forget_all_origins(tree->right);
    cs_object_forget_origins(tree);
}

static void release(struct cs_object *tree)
{
    if (!tree)
        return;
    release(tree->left);
    release(tree->right);
    cs_object_drop(tree);
}

void cs_map_release(struct cs_map *map)
{
    forget_all_origins(map->blocks);
    forget_all_origins(map->allocations);
    release(map->blocks);
    release(map->allocations);
    *map = (struct cs_map){0};
}
