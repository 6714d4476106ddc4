/*
 * transfer.c - what instructions do to the values of registers. One thread a pass.
 *
 * An address survives moves, selections, additions and masks; a product, a shift or a difference is no address any
 * more.
 */
#include "analysis/sass/flow.h"

enum {
    SPECIAL_TID_X = 0x21,
    SPECIAL_TID_Z = 0x23,
    SPECIAL_CTAID_X = 0x25,
    SPECIAL_CTAID_Z = 0x27,
    SPECIAL_SHARED_WINDOW = 0x2f,
    SPECIAL_LOCAL_WINDOW = 0x2e,
    SPECIAL_ZERO = 255
};
enum { MOST_THREADS = 1023, MOST_CHOICES = 8, LUT_AND = 0xc0, SELECT_ALL_OF_A = 0x3210, SELECT_ALL_OF_C = 0x7654 };

static const struct cs_value nothing;

static uint64_t field(const struct cs_instruction *in, unsigned first, unsigned count)
{
    return in->high >> (first - 64) & ((UINT64_C(1) << count) - 1);
}

struct cs_value *cs_flow_register(const struct cs_flow *flow, struct cs_value *state, bool uniform, unsigned number)
{
    if (number >= (uniform ? flow->uniform_count : flow->register_count))
        return NULL;
    return &state[(uniform ? flow->register_count : 0) + number];
}

uint16_t cs_flow_guard(const struct cs_instruction *in)
{
    if (in->guard == CS_PT)
        return 0;
    return (uint16_t)(1u << 8 | in->guard | (unsigned)in->guard_negated << 3 | (unsigned)in->guard_uniform << 4);
}

/* A value as an instruction under that guard finds it. */
static struct cs_value seen_under(struct cs_value value, uint16_t guard)
{
    if (guard && value.guard == guard)
        return cs_value_of(value.guarded_set);
    value.guard = 0;
    value.guarded_set = 0;
    return value;
}

struct cs_value cs_flow_operand(struct cs_flow *flow, struct cs_value *state, const struct cs_operand *operand,
                                unsigned word)
{
    struct cs_value *value;
    switch ((enum cs_operand_kind)operand->kind) {
    case CS_OPERAND_NONE:
        return cs_value_constant(0);
    case CS_OPERAND_IMMEDIATE:
        return cs_value_constant(word == 0 ? operand->value : (int32_t)operand->value < 0 ? UINT32_MAX : 0);
    case CS_OPERAND_CONSTANT:
        if (operand->bindless)
            return cs_value_of(cs_set_of(flow->pool, CS_ATOM_LOADED, 0));
        return cs_flow_constant(flow, operand->bank, operand->value + 4 * word);
    case CS_OPERAND_REGISTER:
    case CS_OPERAND_UNIFORM:
        if (operand->value == CS_RZ)
            return cs_value_constant(0);
        value = cs_flow_register(flow, state, operand->kind == CS_OPERAND_UNIFORM, operand->value + word);
        return value ? seen_under(*value, flow->guard) : nothing;
    }
    return nothing;
}

static bool is_constant(struct cs_value value, int32_t k)
{
    return value.knowledge == CS_KNOW_CONSTANT && value.k == k;
}

/* The largest value as an unsigned number, or -1 where that is not known. */
static int64_t bound(struct cs_value value)
{
    bool known = value.knowledge == CS_KNOW_BOUND || (value.knowledge == CS_KNOW_CONSTANT && value.k >= 0);
    return known ? value.k : -1;
}

static struct cs_value bounded(cs_set set, int64_t k)
{
    bool fits = k >= 0 && k <= INT32_MAX;
    return (struct cs_value){
        .set = set, .knowledge = fits ? CS_KNOW_BOUND : CS_KNOW_NOTHING, .k = fits ? (int32_t)k : 0};
}

/* The few small constants that a value may be; 0 where that is not known. */
static cs_set choices(struct cs_flow *flow, struct cs_value value)
{
    if (value.knowledge == CS_KNOW_CHOICE)
        return (cs_set)value.k;
    bool small = value.knowledge == CS_KNOW_CONSTANT && value.k >= 0 && value.k <= UINT16_MAX;
    return small ? cs_set_of(flow->pool, CS_ATOM_CHOICE, (uint32_t)value.k) : 0;
}

static void join_choices(struct cs_flow *flow, struct cs_value *joined, struct cs_value a, struct cs_value b)
{
    cs_set x = choices(flow, a), y = choices(flow, b);
    cs_set both = x && y ? cs_set_join(flow->pool, x, y) : 0;
    if (both && cs_set_members(flow->pool, both).count <= MOST_CHOICES) {
        joined->knowledge = CS_KNOW_CHOICE;
        joined->k = (int32_t)both;
    }
}

/* An offset that is one of several constants: offsets of tensor maps are chosen like that. */
static struct cs_value add_choice(struct cs_flow *flow, cs_set set, cs_set offsets)
{
    cs_set sum = 0;
    for (uint32_t i = 0; i < cs_set_members(flow->pool, offsets).count; i++) {
        uint32_t offset = cs_atom_payload(cs_set_members(flow->pool, offsets).atoms[i]);
        sum = cs_set_join(flow->pool, sum, cs_set_offset(flow->pool, set, (int32_t)offset));
    }
    return cs_value_of(sum);
}

/* What is known under a guard stays known where both sides agree on the guard. */
static void join_guarded(struct cs_flow *flow, struct cs_value *joined, struct cs_value a, struct cs_value b)
{
    if (a.guard != b.guard || a.guard == 0)
        return;
    joined->guard = a.guard;
    joined->guarded_set = cs_set_join(flow->pool, a.guarded_set, b.guarded_set);
}

struct cs_value cs_flow_join(struct cs_flow *flow, struct cs_value a, struct cs_value b)
{
    struct cs_value joined = cs_value_of(cs_set_join(flow->pool, a.set, b.set));
    if (a.knowledge == b.knowledge && a.k == b.k) {
        joined.knowledge = a.knowledge;
        joined.k = a.k;
    } else if (a.knowledge == CS_KNOW_BOUND && b.knowledge == CS_KNOW_CONSTANT && b.k >= 0 && b.k <= a.k) {
        joined = bounded(joined.set, a.k);
    } else if (b.knowledge == CS_KNOW_BOUND && a.knowledge == CS_KNOW_CONSTANT && a.k >= 0 && a.k <= b.k) {
        joined = bounded(joined.set, b.k);
    } else {
        join_choices(flow, &joined, a, b);
    }
    join_guarded(flow, &joined, a, b);
    return joined;
}

struct cs_value cs_flow_add(struct cs_flow *flow, struct cs_value a, struct cs_value b)
{
    if (is_constant(a, 0))
        return b;
    if (is_constant(b, 0))
        return a;
    if (b.knowledge == CS_KNOW_CONSTANT && a.knowledge != CS_KNOW_CONSTANT) {
        struct cs_value sum = cs_value_of(cs_set_offset(flow->pool, cs_set_join(flow->pool, a.set, b.set), b.k));
        sum.knowledge = a.knowledge;
        sum.k = (int32_t)((uint32_t)a.k + (uint32_t)b.k);
        if (a.knowledge == CS_KNOW_BOUND)
            return bounded(sum.set, b.k >= 0 ? (int64_t)a.k + b.k : -1);
        if (a.knowledge != CS_KNOW_STACK)
            sum.knowledge = CS_KNOW_NOTHING, sum.k = 0;
        return sum;
    }
    if (a.knowledge == CS_KNOW_CONSTANT && b.knowledge != CS_KNOW_CONSTANT)
        return cs_flow_add(flow, b, a);
    if (a.knowledge == CS_KNOW_CONSTANT && a.set == 0 && b.set == 0)
        return cs_value_constant((uint32_t)a.k + (uint32_t)b.k);
    if (a.knowledge == CS_KNOW_CHOICE && a.set == 0)
        return add_choice(flow, b.set, (cs_set)a.k);
    if (b.knowledge == CS_KNOW_CHOICE && b.set == 0)
        return add_choice(flow, a.set, (cs_set)b.k);
    struct cs_value sum = bounded(cs_set_add(flow->pool, a.set, b.set), -1);
    if (bound(a) >= 0 && bound(b) >= 0)
        sum = bounded(sum.set, bound(a) + bound(b));
    return sum;
}

void cs_flow_write(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in, unsigned i,
                   struct cs_value value)
{
    if (in->destination == CS_RZ)
        return;
    struct cs_value *target = cs_flow_register(flow, state, in->destination_uniform, in->destination + i);
    bool certain = in->guard == CS_PT && !in->guard_negated && i < in->count;
    if (!target)
        return;
    if (certain) {
        *target = value;
        return;
    }
    struct cs_value old = *target;
    *target = cs_flow_join(flow, old, value);
    if (flow->guard && i < in->count) {
        target->guard = flow->guard;
        target->guarded_set = value.set;
    } else if (old.guard) {
        target->guard = old.guard;
        target->guarded_set = cs_set_join(flow->pool, old.guarded_set, value.set);
    }
}

/* What was known under predicates that the instruction writes is known no longer. */
void cs_flow_forget_predicates(const struct cs_flow *flow, struct cs_value *state, unsigned predicates)
{
    uint32_t count = flow->register_count + flow->uniform_count;
    for (uint32_t i = 0; i < count; i++)
        if (state[i].guard && predicates >> ((state[i].guard & 7) + (state[i].guard & 16 ? 8 : 0)) & 1)
            state[i].guard = 0, state[i].guarded_set = 0;
}

static void write_all(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in,
                      struct cs_value value)
{
    for (unsigned i = 0; i < in->count_most; i++)
        cs_flow_write(flow, state, in, i, value);
}

static struct cs_value mangle(struct cs_flow *flow, struct cs_value value)
{
    return cs_value_of(cs_set_mangle(flow->pool, value.set));
}

/* An operand of an addition: what is subtracted is no base. */
static struct cs_value term(struct cs_flow *flow, struct cs_value *state, const struct cs_operand *operand,
                            unsigned word, bool extended)
{
    struct cs_value value = cs_flow_operand(flow, state, operand, word);
    if (!operand->negated)
        return value;
    if (value.knowledge == CS_KNOW_CONSTANT && value.set == 0)
        return cs_value_constant(extended ? ~(uint32_t)value.k : 0 - (uint32_t)value.k);
    return mangle(flow, value);
}

/* In a carry chain the unknown carry makes constants unknown. */
static struct cs_value with_carry(struct cs_value value, bool carry)
{
    return carry ? cs_value_of(value.set) : value;
}

static struct cs_value add_three(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in,
                                 unsigned word, bool extended)
{
    struct cs_value sum =
        cs_flow_add(flow, term(flow, state, &in->a, word, extended), term(flow, state, &in->b, word, extended));
    return with_carry(cs_flow_add(flow, sum, term(flow, state, &in->c, word, extended)), extended);
}

/* Both results first: the destination may be among the operands. */
static void add_pairs(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value low = add_three(flow, state, in, 0, false), high = add_three(flow, state, in, 1, false);
    cs_flow_write(flow, state, in, 0, low);
    cs_flow_write(flow, state, in, 1, with_carry(high, true));
}

/* The upper half of a 64-bit immediate is a number like any other. */
static void move(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    const struct cs_operand *from = in->b.kind == CS_OPERAND_NONE ? &in->a : &in->b;
    struct cs_value low = cs_flow_operand(flow, state, from, 0), high = nothing;
    if (from->kind != CS_OPERAND_IMMEDIATE)
        high = cs_flow_operand(flow, state, from, 1);
    cs_flow_write(flow, state, in, 0, low);
    if (in->wide)
        cs_flow_write(flow, state, in, 1, high);
}

static void select_one(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value chosen[2];
    for (unsigned i = 0; i < 2; i++)
        chosen[i] =
            cs_flow_join(flow, cs_flow_operand(flow, state, &in->a, i), cs_flow_operand(flow, state, &in->b, i));
    cs_flow_write(flow, state, in, 0, chosen[0]);
    if (in->wide)
        cs_flow_write(flow, state, in, 1, chosen[1]);
}

/* The low half of a product. */
static struct cs_value multiply(struct cs_flow *flow, struct cs_value a, struct cs_value b)
{
    if (is_constant(a, 0) || is_constant(b, 0))
        return cs_value_constant(0);
    if (is_constant(b, 1))
        return a;
    if (is_constant(a, 1))
        return b;
    if (a.knowledge == CS_KNOW_CONSTANT && b.knowledge == CS_KNOW_CONSTANT && a.set == 0 && b.set == 0)
        return cs_value_constant((uint32_t)a.k * (uint32_t)b.k);
    struct cs_value product = cs_value_of(cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, b).set));
    if (bound(a) >= 0 && bound(b) >= 0)
        product = bounded(product.set, bound(a) * bound(b));
    return product;
}

static void multiply_add(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    bool extended = field(in, 74, 1);
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value sum = cs_flow_add(flow, multiply(flow, a, b), term(flow, state, &in->c, 0, extended));
    cs_flow_write(flow, state, in, 0, with_carry(sum, extended));
}

static void multiply_add_wide(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value low = multiply(flow, a, b), high = nothing;
    if (is_constant(a, 0) || is_constant(b, 0))
        high = cs_value_constant(0);
    else
        high.set = cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, b).set);
    bool carry = !is_constant(low, 0);
    struct cs_value low_c = term(flow, state, &in->c, 0, false), high_c = term(flow, state, &in->c, 1, false);
    cs_flow_write(flow, state, in, 0, cs_flow_add(flow, low, low_c));
    cs_flow_write(flow, state, in, 1, with_carry(cs_flow_add(flow, high, high_c), carry));
}

static void multiply_add_high(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    cs_set product = cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, b).set);
    struct cs_value high = cs_flow_operand(flow, state, &in->c, 1);
    cs_flow_write(flow, state, in, 0, with_carry(cs_flow_add(flow, cs_value_of(product), high), true));
}

static void load_effective_address(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    bool high = field(in, 80, 1), extended = field(in, 74, 1);
    unsigned shift = (unsigned)field(in, 75, 5);
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), c = cs_flow_operand(flow, state, &in->c, 0);
    struct cs_value shifted;
    if (!high)
        shifted = multiply(flow, a, cs_value_constant(UINT32_C(1) << shift));
    else if (shift == 0)
        shifted = c;
    else
        shifted = cs_value_of(cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, c).set));
    if (field(in, 72, 1))
        shifted = mangle(flow, shifted);
    struct cs_value sum = cs_flow_add(flow, shifted, term(flow, state, &in->b, 0, extended));
    cs_flow_write(flow, state, in, 0, with_carry(sum, extended || high));
}

/* An address keeps its upper bits under a mask; what keeps only lower bits is an offset. */
static void logic(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value c = cs_flow_operand(flow, state, &in->c, 0);
    cs_set all = cs_set_join(flow->pool, cs_set_join(flow->pool, a.set, b.set), c.set);
    struct cs_value result = cs_value_of(all);
    if (field(in, 72, 8) == LUT_AND) {
        if (a.knowledge == CS_KNOW_CONSTANT && b.knowledge == CS_KNOW_CONSTANT)
            result = cs_value_constant((uint32_t)a.k & (uint32_t)b.k);
        else if (bound(b) >= 0)
            result = bounded(cs_set_mangle(flow->pool, all), bound(b));
        else if (bound(a) >= 0)
            result = bounded(cs_set_mangle(flow->pool, all), bound(a));
    }
    cs_flow_write(flow, state, in, 0, result);
}

static void shift(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value c = cs_flow_operand(flow, state, &in->c, 0);
    cs_set all = cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, c).set);
    bool left = !field(in, 76, 1), high = field(in, 80, 1);
    struct cs_value result = cs_value_of(cs_set_join(flow->pool, all, mangle(flow, b).set));
    if (is_constant(b, 0))
        result = high ? c : a;
    else if (left && !high && b.knowledge == CS_KNOW_CONSTANT && b.k > 0 && b.k < 32)
        result = multiply(flow, a, cs_value_constant(UINT32_C(1) << b.k));
    cs_flow_write(flow, state, in, 0, result);
}

static void permute(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value c = cs_flow_operand(flow, state, &in->c, 0);
    struct cs_value result = cs_value_of(cs_set_join(flow->pool, mangle(flow, a).set, mangle(flow, c).set));
    if (is_constant(b, SELECT_ALL_OF_A))
        result = a;
    else if (is_constant(b, SELECT_ALL_OF_C))
        result = c;
    cs_flow_write(flow, state, in, 0, result);
}

/* -0 * 0 + immediate is how compilers load a constant through the half-precision pipe. */
static void half_multiply_add(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    bool zero = in->a.kind == CS_OPERAND_REGISTER && in->a.value == CS_RZ && in->b.value == CS_RZ;
    struct cs_value result = nothing;
    if (zero && in->c.kind == CS_OPERAND_IMMEDIATE)
        result = cs_value_constant(in->c.value);
    cs_flow_write(flow, state, in, 0, result);
}

static void special(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    unsigned number = (unsigned)field(in, 72, 8);
    struct cs_value value = nothing;
    if (in->code == 0x005 && number == SPECIAL_ZERO)
        value = cs_value_constant(0);
    else if (number == SPECIAL_SHARED_WINDOW || number == SPECIAL_LOCAL_WINDOW)
        value.set = cs_set_of(flow->pool, CS_ATOM_WINDOW, 0); /* upper halves of generic addresses */
    else if (number >= SPECIAL_TID_X && number <= SPECIAL_TID_Z)
        value = bounded(0, MOST_THREADS);
    else if (number >= SPECIAL_CTAID_X && number <= SPECIAL_CTAID_Z)
        value = bounded(0, INT32_MAX);
    write_all(flow, state, in, value);
}

static void mangle_operands(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in)
{
    struct cs_value a = cs_flow_operand(flow, state, &in->a, 0), b = cs_flow_operand(flow, state, &in->b, 0);
    struct cs_value c = cs_flow_operand(flow, state, &in->c, 0);
    cs_set all = cs_set_join(flow->pool, cs_set_join(flow->pool, a.set, b.set), c.set);
    write_all(flow, state, in, cs_value_of(cs_set_mangle(flow->pool, all)));
}

static void transfer(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    if (!in->opcode) {
        flow->incomplete = true;
        write_all(flow, state, in, cs_value_of(cs_set_of(flow->pool, CS_ATOM_UNKNOWN, 0)));
        return;
    }
    bool extended;
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_CLEAN:
        return write_all(flow, state, in, nothing);
    case CS_DO_MANGLE:
        return mangle_operands(flow, state, in);
    case CS_DO_MOVE:
        return move(flow, state, in);
    case CS_DO_SHUFFLE:
        return cs_flow_write(flow, state, in, 0, cs_value_of(cs_flow_operand(flow, state, &in->a, 0).set));
    case CS_DO_SELECT:
        return select_one(flow, state, in);
    case CS_DO_ADD:
        if (in->wide)
            return add_pairs(flow, state, in);
        extended = in->opcode->operands == CS_OPERANDS_ABC && field(in, 74, 1);
        return cs_flow_write(flow, state, in, 0, add_three(flow, state, in, 0, extended));
    case CS_DO_ADD64:
        return add_pairs(flow, state, in);
    case CS_DO_MAD:
        return multiply_add(flow, state, in);
    case CS_DO_MAD_WIDE:
        return multiply_add_wide(flow, state, in);
    case CS_DO_MAD_HIGH:
        return multiply_add_high(flow, state, in);
    case CS_DO_LEA:
        return load_effective_address(flow, state, in);
    case CS_DO_LOGIC:
        return logic(flow, state, in);
    case CS_DO_SHIFT:
        return shift(flow, state, in);
    case CS_DO_PERMUTE:
        return permute(flow, state, in);
    case CS_DO_FMA2:
        return half_multiply_add(flow, state, in);
    case CS_DO_SPECIAL:
        return special(flow, state, in);
    default:
        return cs_flow_memory(flow, state, index);
    }
}

void cs_flow_transfer(struct cs_flow *flow, struct cs_value *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    flow->guard = cs_flow_guard(in);
    transfer(flow, state, index);
    flow->guard = 0;
    if (in->predicates)
        cs_flow_forget_predicates(flow, state, in->predicates);
}
