/*
 * opcodes.h - how the tables of operations are written; included by the opcodes_*.c alone.
 */
#ifndef COPYSPY_ANALYSIS_SASS_OPCODES_H
#define COPYSPY_ANALYSIS_SASS_OPCODES_H

#include "analysis/sass/instruction.h"

#define ROW(code, name, action, width, operands)                                                                       \
    [code] = {name, CS_DO_##action, CS_WIDTH_##width, CS_OPERANDS_##operands, CS_SPACE_NONE, false, false}
#define UNIFORM(code, name, action, width, operands)                                                                   \
    [code] = {name, CS_DO_##action, CS_WIDTH_##width, CS_OPERANDS_##operands, CS_SPACE_NONE, true, true}
#define TO_UNIFORM(code, name, action, width, operands)                                                                \
    [code] = {name, CS_DO_##action, CS_WIDTH_##width, CS_OPERANDS_##operands, CS_SPACE_NONE, false, true}
#define MEMORY(code, name, action, width, operands, space)                                                             \
    [code] = {name, CS_DO_##action, CS_WIDTH_##width, CS_OPERANDS_##operands, CS_SPACE_##space, false, false}
#define TENSOR(code, name, action)                                                                                     \
    [code] = {name, CS_DO_##action, CS_WIDTH_0, CS_OPERANDS_UNIFORM_AB, CS_SPACE_GLOBAL, true, true}

#endif
