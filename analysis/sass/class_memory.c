/*
 * class_memory.c - what instructions of a kernel do to data in memory: see class_pass.h. One thread a pass.
 *
 * Shared and local memory are one place each. A word that was loaded from global memory carries the address in its
 * expression, so that a store of the same word to the same place of another parameter is recognised.
 */
#include "analysis/sass/class_pass.h"

enum { MOST_PAIRS = 256 };

static void pour(struct cs_class_pass *pass, uint16_t *place, unsigned from)
{
    if ((*place | from) != *place)
        pass->contents_changed = true;
    *place = (uint16_t)(*place | from);
}

/* The size of an access, as bits of an origin. */
static unsigned size_of(const struct cs_instruction *in)
{
    unsigned size = (unsigned)(in->high >> 9 & 7);
    return in->access_words ? CS_FROM_WORD : size < 2 ? CS_FROM_BYTE : CS_FROM_HALF;
}

static unsigned words_of(const struct cs_instruction *in)
{
    return in->access_words ? in->access_words : 1;
}

static uint64_t address_of(const struct cs_class_pass *pass, const struct cs_data_state *state,
                           const struct cs_instruction *in)
{
    uint16_t guard = cs_flow_guard(in);
    uint64_t address = cs_class_operand(pass->flow, state, &in->a, 0, guard).expression;
    if (in->uniform_address) {
        struct cs_operand uniform = {.kind = CS_OPERAND_UNIFORM, .value = in->uniform_register};
        address += cs_class_operand(pass->flow, state, &uniform, 0, guard).expression;
    }
    return address + (uint64_t)(int64_t)in->offset;
}

/* The value of a word to be stored to global memory: a zero that a check keeps from being stored is left out. */
static struct cs_datum checked(const struct cs_class_pass *pass, const struct cs_data_state *state,
                               const struct cs_instruction *in, struct cs_datum value)
{
    uint16_t own = cs_class_check(state, cs_flow_guard(in));
    bool same = cs_class_same_check(pass, value.check, own) || cs_class_same_check(pass, value.check, state->known);
    if (value.from & CS_FROM_CHECKED && same)
        value.from &= (uint16_t)~CS_FROM_CHECKED;
    return value;
}

/* What a value of that origin is in memory, once stored with that size. */
static unsigned settled(struct cs_class_pass *pass, unsigned from, unsigned size)
{
    unsigned loaded = from & CS_FROM_LOADED;
    if (from & CS_FROM_CHECKED)
        from = (from & ~(unsigned)CS_FROM_CHECKED) | CS_FROM_ZERO;
    if (size == CS_FROM_WORD && from == (CS_FROM_ZERO | CS_FROM_FOREIGN | CS_FROM_UPPER))
        return CS_FROM_CAST; /* the upper half of a pair of short floats is a float */
    if (size == CS_FROM_WORD && from & CS_FROM_FOREIGN)
        return CS_FROM_COMPUTED;
    from &= ~(unsigned)(CS_FROM_FOREIGN | CS_FROM_UPPER);
    if (!loaded)
        return from;
    from &= ~(unsigned)CS_FROM_LOADED;
    bool wider = loaded & CS_FROM_PIECE ? size == CS_FROM_WORD : (loaded & (size - 1)) != 0;
    if (wider)
        return from | CS_FROM_CAST;
    pass->extracts |= (loaded & CS_FROM_PIECE) != 0;
    pass->narrows |= (loaded & ~size & (CS_FROM_WORD | CS_FROM_HALF)) != 0;
    return from | size;
}

static unsigned unsettled(unsigned from, unsigned size)
{
    return from & CS_FROM_LOADED ? (from & ~(unsigned)CS_FROM_LOADED) | size : from;
}

static struct cs_datum unlike_any(uint32_t index, unsigned i, unsigned from)
{
    return (struct cs_datum){.expression = cs_class_symbol(CS_SYMBOL_RESULT, index, i), .from = (uint16_t)from};
}

static void write_all(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index, unsigned from)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    for (unsigned i = 0; i < in->count_most; i++)
        cs_class_write(pass->flow, state, index, i, unlike_any(index, i, from));
}

static struct cs_datum stored_word(const struct cs_class_pass *pass, const struct cs_data_state *state,
                                   const struct cs_instruction *in, unsigned i)
{
    return cs_class_operand(pass->flow, state, &in->b, in->b.value == CS_RZ ? 0 : i, cs_flow_guard(in));
}

/* Parameters that may be the base of the instruction's addresses. */
static unsigned count_bases(const struct cs_class_pass *pass, uint32_t index)
{
    const struct cs_flow *flow = pass->flow;
    unsigned count = 0;
    for (size_t i = 0; i < pass->summary->slot_count; i++) {
        const struct cs_slot *slot = &pass->summary->slots[i];
        cs_atom atom = cs_atom_make(CS_ATOM_PARAMETER, slot->offset / 4);
        if (!(slot->access & (CS_ACCESS_READ | CS_ACCESS_WRITE)) || slot->kind == CS_SLOT_TENSOR_MAP)
            continue;
        for (size_t j = flow->touch_of[index]; j && j <= flow->touch_count; j++) {
            const struct cs_touch *touch = &flow->touches[j - 1];
            if (touch->instruction != index)
                break;
            count +=
                cs_set_mentions(flow->pool, touch->low, atom) && cs_set_mentions(flow->pool, touch->high, atom + 1);
        }
    }
    return count;
}

static void load(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    unsigned size = size_of(in), from = size, elsewhere = 0;
    if (in->opcode->space == CS_SPACE_GENERIC)
        elsewhere = unsettled(pass->shared | pass->local, size);
    if (elsewhere)
        from |= elsewhere | CS_FROM_STAGED;
    if (cs_class_guard_tainted(state, cs_flow_guard(in)))
        from |= CS_FROM_COMPUTED;
    if (pass->final)
        pass->several_bases |= count_bases(pass, index) > 1;
    uint64_t address = address_of(pass, state, in);
    for (unsigned i = 0; i < in->count_most; i++) {
        struct cs_datum value = {.expression = cs_class_memory(address + 4 * (uint64_t)i, size),
                                 .from = (uint16_t)from};
        cs_class_write(pass->flow, state, index, i, value);
    }
}

/* Whether the value is what lies at the address if it is taken into another parameter. */
static bool same_place(const struct cs_class_pass *pass, uint64_t address, uint64_t value, unsigned size)
{
    const struct cs_kernel_summary *summary = pass->summary;
    size_t tried = 0;
    for (size_t i = 0; i < summary->slot_count; i++) {
        if (!(summary->slots[i].access & CS_ACCESS_WRITE))
            continue;
        uint64_t place = address - cs_class_parameter(pass->flow, summary->slots[i].offset);
        for (size_t j = 0; j < summary->slot_count && tried < MOST_PAIRS; j++) {
            if (!(summary->slots[j].access & CS_ACCESS_READ))
                continue;
            tried++;
            if (cs_class_memory(place + cs_class_parameter(pass->flow, summary->slots[j].offset), size) == value)
                return true;
        }
    }
    return false;
}

static void store(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    unsigned size = size_of(in), before = 0;
    uint64_t address = address_of(pass, state, in);
    pass->computes |= cs_class_guard_tainted(state, cs_flow_guard(in));
    for (unsigned i = 0; i < words_of(in); i++) {
        struct cs_datum value = checked(pass, state, in, stored_word(pass, state, in, i));
        unsigned from = settled(pass, value.from, size);
        if (value.from == CS_FROM_ZERO && i % 2 == 1 && before & CS_FROM_DATA)
            from = CS_FROM_CAST; /* the upper half of a longer number */
        before = value.from;
        pass->computes |= (from & (CS_FROM_COMPUTED | CS_FROM_THREAD)) != 0;
        if (in->opcode->space == CS_SPACE_GENERIC) {
            pour(pass, &pass->shared, from);
            pour(pass, &pass->local, from);
        }
        if (!pass->final)
            continue;
        pass->stored = (uint16_t)(pass->stored | from);
        if (from & CS_FROM_DATA)
            pass->reordered |=
                value.from != size || !same_place(pass, address + 4 * (uint64_t)i, value.expression, size);
    }
}

/* A loaded value decides where in shared or local memory something lies: as in a histogram or a table. */
static bool placed_by_data(const struct cs_class_pass *pass, const struct cs_data_state *state,
                           const struct cs_instruction *in)
{
    return cs_class_operand(pass->flow, state, &in->a, 0, cs_flow_guard(in)).from & CS_FROM_TAINTED;
}

static void store_aside(struct cs_class_pass *pass, struct cs_data_state *state, const struct cs_instruction *in,
                        uint16_t *place)
{
    bool chosen = cs_class_guard_tainted(state, cs_flow_guard(in)), reduces = in->code == 0x1be;
    bool placed = placed_by_data(pass, state, in);
    for (unsigned i = 0; i < words_of(in); i++) {
        unsigned from = settled(pass, stored_word(pass, state, in, i).from, size_of(in));
        bool depends = chosen || reduces || (placed && !(from & CS_FROM_DATA));
        pour(pass, place, from | (depends ? CS_FROM_COMPUTED : 0));
    }
}

static void load_aside(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index, uint16_t place,
                       unsigned staged)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    unsigned size = in->opcode->width == CS_WIDTH_MATRICES ? CS_FROM_WORD : size_of(in);
    unsigned from = unsettled(place, size);
    bool other = from & ~(unsigned)(CS_FROM_DATA | CS_FROM_STAGED);
    if (from && (cs_class_guard_tainted(state, cs_flow_guard(in)) || (other && placed_by_data(pass, state, in))))
        from |= CS_FROM_COMPUTED;
    else if (other && staged)
        from |= CS_FROM_THREAD; /* which of several constants */
    write_all(pass, state, index, from & CS_FROM_DATA ? from | staged : from);
}

/* Shared memory is stored to global memory as it is. */
static void store_shared(struct cs_class_pass *pass)
{
    pass->computes |= (pass->shared & (CS_FROM_COMPUTED | CS_FROM_THREAD)) != 0;
    pass->stored |= pass->shared;
    pass->reordered = true;
}

static void bulk(struct cs_class_pass *pass, const struct cs_instruction *in)
{
    bool to_shared = in->high >> 9 & 1, from_shared = in->high >> 10 & 1;
    if (to_shared && !from_shared)
        pour(pass, &pass->shared, CS_FROM_WORD | CS_FROM_STAGED);
    else if (!to_shared)
        store_shared(pass);
}

static void load_constant(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    struct cs_datum at = cs_class_operand(pass->flow, state, &in->a, 0, cs_flow_guard(in));
    bool fixed = at.from == CS_FROM_ZERO && in->access_words && !in->b.bindless;
    struct cs_operand word = in->b;
    for (unsigned i = 0; i < in->count_most; i++) {
        struct cs_datum value = cs_class_operand(pass->flow, state, &word, i, 0);
        if (at.from & CS_FROM_TAINTED)
            value.from = CS_FROM_COMPUTED;
        if (!fixed)
            value.expression = cs_class_symbol(CS_SYMBOL_RESULT, index, i);
        cs_class_write(pass->flow, state, index, i, value);
    }
}

bool cs_class_access(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    bool local = in->opcode->space == CS_SPACE_LOCAL, shared = in->opcode->space == CS_SPACE_SHARED;
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_LOAD_CONSTANT:
        load_constant(pass, state, index);
        return false;
    case CS_DO_LOAD:
        if (local || shared)
            load_aside(pass, state, index, local ? pass->local : pass->shared, local ? 0 : CS_FROM_STAGED);
        else
            load(pass, state, index);
        return !local;
    case CS_DO_STORE:
        if (local || shared)
            store_aside(pass, state, in, local ? &pass->local : &pass->shared);
        else
            store(pass, state, index);
        return !local;
    case CS_DO_ATOMIC:
        write_all(pass, state, index, CS_FROM_COMPUTED);
        if (in->opcode->width == CS_WIDTH_0_TO_2) /* a barrier, no data */
            return false;
        if (shared)
            pour(pass, &pass->shared, CS_FROM_COMPUTED);
        pass->computes |= !shared;
        return true;
    case CS_DO_COPY_TO_SHARED:
        pour(pass, &pass->shared, CS_FROM_WORD | CS_FROM_STAGED);
        if (cs_class_guard_tainted(state, cs_flow_guard(in)))
            pour(pass, &pass->shared, CS_FROM_COMPUTED);
        return true;
    case CS_DO_TENSOR_LOAD:
        pour(pass, &pass->shared, CS_FROM_WORD | CS_FROM_STAGED);
        return true;
    case CS_DO_TENSOR_STORE:
        store_shared(pass);
        return true;
    case CS_DO_BULK_COPY:
        bulk(pass, in);
        return true;
    case CS_DO_REDUCE:
    case CS_DO_TENSOR_REDUCE:
    case CS_DO_BULK_REDUCE:
    case CS_DO_TEXTURE_WRITE:
        pass->computes = true;
        return true;
    case CS_DO_TEXTURE_READ:
        write_all(pass, state, index, CS_FROM_COMPUTED);
        return true;
    default:
        return false;
    }
}
