/*
 * map64.h - a hash table from one 64-bit number to another. Open addressing, linear probing, deletion by shifting back,
 * so that it stays small however often entries come and go.
 *
 * Threads: plain data; one table is used by one thread at a time. A zeroed struct is an empty table.
 */
#ifndef COPYSPY_ANALYSIS_MAP64_H
#define COPYSPY_ANALYSIS_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cs_map64_slot;
struct cs_map64 {
    struct cs_map64_slot *slots;
    size_t capacity, count;
};

/* Where the value of `key` lies, or NULL. Valid until the next put or remove. */
uint64_t *cs_map64_get(const struct cs_map64 *map, uint64_t key);

/* Sets the value. Returns 0, or -1 when memory ran out. */
int cs_map64_put(struct cs_map64 *map, uint64_t key, uint64_t value);

void cs_map64_remove(struct cs_map64 *map, uint64_t key);
/* Calls `each` for every entry, in no order; it must not change the table. */
void cs_map64_each(const struct cs_map64 *map, void (*each)(void *context, uint64_t key, uint64_t value),
                   void *context);
void cs_map64_release(struct cs_map64 *map);

/* A well-mixed number from another (the finaliser of splitmix64). */
static inline uint64_t cs_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
