/*
 * class_value.c - see class_value.h. One thread a pass.
 */
#include "analysis/sass/class_value.h"

#include <string.h>

enum { SPECIAL_ZERO = 255, SPECIAL_LANE = 0x00, SPECIAL_FIRST = 0x20, SPECIAL_LAST = 0x2f };
enum { LUT_AND = 0xc0, BANK_PARAMETERS = 0, BANK_LITERALS = 2, BANK_ADDRESSES = 4 };
enum { OPPOSITE = 8 }; /* the bit of a guard that negates it */

static uint64_t field(const struct cs_instruction *in, unsigned first, unsigned count)
{
    return in->high >> (first - 64) & ((UINT64_C(1) << count) - 1);
}

uint64_t cs_class_symbol(uint64_t kind, uint64_t a, uint64_t b)
{
    uint64_t hash = kind * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t parts[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        hash = (hash ^ parts[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
        hash *= UINT64_C(0xc4ceb9fe1a85ec53);
        hash ^= hash >> 29;
    }
    return hash;
}

static struct cs_datum datum(unsigned from, uint64_t expression)
{
    return (struct cs_datum){.expression = expression, .from = (uint16_t)from};
}

static struct cs_datum constant(uint32_t k)
{
    return datum(k ? CS_FROM_CONSTANT : CS_FROM_ZERO, (uint64_t)(int64_t)(int32_t)k);
}

/* An expression that is a number. */
static bool is_number(struct cs_origin origin, int64_t *k)
{
    *k = (int64_t)origin.expression;
    return *k >= INT32_MIN && *k <= INT32_MAX && (origin.from & ~(CS_FROM_CONSTANT | CS_FROM_ZERO)) == 0;
}

static bool is_zero(struct cs_origin origin)
{
    return origin.from == CS_FROM_ZERO;
}

static unsigned predicate_of(uint16_t guard)
{
    return (guard & 7) + (guard & 16 ? 8 : 0);
}

uint16_t cs_class_check(const struct cs_data_state *state, uint16_t guard)
{
    uint16_t check = guard ? state->checks[predicate_of(guard)] : 0;
    return check && guard & OPPOSITE ? check ^ 1 : check;
}

bool cs_class_guard_tainted(const struct cs_data_state *state, uint16_t guard)
{
    return guard && state->tainted >> predicate_of(guard) & 1;
}

struct cs_datum *cs_class_register(const struct cs_flow *flow, const struct cs_data_state *state, bool uniform,
                                   unsigned number)
{
    if (number >= (uniform ? flow->uniform_count : flow->register_count))
        return NULL;
    return &state->values[(uniform ? flow->register_count : 0) + number];
}

static struct cs_datum seen_under(struct cs_datum value, uint16_t guard)
{
    if (!guard || (value.guard & ~CS_NO_GUARD) != guard)
        return value;
    struct cs_datum seen = datum(value.guarded_from, value.guarded_expression);
    seen.check = value.check;
    return seen;
}

static struct cs_datum constant_word(unsigned bank, uint32_t offset)
{
    bool known = bank == BANK_PARAMETERS || bank == BANK_LITERALS || bank == BANK_ADDRESSES;
    return datum(known ? CS_FROM_CONSTANT : CS_FROM_COMPUTED, cs_class_symbol(CS_SYMBOL_CONSTANT, bank, offset));
}

struct cs_datum cs_class_operand(const struct cs_flow *flow, const struct cs_data_state *state,
                                 const struct cs_operand *operand, unsigned word, uint16_t guard)
{
    struct cs_datum *value;
    switch ((enum cs_operand_kind)operand->kind) {
    case CS_OPERAND_NONE:
        return constant(0);
    case CS_OPERAND_IMMEDIATE:
        return constant(word == 0 ? operand->value : (int32_t)operand->value < 0 ? UINT32_MAX : 0);
    case CS_OPERAND_CONSTANT:
        if (operand->bindless)
            return datum(CS_FROM_COMPUTED, cs_class_symbol(CS_SYMBOL_CONSTANT, 256, operand->value));
        return constant_word(operand->bank, operand->value + 4 * word);
    case CS_OPERAND_REGISTER:
    case CS_OPERAND_UNIFORM:
        if (operand->value == CS_RZ)
            return constant(0);
        value = cs_class_register(flow, state, operand->kind == CS_OPERAND_UNIFORM, operand->value + word);
        return value ? seen_under(*value, guard) : datum(0, 0);
    }
    return datum(0, 0);
}

bool cs_class_write(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index, unsigned i,
                    struct cs_datum value)
{
    const struct cs_instruction *in = &flow->instructions[index];
    struct cs_datum *target =
        in->destination == CS_RZ ? NULL : cs_class_register(flow, state, in->destination_uniform, in->destination + i);
    uint16_t guard = cs_flow_guard(in);
    if (!target)
        return false;
    if (guard == 0 && i < in->count) {
        *target = value;
        return value.from & CS_FROM_DATA;
    }
    struct cs_datum old = *target;
    if (guard && old.guard == (guard ^ OPPOSITE))
        old = datum(old.guarded_from, old.guarded_expression); /* written on both sides of the predicate */
    bool chosen = old.from && cs_class_guard_tainted(state, guard);
    uint64_t either = cs_class_symbol(CS_SYMBOL_RESULT, index, i);
    uint16_t check = cs_class_check(state, guard);
    if (value.from & CS_FROM_CHECKED && cs_class_same_check(state->pass, value.check, check))
        value.from &= (uint16_t)~CS_FROM_CHECKED;
    *target = datum(old.from | value.from | (chosen ? CS_FROM_COMPUTED : 0), old.from ? either : value.expression);
    if (old.from && check && !chosen && value.from & CS_FROM_DATA && !(value.from & CS_FROM_CHECKED) &&
        !(old.from & CS_FROM_DATA)) {
        target->from = value.from | CS_FROM_CHECKED;
        target->check = check;
    } else {
        target->check = old.from & CS_FROM_CHECKED ? old.check : value.check;
    }
    if (guard && i < in->count) {
        target->guard = guard;
        target->guarded_from = value.from;
        target->guarded_expression = value.expression;
    }
    return value.from & CS_FROM_DATA;
}

void cs_class_assume(const struct cs_flow *flow, struct cs_data_state *state, uint16_t guard)
{
    uint32_t count = flow->register_count + flow->uniform_count;
    for (uint32_t i = 0; guard && i < count; i++)
        state->values[i] = seen_under(state->values[i], guard);
    state->fact = guard;
    if (cs_class_check(state, guard))
        state->known = cs_class_check(state, guard);
}

/* ---- predicates ---- */

static bool predicate_tainted(const struct cs_data_state *state, bool uniform, unsigned number)
{
    return number != CS_PT && state->tainted >> (number + (uniform ? 8 : 0)) & 1;
}

bool cs_class_condition_tainted(const struct cs_data_state *state, const struct cs_instruction *in)
{
    return predicate_tainted(state, in->guard_uniform, (unsigned)field(in, 87, 3));
}

static bool any_input_tainted(const struct cs_flow *flow, const struct cs_data_state *state,
                              const struct cs_instruction *in)
{
    uint16_t guard = cs_flow_guard(in);
    const struct cs_operand *operands[] = {&in->a, &in->b, &in->c};
    for (size_t i = 0; i < 3; i++)
        if (cs_class_operand(flow, state, operands[i], 0, guard).from & CS_FROM_TAINTED)
            return true;
    bool logic = strstr(in->opcode->name, "PLOP3") != NULL;
    return cs_class_condition_tainted(state, in) || cs_class_guard_tainted(state, guard) ||
           (logic && (predicate_tainted(state, in->guard_uniform, (unsigned)field(in, 77, 3)) ||
                      predicate_tainted(state, in->guard_uniform, (unsigned)field(in, 68, 3))));
}

/*
 * Whether the predicate of a comparison with zero is true where a loaded value is not zero (then nonzero), or is
 * (zero). Several such may be joined, as for the two parts of a complex number.
 */
static void compare_with_zero(const struct cs_flow *flow, struct cs_data_state *state, const struct cs_instruction *in)
{
    enum { ISETP = 0x00c, FSETP = 0x00b, DSETP = 0x02a, LOP3 = 0x012, EQUAL = 2, NOT_EQUAL = 5, NEU = 13 };
    uint16_t guard = cs_flow_guard(in), bit = (uint16_t)(1u << field(in, 81, 3));
    struct cs_datum a = cs_class_operand(flow, state, &in->a, 0, guard);
    struct cs_datum b = cs_class_operand(flow, state, &in->b, 0, guard);
    bool integer = in->code == ISETP, compares = integer || in->code == FSETP || in->code == DSETP;
    unsigned how = (unsigned)field(in, 76, integer ? 3 : 4);
    bool alone = field(in, 87, 4) == CS_PT && field(in, 74, 2) == 0;
    state->nonzero &= (uint16_t)~in->predicates;
    state->zero &= (uint16_t)~in->predicates;
    if (guard || in->opcode->uniform)
        return;
    bool masks = in->code == LOP3 && field(in, 72, 8) == LUT_AND && b.from == CS_FROM_CONSTANT &&
                 (b.expression == UINT8_MAX || b.expression == UINT16_MAX);
    bool data = a.from & CS_FROM_DATA && !(a.from & CS_FROM_COMPUTED);
    if (!data || !(masks || (compares && b.from == CS_FROM_ZERO)))
        return;
    if (masks || (alone && (how == NOT_EQUAL || how == NEU)))
        state->nonzero |= bit;
    else if (alone && how == EQUAL)
        state->zero |= bit;
}

void cs_class_predicates(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    bool tainted = any_input_tainted(flow, state, in);
    compare_with_zero(flow, state, in);
    if (in->guard == CS_PT && !tainted)
        state->tainted &= (uint16_t)~in->predicates;
    if (tainted)
        state->tainted |= in->predicates;
    uint32_t count = flow->register_count + flow->uniform_count;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t guard = state->values[i].guard & ~CS_NO_GUARD;
        if (guard && in->predicates >> predicate_of(guard) & 1)
            state->values[i].guard = 0;
    }
    if (state->fact && in->predicates >> predicate_of(state->fact) & 1)
        state->fact = 0;
}

/* ---- what instructions do ---- */

/* An instruction at hand with its operands. */
struct operation {
    const struct cs_instruction *in;
    uint32_t index;
    bool chosen;         /* it selects by a tainted predicate... */
    bool truth, untruth; /* ...which says that a loaded value is not zero, or that it is */
    struct cs_origin a, b, c;
};

static unsigned arithmetic(const struct operation *o)
{
    unsigned all = o->a.from | o->b.from | o->c.from;
    if (all & CS_FROM_TAINTED)
        return CS_FROM_COMPUTED;
    return all & CS_FROM_THREAD ? CS_FROM_THREAD : all ? CS_FROM_CONSTANT : 0;
}

/* A function of the operands, word i of its result. */
static uint64_t function_of(const struct operation *o, unsigned i)
{
    uint64_t modifiers = o->in->high >> 8 & ((UINT64_C(1) << 33) - 1);
    uint64_t hash = cs_class_symbol(o->in->code, modifiers, i);
    hash = cs_class_symbol(hash, o->a.expression, o->b.expression);
    return cs_class_symbol(hash, o->c.expression, 0);
}

static struct cs_origin computed(const struct operation *o, unsigned i)
{
    return (struct cs_origin){function_of(o, i), (uint16_t)arithmetic(o)};
}

/* A result that other things than the operands decide. */
static struct cs_origin unlike_any(const struct operation *o, unsigned from, unsigned i)
{
    return (struct cs_origin){cs_class_symbol(CS_SYMBOL_RESULT, o->index, i), (uint16_t)from};
}

/* Minus and absolute value of floating-point operands: A at 72 and 73, B at 63 and 62. */
static bool modified(const struct operation *o, bool b)
{
    if (!b)
        return field(o->in, 72, 2) != 0;
    return o->in->b.kind != CS_OPERAND_IMMEDIATE && o->in->low >> 62 != 0;
}

/* Bytes of loaded values, moved; converted ones stay so. */
static unsigned piece(unsigned from)
{
    from &= ~(unsigned)(CS_FROM_FOREIGN | CS_FROM_UPPER);
    return (from & ~(unsigned)CS_FROM_LOADED) | (from & CS_FROM_LOADED ? CS_FROM_PIECE : 0);
}

static unsigned cast(unsigned from)
{
    from &= ~(unsigned)(CS_FROM_FOREIGN | CS_FROM_UPPER);
    return from & CS_FROM_DATA ? (from & ~(unsigned)CS_FROM_DATA) | CS_FROM_CAST : from;
}

/* Conversions that do more: F2FP that cuts off negative numbers, F2I that does not cut off fractions, saturation. */
static bool does_more(const struct cs_instruction *in)
{
    switch (in->code) {
    case 0x03e:
    case 0x0ba:
        return field(in, 75, 1);
    case 0x105:
    case 0x111:
        return field(in, 78, 2) != 3;
    case 0x030:
    case 0x104:
    case 0x110:
        return field(in, 77, 1);
    default:
        return false;
    }
}

static bool is_conversion(const struct cs_opcode *opcode)
{
    const char *name = opcode->name[0] == 'U' ? opcode->name + 1 : opcode->name;
    return (name[0] == 'F' || name[0] == 'I') && name[1] == '2';
}

static struct cs_origin convert(const struct operation *o, unsigned i)
{
    unsigned all = o->a.from | o->b.from | o->c.from;
    bool changes = (o->a.from & CS_FROM_TAINTED && modified(o, false)) || modified(o, true) || does_more(o->in);
    if (!(all & CS_FROM_DATA) || all & CS_FROM_COMPUTED || changes)
        return computed(o, i);
    return (struct cs_origin){function_of(o, i), (uint16_t)cast(all & ~(unsigned)CS_FROM_ZERO)};
}

/* 0 + half is how a half becomes a float. */
static struct cs_origin add_halves(const struct operation *o)
{
    bool a_zero = is_zero(o->a), b_zero = is_zero(o->b);
    bool changes = (!a_zero && modified(o, false)) || (!b_zero && modified(o, true)) || does_more(o->in);
    if (a_zero == b_zero || changes)
        return computed(o, 0);
    unsigned from = a_zero ? o->b.from : o->a.from;
    return (struct cs_origin){function_of(o, 0), (uint16_t)(from & CS_FROM_COMPUTED ? CS_FROM_COMPUTED : cast(from))};
}

static struct cs_origin clean(const struct operation *o, unsigned i)
{
    if (is_conversion(o->in->opcode))
        return convert(o, i);
    if (o->in->code == 0x030)
        return add_halves(o);
    if (o->in->opcode->operands == CS_OPERANDS_NONE)
        return unlike_any(o, CS_FROM_COMPUTED, i);
    return computed(o, i);
}

static struct cs_origin mangle(const struct operation *o, unsigned i)
{
    bool extends = o->in->code == 0x01a || o->in->code == 0x09a; /* SGXT */
    if (is_conversion(o->in->opcode))
        return convert(o, i);
    if (extends && o->a.from & CS_FROM_DATA && !(o->a.from & CS_FROM_COMPUTED))
        return (struct cs_origin){function_of(o, i), (uint16_t)cast(o->a.from)};
    return computed(o, i);
}

static struct cs_origin negate(struct cs_origin origin, const struct cs_operand *operand)
{
    if (!operand->negated || is_zero(origin))
        return origin;
    unsigned from = origin.from & CS_FROM_TAINTED ? CS_FROM_COMPUTED : origin.from;
    return (struct cs_origin){0 - origin.expression, (uint16_t)from};
}

/* x + y: one of them where the other is zero. */
static struct cs_origin sum(struct cs_origin x, struct cs_origin y)
{
    if (is_zero(x))
        return y;
    if (is_zero(y))
        return x;
    struct operation o = {.a = x, .b = y};
    return (struct cs_origin){x.expression + y.expression, (uint16_t)arithmetic(&o)};
}

static struct cs_origin product(struct cs_origin x, struct cs_origin y)
{
    int64_t k = 0;
    if (is_zero(x) || is_zero(y))
        return (struct cs_origin){0, CS_FROM_ZERO};
    if (is_number(x, &k) && k == 1)
        return y;
    if (is_number(y, &k) && k == 1)
        return x;
    bool number = is_number(x, &k), moves = k == 1 << 8 || k == 1 << 16 || k == 1 << 24;
    if (!number)
        number = is_number(y, &k), moves = k == 1 << 8 || k == 1 << 16 || k == 1 << 24;
    struct operation o = {.a = x, .b = y};
    unsigned data = (x.from | y.from) & ~(unsigned)CS_FROM_CONSTANT;
    unsigned from = number && moves && data & CS_FROM_DATA && !(data & CS_FROM_COMPUTED) ? piece(data) : arithmetic(&o);
    return (struct cs_origin){x.expression * y.expression, (uint16_t)from};
}

static struct cs_origin add(const struct operation *o)
{
    bool extended = o->in->code != 0x036 && field(o->in, 74, 1);
    struct cs_origin all = sum(sum(negate(o->a, &o->in->a), negate(o->b, &o->in->b)), negate(o->c, &o->in->c));
    return extended ? unlike_any(o, arithmetic(o), 0) : all;
}

static struct cs_origin multiply_add(const struct operation *o)
{
    struct cs_origin all = sum(product(o->a, o->b), negate(o->c, &o->in->c));
    return field(o->in, 74, 1) ? unlike_any(o, arithmetic(o), 0) : all;
}

static struct cs_origin effective_address(const struct operation *o)
{
    bool high = field(o->in, 80, 1), extended = field(o->in, 74, 1);
    struct cs_origin scale = {UINT64_C(1) << field(o->in, 75, 5), CS_FROM_CONSTANT};
    if (high || extended)
        return unlike_any(o, arithmetic(o), 0);
    struct cs_origin scaled = product(o->a, scale);
    if (field(o->in, 72, 1))
        scaled = (struct cs_origin){0 - scaled.expression, (uint16_t)arithmetic(o)};
    return sum(scaled, negate(o->b, &o->in->b));
}

static struct cs_origin logic(const struct operation *o)
{
    unsigned table = (unsigned)field(o->in, 72, 8);
    const struct cs_origin *operands[] = {&o->a, &o->b, &o->c};
    static const uint8_t columns[] = {0xf0, 0xcc, 0xaa};
    /* With zeros where operands are zero, is the function one of its operands? */
    uint8_t care = 0xff;
    for (size_t i = 0; i < 3; i++)
        if (is_zero(*operands[i]))
            care &= (uint8_t)~columns[i];
    for (size_t i = 0; i < 3; i++)
        if (!is_zero(*operands[i]) && (table & care) == (columns[i] & care))
            return *operands[i];
    int64_t k;
    bool mask = table == LUT_AND && is_number(o->b, &k) && (k == 0xff || k == 0xffff || k == -0x10000);
    if (mask && o->a.from & CS_FROM_DATA && !(o->a.from & CS_FROM_COMPUTED))
        return (struct cs_origin){function_of(o, 0), (uint16_t)piece(o->a.from)};
    return computed(o, 0);
}

static struct cs_origin shift(const struct operation *o)
{
    bool left = !field(o->in, 76, 1), high = field(o->in, 80, 1), is_signed = !field(o->in, 73, 1);
    int64_t k;
    struct cs_origin value = high ? o->c : o->a, other = high ? o->a : o->c;
    if (!is_number(o->b, &k))
        return computed(o, 0);
    if (k == 0)
        return value;
    if (left && !high && k > 0 && k < 32)
        return product(o->a, (struct cs_origin){UINT64_C(1) << k, CS_FROM_CONSTANT});
    bool data = value.from & CS_FROM_DATA && !(value.from & CS_FROM_COMPUTED), alone = is_zero(other);
    if (data && high && !left && k == 31 && is_signed)
        return (struct cs_origin){function_of(o, 0), (uint16_t)cast(value.from)}; /* upper half of a longer integer */
    if (data && alone && !left && (k == 8 || k == 16 || k == 24))
        return (struct cs_origin){function_of(o, 0), (uint16_t)piece(value.from)};
    return computed(o, 0);
}

/* Which bytes of a result come from which operand: bit i for byte i, and whether they are upper ones there. */
struct selection {
    unsigned bytes[2], upper[2];
    bool signs;
};

static struct selection selection(unsigned selector)
{
    struct selection s = {{0, 0}, {0, 0}, false};
    for (unsigned i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 15, of_c = nibble >> 2 & 1;
        s.bytes[of_c] |= 1u << i;
        s.upper[of_c] |= nibble & 2;
        s.signs |= nibble >> 3;
    }
    return s;
}

/* Origin of the bytes taken from one operand. */
static unsigned taken(unsigned from, unsigned bytes, unsigned upper)
{
    if (!bytes)
        return 0;
    return upper ? from & ~(unsigned)CS_FROM_ZERO : from & ~(unsigned)(CS_FROM_ZERO | CS_FROM_FOREIGN);
}

static struct cs_origin permute(const struct operation *o)
{
    enum { UPPER_HALF = 12 };
    int64_t selector;
    if (!is_number(o->b, &selector))
        return computed(o, 0);
    if ((selector & 0xffff) == 0x3210)
        return o->a;
    if ((selector & 0xffff) == 0x7654)
        return o->c;
    struct selection s = selection((unsigned)selector);
    unsigned a = taken(o->a.from, s.bytes[0], s.upper[0]), c = taken(o->c.from, s.bytes[1], s.upper[1]);
    unsigned foreign = CS_FROM_CONSTANT | CS_FROM_THREAD | CS_FROM_COMPUTED, used = a | c;
    bool low_zero = (is_zero(o->a) && (selector & 0xff00) == 0x7600 && !(s.bytes[1] & ~UPPER_HALF)) ||
                    (is_zero(o->c) && (selector & 0xff00) == 0x3200 && !(s.bytes[0] & ~UPPER_HALF));
    unsigned upper = (o->a.from | o->c.from) & CS_FROM_LOADED ? CS_FROM_UPPER : 0;
    if (low_zero && !s.signs)
        return (struct cs_origin){function_of(o, 0), (uint16_t)(CS_FROM_ZERO | CS_FROM_FOREIGN | upper)};
    if (!(used & CS_FROM_DATA))
        return computed(o, 0);
    if (a & CS_FROM_DATA && c & foreign && !(c & CS_FROM_CAST) && !(s.bytes[1] & ~UPPER_HALF))
        used = a | CS_FROM_FOREIGN;
    else if (c & CS_FROM_DATA && a & foreign && !(a & CS_FROM_CAST) && !(s.bytes[0] & ~UPPER_HALF))
        used = c | CS_FROM_FOREIGN;
    unsigned kept = used & CS_FROM_FOREIGN;
    if (a & CS_FROM_LOADED && c & CS_FROM_LOADED && !kept && !(used & CS_FROM_CAST)) /* packed from narrower ones */
        used = (used & ~(unsigned)CS_FROM_LOADED) | CS_FROM_WORD;
    else
        used = piece(used) | kept;
    return (struct cs_origin){function_of(o, 0), (uint16_t)(s.signs ? cast(used) : used)};
}

/* Turning a number into a truth value is a conversion. */
static bool makes_truth(const struct operation *o)
{
    enum { ONE = 1, ONE_FLOAT = 0x3f800000 };
    struct cs_origin yes = o->truth ? o->a : o->b, no = o->truth ? o->b : o->a;
    return (o->truth || o->untruth) && is_zero(no) && (yes.expression == ONE || yes.expression == ONE_FLOAT);
}

static struct cs_origin select_one(const struct operation *o, unsigned i)
{
    if (makes_truth(o))
        return unlike_any(o, CS_FROM_CAST, i);
    bool floating = o->in->code == 0x008;
    unsigned from = o->a.from | o->b.from;
    if (o->chosen || (floating && (modified(o, false) || modified(o, true))))
        from |= CS_FROM_COMPUTED;
    return unlike_any(o, from, i);
}

static struct cs_origin half_multiply_add(const struct operation *o)
{
    struct cs_origin loaded_constant = {(uint64_t)(int64_t)(int32_t)o->in->c.value,
                                        o->in->c.value ? CS_FROM_CONSTANT : CS_FROM_ZERO};
    bool zero = is_zero(o->a) && is_zero(o->b) && o->in->c.kind == CS_OPERAND_IMMEDIATE;
    return zero ? loaded_constant : computed(o, 0);
}

static struct cs_origin special(const struct operation *o, unsigned i)
{
    unsigned number = (unsigned)field(o->in, 72, 8);
    if (o->in->code == 0x005 && number == SPECIAL_ZERO)
        return (struct cs_origin){0, CS_FROM_ZERO};
    if (number == SPECIAL_LANE || (number >= SPECIAL_FIRST && number <= SPECIAL_LAST))
        return (struct cs_origin){cs_class_symbol(CS_SYMBOL_SPECIAL, number, i), CS_FROM_THREAD};
    return unlike_any(o, CS_FROM_THREAD, i);
}

/* Result word i. */
static struct cs_origin evaluate(const struct operation *o, unsigned i)
{
    struct cs_origin high;
    switch ((enum cs_action)o->in->opcode->action) {
    case CS_DO_CLEAN:
        return clean(o, i);
    case CS_DO_MANGLE:
        return mangle(o, i);
    case CS_DO_MOVE:
        return o->in->b.kind == CS_OPERAND_NONE ? o->a : o->b;
    case CS_DO_SELECT:
        return select_one(o, i);
    case CS_DO_ADD:
    case CS_DO_ADD64:
        return i == 0 ? add(o) : unlike_any(o, arithmetic(o), i);
    case CS_DO_MAD:
        return multiply_add(o);
    case CS_DO_MAD_WIDE:
        high = unlike_any(o, arithmetic(o), i);
        return i == 0 ? multiply_add(o) : high;
    case CS_DO_LEA:
        return effective_address(o);
    case CS_DO_LOGIC:
        return logic(o);
    case CS_DO_SHIFT:
        return shift(o);
    case CS_DO_PERMUTE:
        return permute(o);
    case CS_DO_FMA2:
        return half_multiply_add(o);
    case CS_DO_SHUFFLE:
        return unlike_any(o, o->a.from | (o->a.from & CS_FROM_DATA ? CS_FROM_STAGED : 0), i);
    case CS_DO_SPECIAL:
        return special(o, i);
    default:
        return computed(o, i);
    }
}

static void tell_truth(const struct cs_data_state *state, struct operation *o)
{
    unsigned condition = (unsigned)field(o->in, 87, 3);
    bool negated = field(o->in, 90, 1);
    if (o->in->guard_uniform || condition == CS_PT)
        return;
    bool nonzero = state->nonzero >> condition & 1, zero = state->zero >> condition & 1;
    o->truth = negated ? zero : nonzero;
    o->untruth = negated ? nonzero : zero;
}

static struct cs_origin origin_of(struct cs_datum value)
{
    return (struct cs_origin){value.expression, value.from};
}

/*
 * A selection between data and zero by a check is data while the check holds. Returns the check, or 0.
 */
static uint16_t select_by_check(const struct cs_data_state *state, const struct operation *o,
                                const struct cs_datum operands[3], struct cs_origin *result)
{
    unsigned condition = (unsigned)field(o->in, 87, 3);
    bool second = cs_class_cleared(o->a.from), one = second != cs_class_cleared(o->b.from);
    struct cs_origin data = second ? o->b : o->a;
    if (o->in->opcode->action != CS_DO_SELECT || o->in->guard_uniform || condition == CS_PT || o->chosen || !one ||
        !(data.from & CS_FROM_DATA) || (o->in->code == 0x008 && modified(o, second)))
        return 0;
    uint16_t check = state->checks[condition] ^ (uint16_t)(field(o->in, 90, 1) ^ second);
    if (check < 2 || (data.from & CS_FROM_CHECKED && !cs_class_same_check(state->pass, operands[second].check, check)))
        return 0;
    *result = (struct cs_origin){result->expression, data.from | CS_FROM_CHECKED};
    return check;
}

static struct operation operation_on(const struct cs_flow *flow, const struct cs_data_state *state, uint32_t index,
                                     const struct cs_datum operands[3], uint16_t under)
{
    const struct cs_instruction *in = &flow->instructions[index];
    struct operation o = {.in = in,
                          .index = index,
                          .a = origin_of(seen_under(operands[0], under)),
                          .b = origin_of(seen_under(operands[1], under)),
                          .c = origin_of(seen_under(operands[2], under))};
    if (in->opcode->action == CS_DO_SELECT && cs_class_condition_tainted(state, in)) {
        o.chosen = true;
        tell_truth(state, &o);
    }
    return o;
}

/* Result word i. Moves and selections of pairs do with the upper words what they do with the lower ones. */
static struct cs_datum result_word(const struct cs_flow *flow, const struct cs_data_state *state, uint32_t index,
                                   unsigned i)
{
    const struct cs_instruction *in = &flow->instructions[index];
    bool wordwise = in->opcode->action == CS_DO_MOVE || in->opcode->action == CS_DO_SELECT;
    uint16_t guard = cs_flow_guard(in), under = 0, check = 0;
    const struct cs_operand *operands[3] = {&in->a, &in->b, &in->c};
    struct cs_datum values[3];
    for (unsigned j = 0; j < 3; j++) {
        values[j] = cs_class_operand(flow, state, operands[j], wordwise ? i : 0, guard);
        if (!guard && !under)
            under = values[j].guard & (uint16_t)~CS_NO_GUARD;
        if (!check)
            check = values[j].check;
    }
    struct operation plain = operation_on(flow, state, index, values, 0);
    struct cs_origin result = evaluate(&plain, wordwise ? 0 : i);
    uint16_t selected = select_by_check(state, &plain, values, &result);
    struct cs_datum value = datum(result.from, result.expression);
    value.check = selected ? selected : result.from & CS_FROM_CHECKED ? check : 0;
    if (!under)
        return value;
    struct operation guarded = operation_on(flow, state, index, values, under);
    struct cs_origin then = evaluate(&guarded, wordwise ? 0 : i);
    if (selected)
        select_by_check(state, &guarded, values, &then);
    value.guard = under;
    value.guarded_from = then.from;
    value.guarded_expression = then.expression;
    return value;
}

bool cs_class_transfer(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &flow->instructions[index];
    struct cs_datum results[CS_REGISTERS];
    bool wrote = false;
    if (in->destination == CS_RZ)
        return false;
    for (unsigned i = 0; i < in->count_most; i++)
        results[i] = result_word(flow, state, index, i);
    for (unsigned i = 0; i < in->count_most; i++)
        wrote |= cs_class_write(flow, state, index, i, results[i]);
    return wrote;
}
