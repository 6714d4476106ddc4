/*
 * fake_stacks.c - call stacks as the tests declare them; see stream.h. One thread. Only stacks that were wanted and
 * resolved are attributed, as in the real store.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/analysis/fakes.h"
#include "tests/analysis/stream.h"

#define STACKS 64
#define OPERATORS 8

struct stack {
    bool known, wanted, resolved;
    char file[128], function[64], node[64], operator_text[256];
    char caller_file[128], caller_function[64];
    const char *operators[OPERATORS];
    struct cs_frame frames[2];
    struct cs_attribution attribution;
};
static struct stack stacks[STACKS];

struct cs_stacks {
    int unused;
};

void fake_stacks_reset(void)
{
    memset(stacks, 0, sizeof stacks);
}

static void split_operators(struct stack *stack, const char *operators)
{
    char *rest = stack->operator_text, *name;
    strncpy(stack->operator_text, operators, sizeof stack->operator_text - 1);
    while ((name = strsep(&rest, ">")) && *name)
        stack->operators[stack->attribution.operator_count++] = name;
    stack->attribution.operators = stack->operators;
}

void stream_stack_columns(uint32_t id, const char *file, int line, int column, int end_column, const char *function,
                          const char *operators)
{
    struct stack *stack = &stacks[id];
    memset(stack, 0, sizeof *stack);
    stack->known = true;
    strncpy(stack->file, file, sizeof stack->file - 1);
    strncpy(stack->function, function, sizeof stack->function - 1);
    stack->frames[0] = (struct cs_frame){stack->function, stack->file, "", line, line, column, end_column, true, true};
    stack->attribution.site = stack->attribution.frames = stack->frames;
    stack->attribution.python_count = 1;
    split_operators(stack, operators);
}

void stream_stack(uint32_t id, const char *file, int line, const char *operators)
{
    stream_stack_columns(id, file, line, -1, -1, "", operators);
}

void stream_stack_caller(uint32_t id, const char *file, int line, const char *function)
{
    struct stack *stack = &stacks[id];
    strncpy(stack->caller_file, file, sizeof stack->caller_file - 1);
    strncpy(stack->caller_function, function, sizeof stack->caller_function - 1);
    stack->frames[1] =
        (struct cs_frame){stack->caller_function, stack->caller_file, "", line, line, -1, -1, true, true};
    stack->attribution.python_count = 2;
}

void stream_stack_node(uint32_t id, const char *autograd_node)
{
    struct stack *stack = &stacks[id];
    strncpy(stack->node, autograd_node, sizeof stack->node - 1);
    stack->attribution.autograd_node = stack->node;
}

void stream_stack_library(uint32_t id)
{
    struct stack *stack = &stacks[id];
    stack->frames[0].python = stack->frames[0].user = false;
    stack->attribution.python_count = 0;
    stack->attribution.native_count = 1;
}

struct cs_stacks *cs_stacks_new(void)
{
    return calloc(1, sizeof(struct cs_stacks));
}

void cs_stacks_free(struct cs_stacks *store)
{
    free(store);
}

void cs_stacks_event(struct cs_stacks *store, const struct cs_event *event)
{
    (void)store;
    (void)event;
}

void cs_stacks_want(struct cs_stacks *store, uint32_t stack)
{
    (void)store;
    if (stack < STACKS)
        stacks[stack].wanted = true;
}

void cs_stacks_resolve(struct cs_stacks *store)
{
    (void)store;
    for (size_t i = 0; i < STACKS; i++)
        stacks[i].resolved |= stacks[i].wanted;
}

const struct cs_attribution *cs_stacks_attribution(const struct cs_stacks *store, uint32_t stack)
{
    (void)store;
    return stack < STACKS && stacks[stack].known && stacks[stack].resolved ? &stacks[stack].attribution : NULL;
}
