/*
 * c10_cuda.c - libc10_cuda.so: a caching allocator in the manner of PyTorch's. Segments come from cudaMalloc and stay;
 * blocks are cut out of them, merged with free neighbours and handed out again; each is reported across the library
 * boundary, under the allocator's lock, by its block size.
 *
 * Threads: any; one lock.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/c10.h"

#define ROUND ((size_t)512)
#define SMALL_LIMIT ((size_t)1 << 20) /* up to here from segments of SMALL_SEGMENT */
#define SMALL_SEGMENT ((size_t)2 << 20)
#define MIDDLE_LIMIT ((size_t)10 << 20) /* up to here from segments of MIDDLE_SEGMENT */
#define MIDDLE_SEGMENT ((size_t)20 << 20)

/* The blocks of all segments, by address within a segment: neighbours of one segment are linked both ways. */
struct block {
    char *pointer;
    size_t size;
    int device;
    bool live, small, first; /* first: of its segment */
    struct block *previous, *next;
};

static struct {
    pthread_mutex_t lock;
    struct block *blocks; /* the list of all, segment after segment */
    size_t allocated, reserved;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void report(const struct block *block, int64_t size)
{
    struct sim_c10_device device = {SIM_C10_CUDA, (int8_t)block->device};
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(block->pointer, size, cache.allocated, cache.reserved,
                                                          device);
}

static size_t segment_size(size_t size)
{
    if (size <= SMALL_LIMIT)
        return SMALL_SEGMENT;
    return size < MIDDLE_LIMIT ? MIDDLE_SEGMENT : (size + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

static void link_after(struct block *block, struct block *previous)
{
    block->previous = previous;
    block->next = previous ? previous->next : cache.blocks;
    if (block->next)
        block->next->previous = block;
    if (previous)
        previous->next = block;
    else
        cache.blocks = block;
}

static void unlink_block(struct block *block)
{
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else
        cache.blocks = block->next;
    free(block);
}

static struct block *best_fit(size_t size, int device)
{
    struct block *best = NULL;
    for (struct block *block = cache.blocks; block; block = block->next)
        if (!block->live && block->device == device && block->small == (size <= SMALL_LIMIT) && block->size >= size &&
            (!best || block->size < best->size))
            best = block;
    return best;
}

static struct block *new_segment(size_t size, int device)
{
    void *memory;
    struct block *block = calloc(1, sizeof *block);
    if (!block || cudaMalloc(&memory, segment_size(size)) != cudaSuccess) {
        free(block);
        return NULL;
    }
    *block = (struct block){
        .pointer = memory, .size = segment_size(size), .device = device, .small = size <= SMALL_LIMIT, .first = true};
    link_after(block, NULL);
    cache.reserved += block->size;
    return block;
}

/* Cuts off what is not asked for; a large block keeps a rest of up to 1 MiB, as PyTorch's does. */
static void split(struct block *block, size_t size)
{
    size_t rest = block->size - size;
    if (rest < (block->small ? ROUND : SMALL_LIMIT + 1))
        return;
    struct block *tail = calloc(1, sizeof *tail);
    if (!tail)
        return;
    *tail =
        (struct block){.pointer = block->pointer + size, .size = rest, .device = block->device, .small = block->small};
    block->size = size;
    link_after(tail, block);
}

SIM_C10_EXPORT void *sim_c10_alloc(size_t size)
{
    int device = 0;
    if (size == 0 || cudaGetDevice(&device) != cudaSuccess)
        return NULL;
    size = (size + ROUND - 1) / ROUND * ROUND;
    pthread_mutex_lock(&cache.lock);
    struct block *block = best_fit(size, device);
    if (!block)
        block = new_segment(size, device);
    if (block) {
        split(block, size);
        block->live = true;
        cache.allocated += block->size;
        report(block, (int64_t)block->size);
    }
    void *pointer = block ? block->pointer : NULL;
    pthread_mutex_unlock(&cache.lock);
    return pointer;
}

/* Joins a block with its successor when both are free parts of one segment. */
static void merge(struct block *block)
{
    struct block *next = block ? block->next : NULL;
    if (!next || block->live || next->live || next->first)
        return;
    block->size += next->size;
    unlink_block(next);
}

SIM_C10_EXPORT void sim_c10_free(void *pointer)
{
    if (!pointer)
        return;
    pthread_mutex_lock(&cache.lock);
    struct block *block = cache.blocks;
    while (block && !(block->live && block->pointer == pointer))
        block = block->next;
    if (!block) {
        fprintf(stderr, "sim_c10_free: %p is no live block\n", pointer);
        abort();
    }
    block->live = false;
    cache.allocated -= block->size;
    report(block, -(int64_t)block->size);
    merge(block);
    if (!block->first)
        merge(block->previous);
    pthread_mutex_unlock(&cache.lock);
}

SIM_C10_EXPORT void sim_c10_empty_cache(void)
{
    pthread_mutex_lock(&cache.lock);
    for (struct block *block = cache.blocks, *next; block; block = next) {
        next = block->next;
        if (block->live || !block->first || (next && !next->first))
            continue;
        cudaFree(block->pointer);
        cache.reserved -= block->size;
        unlink_block(block);
    }
    pthread_mutex_unlock(&cache.lock);
}

SIM_C10_EXPORT void sim_c10_usage(size_t *allocated, size_t *reserved)
{
    pthread_mutex_lock(&cache.lock);
    *allocated = cache.allocated;
    *reserved = cache.reserved;
    pthread_mutex_unlock(&cache.lock);
}
