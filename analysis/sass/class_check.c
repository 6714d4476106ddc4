/*
 * class_check.c - comparisons with a bound, as those that keep threads from going beyond the end of the data. One
 * thread a pass.
 *
 * Compilers clear a register, load into it under a check, and store it under the same check, computed anew: the zero
 * is never stored. Checks are the same if they compare with the same bound; their other sides may only differ in a way
 * that is not understood (index + 1 < n is another check than index < n).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/sass/class_pass.h"

enum { ISETP = 0x00c, UISETP = 0x08c, MOST_CHECKS = 0x7ff0 };
enum { LESS = 1, EQUAL, LESS_EQUAL, GREATER, NOT_EQUAL, GREATER_EQUAL };

static uint64_t field(const struct cs_instruction *in, unsigned first, unsigned count)
{
    return in->high >> (first - 64) & ((UINT64_C(1) << count) - 1);
}

/* The number of a check; 0 when there are too many. */
static uint16_t number_of(struct cs_class_pass *pass, struct cs_check check)
{
    for (size_t i = 0; i < pass->check_count; i++)
        if (memcmp(&pass->checks[i], &check, sizeof check) == 0)
            return (uint16_t)(i + 1);
    if (pass->check_count == MOST_CHECKS)
        return 0;
    if (pass->check_count == pass->check_room) {
        size_t room = pass->check_room ? pass->check_room * 2 : 32;
        struct cs_check *grown = realloc(pass->checks, room * sizeof *grown);
        if (!grown)
            return 0;
        pass->checks = grown;
        pass->check_room = room;
    }
    pass->checks[pass->check_count++] = check;
    return (uint16_t)pass->check_count;
}

/* Comparisons as one of less, equal, less or equal; greater ones are those, negated. */
static uint16_t comparison(struct cs_class_pass *pass, const struct cs_data_state *state,
                           const struct cs_instruction *in)
{
    unsigned how = (unsigned)field(in, 76, 3), negated = how >= GREATER;
    if (how < LESS || how > GREATER_EQUAL || field(in, 87, 4) != CS_PT || in->guard != CS_PT)
        return 0;
    unsigned plain = how == GREATER_EQUAL ? LESS : how == GREATER ? LESS_EQUAL : how == NOT_EQUAL ? EQUAL : how;
    struct cs_datum a = cs_class_operand(pass->flow, state, &in->a, 0, 0);
    struct cs_datum b = cs_class_operand(pass->flow, state, &in->b, 0, 0);
    uint64_t kind = plain | field(in, 72, 2) << 4;
    uint16_t number = number_of(pass, (struct cs_check){kind, a.expression, b.expression});
    return number ? (uint16_t)(number << 1 | negated) : 0;
}

void cs_class_note_check(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    unsigned uniform = in->code == UISETP ? 8 : 0, first = (unsigned)field(in, 81, 3);
    for (unsigned i = 0; i < 16; i++)
        if (in->predicates >> i & 1)
            state->checks[i] = 0;
    if ((in->code == ISETP || in->code == UISETP) && first != CS_PT)
        state->checks[uniform + first] = comparison(pass, state, in);
}

bool cs_class_same_check(const struct cs_class_pass *pass, uint16_t first, uint16_t second)
{
    if (first < 2 || second < 2 || (first ^ second) & 1)
        return false;
    const struct cs_check *x = &pass->checks[first / 2 - 1], *y = &pass->checks[second / 2 - 1];
    int64_t apart = (int64_t)(x->value - y->value);
    bool comparable = apart >= INT32_MIN && apart <= INT32_MAX;
    return x->kind == y->kind && x->bound == y->bound && (apart == 0 || !comparable);
}
