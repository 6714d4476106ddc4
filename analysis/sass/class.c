/*
 * class.c - see class.h. One thread a pass.
 *
 * A copy is told only where it is evident; anything else stored besides data (a constant in its place, a loaded value
 * that decides) makes the kernel one that computes.
 */
#include "analysis/sass/class.h"

#include <stdlib.h>

#include "analysis/sass/class_pass.h"

static uint32_t conclude(const struct cs_class_pass *pass)
{
    bool data = pass->stored & CS_FROM_DATA, constants = pass->stored & (CS_FROM_CONSTANT | CS_FROM_ZERO);
    if (pass->computes || pass->stored & (CS_FROM_COMPUTED | CS_FROM_THREAD) || data == constants)
        return CS_CLASS_COMPUTE;
    if ((pass->several_bases && pass->chooses) || cs_class_decided_by_data(pass, constants))
        return CS_CLASS_COMPUTE;
    if (constants)
        return CS_CLASS_FILL;
    if (pass->stored & CS_FROM_CAST || (pass->narrows && !pass->extracts))
        return CS_CLASS_CAST;
    return pass->reordered ? CS_CLASS_RELAYOUT : CS_CLASS_COPY;
}

/* Kernels that multiply matrices are not worth a walk. */
static bool plainly_computes(const struct cs_flow *flow)
{
    for (size_t i = 0; i < flow->instruction_count; i++) {
        const struct cs_opcode *opcode = flow->instructions[i].opcode;
        if (opcode && (opcode->operands == CS_OPERANDS_MMA || opcode->operands == CS_OPERANDS_GMMA))
            return true;
    }
    return false;
}

uint32_t cs_class_of(struct cs_flow *flow, const struct cs_kernel_summary *summary)
{
    struct cs_class_pass pass = {.flow = flow, .summary = summary};
    if (flow->incomplete || plainly_computes(flow))
        return CS_CLASS_COMPUTE;
    pass.node_of = calloc(flow->instruction_count + 1, sizeof *pass.node_of);
    pass.queued = calloc(flow->instruction_count + 1, 1);
    if (pass.node_of && pass.queued)
        cs_class_walk(&pass);
    else
        pass.computes = true;
    uint32_t class = conclude(&pass);
    for (size_t i = 0; i < pass.node_count; i++) {
        free(pass.nodes[i]->joins);
        free(pass.nodes[i]);
    }
    free(pass.nodes);
    free(pass.edges);
    free(pass.checks);
    free(pass.node_of);
    free(pass.queued);
    return class;
}
