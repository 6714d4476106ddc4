/*
 * opcodes_sm100.c - the operations that sm_100, sm_103, sm_120 and sm_121 have beyond those of sm_90, or otherwise than
 * these. Read-only data.
 *
 * Tensor memory is treated as shared memory: LDTM and STTM move between it and registers, UTC* between it, shared
 * memory and the matrix units; none of them reaches global memory.
 */
#include "analysis/sass/opcodes.h"

const struct cs_opcode cs_opcodes_sm100[512] = {
    ROW(0x002, "MOV", MOVE, WIDE_BIT_80, B),
    ROW(0x007, "SEL", SELECT, WIDE_FORM, AB),
    ROW(0x035, "IADD", ADD, WIDE_BIT_73, AB),
    ROW(0x049, "FFMA2", CLEAN, 2, ABC),
    ROW(0x04a, "FMUL2", CLEAN, 2, AB),
    ROW(0x04b, "FADD2", CLEAN, 2, AB),
    UNIFORM(0x04c, "UVIRTCOUNT", NOTHING, 0, NONE),
    ROW(0x076, "FMNMX3", CLEAN, 1, ABC),
    ROW(0x077, "ACQSHMINIT", NOTHING, 0, NONE),
    ROW(0x07a, "QMMA", CLEAN, 2_TO_4, MMA),
    UNIFORM(0x082, "UMOV", MOVE, WIDE_BIT_80, B),
    UNIFORM(0x085, "UIMNMX", MANGLE, 0_TO_2, AB),
    UNIFORM(0x087, "USEL", SELECT, WIDE_FORM, AB),
    UNIFORM(0x0a6, "UIMAD", MAD_HIGH, 1, ABC),
    TO_UNIFORM(0x0cc, "CREDUX", MANGLE, 1, A),
    UNIFORM(0x140, "CCTL", NOTHING, 0, A),
    MEMORY(0x17e, "LDG", LOAD, MEMORY, ADDRESS_32_BYTES, GLOBAL),
    MEMORY(0x17f, "STG", STORE, 0, STORE_32_BYTES, GLOBAL),
    MEMORY(0x1a5, "LDGMC", LOAD, ATOMIC_FLOAT, ADDRESS, GLOBAL),
    UNIFORM(0x1ac, "LDCU", LOAD_CONSTANT, MEMORY, CONSTANT),
    UNIFORM(0x1ca, "UGETNEXTWORKID", NOTHING, 0, UNIFORM_AB),
    UNIFORM(0x1e3, "UTCATOMSWS", CLEAN, 1, NONE),
    UNIFORM(0x1e6, "UTCSHIFT", NOTHING, 0, NONE),
    UNIFORM(0x1e7, "UTCCP", NOTHING, 0, NONE),
    UNIFORM(0x1e9, "UTCBAR", NOTHING, 0, NONE),
    UNIFORM(0x1ea, "UTCMMA", NOTHING, 0, NONE),
    MEMORY(0x1ed, "STTM", STORE, 0, TENSOR_MEMORY, SHARED),
    MEMORY(0x1ee, "LDTM", LOAD, TENSOR_MEMORY, TENSOR_MEMORY, SHARED),
};

/* The uniform datapath of sm_120 and sm_121 has floating point. */
const struct cs_opcode cs_opcodes_sm120[512] = {
    UNIFORM(0x049, "UVIADD", ADD, 1, AB),    UNIFORM(0x04a, "UVIMNMX", MANGLE, 1, AB),
    UNIFORM(0x04d, "UIABS", MANGLE, 1, B),   UNIFORM(0x04e, "UI2I", MANGLE, 1, B),
    UNIFORM(0x04f, "UI2IP", MANGLE, 1, ABC), UNIFORM(0x050, "UFMNMX", CLEAN, 1, AB),
    UNIFORM(0x052, "UFSET", CLEAN, 1, AB),   UNIFORM(0x059, "UF2IP", CLEAN, 1, ABC),
    UNIFORM(0x051, "UFSEL", SELECT, 1, AB),  UNIFORM(0x053, "UFSETP", NOTHING, 0, AB),
    UNIFORM(0x054, "UFADD", CLEAN, 1, AC),   UNIFORM(0x055, "UFFMA", CLEAN, 1, ABC),
    UNIFORM(0x056, "UFMUL", CLEAN, 1, AB),   UNIFORM(0x05a, "UI2F", CLEAN, 1, B),
    UNIFORM(0x05c, "UF2I", CLEAN, 1, B),     UNIFORM(0x05e, "UI2FP", CLEAN, 1, B),
};
