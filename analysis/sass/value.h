/*
 * value.h - where the value of a 32-bit register may come from: a set of atoms, interned, so that a set is a number.
 *
 * A set holds what the value may be an address into (direct atoms) and what it was otherwise computed from (mangled
 * atoms). A value that is one address plus offsets of unknown nature is a sum: exactly one of its members is the base.
 * The empty set is a value that has nothing to do with memory. One pool belongs to one summary, so to one thread.
 */
#ifndef COPYSPY_ANALYSIS_SASS_VALUE_H
#define COPYSPY_ANALYSIS_SASS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cs_atom_kind {
    CS_ATOM_PARAMETER,         /* a 32-bit word of the parameters; payload: its index */
    CS_ATOM_TABLE,             /* some word of a table in the parameters; payload: number of the table */
    CS_ATOM_LOADED,            /* loaded from memory */
    CS_ATOM_SYMBOL,            /* address of a variable of the module */
    CS_ATOM_WINDOW,            /* generic address of shared or local memory */
    CS_ATOM_PARAMETER_ADDRESS, /* generic address of the parameter byte at payload, less CS_ADDRESS_BIAS */
    CS_ATOM_PARAMETER_RANGE,   /* the same plus an unknown offset */
    CS_ATOM_SUM,               /* payload: the set of members; see CS_ATOM_OPTIONAL */
    CS_ATOM_ANY_OF,            /* the same, but several members may be bases: too many sums to tell apart */
    CS_ATOM_DIRECT_END,
    CS_ATOM_MANGLED_PARAMETER = CS_ATOM_DIRECT_END,
    CS_ATOM_MANGLED_TABLE,
    CS_ATOM_MANGLED_LOADED,
    CS_ATOM_UNKNOWN, /* may be anything */
    CS_ATOM_CHOICE   /* in lists of constants only (CS_KNOW_CHOICE); payload: one of them */
};

enum { CS_ADDRESS_BIAS = 1 << 20 };

/*
 * A sum stands for many: members without this flag are in each of them, the others in some. If a member of each is
 * known to be an address, it is the base of all.
 */
#define CS_ATOM_OPTIONAL (UINT32_C(1) << 31)

typedef uint32_t cs_atom; /* kind << 24 | payload */
typedef uint32_t cs_set;  /* 0: empty */

static inline cs_atom cs_atom_make(enum cs_atom_kind kind, uint32_t payload)
{
    return (uint32_t)kind << 24 | (payload & 0xffffff);
}

static inline enum cs_atom_kind cs_atom_kind(cs_atom atom)
{
    return (enum cs_atom_kind)(atom >> 24 & 0x7f);
}

static inline uint32_t cs_atom_payload(cs_atom atom)
{
    return atom & 0xffffff;
}

static inline cs_atom cs_atom_plain(cs_atom atom)
{
    return atom & ~CS_ATOM_OPTIONAL;
}

struct cs_members {
    const cs_atom *atoms; /* ascending; valid until the next set is made */
    uint32_t count;
};

struct cs_pool;

/* Returns NULL when out of memory. */
struct cs_pool *cs_pool_new(void);
void cs_pool_free(struct cs_pool *pool);
/* True once memory ran out or a set grew beyond reason; sets made since then are not to be trusted. */
bool cs_pool_failed(const struct cs_pool *pool);

cs_set cs_set_of(struct cs_pool *pool, enum cs_atom_kind kind, uint32_t payload);
cs_set cs_set_join(struct cs_pool *pool, cs_set a, cs_set b);
/* The value a + b, where neither is a known constant. */
cs_set cs_set_add(struct cs_pool *pool, cs_set a, cs_set b);
/* The value a + delta. */
cs_set cs_set_offset(struct cs_pool *pool, cs_set a, int32_t delta);
/* A value computed from a so that it is no longer an address. */
cs_set cs_set_mangle(struct cs_pool *pool, cs_set a);
struct cs_members cs_set_members(const struct cs_pool *pool, cs_set set);
bool cs_set_has_kind(const struct cs_pool *pool, cs_set set, enum cs_atom_kind kind);
bool cs_set_has(const struct cs_pool *pool, cs_set set, cs_atom atom);
/* The atom itself or a sum with it. */
bool cs_set_mentions(const struct cs_pool *pool, cs_set set, cs_atom atom);

#endif
