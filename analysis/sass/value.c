/*
 * value.c - see value.h. Sets lie one behind the other in one array; a hash table finds a set by its atoms, and a small
 * cache the results of operations on sets. One thread a pool.
 */
#include "analysis/sass/value.h"

#include <stdlib.h>
#include <string.h>

enum {
    CACHE_SLOTS = 1 << 13,
    MOST_ATOMS_IN_SET = 1 << 14,
    MOST_ATOMS = 1 << 24,
    MOST_ADDRESSES = 40,   /* of parameters, in one set */
    MOST_SUMS = 64,        /* products of two sets of alternatives that are kept apart */
    MOST_SUM_MEMBERS = 400 /* members of one sum */
};

enum operation { JOIN = 1, ADD, OFFSET, MANGLE };

struct set {
    uint32_t first, count, hash;
};

struct cached {
    uint32_t operation, a, b;
    cs_set result;
};

struct cs_pool {
    cs_atom *atoms;
    size_t atom_count, atom_room;
    struct set *sets;
    size_t set_count, set_room;
    uint32_t *table; /* set number + 1 by hash; room is a power of two */
    size_t table_room;
    struct cached *cache;
    cs_atom *scratch;
    size_t scratch_count, scratch_room;
    bool failed;
};

struct cs_pool *cs_pool_new(void)
{
    struct cs_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->set_room = 256;
    pool->atom_room = 1024;
    pool->table_room = 1024;
    pool->scratch_room = 256;
    pool->sets = malloc(pool->set_room * sizeof *pool->sets);
    pool->atoms = malloc(pool->atom_room * sizeof *pool->atoms);
    pool->table = calloc(pool->table_room, sizeof *pool->table);
    pool->scratch = malloc(pool->scratch_room * sizeof *pool->scratch);
    pool->cache = calloc(CACHE_SLOTS, sizeof *pool->cache);
    if (!pool->sets || !pool->atoms || !pool->table || !pool->cache || !pool->scratch) {
        cs_pool_free(pool);
        return NULL;
    }
    pool->sets[0] = (struct set){0, 0, 0};
    pool->set_count = 1;
    return pool;
}

void cs_pool_free(struct cs_pool *pool)
{
    if (!pool)
        return;
    free(pool->sets);
    free(pool->atoms);
    free(pool->table);
    free(pool->cache);
    free(pool->scratch);
    free(pool);
}

bool cs_pool_failed(const struct cs_pool *pool)
{
    return pool->failed;
}

struct cs_members cs_set_members(const struct cs_pool *pool, cs_set set)
{
    return (struct cs_members){pool->atoms + pool->sets[set].first, pool->sets[set].count};
}

static bool grow(struct cs_pool *pool, void **array, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t larger = *room * 2 > wanted ? *room * 2 : wanted;
    void *grown = wanted <= MOST_ATOMS ? realloc(*array, larger * size) : NULL;
    if (!grown) {
        pool->failed = true;
        return false;
    }
    *array = grown;
    *room = larger;
    return true;
}

static void scratch_add(struct cs_pool *pool, cs_atom atom)
{
    if (grow(pool, (void **)&pool->scratch, &pool->scratch_room, pool->scratch_count + 1, sizeof atom))
        pool->scratch[pool->scratch_count++] = atom;
}

static uint32_t hash_of(const cs_atom *atoms, size_t count)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) + count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ atoms[i]) * UINT64_C(0xff51afd7ed558ccd), hash ^= hash >> 32;
    return (uint32_t)hash;
}

static bool rehash(struct cs_pool *pool)
{
    size_t room = pool->table_room * 2;
    uint32_t *table = calloc(room, sizeof *table);
    if (!table) {
        pool->failed = true;
        return false;
    }
    for (uint32_t i = 1; i < pool->set_count; i++) {
        size_t at = pool->sets[i].hash & (room - 1);
        while (table[at])
            at = (at + 1) & (room - 1);
        table[at] = i + 1;
    }
    free(pool->table);
    pool->table = table;
    pool->table_room = room;
    return true;
}

/* The set of the ascending atoms in scratch. */
static cs_set intern(struct cs_pool *pool)
{
    const cs_atom *atoms = pool->scratch;
    size_t count = pool->scratch_count;
    if (count == 0 || pool->failed)
        return 0;
    if (count > MOST_ATOMS_IN_SET) {
        pool->failed = true;
        return 0;
    }
    uint32_t hash = hash_of(atoms, count);
    size_t at = hash & (pool->table_room - 1);
    for (; pool->table[at]; at = (at + 1) & (pool->table_room - 1)) {
        struct set *set = &pool->sets[pool->table[at] - 1];
        if (set->hash == hash && set->count == count &&
            memcmp(pool->atoms + set->first, atoms, count * sizeof *atoms) == 0)
            return pool->table[at] - 1;
    }
    if (!grow(pool, (void **)&pool->sets, &pool->set_room, pool->set_count + 1, sizeof *pool->sets) ||
        !grow(pool, (void **)&pool->atoms, &pool->atom_room, pool->atom_count + count, sizeof *pool->atoms))
        return 0;
    memcpy(pool->atoms + pool->atom_count, atoms, count * sizeof *atoms);
    pool->sets[pool->set_count] = (struct set){(uint32_t)pool->atom_count, (uint32_t)count, hash};
    pool->atom_count += count;
    pool->table[at] = (uint32_t)++pool->set_count;
    cs_set made = (cs_set)(pool->set_count - 1);
    if (pool->set_count * 2 > pool->table_room && !rehash(pool))
        return 0;
    return made;
}

static int ascending(const void *a, const void *b)
{
    cs_atom x = *(const cs_atom *)a, y = *(const cs_atom *)b;
    return (x > y) - (x < y);
}

static cs_set intern_unsorted(struct cs_pool *pool)
{
    qsort(pool->scratch, pool->scratch_count, sizeof *pool->scratch, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < pool->scratch_count; i++)
        if (kept == 0 || pool->scratch[kept - 1] != pool->scratch[i])
            pool->scratch[kept++] = pool->scratch[i];
    pool->scratch_count = kept;
    return intern(pool);
}

static struct cached *cached(struct cs_pool *pool, enum operation operation, uint32_t a, uint32_t b)
{
    uint32_t hash = (a * 2654435761u) ^ (b * 2246822519u) ^ (uint32_t)operation * 3266489917u;
    return &pool->cache[(hash ^ hash >> 15) & (CACHE_SLOTS - 1)];
}

static bool recall(const struct cached *entry, enum operation operation, uint32_t a, uint32_t b)
{
    return entry->operation == operation && entry->a == a && entry->b == b;
}

cs_set cs_set_of(struct cs_pool *pool, enum cs_atom_kind kind, uint32_t payload)
{
    pool->scratch_count = 0;
    scratch_add(pool, cs_atom_make(kind, payload));
    return intern(pool);
}

static cs_set merge_sums(struct cs_pool *pool, cs_set set);

static cs_set join_uncached(struct cs_pool *pool, cs_set a, cs_set b)
{
    struct cs_members x = cs_set_members(pool, a), y = cs_set_members(pool, b);
    pool->scratch_count = 0;
    uint32_t i = 0, j = 0;
    while (i < x.count || j < y.count) {
        if (j == y.count || (i < x.count && x.atoms[i] < y.atoms[j])) {
            scratch_add(pool, x.atoms[i++]);
        } else {
            i += i < x.count && x.atoms[i] == y.atoms[j];
            scratch_add(pool, y.atoms[j++]);
        }
    }
    return merge_sums(pool, intern(pool));
}

cs_set cs_set_join(struct cs_pool *pool, cs_set a, cs_set b)
{
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    if (a > b) {
        cs_set swap = a;
        a = b;
        b = swap;
    }
    struct cached *entry = cached(pool, JOIN, a, b);
    if (!recall(entry, JOIN, a, b))
        *entry = (struct cached){JOIN, a, b, join_uncached(pool, a, b)};
    return entry->result;
}

static bool is_sum(cs_atom atom)
{
    return cs_atom_kind(atom) == CS_ATOM_SUM || cs_atom_kind(atom) == CS_ATOM_ANY_OF;
}

static cs_atom mangled(cs_atom atom)
{
    atom = cs_atom_plain(atom);
    switch (cs_atom_kind(atom)) {
    case CS_ATOM_PARAMETER:
        return cs_atom_make(CS_ATOM_MANGLED_PARAMETER, cs_atom_payload(atom));
    case CS_ATOM_TABLE:
        return cs_atom_make(CS_ATOM_MANGLED_TABLE, cs_atom_payload(atom));
    case CS_ATOM_LOADED:
    case CS_ATOM_SYMBOL: /* a variable's address that is no longer recognised leads wherever a loaded one may */
    case CS_ATOM_WINDOW:
    case CS_ATOM_PARAMETER_ADDRESS:
    case CS_ATOM_PARAMETER_RANGE:
        return cs_atom_make(CS_ATOM_MANGLED_LOADED, 0);
    default:
        return atom;
    }
}

cs_set cs_set_mangle(struct cs_pool *pool, cs_set a)
{
    if (a == 0)
        return 0;
    struct cached *entry = cached(pool, MANGLE, a, 0);
    if (recall(entry, MANGLE, a, 0))
        return entry->result;
    struct cs_members members = cs_set_members(pool, a);
    pool->scratch_count = 0;
    for (uint32_t i = 0; i < members.count; i++) {
        if (!is_sum(members.atoms[i])) {
            scratch_add(pool, mangled(members.atoms[i]));
            continue;
        }
        struct cs_members inner = cs_set_members(pool, cs_atom_payload(members.atoms[i]));
        for (uint32_t j = 0; j < inner.count; j++)
            scratch_add(pool, mangled(inner.atoms[j]));
    }
    *entry = (struct cached){MANGLE, a, 0, intern_unsorted(pool)};
    return entry->result;
}

static bool is_direct(cs_atom atom)
{
    return cs_atom_kind(atom) < CS_ATOM_DIRECT_END;
}

/*
 * Addresses of things that are no parameters. What is added to one is most often an offset, but may be an address from
 * which another of the kind was subtracted: both stay.
 */
static bool is_own_address(cs_atom atom)
{
    enum cs_atom_kind kind = cs_atom_kind(atom);
    return kind == CS_ATOM_SYMBOL || kind == CS_ATOM_WINDOW || kind == CS_ATOM_PARAMETER_ADDRESS ||
           kind == CS_ATOM_PARAMETER_RANGE;
}

static uint32_t count_direct(struct cs_members members)
{
    uint32_t count = 0;
    while (count < members.count && is_direct(members.atoms[count]))
        count++; /* direct kinds come first */
    return count;
}

/* After an unknown offset was added. */
static cs_atom displaced(cs_atom atom)
{
    return cs_atom_kind(atom) == CS_ATOM_PARAMETER_ADDRESS
               ? cs_atom_make(CS_ATOM_PARAMETER_RANGE, cs_atom_payload(atom))
               : atom;
}

static cs_set members_of(struct cs_pool *pool, cs_atom atom)
{
    if (is_sum(atom))
        return cs_atom_payload(atom);
    return cs_set_of(pool, cs_atom_kind(atom), cs_atom_payload(atom));
}

/*
 * Members of two sums as those of one: of a sum of both, a member of each that is in each of either; of either one or
 * the other (`alternatives`), only what is in each of both.
 */
static cs_set unite(struct cs_pool *pool, cs_set a, cs_set b, bool alternatives)
{
    pool->scratch_count = 0;
    for (int side = 0; side < 2; side++) {
        struct cs_members members = cs_set_members(pool, side ? b : a);
        for (uint32_t i = 0; i < members.count; i++) {
            cs_atom atom = cs_atom_plain(members.atoms[i]);
            bool in_each_a = cs_set_has(pool, a, atom), in_each_b = cs_set_has(pool, b, atom);
            bool in_each = alternatives ? in_each_a && in_each_b : in_each_a || in_each_b;
            scratch_add(pool, in_each ? atom : atom | CS_ATOM_OPTIONAL);
        }
    }
    return intern_unsorted(pool);
}

/* Whether some member is in each of both sums. */
static bool share_member(const struct cs_pool *pool, cs_set a, cs_set b)
{
    struct cs_members members = cs_set_members(pool, a);
    for (uint32_t i = 0; i < members.count; i++)
        if (!(members.atoms[i] & CS_ATOM_OPTIONAL) && cs_set_has(pool, b, members.atoms[i]))
            return true;
    return false;
}

/* Replaces two sums that share a member by one that stands for both, until no two do: sets stay small. */
static cs_set merge_sums(struct cs_pool *pool, cs_set set)
{
    for (uint32_t i = 0; i < cs_set_members(pool, set).count; i++) {
        cs_atom first = cs_set_members(pool, set).atoms[i];
        for (uint32_t j = i + 1; cs_atom_kind(first) == CS_ATOM_SUM && j < cs_set_members(pool, set).count; j++) {
            cs_atom second = cs_set_members(pool, set).atoms[j];
            if (cs_atom_kind(second) != CS_ATOM_SUM ||
                !share_member(pool, cs_atom_payload(first), cs_atom_payload(second)))
                continue;
            cs_set both = unite(pool, cs_atom_payload(first), cs_atom_payload(second), true);
            struct cs_members members = cs_set_members(pool, set);
            pool->scratch_count = 0;
            for (uint32_t k = 0; k < members.count; k++)
                if (k != i && k != j)
                    scratch_add(pool, members.atoms[k]);
            scratch_add(pool, cs_atom_make(CS_ATOM_SUM, both));
            return merge_sums(pool, intern_unsorted(pool));
        }
    }
    return set;
}

/* The sum of two direct atoms as one atom. */
static cs_atom sum_of(struct cs_pool *pool, cs_atom x, cs_atom y)
{
    if (x == y && cs_atom_kind(x) == CS_ATOM_LOADED)
        return x;
    if (x == y && !is_sum(x))
        return mangled(x);
    bool any = cs_atom_kind(x) == CS_ATOM_ANY_OF || cs_atom_kind(y) == CS_ATOM_ANY_OF;
    cs_set members = unite(pool, members_of(pool, x), members_of(pool, y), false);
    if (cs_set_members(pool, members).count > MOST_SUM_MEMBERS)
        any = true;
    return cs_atom_make(any ? CS_ATOM_ANY_OF : CS_ATOM_SUM, members);
}

/* Sums of all alternatives of a and b; one sum for all where there are too many. */
static void add_sums(struct cs_pool *pool, cs_set a, cs_set b, uint32_t direct_a, uint32_t direct_b, cs_set *result)
{
    bool merged = direct_a * direct_b > MOST_SUMS;
    cs_set all = 0;
    for (uint32_t i = 0; i < direct_a; i++) {
        for (uint32_t j = 0; j < direct_b; j++) {
            cs_atom x = cs_set_members(pool, a).atoms[i], y = cs_set_members(pool, b).atoms[j];
            if (is_own_address(x) || is_own_address(y)) {
                cs_atom both[] = {displaced(x), displaced(y)};
                for (unsigned k = 0; k < 2; k++)
                    *result =
                        cs_set_join(pool, *result, cs_set_of(pool, cs_atom_kind(both[k]), cs_atom_payload(both[k])));
                continue;
            }
            if (merged) {
                all = unite(pool, all, unite(pool, members_of(pool, x), members_of(pool, y), false), false);
                continue;
            }
            cs_atom sum = sum_of(pool, x, y);
            *result = cs_set_join(pool, *result, cs_set_of(pool, cs_atom_kind(sum), cs_atom_payload(sum)));
        }
    }
    if (all)
        *result = cs_set_join(pool, *result, cs_set_of(pool, CS_ATOM_ANY_OF, all));
}

static cs_set without_direct(struct cs_pool *pool, cs_set a, uint32_t direct)
{
    struct cs_members members = cs_set_members(pool, a);
    pool->scratch_count = 0;
    for (uint32_t i = direct; i < members.count; i++)
        scratch_add(pool, members.atoms[i]);
    return intern(pool);
}

static cs_set displace_all(struct cs_pool *pool, cs_set a)
{
    if (!cs_set_has_kind(pool, a, CS_ATOM_PARAMETER_ADDRESS))
        return a;
    struct cs_members members = cs_set_members(pool, a);
    pool->scratch_count = 0;
    for (uint32_t i = 0; i < members.count; i++)
        scratch_add(pool, displaced(members.atoms[i]));
    return intern_unsorted(pool);
}

cs_set cs_set_add(struct cs_pool *pool, cs_set a, cs_set b)
{
    if (a > b) {
        cs_set swap = a;
        a = b;
        b = swap;
    }
    struct cached *entry = cached(pool, ADD, a, b);
    if (recall(entry, ADD, a, b))
        return entry->result;
    uint32_t direct_a = count_direct(cs_set_members(pool, a)), direct_b = count_direct(cs_set_members(pool, b));
    cs_set result;
    if (direct_a == 0 || direct_b == 0) {
        result = cs_set_join(pool, displace_all(pool, a), displace_all(pool, b));
    } else {
        cs_set rest_a = without_direct(pool, a, direct_a), rest_b = without_direct(pool, b, direct_b);
        result = cs_set_join(pool, rest_a, rest_b);
        add_sums(pool, a, b, direct_a, direct_b, &result);
    }
    *cached(pool, ADD, a, b) = (struct cached){ADD, a, b, result};
    return result;
}

/* A loop that walks the parameters would give ever new offsets: far too many become a range over all parameters. */
static cs_atom moved(cs_atom atom, int32_t delta, uint32_t alternatives)
{
    int64_t to = (int64_t)cs_atom_payload(atom) + delta;
    bool inside = to >= CS_ADDRESS_BIAS - 0x8000 && to < CS_ADDRESS_BIAS + 0x8000 && alternatives < MOST_ADDRESSES;
    return inside ? cs_atom_make(cs_atom_kind(atom), (uint32_t)to)
                  : cs_atom_make(CS_ATOM_PARAMETER_RANGE, CS_ADDRESS_BIAS - 1);
}

cs_set cs_set_offset(struct cs_pool *pool, cs_set a, int32_t delta)
{
    if (delta == 0 ||
        (!cs_set_has_kind(pool, a, CS_ATOM_PARAMETER_ADDRESS) && !cs_set_has_kind(pool, a, CS_ATOM_PARAMETER_RANGE)))
        return a;
    struct cs_members members = cs_set_members(pool, a);
    pool->scratch_count = 0;
    for (uint32_t i = 0; i < members.count; i++) {
        enum cs_atom_kind kind = cs_atom_kind(members.atoms[i]);
        bool address = kind == CS_ATOM_PARAMETER_ADDRESS || kind == CS_ATOM_PARAMETER_RANGE;
        scratch_add(pool, address ? moved(members.atoms[i], delta, members.count) : members.atoms[i]);
    }
    return intern_unsorted(pool);
}

bool cs_set_has_kind(const struct cs_pool *pool, cs_set set, enum cs_atom_kind kind)
{
    struct cs_members members = cs_set_members(pool, set);
    for (uint32_t i = 0; i < members.count; i++)
        if (cs_atom_kind(members.atoms[i]) == kind)
            return true;
    return false;
}

bool cs_set_has(const struct cs_pool *pool, cs_set set, cs_atom atom)
{
    struct cs_members members = cs_set_members(pool, set);
    return bsearch(&atom, members.atoms, members.count, sizeof atom, ascending) != NULL;
}

bool cs_set_mentions(const struct cs_pool *pool, cs_set set, cs_atom atom)
{
    if (cs_set_has(pool, set, atom))
        return true;
    struct cs_members members = cs_set_members(pool, set);
    for (uint32_t i = 0; i < members.count; i++) {
        cs_set inner = cs_atom_payload(members.atoms[i]);
        if (is_sum(members.atoms[i]) &&
            (cs_set_has(pool, inner, atom) || cs_set_has(pool, inner, atom | CS_ATOM_OPTIONAL)))
            return true;
    }
    return false;
}
