/*
 * stack_table.h - things seen before: a lock-free table from a key of 64-bit words to a number, in mapped memory that
 * never moves and never grows beyond its limit.
 *
 * Records are written once, then published by one compare-and-swap; a look-up takes no lock and allocates nothing. When
 * two threads intern the same key at the same time, both get the record that was published first.
 *
 * Threads: any. Memory: untouched pages cost nothing.
 */
#ifndef COPYSPY_INTERPOSE_STACK_TABLE_H
#define COPYSPY_INTERPOSE_STACK_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Room for records, handed out from the front. A record's place is its offset / 8; place 0 is none. */
struct cs_arena {
    char *base;
    size_t size;
    _Atomic size_t used;
};

struct cs_record {
    uint64_t hash;
    uint32_t id;
    uint32_t words;           /* of the key */
    _Atomic uint32_t defined; /* 1: the analysis has been told what the id means */
    uint32_t reserved;
    _Atomic uint32_t attached[4]; /* for the table's user: places of what belongs to the record; 0 none */
    uint64_t key[];
};

struct cs_table {
    struct cs_arena *arena;
    _Atomic uint32_t *slots; /* places of records; 0 empty */
    uint32_t capacity;       /* a power of two; at most three quarters are used */
    _Atomic uint32_t count;
};

/* Maps `size` bytes (no pages are touched). Returns 0, or -1 when the system refuses. */
int cs_arena_open(struct cs_arena *arena, size_t size);

/* `bytes` of zeroed memory, 8-aligned; NULL when the arena is full. */
void *cs_arena_take(struct cs_arena *arena, size_t bytes);

static inline uint32_t cs_arena_place(const struct cs_arena *arena, const void *pointer)
{
    return (uint32_t)((size_t)((const char *)pointer - arena->base) / 8);
}

static inline void *cs_arena_at(const struct cs_arena *arena, uint32_t place)
{
    return arena->base + (size_t)place * 8;
}

/* Takes the slots from the arena. Returns 0, or -1 when it is full. */
int cs_table_open(struct cs_table *table, struct cs_arena *arena, uint32_t capacity);

uint64_t cs_table_hash(const uint64_t *key, size_t words);

/* NULL when the key is not in the table. */
struct cs_record *cs_table_find(const struct cs_table *table, const uint64_t *key, size_t words, uint64_t hash);

/* Finds or adds; a new record has the next id (from 1) and is not defined. NULL when table or arena is full. */
struct cs_record *cs_table_intern(struct cs_table *table, const uint64_t *key, size_t words, uint64_t hash);

#endif
