/*
 * class_walk.c - walks the code of a kernel for its class: blocks, what is known where they join, branches, calls. One
 * thread a pass.
 *
 * What a register holds after n turns of a loop is what it held before plus n times what a turn adds: that is how
 * expressions of pointers that walk side by side stay comparable.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/sass/class_pass.h"

enum {
    OPPOSITE = 8,     /* the bit of a guard that negates it */
    MOST_CHANGES = 6, /* of one expression at one join */
    MOST_STATE_BYTES = 32 << 20,
    LOOK_BACK = 200 /* instructions before a call, to find the function it calls */
};

/* How the expression of a register at a block's beginning came about. */
struct cs_join {
    uint64_t entry, step; /* entry + step * turns */
    uint32_t entry_from, back_from;
    uint8_t changes;
    bool made, opaque;
};

static uint32_t place_count(const struct cs_class_pass *pass)
{
    return pass->flow->register_count + pass->flow->uniform_count;
}

static void enqueue(struct cs_class_pass *pass, uint32_t index)
{
    pass->queued[index] = 1;
    if (index < pass->cursor)
        pass->cursor = index;
}

/* ---- joins ---- */

static uint64_t opaque(struct cs_join *join, const struct cs_class_node *node, uint32_t place)
{
    join->opaque = true;
    return cs_class_symbol(CS_SYMBOL_JOIN, node->index, place);
}

/* The expression at a block's beginning when one more way in brings `value` where `current` was known. */
static uint64_t join_expression(struct cs_class_node *node, uint32_t place, uint32_t source, uint64_t current,
                                uint64_t value)
{
    struct cs_join *join = &node->joins[place];
    uint64_t turns = cs_class_symbol(CS_SYMBOL_TURNS, node->index, source);
    if (value == current || join->opaque)
        return current;
    if (++join->changes > MOST_CHANGES)
        return opaque(join, node, place);
    if (!join->made && source == node->first)
        return value;
    if (!join->made) {
        *join = (struct cs_join){current, value - current, node->first, source, join->changes, true, false};
    } else if (source == join->entry_from) {
        join->entry = value;
        turns = cs_class_symbol(CS_SYMBOL_TURNS, node->index, join->back_from);
    } else if (source == join->back_from) {
        if (value - current == join->step) {
            join->changes--;
            return current;
        }
        join->step = value - current;
    } else {
        return opaque(join, node, place);
    }
    return join->entry + join->step * turns;
}

static void drop_guard(struct cs_datum *value)
{
    value->guard = CS_NO_GUARD;
    value->guarded_from = 0;
    value->guarded_expression = 0;
}

/* The value under the guard that `known` has, joined with what another way brings. */
static void join_guarded(struct cs_datum *known, uint16_t from, uint64_t expression, uint64_t otherwise)
{
    if (known->guarded_expression != expression)
        known->guarded_expression = otherwise;
    known->guarded_from |= from;
}

/* Two ways meet on which a predicate differed: the one that brings data is remembered apart. */
static bool part_ways(const struct cs_class_node *node, struct cs_datum *known, const struct cs_datum *value,
                      uint16_t fact)
{
    if (!fact || fact != (node->first_fact ^ OPPOSITE) || known->guard || (value->guard & ~CS_NO_GUARD) ||
        (known->from == value->from && known->expression == value->expression))
        return false;
    bool second = value->from & CS_FROM_DATA;
    known->guard = second ? fact : node->first_fact;
    known->guarded_from = second ? value->from : known->from;
    known->guarded_expression = second ? value->expression : known->expression;
    return true;
}

static bool same_datum(const struct cs_datum *a, const struct cs_datum *b)
{
    return a->expression == b->expression && a->from == b->from && a->check == b->check && a->guard == b->guard &&
           a->guarded_from == b->guarded_from && a->guarded_expression == b->guarded_expression;
}

static void join_guards(const struct cs_class_node *node, uint32_t place, struct cs_datum *known,
                        const struct cs_datum *value, uint16_t fact)
{
    uint64_t otherwise = cs_class_symbol(CS_SYMBOL_JOIN, node->index, (uint64_t)place + 1000);
    if (part_ways(node, known, value, fact) || !(known->guard & ~CS_NO_GUARD))
        return;
    if (value->guard == known->guard)
        join_guarded(known, value->guarded_from, value->guarded_expression, otherwise);
    else if (fact == known->guard)
        join_guarded(known, value->from, value->expression, otherwise);
    else if (fact != (known->guard ^ OPPOSITE))
        drop_guard(known);
}

/*
 * The same for a check: the way on which it fails brings zero. Returns whether `known` is settled so.
 */
static bool join_checked(const struct cs_class_node *node, struct cs_datum *known, const struct cs_datum *value,
                         uint16_t check)
{
    bool known_data = known->from & CS_FROM_DATA, data = value->from & CS_FROM_DATA;
    if (value->from & CS_FROM_CHECKED || check < 2)
        return false;
    if (known->from & CS_FROM_CHECKED) {
        if (known->check == check && data)
            known->from |= value->from;
        return known->check == check ? data : known->check == (check ^ 1) && cs_class_cleared(value->from);
    }
    if (check != (node->first_known ^ 1) || data == known_data)
        return false;
    if (!cs_class_cleared(data ? known->from : value->from))
        return false;
    known->from = (data ? value->from : known->from) | CS_FROM_CHECKED;
    known->check = data ? check : node->first_known;
    return true;
}

/* Joins what another way into a block brings; returns whether that changed what is known. */
static bool join_place(struct cs_class_node *node, uint32_t place, uint32_t source, const struct cs_datum *value,
                       const struct cs_data_state *state)
{
    struct cs_datum *known = &node->values[place], before = *known;
    uint16_t from = known->from | value->from;
    uint64_t expression = join_expression(node, place, source, known->expression, value->expression);
    if (!node->several) {
        *known = *value; /* the same way again */
        from = value->from;
    } else {
        join_guards(node, place, known, value, state->fact);
        if (join_checked(node, known, value, state->known))
            from = known->from;
        else if (known->check != value->check)
            known->check = known->from == 0 ? value->check : value->from == 0 ? known->check : 0;
    }
    known->expression = expression;
    known->from = from;
    return !same_datum(known, &before);
}

/* Joins what is known of predicates; returns whether that changed. */
static bool join_predicates(struct cs_class_node *node, const struct cs_data_state *state)
{
    struct cs_class_node before = *node;
    bool sole = !node->several;
    if (sole) {
        node->first_fact = state->fact;
        node->first_known = state->known;
    }
    node->tainted |= state->tainted;
    node->nonzero = sole ? state->nonzero : node->nonzero & state->nonzero;
    node->zero = sole ? state->zero : node->zero & state->zero;
    node->fact = sole || node->fact == state->fact ? state->fact : 0;
    node->known = sole || node->known == state->known ? state->known : 0;
    for (unsigned i = 0; i < 16; i++)
        node->checks[i] = sole || node->checks[i] == state->checks[i] ? state->checks[i] : 0;
    return before.tainted != node->tainted || before.nonzero != node->nonzero || before.zero != node->zero ||
           before.fact != node->fact || before.known != node->known ||
           memcmp(before.checks, node->checks, sizeof before.checks) != 0;
}

static struct cs_class_node *new_node(struct cs_class_pass *pass, uint32_t index)
{
    uint32_t places = place_count(pass);
    size_t size = sizeof(struct cs_class_node) + places * sizeof(struct cs_datum);
    if ((pass->node_count + 1) * (size + places * sizeof(struct cs_join)) > MOST_STATE_BYTES)
        return NULL;
    struct cs_class_node *node = malloc(size);
    struct cs_class_node **grown = pass->nodes;
    if (pass->node_count == pass->node_room) {
        pass->node_room = pass->node_room ? pass->node_room * 2 : 32;
        grown = realloc(pass->nodes, pass->node_room * sizeof *grown);
    }
    if (grown)
        pass->nodes = grown;
    if (!node || !grown) {
        free(node);
        return NULL;
    }
    pass->nodes[pass->node_count++] = node;
    pass->node_of[index] = (uint32_t)pass->node_count;
    return node;
}

static void note_edge(struct cs_class_pass *pass, uint32_t from, uint32_t to)
{
    if (!pass->final)
        return;
    if (pass->edge_count == pass->edge_room) {
        size_t room = pass->edge_room ? pass->edge_room * 2 : 64;
        struct cs_edge *grown = realloc(pass->edges, room * sizeof *grown);
        if (!grown) {
            pass->computes = true;
            return;
        }
        pass->edges = grown;
        pass->edge_room = room;
    }
    pass->edges[pass->edge_count++] = (struct cs_edge){from, to};
}

static void flow_into(struct cs_class_pass *pass, uint32_t source, uint32_t index, const struct cs_data_state *state)
{
    uint32_t places = place_count(pass), number = pass->node_of[index];
    if (number == 0) {
        struct cs_class_node *node = new_node(pass, index);
        if (!node) {
            pass->computes = true;
            return;
        }
        *node = (struct cs_class_node){.index = index,
                                       .first = source,
                                       .first_fact = state->fact,
                                       .fact = state->fact,
                                       .tainted = state->tainted,
                                       .nonzero = state->nonzero,
                                       .zero = state->zero,
                                       .first_known = state->known,
                                       .known = state->known};
        memcpy(node->checks, state->checks, sizeof node->checks);
        memcpy(node->values, state->values, places * sizeof *node->values);
        enqueue(pass, index);
        number = pass->node_of[index];
        if (source != CS_CLASS_EXIT)
            note_edge(pass, source, number - 1);
        return;
    }
    if (pass->final) {
        note_edge(pass, source, number - 1);
        return;
    }
    struct cs_class_node *node = pass->nodes[number - 1];
    if (!node->joins)
        node->joins = calloc(places + 1, sizeof *node->joins);
    if (!node->joins) {
        pass->computes = true;
        return;
    }
    node->several |= source != node->first;
    bool changed = join_predicates(node, state);
    for (uint32_t i = 0; i < places; i++)
        changed |= join_place(node, i, source, &state->values[i], state);
    if (changed)
        enqueue(pass, index);
}

/* ---- calls ---- */

/* The symbol whose address was last put into a register before a call, from the bank of addresses. */
static size_t called_symbol(const struct cs_flow *flow, uint32_t call)
{
    const struct cs_code *code = cs_flow_code(flow, call);
    uint32_t wanted = flow->instructions[call].a.value;
    for (uint32_t i = 1; code && i < LOOK_BACK && call - i + 1 > code->first; i++) {
        const struct cs_instruction *in = &flow->instructions[call - i];
        if (!in->opcode || in->destination_uniform || in->destination != wanted || in->count == 0)
            continue;
        if (in->b.kind == CS_OPERAND_CONSTANT && in->b.bank == 4)
            return cs_cubin_relocation(flow->cubin, flow->cubin->addresses, in->b.value & ~UINT32_C(7));
        return SIZE_MAX;
    }
    return SIZE_MAX;
}

/* What a function that touches no memory leaves behind. */
static void clobber(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t call,
                    const struct cs_function *function)
{
    unsigned read = 0;
    uint32_t places = place_count(pass);
    for (uint32_t i = 0; i < places; i++)
        if (cs_function_reads(pass->flow, function, i))
            read |= state->values[i].from;
    unsigned from = read & CS_FROM_TAINTED ? CS_FROM_COMPUTED : CS_FROM_THREAD;
    for (uint32_t i = 0; i < places; i++) {
        if (cs_function_writes(pass->flow, function, i))
            state->values[i] =
                (struct cs_datum){.expression = cs_class_symbol(CS_SYMBOL_RESULT, call, i), .from = (uint16_t)from};
    }
    state->tainted |= function->predicates;
    state->fact = state->known = state->nonzero = state->zero = 0;
    memset(state->checks, 0, sizeof state->checks);
    for (uint32_t i = 0; i < places; i++)
        state->values[i].guard = 0;
}

/* A function of the driver. Returns whether control comes back. */
static bool call_system(struct cs_class_pass *pass, const char *name, struct cs_data_state *state)
{
    static const char *const last[] = {"__assertfail", "__trap", "__cuda_syscall_trap"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (strcmp(name, last[i]) == 0)
            return false;
    pass->computes |= strcmp(name, "vprintf") != 0;
    for (unsigned r = 4; r < 6; r++) {
        struct cs_datum *value = cs_class_register(pass->flow, state, false, r);
        if (value)
            *value = (struct cs_datum){.from = CS_FROM_COMPUTED};
    }
    return true;
}

static bool call(struct cs_class_pass *pass, uint32_t node, uint32_t index, struct cs_data_state *state)
{
    struct cs_flow *flow = pass->flow;
    const struct cs_instruction *in = &flow->instructions[index];
    const struct cs_code *code = cs_flow_code(flow, index);
    uint64_t offset = (uint64_t)(index - code->first) * CS_INSTRUCTION_BYTES;
    size_t entry = SIZE_MAX, symbol = in->form == 1 ? called_symbol(flow, index)
                                                    : cs_cubin_relocation(flow->cubin, code->section, offset);
    if (symbol != SIZE_MAX && flow->cubin->symbols[symbol].section == CS_NO_SECTION)
        return call_system(pass, flow->cubin->symbols[symbol].name, state);
    if (symbol != SIZE_MAX)
        entry = cs_flow_locate(flow, flow->cubin->symbols[symbol].section, flow->cubin->symbols[symbol].value);
    else if (in->form != 1 && in->code == 0x144)
        entry = cs_flow_locate(flow, code->section, offset + CS_INSTRUCTION_BYTES + (uint64_t)in->jump);
    const struct cs_function *function = entry == SIZE_MAX ? NULL : cs_flow_function(flow, (uint32_t)entry);
    if (!function || flow->more_code || (function->named && !function->simple)) {
        pass->computes = true;
        return false;
    }
    if (!function->simple) {
        flow_into(pass, node, (uint32_t)entry, state); /* a jump */
        return false;
    }
    clobber(pass, state, index, function);
    return true;
}

/* ---- control flow ---- */

static void branch_indirect(struct cs_class_pass *pass, uint32_t node, uint32_t index,
                            const struct cs_data_state *state)
{
    struct cs_flow *flow = pass->flow;
    const struct cs_code *code = cs_flow_code(flow, index);
    struct cs_branch_targets targets;
    uint32_t offset = (index - code->first) * CS_INSTRUCTION_BYTES;
    if (!cs_cubin_branch_targets(flow->cubin, flow->kernel, offset, &targets)) {
        pass->computes = true;
        return;
    }
    for (uint32_t i = 0; i < targets.count; i++) {
        size_t target = cs_flow_locate(flow, code->section, cs_read32(targets.targets + 4 * (size_t)i));
        if (target == SIZE_MAX)
            pass->computes = true;
        else
            flow_into(pass, node, (uint32_t)target, state);
    }
}

static bool decided_by_data(const struct cs_class_pass *pass, const struct cs_data_state *state,
                            const struct cs_instruction *in)
{
    unsigned condition = (unsigned)(in->high >> 23 & 7);
    bool indirect = in->opcode->action == CS_DO_BRANCH_INDIRECT;
    return cs_class_guard_tainted(state, cs_flow_guard(in)) ||
           (condition != CS_PT && state->tainted >> condition & 1) ||
           (condition != CS_PT && in->opcode->action == CS_DO_BRANCH && state->tainted >> (condition + 8) & 1) ||
           (indirect && cs_class_operand(pass->flow, state, &in->a, 0, 0).from & CS_FROM_TAINTED);
}

/* Handles an instruction that ends a block; returns whether control also goes on behind it. */
static bool control(struct cs_class_pass *pass, uint32_t node, uint32_t index, struct cs_data_state *state,
                    struct cs_data_state *taken)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    const struct cs_code *code = cs_flow_code(pass->flow, index);
    uint16_t guard = cs_flow_guard(in);
    bool goes_on = cs_instruction_conditional(in), other = (in->high >> 23 & 15) != CS_PT || in->high >> 27 & 1;
    if (in->guard == CS_PT && in->guard_negated)
        return true; /* never executed */
    bool decided = pass->final && decided_by_data(pass, state, in);
    pass->nodes[node]->tainted_branch |= decided;
    pass->chooses |= decided;
    memcpy(taken->values, state->values, place_count(pass) * sizeof *state->values);
    taken->tainted = state->tainted;
    taken->fact = state->fact;
    taken->nonzero = state->nonzero;
    taken->zero = state->zero;
    taken->known = state->known;
    memcpy(taken->checks, state->checks, sizeof taken->checks);
    if (guard)
        cs_class_assume(pass->flow, taken, guard);
    int64_t target = (int64_t)index - code->first + 1 + in->jump / CS_INSTRUCTION_BYTES;
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_BRANCH:
        if (target < 0 || target >= code->count)
            pass->computes = true;
        else
            flow_into(pass, node, code->first + (uint32_t)target, taken);
        break;
    case CS_DO_BRANCH_INDIRECT:
        branch_indirect(pass, node, index, taken);
        break;
    case CS_DO_CALL:
        goes_on = call(pass, node, index, state) || guard;
        return goes_on;
    case CS_DO_EXIT:
        note_edge(pass, node, CS_CLASS_EXIT);
        break;
    default: /* returns and jumps to what is not known */
        pass->computes = true;
        break;
    }
    if (goes_on && guard && !other)
        cs_class_assume(pass->flow, state, guard ^ OPPOSITE);
    return goes_on;
}

static bool step(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index)
{
    const struct cs_instruction *in = &pass->flow->instructions[index];
    bool moves;
    if (!in->opcode || (in->guard == CS_PT && in->guard_negated)) {
        pass->computes |= !in->opcode;
        return false;
    }
    pass->chooses |= cs_class_guard_tainted(state, cs_flow_guard(in)) ||
                     (in->opcode->action == CS_DO_SELECT && cs_class_condition_tainted(state, in));
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_LOAD_CONSTANT:
    case CS_DO_LOAD:
    case CS_DO_STORE:
    case CS_DO_ATOMIC:
    case CS_DO_REDUCE:
    case CS_DO_COPY_TO_SHARED:
    case CS_DO_TENSOR_LOAD:
    case CS_DO_TENSOR_STORE:
    case CS_DO_TENSOR_REDUCE:
    case CS_DO_BULK_COPY:
    case CS_DO_BULK_REDUCE:
    case CS_DO_TEXTURE_READ:
    case CS_DO_TEXTURE_WRITE:
        moves = cs_class_access(pass, state, index);
        break;
    default:
        moves = cs_class_transfer(pass->flow, state, index);
        break;
    }
    if (in->predicates) {
        cs_class_predicates(pass->flow, state, index);
        cs_class_note_check(pass, state, index);
    }
    return moves;
}

static void visit(struct cs_class_pass *pass, uint32_t number, struct cs_data_state *state, struct cs_data_state *taken)
{
    const struct cs_class_node *node = pass->nodes[number];
    const struct cs_code *code = cs_flow_code(pass->flow, node->index);
    memcpy(state->values, node->values, place_count(pass) * sizeof *state->values);
    state->tainted = node->tainted;
    state->fact = node->fact;
    state->nonzero = node->nonzero;
    state->zero = node->zero;
    state->known = node->known;
    memcpy(state->checks, node->checks, sizeof state->checks);
    for (uint32_t index = node->index; code && index - code->first < code->count && !pass->computes; index++) {
        if (index != node->index && pass->flow->leaders[index]) {
            flow_into(pass, number, index, state);
            return;
        }
        const struct cs_instruction *in = &pass->flow->instructions[index];
        if (!cs_flow_ends_block(in)) {
            pass->nodes[number]->touches_data |= step(pass, state, index);
            pass->nodes[number]->writes |= in->count_most != 0;
        } else if (!control(pass, number, index, state, taken))
            return;
    }
}

static void settle(struct cs_class_pass *pass, struct cs_data_state *state, struct cs_data_state *taken)
{
    size_t count = pass->flow->instruction_count;
    do {
        pass->contents_changed = false;
        while (!pass->computes) {
            const uint8_t *next =
                pass->cursor < count ? memchr(pass->queued + pass->cursor, 1, count - pass->cursor) : NULL;
            if (!next)
                break;
            pass->cursor = (size_t)(next - pass->queued);
            pass->queued[pass->cursor] = 0;
            visit(pass, pass->node_of[pass->cursor] - 1, state, taken);
        }
        for (size_t i = 0; pass->contents_changed && i < pass->node_count; i++)
            enqueue(pass, pass->nodes[i]->index);
    } while (pass->contents_changed && !pass->computes);
}

void cs_class_walk(struct cs_class_pass *pass)
{
    struct cs_flow *flow = pass->flow;
    struct cs_data_state state = {.pass = pass,
                                  .values = calloc(2 * (size_t)place_count(pass) + 1, sizeof *state.values)};
    size_t entry = cs_flow_locate(flow, flow->kernel->text, flow->kernel->entry);
    if (!state.values || entry == SIZE_MAX) {
        free(state.values);
        pass->computes = true;
        return;
    }
    struct cs_data_state taken = {.pass = pass, .values = state.values + place_count(pass)};
    flow_into(pass, CS_CLASS_EXIT, (uint32_t)entry, &state);
    settle(pass, &state, &taken);
    pass->final = true;
    for (uint32_t i = 0; i < pass->node_count && !pass->computes; i++)
        visit(pass, i, &state, &taken);
    free(state.values);
}
