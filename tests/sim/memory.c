/*
 * memory.c - the stand-in's memory: who owns an address.
 *
 * Each device, managed memory and pinned host memory have an address range of their own, reserved once; blocks are cut
 * out of it first fit, so a freed address is handed out again as on a GPU. One sorted table of live blocks answers
 * every question; what is inside a range but in no block is freed or never was, and using it is an error.
 *
 * Threads: any; one lock, held for table work only.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/sim/core.h"

#define RANGE_BYTES ((size_t)64 << 30)
#define SMALL_ALIGN ((size_t)512)
#define LARGE_BLOCK ((size_t)1 << 20)
#define LARGE_ALIGN ((size_t)2 << 20)

enum { RANGE_MANAGED = SIM_MAX_DEVICES, RANGE_PINNED, RANGE_MAPPED, RANGE_COUNT };

static struct {
    pthread_mutex_t lock;
    uintptr_t ranges[RANGE_COUNT];
    size_t used[SIM_MAX_DEVICES], reserved;
    struct sim_block *blocks;
    size_t count, capacity;
    uint64_t next_id;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_id = 1};

static int range_index(enum sim_memory_kind kind, int device)
{
    return kind == SIM_MEMORY_DEVICE ? device : kind == SIM_MEMORY_MANAGED ? RANGE_MANAGED : RANGE_PINNED;
}

static uintptr_t range_base(int index)
{
    if (!memory.ranges[index]) {
        void *base =
            mmap(NULL, RANGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            return 0;
        madvise(base, RANGE_BYTES, MADV_DONTDUMP);
        memory.ranges[index] = (uintptr_t)base;
    }
    return memory.ranges[index];
}

/* Index of the first block whose base is above the address. */
static size_t upper_bound(uintptr_t address)
{
    size_t low = 0, high = memory.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory.blocks[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(size_t at, const struct sim_block *block)
{
    if (memory.count == memory.capacity) {
        size_t capacity = memory.capacity ? 2 * memory.capacity : 256;
        struct sim_block *grown = realloc(memory.blocks, capacity * sizeof *grown);
        if (!grown)
            return false;
        memory.blocks = grown;
        memory.capacity = capacity;
    }
    memmove(memory.blocks + at + 1, memory.blocks + at, (memory.count - at) * sizeof *block);
    memory.blocks[at] = *block;
    memory.count++;
    return true;
}

static uintptr_t align_up(uintptr_t value, size_t align)
{
    return (value + align - 1) & ~(uintptr_t)(align - 1);
}

/* First gap of the range that holds size bytes; 0 when there is none. `at` gets the table position. */
static uintptr_t find_gap(uintptr_t base, size_t size, size_t align, size_t *at)
{
    uintptr_t candidate = align_up(base, align);
    size_t i = upper_bound(base - 1);
    for (; i < memory.count && memory.blocks[i].base < base + RANGE_BYTES; i++) {
        const struct sim_block *block = &memory.blocks[i];
        if (candidate + size <= block->base)
            break;
        candidate = align_up(block->base + block->size, align);
    }
    *at = i;
    return candidate + size <= base + RANGE_BYTES ? candidate : 0;
}

size_t sim_memory_total(void)
{
    return RANGE_BYTES;
}

size_t sim_memory_free_bytes(int device)
{
    pthread_mutex_lock(&memory.lock);
    size_t bytes = RANGE_BYTES - memory.used[device];
    pthread_mutex_unlock(&memory.lock);
    return bytes;
}

void *sim_memory_allocate(enum sim_memory_kind kind, int device, size_t size, unsigned flags, bool pooled)
{
    if (size == 0 || size > RANGE_BYTES)
        return NULL;
    pthread_mutex_lock(&memory.lock);
    uintptr_t range = range_base(range_index(kind, device)), base = 0;
    size_t at = 0;
    if (range)
        base = find_gap(range, size, size < LARGE_BLOCK ? SMALL_ALIGN : LARGE_ALIGN, &at);
    if (base) {
        struct sim_block block = {base, size, kind, device, flags, pooled, memory.next_id++};
        if (!insert(at, &block))
            base = 0;
        else if (kind == SIM_MEMORY_DEVICE)
            memory.used[device] += size;
    }
    pthread_mutex_unlock(&memory.lock);
    return (void *)base;
}

/* Gives whole pages of a large block back; small ones keep stale bytes, as on a GPU. */
static void discard(const struct sim_block *block)
{
    uintptr_t first = align_up(block->base, 4096), end = (block->base + block->size) & ~(uintptr_t)4095;
    if (block->kind != SIM_MEMORY_REGISTERED && block->kind != SIM_MEMORY_MAPPED && block->size >= LARGE_BLOCK &&
        end > first)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

bool sim_memory_release(const void *pointer, enum sim_memory_kind kind)
{
    uintptr_t address = (uintptr_t)pointer;
    pthread_mutex_lock(&memory.lock);
    size_t at = upper_bound(address);
    struct sim_block *block = at ? &memory.blocks[at - 1] : NULL;
    bool found = block && block->base == address && block->kind == kind;
    if (found) {
        if (kind == SIM_MEMORY_DEVICE)
            memory.used[block->device] -= block->size;
        discard(block);
        memory.count--;
        memmove(block, block + 1, (memory.count - (at - 1)) * sizeof *block);
    }
    pthread_mutex_unlock(&memory.lock);
    return found;
}

/* A block at an address that was chosen by others. */
static bool place(struct sim_block block)
{
    pthread_mutex_lock(&memory.lock);
    block.id = memory.next_id++;
    size_t at = upper_bound(block.base);
    bool clear = (at == 0 || memory.blocks[at - 1].base + memory.blocks[at - 1].size <= block.base) &&
                 (at == memory.count || block.base + block.size <= memory.blocks[at].base);
    bool done = clear && insert(at, &block);
    pthread_mutex_unlock(&memory.lock);
    return done;
}

bool sim_memory_register(void *pointer, size_t size, unsigned flags)
{
    return place((struct sim_block){(uintptr_t)pointer, size, SIM_MEMORY_REGISTERED, 0, flags, false, 0});
}

bool sim_memory_map(void *pointer, size_t size, int device)
{
    return place((struct sim_block){(uintptr_t)pointer, size, SIM_MEMORY_MAPPED, device, 0, false, 0});
}

void *sim_memory_reserve(size_t size)
{
    pthread_mutex_lock(&memory.lock);
    uintptr_t range = range_base(RANGE_MAPPED), base = 0;
    if (range && size <= RANGE_BYTES - LARGE_ALIGN) {
        uintptr_t next = align_up(range + memory.reserved, LARGE_ALIGN);
        if (next + size <= range + RANGE_BYTES) {
            base = next;
            memory.reserved = next + size - range;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return (void *)base;
}

bool sim_memory_find(const void *pointer, size_t size, struct sim_block *block)
{
    uintptr_t address = (uintptr_t)pointer;
    pthread_mutex_lock(&memory.lock);
    size_t at = upper_bound(address);
    const struct sim_block *candidate = at ? &memory.blocks[at - 1] : NULL;
    bool found = candidate && address - candidate->base < candidate->size &&
                 size <= candidate->size - (address - candidate->base);
    if (found)
        *block = *candidate;
    pthread_mutex_unlock(&memory.lock);
    return found;
}

static bool inside_ranges(uintptr_t address)
{
    for (int i = 0; i < RANGE_COUNT; i++)
        if (memory.ranges[i] && address - memory.ranges[i] < RANGE_BYTES)
            return true;
    return false;
}

bool sim_memory_usable(const void *pointer, size_t size, enum sim_memory_kind *kind, int *device)
{
    struct sim_block block;
    if (sim_memory_find(pointer, size, &block)) {
        *kind = block.kind;
        *device = block.device;
        return true;
    }
    *kind = SIM_MEMORY_PAGEABLE;
    *device = -1;
    pthread_mutex_lock(&memory.lock);
    bool ours = inside_ranges((uintptr_t)pointer);
    pthread_mutex_unlock(&memory.lock);
    return pointer && !ours;
}
