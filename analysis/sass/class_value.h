/*
 * class_value.h - where the data in a register comes from, and what instructions do to it. One thread a pass.
 *
 * Every register has an origin: a set of bits, and an expression. Expressions are polynomials over what a kernel starts
 * from (parameters, thread numbers, loaded words), evaluated modulo 2^64 at random points: equal numbers are equal
 * polynomials but for a chance of about 2^-40. So two addresses can be compared by subtraction.
 */
#ifndef COPYSPY_ANALYSIS_SASS_CLASS_VALUE_H
#define COPYSPY_ANALYSIS_SASS_CLASS_VALUE_H

#include "analysis/sass/flow.h"

enum {
    CS_FROM_BYTE = 1,      /* loaded from memory, unchanged: 8 bits */
    CS_FROM_HALF = 2,      /* 16 bits */
    CS_FROM_WORD = 4,      /* 32 bits, or a word of a longer access */
    CS_FROM_PIECE = 8,     /* bytes of loaded values, moved within a word; other bits are zero or foreign */
    CS_FROM_CAST = 16,     /* loaded and converted */
    CS_FROM_CONSTANT = 32, /* computed from constants and parameters only */
    CS_FROM_ZERO = 64,     /* zero */
    CS_FROM_THREAD = 128,  /* computed from thread numbers, clocks and the like too */
    CS_FROM_COMPUTED = 256,
    CS_FROM_STAGED = 512,   /* went through shared memory or another lane */
    CS_FROM_FOREIGN = 1024, /* only the lower half is what is said; the upper one is left over from something else */
    CS_FROM_CHECKED = 2048, /* what is said if the check holds, else zero or left over */
    CS_FROM_UPPER = 4096,   /* with FOREIGN: and the upper half is that of a loaded value */
    CS_FROM_LOADED = CS_FROM_BYTE | CS_FROM_HALF | CS_FROM_WORD | CS_FROM_PIECE,
    CS_FROM_DATA = CS_FROM_LOADED | CS_FROM_CAST,
    CS_FROM_TAINTED = CS_FROM_DATA | CS_FROM_COMPUTED | CS_FROM_UPPER
};

struct cs_origin {
    uint64_t expression;
    uint16_t from; /* 0: never written */
};

/*
 * What a register holds. While the predicate `guard` (as in cs_value) holds, it is `guarded`. A check is a comparison
 * with a bound, numbered from 1, times two, plus one if its outcome is to be false; 0: none.
 */
enum { CS_NO_GUARD = 0x8000 }; /* in guard: none is to be set at this join again */

struct cs_datum {
    uint64_t expression, guarded_expression;
    uint16_t from, guarded_from;
    uint16_t guard, check;
};

struct cs_class_pass;

struct cs_data_state {
    const struct cs_class_pass *pass;
    struct cs_datum *values; /* as in a state of the address pass: general registers, then uniform ones */
    uint16_t tainted;        /* predicates that depend on loaded values; bits as in cs_instruction */
    uint16_t fact;           /* a guard that is known to hold; 0: none */
    uint16_t nonzero, zero;  /* predicates that tell whether a loaded value is; subsets of tainted */
    uint16_t known;          /* a check that is known to hold */
    uint16_t checks[16];     /* of predicates */
};

/* Whether the lower half is zero, and all of it is but for what is foreign. */
static inline bool cs_class_cleared(unsigned from)
{
    return from & CS_FROM_ZERO && !(from & ~(unsigned)(CS_FROM_ZERO | CS_FROM_FOREIGN | CS_FROM_UPPER));
}

/* A number that stands for something that is not computed from anything else. */
uint64_t cs_class_symbol(uint64_t kind, uint64_t a, uint64_t b);
enum { CS_SYMBOL_CONSTANT = 1, CS_SYMBOL_SPECIAL, CS_SYMBOL_RESULT, CS_SYMBOL_MEMORY, CS_SYMBOL_JOIN, CS_SYMBOL_TURNS };

/* What lies in memory at an address (an expression); size: CS_FROM_BYTE, _HALF or _WORD. */
static inline uint64_t cs_class_memory(uint64_t address, unsigned size)
{
    return cs_class_symbol(CS_SYMBOL_MEMORY, address, size);
}

static inline uint64_t cs_class_parameter(const struct cs_flow *flow, uint32_t offset)
{
    return cs_class_symbol(CS_SYMBOL_CONSTANT, 0, flow->kernel->parameter_base + offset);
}

/* The check that a guard stands for. */
uint16_t cs_class_check(const struct cs_data_state *state, uint16_t guard);
/* Whether what is done under the first check is done wherever something is done under the second. */
bool cs_class_same_check(const struct cs_class_pass *pass, uint16_t first, uint16_t second);
/* Whether the predicate is tainted; 0 is no predicate. */
bool cs_class_guard_tainted(const struct cs_data_state *state, uint16_t guard);
/* Whether the condition at bit 87, of selections and comparisons, is. */
bool cs_class_condition_tainted(const struct cs_data_state *state, const struct cs_instruction *in);
struct cs_datum *cs_class_register(const struct cs_flow *flow, const struct cs_data_state *state, bool uniform,
                                   unsigned number);
/* An operand as an instruction under the guard sees it. */
struct cs_datum cs_class_operand(const struct cs_flow *flow, const struct cs_data_state *state,
                                 const struct cs_operand *operand, unsigned word, uint16_t guard);
/* Writes result word i. Returns whether data (CS_FROM_DATA) was written. */
bool cs_class_write(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index, unsigned i,
                    struct cs_datum value);
/* What an instruction without memory does to the state. Returns whether it wrote data. */
bool cs_class_transfer(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index);
/* The guards of what was known under predicates that the instruction writes are forgotten; taint is set. */
void cs_class_predicates(const struct cs_flow *flow, struct cs_data_state *state, uint32_t index);
/* From here on the guard holds. */
void cs_class_assume(const struct cs_flow *flow, struct cs_data_state *state, uint16_t guard);

#endif
