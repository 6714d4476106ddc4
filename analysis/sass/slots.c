/*
 * slots.c - decides which parameter bytes an address came from. One thread a pass.
 *
 * An address is a 64-bit value whose lower half comes from a parameter word and whose upper half from the word behind
 * it. Where several parameters were added up, one that is used alone somewhere in the kernel is the base and the others
 * are offsets: the sum of two addresses is no address.
 */
#include "analysis/sass/slots.h"

#include <stdlib.h>

enum { WORD = 8, TENSOR_MAP_BYTES = 128, MOST_PARAMETER_BYTES = 1 << 16 };

/* One aligned 8-byte word of the parameters. */
struct word {
    uint8_t access, kind;
    bool used, first; /* first: of a tensor map */
    bool base;        /* used alone as an address */
};

struct builder {
    struct cs_flow *flow;
    struct cs_kernel_summary *summary;
    struct word *words;
    uint32_t count;
    bool found, parameter; /* the touch at hand: its address is known; it is a parameter's */
};

static struct word *word_at(struct builder *b, uint32_t offset)
{
    return offset / WORD < b->count ? &b->words[offset / WORD] : NULL;
}

/* The parameter that a byte belongs to; NULL in none. */
static const struct cs_parameter *parameter_at(const struct builder *b, uint32_t offset)
{
    for (size_t i = 0; i < b->summary->parameter_count; i++) {
        const struct cs_parameter *parameter = &b->summary->parameters[i];
        if (offset >= parameter->offset && offset - parameter->offset < parameter->size)
            return parameter;
    }
    return NULL;
}

static void use_word(struct builder *b, uint32_t offset, uint32_t access, enum cs_slot_kind kind)
{
    struct word *word = word_at(b, offset);
    b->found = b->parameter = true;
    if (!word)
        return;
    if (!word->used || word->kind == CS_SLOT_POINTER)
        word->kind = (uint8_t)kind;
    word->used = true;
    word->access |= (uint8_t)access;
}

static void use_range(struct builder *b, uint32_t begin, uint32_t end, uint32_t access)
{
    for (uint32_t at = begin & ~(uint32_t)(WORD - 1); at < end && at / WORD < b->count; at += WORD)
        use_word(b, at, access, CS_SLOT_TABLE);
    b->found = b->parameter = true;
}

static void use_table(struct builder *b, uint32_t number, uint32_t access)
{
    struct cs_table table = b->flow->tables[number];
    const struct cs_parameter *parameter = table.begin == UINT32_MAX ? NULL : parameter_at(b, table.begin);
    if (!parameter)
        return use_range(b, 0, b->count * WORD, access);
    uint32_t end = parameter->offset + parameter->size, begin = table.end == 0 ? parameter->offset : table.begin;
    use_range(b, begin, table.end != 0 && table.end < end ? table.end : end, access);
}

static void use_tensor_map(struct builder *b, int64_t offset, uint32_t access)
{
    const struct cs_parameter *parameter = offset < 0 || offset > UINT16_MAX ? NULL : parameter_at(b, (uint32_t)offset);
    if (!parameter || offset % WORD != 0)
        return use_range(b, 0, b->count * WORD, access);
    uint32_t at = (uint32_t)offset, end = parameter->offset + parameter->size;
    if (end - at > TENSOR_MAP_BYTES)
        end = at + TENSOR_MAP_BYTES;
    for (; at < end; at += WORD) {
        use_word(b, at, access, CS_SLOT_TENSOR_MAP);
        struct word *word = word_at(b, at);
        if (word) {
            word->kind = CS_SLOT_TENSOR_MAP;
            word->first |= at == (uint32_t)offset;
        }
    }
}

static void use_memory(struct builder *b, uint32_t access)
{
    b->found = true;
    b->flow->opaque_read |= (access & CS_ACCESS_READ) != 0;
    b->flow->opaque_write |= (access & CS_ACCESS_WRITE) != 0;
}

/* Whether a lower half and the other half of the same thing make an address. */
static bool makes_pair(const struct builder *b, cs_atom low, cs_set high)
{
    switch (cs_atom_kind(low)) {
    case CS_ATOM_PARAMETER:
        return cs_atom_payload(low) % 2 == 0 && cs_set_mentions(b->flow->pool, high, low + 1);
    case CS_ATOM_TABLE:
    case CS_ATOM_LOADED:
        return cs_set_mentions(b->flow->pool, high, low);
    default:
        return false;
    }
}

static bool is_sum(cs_atom atom)
{
    return cs_atom_kind(atom) == CS_ATOM_SUM || cs_atom_kind(atom) == CS_ATOM_ANY_OF;
}

static void use_atom(struct builder *b, cs_atom atom, uint32_t access)
{
    if (cs_atom_kind(atom) == CS_ATOM_PARAMETER)
        use_word(b, cs_atom_payload(atom) * 4, access, CS_SLOT_POINTER);
    else if (cs_atom_kind(atom) == CS_ATOM_TABLE)
        use_table(b, cs_atom_payload(atom), access);
    else
        use_memory(b, access);
}

/*
 * Whether that member of a sum is its base. Not where the same parameter also went in as a number: a + (b - c) with b
 * walking along c is how compilers address one array by the pointer into another, and its base is a.
 */
static bool known_base(struct builder *b, cs_atom atom, cs_set low)
{
    struct word *word = cs_atom_kind(atom) == CS_ATOM_PARAMETER ? word_at(b, cs_atom_payload(atom) * 4) : NULL;
    cs_atom number = cs_atom_make(CS_ATOM_MANGLED_PARAMETER, cs_atom_payload(atom));
    return word && word->base && !cs_set_has(b->flow->pool, low, number);
}

static struct cs_members members(const struct builder *b, cs_set set)
{
    return cs_set_members(b->flow->pool, set);
}

/* Marks parameters that are an address by themselves: alone, or the only candidate of a sum and in each of it. */
static void find_bases(struct builder *b, cs_set low, cs_set high)
{
    for (uint32_t i = 0; i < members(b, low).count; i++) {
        cs_atom atom = members(b, low).atoms[i], candidate = atom;
        uint32_t candidates = !is_sum(atom) && makes_pair(b, atom, high);
        struct cs_members inner = is_sum(atom) ? members(b, cs_atom_payload(atom)) : (struct cs_members){NULL, 0};
        for (uint32_t j = 0; j < inner.count; j++) {
            if (makes_pair(b, inner.atoms[j], high)) {
                candidate = inner.atoms[j];
                candidates++;
            }
        }
        struct word *word =
            cs_atom_kind(candidate) == CS_ATOM_PARAMETER ? word_at(b, cs_atom_payload(candidate) * 4) : NULL;
        if (candidates == 1 && word)
            word->base = true;
    }
}

static void use_sum(struct builder *b, cs_atom sum, cs_set low, cs_set high, uint32_t access)
{
    struct cs_members inner = members(b, cs_atom_payload(sum));
    bool base = false;
    for (uint32_t i = 0; i < inner.count; i++)
        base |= !(inner.atoms[i] & CS_ATOM_OPTIONAL) && makes_pair(b, inner.atoms[i], high) &&
                known_base(b, inner.atoms[i], low);
    base &= cs_atom_kind(sum) == CS_ATOM_SUM;
    for (uint32_t i = 0; i < inner.count; i++) {
        cs_atom atom = cs_atom_plain(inner.atoms[i]);
        if (makes_pair(b, atom, high) && (!base || (atom == inner.atoms[i] && known_base(b, atom, low))))
            use_atom(b, atom, access);
    }
}

/* Bases that are seen as such. */
static void use_direct(struct builder *b, cs_set low, cs_set high, uint32_t access)
{
    for (uint32_t i = 0; i < members(b, low).count; i++) {
        cs_atom atom = members(b, low).atoms[i];
        enum cs_atom_kind kind = cs_atom_kind(atom);
        if (is_sum(atom))
            use_sum(b, atom, low, high, access);
        else if (makes_pair(b, atom, high))
            use_atom(b, atom, access);
        else if (kind == CS_ATOM_SYMBOL && cs_atom_payload(atom) == 0)
            use_memory(b, access);
        else if (kind == CS_ATOM_SYMBOL || kind == CS_ATOM_WINDOW || kind == CS_ATOM_PARAMETER_ADDRESS ||
                 kind == CS_ATOM_PARAMETER_RANGE)
            b->found = true;
        else if (kind == CS_ATOM_UNKNOWN)
            b->flow->incomplete = true;
    }
    b->found |= cs_set_has_kind(b->flow->pool, high, CS_ATOM_WINDOW);
    if (cs_set_has_kind(b->flow->pool, high, CS_ATOM_UNKNOWN))
        b->flow->incomplete = true;
}

/* An address that was computed in no way we know: every parameter word that went into it may be its base. */
static void use_anything(struct builder *b, cs_set low, cs_set high, uint32_t access)
{
    cs_set all = cs_set_mangle(b->flow->pool, cs_set_join(b->flow->pool, low, high));
    bool loaded = cs_set_has_kind(b->flow->pool, all, CS_ATOM_MANGLED_LOADED);
    for (uint32_t i = 0; i < members(b, all).count; i++) {
        cs_atom atom = members(b, all).atoms[i];
        uint32_t payload = cs_atom_payload(atom);
        if (cs_atom_kind(atom) == CS_ATOM_MANGLED_TABLE)
            use_table(b, payload, access);
        bool lower = cs_atom_kind(atom) == CS_ATOM_MANGLED_PARAMETER && payload % 2 == 0;
        if (lower && (cs_set_has(b->flow->pool, all, atom + 1) ||
                      cs_set_mentions(b->flow->pool, low, cs_atom_make(CS_ATOM_PARAMETER, payload))))
            use_word(b, payload * 4, access, CS_SLOT_POINTER);
    }
    if (loaded || !b->found)
        use_memory(b, access);
}

static void use_map(struct builder *b, const struct cs_touch *touch)
{
    for (uint32_t i = 0; i < members(b, touch->low).count; i++) {
        cs_atom atom = members(b, touch->low).atoms[i];
        int64_t offset = (int64_t)cs_atom_payload(atom) - CS_ADDRESS_BIAS;
        if (cs_atom_kind(atom) == CS_ATOM_PARAMETER_ADDRESS) {
            use_tensor_map(b, offset, touch->access);
        } else if (cs_atom_kind(atom) == CS_ATOM_PARAMETER_RANGE) {
            const struct cs_parameter *p = offset < 0 || offset > UINT16_MAX ? NULL : parameter_at(b, (uint32_t)offset);
            use_range(b, p ? p->offset : 0, p ? p->offset + p->size : b->count * WORD, touch->access);
        }
    }
    if (b->found)
        return;
    use_direct(b, touch->low, touch->high, CS_ACCESS_READ); /* the map itself, read through a pointer */
    use_memory(b, touch->access);
}

static void use_touches(struct builder *b)
{
    struct cs_flow *flow = b->flow;
    for (size_t i = 0; i < flow->touch_count; i++)
        if (!flow->touches[i].map)
            find_bases(b, flow->touches[i].low, flow->touches[i].high);
    for (size_t i = 0; i < flow->touch_count; i++) {
        const struct cs_touch *touch = &flow->touches[i];
        bool first = flow->touch_of[touch->instruction] == i + 1;
        b->found = b->parameter = false;
        if (touch->map)
            use_map(b, touch);
        else
            use_direct(b, touch->low, touch->high, touch->access);
        bool opaque =
            b->found && !b->parameter && !touch->map && cs_set_has_kind(flow->pool, touch->low, CS_ATOM_LOADED);
        bool unresolved = !b->found || opaque || (touch->map && !b->parameter);
        if (!b->found)
            use_anything(b, touch->low, touch->high, touch->access);
        b->summary->memory_instructions += first;
        b->summary->unresolved_instructions += unresolved;
    }
}

static void use_stored(struct builder *b)
{
    struct cs_flow *flow = b->flow;
    struct cs_pair words = {flow->stored_words, flow->stored_words};
    for (size_t i = 0; i <= flow->stored_count; i++) {
        struct cs_pair pair = i < flow->stored_count ? flow->stored[i] : words;
        for (uint32_t j = 0; j < members(b, pair.low).count; j++) {
            cs_atom atom = members(b, pair.low).atoms[j];
            if (is_sum(atom))
                use_sum(b, atom, pair.low, pair.high, CS_ACCESS_STORED);
            else if (makes_pair(b, atom, pair.high))
                use_atom(b, atom, CS_ACCESS_STORED);
        }
    }
}

static void append(struct cs_kernel_summary *summary, uint32_t offset, const struct word *word)
{
    struct cs_slot *last = summary->slot_count ? &summary->slots[summary->slot_count - 1] : NULL;
    bool extends = last && last->offset + last->size == offset && last->kind == word->kind;
    if (extends && ((word->kind == CS_SLOT_TABLE && last->access == word->access) ||
                    (word->kind == CS_SLOT_TENSOR_MAP && !word->first))) {
        last->size += WORD;
        last->access |= word->access;
        return;
    }
    summary->slots[summary->slot_count++] = (struct cs_slot){offset, WORD, word->access, word->kind};
}

int cs_slots_of(struct cs_flow *flow, struct cs_kernel_summary *summary, struct cs_error *error)
{
    uint32_t size = flow->kernel->parameter_size;
    for (size_t i = 0; i < summary->parameter_count; i++)
        if (summary->parameters[i].offset + summary->parameters[i].size > size)
            size = summary->parameters[i].offset + summary->parameters[i].size;
    if (size > MOST_PARAMETER_BYTES)
        size = MOST_PARAMETER_BYTES;
    struct builder b = {.flow = flow, .summary = summary, .count = (size + WORD - 1) / WORD};
    b.words = calloc(b.count + 1, sizeof *b.words);
    summary->slots = calloc(b.count + 1, sizeof *summary->slots);
    if (!b.words || !summary->slots) {
        free(b.words);
        return cs_fail(error, "summary of %s: out of memory", flow->kernel->name);
    }
    use_touches(&b);
    use_stored(&b);
    for (uint32_t i = 0; i < b.count; i++)
        if (b.words[i].used)
            append(summary, i * WORD, &b.words[i]);
    free(b.words);
    return 0;
}
