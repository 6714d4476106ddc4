/*
 * opcodes_sm70.c - the operations that sm_70 and sm_75 have otherwise than later architectures. Read-only data.
 */
#include "analysis/sass/opcodes.h"

const struct cs_opcode cs_opcodes_sm70[512] = {
    ROW(0x018, "CCTL", NOTHING, 0, NONE),
};
