/*
 * function.c - what a called function's code shows without any data flow: which registers it writes, whether it touches
 * memory. One thread a pass.
 */
#include "analysis/sass/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS_OF_SIMPLE = 4096 };

static void note_writes(struct cs_function *function, const struct cs_instruction *in)
{
    function->predicates |= in->predicates;
    for (unsigned i = 0; i < in->count_most && in->destination != CS_RZ && in->destination + i < CS_REGISTERS; i++)
        function->writes[in->destination_uniform][(in->destination + i) / 8] |=
            (uint8_t)(1u << (in->destination + i) % 8);
}

/* Operands may be pairs. */
static void note_reads(struct cs_function *function, const struct cs_operand *operand)
{
    bool uniform = operand->kind == CS_OPERAND_UNIFORM;
    if (!uniform && operand->kind != CS_OPERAND_REGISTER)
        return;
    for (uint32_t i = operand->value; i < operand->value + 2 && i < CS_REGISTERS; i++)
        function->reads[uniform][i / 8] |= (uint8_t)(1u << i % 8);
}

static bool is_simple(const struct cs_instruction *in)
{
    if (!in->opcode)
        return false;
    enum cs_action action = (enum cs_action)in->opcode->action;
    return action <= CS_DO_LOAD_CONSTANT || action == CS_DO_BRANCH || action == CS_DO_RETURN || action == CS_DO_EXIT;
}

/* Follows the code from the entry; clears `simple` at the first instruction that is not. */
static bool look_at(const struct cs_flow *flow, struct cs_function *function)
{
    const struct cs_code *code = cs_flow_code(flow, function->entry);
    uint8_t *seen = calloc(code->count, 1);
    uint32_t *stack = malloc((2 * (size_t)code->count + 2) * sizeof *stack);
    size_t depth = 0, steps = 0;
    if (seen && stack)
        stack[depth++] = function->entry - code->first;
    while (depth && function->simple) {
        uint32_t at = stack[--depth];
        if (at >= code->count || seen[at])
            continue;
        seen[at] = 1;
        const struct cs_instruction *in = &flow->instructions[code->first + at];
        function->simple = is_simple(in) && ++steps <= MOST_INSTRUCTIONS_OF_SIMPLE;
        note_writes(function, in);
        note_reads(function, &in->a);
        note_reads(function, &in->b);
        note_reads(function, &in->c);
        bool ends = in->opcode && in->opcode->action >= CS_DO_BRANCH;
        if (!ends || cs_instruction_conditional(in))
            stack[depth++] = at + 1;
        int64_t target = (int64_t)at + 1 + in->jump / CS_INSTRUCTION_BYTES;
        if (ends && in->opcode->action == CS_DO_BRANCH && target >= 0 && target < code->count)
            stack[depth++] = (uint32_t)target;
    }
    bool done = seen && stack;
    free(seen);
    free(stack);
    return done;
}

/* The compiler names its own routines for division, roots, powers and the reduction of angles alike. */
static void look_for_name(const struct cs_flow *flow, struct cs_function *function)
{
    const struct cs_code *code = cs_flow_code(flow, function->entry);
    uint64_t offset = (uint64_t)(function->entry - code->first) * CS_INSTRUCTION_BYTES;
    for (size_t i = 0; i < flow->cubin->symbol_count; i++) {
        const struct cs_symbol *symbol = &flow->cubin->symbols[i];
        if (symbol->section != code->section || symbol->value != offset)
            continue;
        function->named |= symbol->function || symbol->name[0] == '$';
        /* Those with "sync" in their names move values between lanes. */
        function->arithmetic |= strstr(symbol->name, "$__internal_") && !strstr(symbol->name, "sync");
    }
}

const struct cs_function *cs_flow_function(struct cs_flow *flow, uint32_t entry)
{
    for (size_t i = 0; i < flow->function_count; i++)
        if (flow->functions[i]->entry == entry)
            return flow->functions[i];
    struct cs_function *function = calloc(1, sizeof *function);
    if (!function ||
        !cs_flow_room(flow, (void **)&flow->functions, &flow->function_room, flow->function_count, sizeof function)) {
        free(function);
        return NULL;
    }
    function->entry = entry;
    function->simple = true;
    if (!look_at(flow, function)) {
        free(function);
        return NULL;
    }
    look_for_name(flow, function);
    flow->functions[flow->function_count++] = function;
    return function;
}

static bool has_place(const struct cs_flow *flow, const uint8_t sets[2][CS_REGISTERS / 8], uint32_t place)
{
    bool uniform = place >= flow->register_count;
    uint32_t number = uniform ? place - flow->register_count : place;
    return sets[uniform][number / 8] >> number % 8 & 1;
}

bool cs_function_reads(const struct cs_flow *flow, const struct cs_function *function, uint32_t place)
{
    return has_place(flow, function->reads, place);
}

bool cs_function_writes(const struct cs_flow *flow, const struct cs_function *function, uint32_t place)
{
    return has_place(flow, function->writes, place);
}
