/*
 * graph.c - walks the code of a kernel until the values at every block's beginning no longer change. One thread a pass.
 *
 * A called function is analysed anew for every call site (a frame), so that its results are those of its arguments;
 * beyond bounds, and in recursion, call sites share a frame, which only widens what is known.
 */
#include "analysis/sass/flow.h"

#include <stdlib.h>
#include <string.h>

enum {
    NO_FRAME = -1,
    MOST_DEPTH = 24,
    MOST_FRAMES = 1500,
    VISITS_PER_NODE = 400,
    MOST_STATE_BYTES = 48 << 20, /* of all blocks; of 43,000 kernels of PyTorch five would need more */
    SYSTEM_CALL_RESULT = 4       /* first register of a function's result */
};

struct cs_node {
    uint32_t frame, index;
    bool queued, visited;
    struct cs_value values[];
};

struct site {
    uint32_t frame, index;
    struct cs_value *caller; /* simple functions: the state at the call */
};

/* One activation of a function: where it was called from, and the joined state at its returns. */
struct cs_frame {
    int32_t parent;
    uint32_t call, entry, depth;
    const struct cs_function *simple; /* all calls of a simple function share the frame */
    struct site *sites;
    size_t site_count, site_room;
    struct cs_value *exit;
};

static size_t state_size(const struct cs_flow *flow)
{
    return (flow->register_count + flow->uniform_count) * sizeof(struct cs_value);
}

/* ---- blocks ---- */

static bool queue_before(const struct cs_flow *flow, uint32_t a, uint32_t b)
{
    const struct cs_node *x = flow->nodes[a], *y = flow->nodes[b];
    return x->frame != y->frame ? x->frame > y->frame : x->index < y->index; /* callees first */
}

static void enqueue(struct cs_flow *flow, uint32_t number)
{
    if (flow->nodes[number]->queued ||
        !cs_flow_room(flow, (void **)&flow->queue, &flow->queue_room, flow->queue_count, sizeof *flow->queue))
        return;
    flow->nodes[number]->queued = true;
    size_t at = flow->queue_count++;
    for (; at > 0 && queue_before(flow, number, flow->queue[(at - 1) / 2]); at = (at - 1) / 2)
        flow->queue[at] = flow->queue[(at - 1) / 2];
    flow->queue[at] = number;
}

static uint32_t dequeue(struct cs_flow *flow)
{
    uint32_t first = flow->queue[0], last = flow->queue[--flow->queue_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= flow->queue_count)
            break;
        if (child + 1 < flow->queue_count && queue_before(flow, flow->queue[child + 1], flow->queue[child]))
            child++;
        if (!queue_before(flow, flow->queue[child], last))
            break;
        flow->queue[at] = flow->queue[child];
        at = child;
    }
    if (flow->queue_count)
        flow->queue[at] = last;
    flow->nodes[first]->queued = false;
    return first;
}

static size_t node_slot(const struct cs_flow *flow, uint32_t frame, uint32_t index)
{
    size_t at = (index * 2654435761u ^ frame * 40503u) & (flow->node_table_room - 1);
    while (flow->node_table[at]) {
        const struct cs_node *node = flow->nodes[flow->node_table[at] - 1];
        if (node->frame == frame && node->index == index)
            break;
        at = (at + 1) & (flow->node_table_room - 1);
    }
    return at;
}

static bool widen_node_table(struct cs_flow *flow)
{
    if (flow->node_count * 2 < flow->node_table_room)
        return true;
    size_t room = flow->node_table_room ? flow->node_table_room * 2 : 256;
    uint32_t *table = calloc(room, sizeof *table);
    if (!table) {
        flow->failed = true;
        return false;
    }
    free(flow->node_table);
    flow->node_table = table;
    flow->node_table_room = room;
    for (uint32_t i = 0; i < flow->node_count; i++)
        flow->node_table[node_slot(flow, flow->nodes[i]->frame, flow->nodes[i]->index)] = i + 1;
    return true;
}

/* Joins a state into the one at the beginning of a block. */
static void flow_into(struct cs_flow *flow, uint32_t frame, uint32_t index, const struct cs_value *state)
{
    if (!widen_node_table(flow))
        return;
    size_t slot = node_slot(flow, frame, index);
    uint32_t count = flow->register_count + flow->uniform_count;
    if (!flow->node_table[slot] && flow->node_count * state_size(flow) > MOST_STATE_BYTES) {
        flow->given_up = true;
        return;
    }
    if (!flow->node_table[slot]) {
        struct cs_node *node = malloc(sizeof *node + state_size(flow));
        if (!node || !cs_flow_room(flow, (void **)&flow->nodes, &flow->node_room, flow->node_count, sizeof node)) {
            free(node);
            flow->failed = true;
            return;
        }
        *node = (struct cs_node){.frame = frame, .index = index};
        memcpy(node->values, state, state_size(flow));
        flow->nodes[flow->node_count++] = node;
        flow->node_table[slot] = (uint32_t)flow->node_count;
        enqueue(flow, (uint32_t)flow->node_count - 1);
        return;
    }
    struct cs_node *node = flow->nodes[flow->node_table[slot] - 1];
    bool changed = false;
    for (uint32_t i = 0; i < count; i++) {
        struct cs_value *old = &node->values[i];
        if (memcmp(old, &state[i], sizeof *old) == 0)
            continue;
        struct cs_value joined = cs_flow_join(flow, *old, state[i]);
        changed |= memcmp(&joined, old, sizeof joined) != 0;
        *old = joined;
    }
    if (changed)
        enqueue(flow, flow->node_table[slot] - 1);
}

/* ---- calls ---- */

static int32_t new_frame(struct cs_flow *flow, int32_t parent, uint32_t call, uint32_t entry)
{
    struct cs_frame *frame = calloc(1, sizeof *frame);
    if (!frame || !cs_flow_room(flow, (void **)&flow->frames, &flow->frame_room, flow->frame_count, sizeof frame)) {
        free(frame);
        flow->failed = true;
        return NO_FRAME;
    }
    frame->parent = parent;
    frame->call = call;
    frame->entry = entry;
    frame->depth = parent == NO_FRAME ? 0 : flow->frames[parent]->depth + 1;
    flow->frames[flow->frame_count] = frame;
    return (int32_t)flow->frame_count++;
}

static int32_t frame_for_call(struct cs_flow *flow, uint32_t caller, uint32_t call, uint32_t entry)
{
    for (int32_t i = (int32_t)caller; i != NO_FRAME; i = flow->frames[i]->parent)
        if (i != 0 && flow->frames[i]->entry == entry)
            return i; /* recursion */
    bool shared = flow->frames[caller]->depth >= MOST_DEPTH || flow->frame_count >= MOST_FRAMES;
    int32_t parent = shared ? NO_FRAME : (int32_t)caller;
    for (size_t i = 1; i < flow->frame_count; i++) {
        const struct cs_frame *frame = flow->frames[i];
        if (!frame->simple && frame->parent == parent && frame->entry == entry && (shared || frame->call == call))
            return (int32_t)i;
    }
    return new_frame(flow, parent, call, entry);
}

/* Control comes back to a call site: a simple function leaves what it does not write as the caller had it. */
static void come_back(struct cs_flow *flow, const struct cs_frame *frame, const struct site *site)
{
    if (!frame->exit)
        return;
    if (!frame->simple) {
        flow_into(flow, site->frame, site->index, frame->exit);
        return;
    }
    uint32_t count = flow->register_count + flow->uniform_count;
    struct cs_value *state = malloc(state_size(flow) + 1);
    if (!state) {
        flow->failed = true;
        return;
    }
    memcpy(state, site->caller, state_size(flow));
    cs_flow_forget_predicates(flow, state, frame->simple->predicates);
    for (uint32_t i = 0; i < count; i++)
        if (cs_function_writes(flow, frame->simple, i))
            state[i] =
                frame->simple->arithmetic ? cs_value_of(cs_set_mangle(flow->pool, frame->exit[i].set)) : frame->exit[i];
    flow_into(flow, site->frame, site->index, state);
    free(state);
}

static struct site *find_site(struct cs_flow *flow, struct cs_frame *frame, uint32_t caller, uint32_t index)
{
    for (size_t i = 0; i < frame->site_count; i++)
        if (frame->sites[i].frame == caller && frame->sites[i].index == index)
            return &frame->sites[i];
    if (!cs_flow_room(flow, (void **)&frame->sites, &frame->site_room, frame->site_count, sizeof *frame->sites))
        return NULL;
    frame->sites[frame->site_count] = (struct site){caller, index, NULL};
    return &frame->sites[frame->site_count++];
}

static void add_site(struct cs_flow *flow, struct cs_frame *frame, uint32_t caller, uint32_t index,
                     const struct cs_value *state)
{
    size_t before = frame->site_count;
    struct site *site = find_site(flow, frame, caller, index);
    if (!site || (frame->site_count == before && !frame->simple))
        return;
    if (frame->simple) {
        if (!site->caller)
            site->caller = malloc(state_size(flow) + 1);
        if (!site->caller) {
            flow->failed = true;
            frame->site_count = before;
            return;
        }
        memcpy(site->caller, state, state_size(flow)); /* states at a call only grow: no need to join */
    }
    come_back(flow, frame, site);
}

/* Whether the code hands the function the place behind the call as its return address, as is the custom. */
static bool returns_behind(const struct cs_flow *flow, uint32_t call, const struct cs_value *state)
{
    int32_t behind = (int32_t)((call + 1 - cs_flow_code(flow, call)->first) * CS_INSTRUCTION_BYTES);
    for (uint32_t i = 0; i < flow->register_count; i++)
        if (state[i].knowledge == CS_KNOW_CONSTANT && state[i].k == behind)
            return true;
    return false;
}

static int32_t frame_for_simple(struct cs_flow *flow, uint32_t entry, const struct cs_function *function)
{
    for (size_t i = 1; i < flow->frame_count; i++)
        if (flow->frames[i]->simple == function)
            return (int32_t)i;
    int32_t number = new_frame(flow, NO_FRAME, 0, entry);
    if (number != NO_FRAME)
        flow->frames[number]->simple = function;
    return number;
}

/* A simple function begins with what it reads; the rest of the caller's state is kept at the call site. */
static void flow_into_simple(struct cs_flow *flow, uint32_t frame, const struct cs_function *function,
                             const struct cs_value *state)
{
    uint32_t count = flow->register_count + flow->uniform_count;
    struct cs_value *arguments = calloc(1, state_size(flow) + 1);
    if (!arguments) {
        flow->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (cs_function_reads(flow, function, i))
            arguments[i] = cs_value_of(state[i].set);
    flow_into(flow, frame, function->entry, arguments);
    free(arguments);
}

static void enter(struct cs_flow *flow, uint32_t caller, uint32_t call, uint32_t entry, const struct cs_value *state)
{
    const struct cs_function *function = cs_flow_function(flow, entry);
    if (!function) {
        flow->failed = true;
        return;
    }
    bool returns = returns_behind(flow, call, state);
    if (!returns && !function->named && cs_flow_code(flow, entry) == cs_flow_code(flow, call)) {
        flow_into(flow, caller, entry, state); /* a jump: compilers for sm_80 leave divergent code like that */
        return;
    }
    bool simple = function->simple && returns;
    int32_t number = simple ? frame_for_simple(flow, entry, function) : frame_for_call(flow, caller, call, entry);
    if (number == NO_FRAME)
        return;
    const struct cs_code *code = cs_flow_code(flow, call);
    if (code && call + 1 - code->first < code->count)
        add_site(flow, flow->frames[number], caller, call + 1, state);
    if (simple)
        flow_into_simple(flow, (uint32_t)number, function, state);
    else
        flow_into(flow, (uint32_t)number, entry, state);
}

/* A return address in a register that is not behind the call: the compiler may return to elsewhere. */
static bool other_target(struct cs_flow *flow, struct cs_value address, struct site *site)
{
    const struct cs_code *code = cs_flow_code(flow, site->index);
    if (!code || address.knowledge != CS_KNOW_CONSTANT || address.k <= 0 || address.k % CS_INSTRUCTION_BYTES != 0 ||
        (uint32_t)address.k / CS_INSTRUCTION_BYTES >= code->count)
        return false;
    site->index = code->first + (uint32_t)address.k / CS_INSTRUCTION_BYTES;
    return true;
}

/* Joins a state into that of the frame's returns; returns whether that changed it. */
static bool widen_exit(struct cs_flow *flow, struct cs_frame *frame, const struct cs_value *state)
{
    uint32_t count = flow->register_count + flow->uniform_count;
    bool changed = !frame->exit;
    if (!frame->exit) {
        frame->exit = malloc(state_size(flow) + 1);
        if (!frame->exit) {
            flow->failed = true;
            return false;
        }
        memcpy(frame->exit, state, state_size(flow));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (frame->simple && !cs_function_writes(flow, frame->simple, i))
            continue;
        struct cs_value joined = cs_flow_join(flow, frame->exit[i], state[i]);
        changed |= memcmp(&joined, &frame->exit[i], sizeof joined) != 0;
        frame->exit[i] = joined;
    }
    return changed;
}

static void leave(struct cs_flow *flow, uint32_t number, struct cs_value address, const struct cs_value *state)
{
    struct cs_frame *frame = flow->frames[number];
    if (number == 0)
        return;
    if (frame->site_count == 1 && !frame->simple) {
        struct site site = frame->sites[0];
        if (other_target(flow, address, &site) && site.index != frame->sites[0].index) {
            flow_into(flow, site.frame, site.index, state);
            return;
        }
    }
    if (!widen_exit(flow, frame, state))
        return;
    for (size_t i = 0; i < frame->site_count; i++)
        come_back(flow, frame, &frame->sites[i]);
}

/* What the driver's own functions do with addresses that they are given. */
static const struct {
    const char *name;
    bool returns_memory;
} system_calls[] = {{"vprintf", false}, {"__assertfail", false}, {"free", false},
                    {"malloc", true},   {"__trap", false},       {"__cuda_syscall_trap", false}};

static bool system_call(struct cs_flow *flow, const char *name, struct cs_value *state)
{
    for (size_t i = 0; i < sizeof system_calls / sizeof *system_calls; i++) {
        if (strcmp(system_calls[i].name, name) != 0)
            continue;
        cs_flow_forget_predicates(flow, state, UINT16_MAX);
        cs_set result = system_calls[i].returns_memory ? cs_set_of(flow->pool, CS_ATOM_LOADED, 0) : 0;
        for (unsigned r = SYSTEM_CALL_RESULT; r < SYSTEM_CALL_RESULT + 2; r++) {
            struct cs_value *value = cs_flow_register(flow, state, false, r);
            if (value)
                *value = cs_value_of(result);
        }
        return true;
    }
    return false;
}

/* A call of a symbol. Returns whether control comes back at once, as from a system call. */
static bool call_symbol(struct cs_flow *flow, const struct cs_node *node, uint32_t index, size_t symbol,
                        struct cs_value *state)
{
    const struct cs_symbol *function = &flow->cubin->symbols[symbol];
    if (function->section == CS_NO_SECTION) {
        if (!system_call(flow, function->name, state))
            flow->incomplete = true;
        return true;
    }
    size_t entry = cs_flow_locate(flow, function->section, function->value);
    if (entry == SIZE_MAX) {
        flow->incomplete |= !flow->more_code;
        return true;
    }
    enter(flow, node->frame, index, (uint32_t)entry, state);
    return false;
}

static bool call(struct cs_flow *flow, const struct cs_node *node, uint32_t index, struct cs_value *state)
{
    const struct cs_instruction *in = &flow->instructions[index];
    const struct cs_code *code = cs_flow_code(flow, index);
    uint64_t offset = (uint64_t)(index - code->first) * CS_INSTRUCTION_BYTES;
    size_t symbol = cs_cubin_relocation(flow->cubin, code->section, offset);
    if (in->form == 1) { /* through a register */
        struct cs_value address = cs_flow_operand(flow, state, &in->a, 0);
        if (address.knowledge == CS_KNOW_FUNCTION)
            return call_symbol(flow, node, index, (size_t)address.k, state);
        flow->incomplete = true;
        return true;
    }
    if (symbol != SIZE_MAX)
        return call_symbol(flow, node, index, symbol, state);
    size_t entry = SIZE_MAX;
    if (in->code == 0x144)
        entry = cs_flow_locate(flow, code->section, offset + CS_INSTRUCTION_BYTES + (uint64_t)in->jump);
    if (entry == SIZE_MAX) {
        flow->incomplete = true;
        return true;
    }
    enter(flow, node->frame, index, (uint32_t)entry, state);
    return false;
}

/* ---- control flow ---- */

static void branch(struct cs_flow *flow, const struct cs_node *node, uint32_t index, const struct cs_value *state)
{
    const struct cs_code *code = cs_flow_code(flow, index);
    int64_t target = (int64_t)index - code->first + 1 + flow->instructions[index].jump / CS_INSTRUCTION_BYTES;
    if (target < 0 || target >= code->count || flow->instructions[index].jump % CS_INSTRUCTION_BYTES != 0)
        flow->incomplete = true;
    else
        flow_into(flow, node->frame, code->first + (uint32_t)target, state);
}

static void branch_indirect(struct cs_flow *flow, const struct cs_node *node, uint32_t index,
                            const struct cs_value *state)
{
    const struct cs_code *code = cs_flow_code(flow, index);
    struct cs_branch_targets targets;
    uint32_t offset = (index - code->first) * CS_INSTRUCTION_BYTES;
    if (code->section != flow->kernel->text || !cs_cubin_branch_targets(flow->cubin, flow->kernel, offset, &targets)) {
        flow->incomplete = true;
        return;
    }
    for (uint32_t i = 0; i < targets.count; i++) {
        size_t target = cs_flow_locate(flow, code->section, cs_read32(targets.targets + 4 * (size_t)i));
        if (target == SIZE_MAX)
            flow->incomplete = true;
        else
            flow_into(flow, node->frame, (uint32_t)target, state);
    }
}

/* Handles an instruction that ends a block; returns whether control also goes on behind it. */
static bool control(struct cs_flow *flow, const struct cs_node *node, uint32_t index, struct cs_value *state)
{
    const struct cs_instruction *in = &flow->instructions[index];
    bool goes_on = cs_instruction_conditional(in);
    if (in->guard == CS_PT && in->guard_negated)
        return true; /* never executed */
    switch ((enum cs_action)in->opcode->action) {
    case CS_DO_BRANCH:
        branch(flow, node, index, state);
        break;
    case CS_DO_BRANCH_INDIRECT:
        branch_indirect(flow, node, index, state);
        break;
    case CS_DO_CALL:
        return call(flow, node, index, state) || in->guard != CS_PT;
    case CS_DO_RETURN:
        leave(flow, node->frame, cs_flow_operand(flow, state, &in->a, 0), state);
        break;
    case CS_DO_JUMP:
        flow->incomplete = true;
        break;
    default: /* exit */
        break;
    }
    return goes_on;
}

static void visit(struct cs_flow *flow, uint32_t number, struct cs_value *state)
{
    const struct cs_node *node = flow->nodes[number];
    const struct cs_code *code = cs_flow_code(flow, node->index);
    flow->nodes[number]->visited = true;
    memcpy(state, node->values, state_size(flow));
    for (uint32_t index = node->index; code && index - code->first < code->count && !flow->more_code; index++) {
        if (index != node->index && flow->leaders[index]) {
            flow_into(flow, node->frame, index, state);
            return;
        }
        if (!cs_flow_ends_block(&flow->instructions[index]))
            cs_flow_transfer(flow, state, index);
        else if (!control(flow, node, index, state))
            return;
    }
}

static void forget(struct cs_flow *flow)
{
    for (size_t i = 0; i < flow->node_count; i++)
        free(flow->nodes[i]);
    for (size_t i = 0; i < flow->frame_count; i++) {
        for (size_t j = 0; j < flow->frames[i]->site_count; j++)
            free(flow->frames[i]->sites[j].caller);
        free(flow->frames[i]->sites);
        free(flow->frames[i]->exit);
        free(flow->frames[i]);
    }
    if (flow->node_table)
        memset(flow->node_table, 0, flow->node_table_room * sizeof *flow->node_table);
    for (size_t i = 0; i < flow->function_count; i++)
        free(flow->functions[i]);
    flow->node_count = flow->frame_count = flow->queue_count = flow->function_count = 0;
    flow->more_code = false;
}

static bool may_go_on(const struct cs_flow *flow)
{
    return !flow->more_code && !flow->failed && !flow->given_up && !cs_pool_failed(flow->pool);
}

/* One pass over all that is reachable, repeated while memory contents grow. */
static void settle(struct cs_flow *flow, struct cs_value *state)
{
    uint64_t visits = 0;
    size_t entry = cs_flow_locate(flow, flow->kernel->text, flow->kernel->entry);
    if (entry == SIZE_MAX || new_frame(flow, NO_FRAME, 0, (uint32_t)entry) == NO_FRAME) {
        flow->incomplete = true;
        return;
    }
    memset(state, 0, state_size(flow));
    flow_into(flow, 0, (uint32_t)entry, state);
    do {
        flow->contents_changed = false;
        while (flow->queue_count && may_go_on(flow)) {
            visit(flow, dequeue(flow), state);
            flow->given_up |= ++visits > VISITS_PER_NODE * (uint64_t)flow->node_count;
        }
        for (uint32_t i = 0; flow->contents_changed && i < flow->node_count; i++)
            enqueue(flow, i);
    } while (flow->contents_changed && may_go_on(flow));
    flow->incomplete |= flow->given_up;
}

int cs_flow_run(struct cs_flow *flow, struct cs_error *error)
{
    flow->pool = cs_pool_new();
    if (!flow->pool || !cs_flow_add_code(flow, flow->kernel->text))
        return cs_fail(error, "summary of %s: out of memory", flow->kernel->name);
    do {
        forget(flow);
        struct cs_value *state = malloc(state_size(flow) + sizeof *state);
        if (!state)
            return cs_fail(error, "summary of %s: out of memory", flow->kernel->name);
        settle(flow, state);
        free(state);
    } while (flow->more_code && !flow->failed);
    if (flow->failed)
        return cs_fail(error, "summary of %s: out of memory", flow->kernel->name);
    flow->incomplete |= cs_pool_failed(flow->pool);
    return 0;
}

void cs_flow_release(struct cs_flow *flow)
{
    forget(flow);
    cs_pool_free(flow->pool);
    free(flow->instructions);
    free(flow->leaders);
    free(flow->codes);
    free(flow->nodes);
    free(flow->node_table);
    free(flow->queue);
    free(flow->frames);
    free(flow->functions);
    free(flow->touches);
    free(flow->touch_of);
    free(flow->stored);
    free(flow->tables);
    free(flow->cells);
}
