/*
 * code.c - the code of a pass: sections are decoded when the walk first reaches them, and cut into blocks. One thread a
 * pass.
 */
#include "analysis/sass/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 4 << 20 };

const struct cs_code *cs_flow_code(const struct cs_flow *flow, uint32_t index)
{
    for (size_t i = 0; i < flow->code_count; i++)
        if (index >= flow->codes[i].first && index - flow->codes[i].first < flow->codes[i].count)
            return &flow->codes[i];
    return NULL;
}

bool cs_flow_ends_block(const struct cs_instruction *in)
{
    return in->opcode && in->opcode->action >= CS_DO_BRANCH;
}

static void mark_leader(struct cs_flow *flow, const struct cs_code *code, int64_t offset)
{
    if (offset >= 0 && offset / CS_INSTRUCTION_BYTES < code->count)
        flow->leaders[code->first + offset / CS_INSTRUCTION_BYTES] = 1;
}

static void mark_leaders(struct cs_flow *flow, const struct cs_code *code)
{
    for (uint32_t i = 0; i < code->count; i++) {
        const struct cs_instruction *in = &flow->instructions[code->first + i];
        struct cs_branch_targets targets;
        if (!cs_flow_ends_block(in))
            continue;
        int64_t next = ((int64_t)i + 1) * CS_INSTRUCTION_BYTES;
        mark_leader(flow, code, next);
        mark_leader(flow, code, next + in->jump);
        if (in->opcode->action == CS_DO_BRANCH_INDIRECT &&
            cs_cubin_branch_targets(flow->cubin, flow->kernel, i * CS_INSTRUCTION_BYTES, &targets))
            for (uint32_t j = 0; j < targets.count; j++)
                mark_leader(flow, code, cs_read32(targets.targets + 4 * (size_t)j));
    }
}

/*
 * Threads that meet at a BSYNC go on at the address that BSSY named. In all code seen that is the next instruction,
 * which the walk relies on.
 */
static bool meets_in_order(const struct cs_flow *flow, const struct cs_code *code)
{
    uint8_t *meeting = calloc((size_t)code->count + 1, 1);
    bool in_order = meeting != NULL;
    for (uint32_t i = 0; meeting && i < code->count; i++) {
        const struct cs_instruction *in = &flow->instructions[code->first + i];
        int64_t target = (int64_t)i + 1 + in->jump / CS_INSTRUCTION_BYTES;
        if (in->code == CS_CODE_BSSY && target >= 0 && target <= code->count)
            meeting[target] = 1;
    }
    for (uint32_t i = 0; in_order && i < code->count; i++)
        in_order = flow->instructions[code->first + i].code != CS_CODE_BSYNC || meeting[i + 1];
    free(meeting);
    return in_order;
}

static void count_registers(struct cs_flow *flow, const struct cs_instruction *in)
{
    uint32_t last = (uint32_t)in->destination + (in->count_most ? in->count_most : 1);
    uint32_t *count = in->destination_uniform ? &flow->uniform_count : &flow->register_count;
    uint32_t most = in->destination_uniform ? CS_UNIFORM_REGISTERS : CS_REGISTERS;
    if (in->destination != CS_RZ && last > *count)
        *count = last < most ? last : most;
    last = (uint32_t)in->destination_more + in->count_most;
    if (in->destination_more != CS_RZ && last > *count)
        *count = last < most ? last : most;
}

/* Decodes a section and appends its code. */
bool cs_flow_add_code(struct cs_flow *flow, uint32_t section)
{
    struct cs_bytes text = flow->cubin->sections[section].bytes;
    size_t count = text.size / CS_INSTRUCTION_BYTES, first = flow->instruction_count;
    if (first + count > MOST_INSTRUCTIONS) {
        flow->incomplete = true;
        return true;
    }
    void *instructions = realloc(flow->instructions, (first + count + 1) * sizeof *flow->instructions);
    if (instructions)
        flow->instructions = instructions;
    void *leaders = realloc(flow->leaders, first + count + 1);
    if (leaders)
        flow->leaders = leaders;
    void *touch_of = realloc(flow->touch_of, (first + count + 1) * sizeof *flow->touch_of);
    if (touch_of)
        flow->touch_of = touch_of;
    void *codes = realloc(flow->codes, (flow->code_count + 1) * sizeof *flow->codes);
    if (codes)
        flow->codes = codes;
    if (!instructions || !leaders || !touch_of || !codes)
        return false;
    memset(flow->leaders + first, 0, count + 1);
    memset(flow->touch_of + first, 0, (count + 1) * sizeof *flow->touch_of);
    for (size_t i = 0; i < count; i++) {
        cs_decode(flow->family, text.data + i * CS_INSTRUCTION_BYTES, &flow->instructions[first + i]);
        count_registers(flow, &flow->instructions[first + i]);
    }
    flow->codes[flow->code_count] = (struct cs_code){section, (uint32_t)first, (uint32_t)count};
    flow->instruction_count = first + count;
    mark_leaders(flow, &flow->codes[flow->code_count]);
    flow->incomplete |= !meets_in_order(flow, &flow->codes[flow->code_count++]);
    return true;
}

/* Index of the instruction at an offset of a section; SIZE_MAX where there is none. */
size_t cs_flow_locate(struct cs_flow *flow, uint32_t section, uint64_t offset)
{
    for (size_t i = 0; i < flow->code_count; i++) {
        if (flow->codes[i].section != section)
            continue;
        bool inside = offset % CS_INSTRUCTION_BYTES == 0 && offset / CS_INSTRUCTION_BYTES < flow->codes[i].count;
        return inside ? flow->codes[i].first + offset / CS_INSTRUCTION_BYTES : SIZE_MAX;
    }
    if (offset % CS_INSTRUCTION_BYTES != 0 || offset >= flow->cubin->sections[section].bytes.size)
        return SIZE_MAX;
    if (!cs_flow_add_code(flow, section))
        flow->failed = true;
    flow->more_code = true;
    return SIZE_MAX;
}
