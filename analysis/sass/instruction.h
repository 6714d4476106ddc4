/*
 * instruction.h - one machine instruction, decoded as far as data flow needs it. Any thread.
 *
 * The 128-bit encoding that every architecture since sm_70 shares: bits 0..8 the operation, 9..11 the form (where
 * operands B and C come from), 12..15 the guard predicate, 16..23 the destination, 24..31 operand A, from 32 operand B
 * (register, immediate, constant or uniform register), 64..71 operand C, from 72 the modifiers. The facts in these
 * tables were found by showing instruction words to NVIDIA's disassembler and reading its text;
 * tests/sass/against_nvdisasm repeats that comparison.
 */
#ifndef COPYSPY_ANALYSIS_SASS_INSTRUCTION_H
#define COPYSPY_ANALYSIS_SASS_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* Begin and end of a region where divergent threads meet again. */
enum { CS_CODE_BSYNC = 0x141, CS_CODE_BSSY = 0x145 };
enum { CS_RZ = 255, CS_PT = 7, CS_REGISTERS = 256, CS_UNIFORM_REGISTERS = 256 };

/* What an operation does, as far as addresses are concerned. */
enum cs_action {
    CS_DO_UNKNOWN,  /* no row: anything may happen */
    CS_DO_NOTHING,  /* writes no general register and touches no memory */
    CS_DO_CLEAN,    /* the result is no address, whatever the operands are: floating point, counts, comparisons */
    CS_DO_MANGLE,   /* the result is computed from its operands in a way that leaves no address */
    CS_DO_MOVE,     /* copies its last operand */
    CS_DO_SELECT,   /* one of A and B */
    CS_DO_ADD,      /* A + B + C */
    CS_DO_ADD64,    /* the same on 64-bit pairs */
    CS_DO_MAD,      /* A * B + C, low half */
    CS_DO_MAD_WIDE, /* A * B + C, all 64 bits */
    CS_DO_MAD_HIGH, /* A * B + C, high half */
    CS_DO_LEA,      /* (A << n) + B, or its high half with A's upper word in C */
    CS_DO_LOGIC,    /* bitwise function of A, B and C */
    CS_DO_SHIFT,
    CS_DO_PERMUTE, /* bytes of A and C chosen by B */
    CS_DO_FMA2,    /* packed half precision; used to load constants */
    CS_DO_SHUFFLE, /* A of another lane */
    CS_DO_SPECIAL, /* a special register */
    CS_DO_LOAD_CONSTANT,
    CS_DO_LOAD,
    CS_DO_STORE,
    CS_DO_ATOMIC,
    CS_DO_REDUCE,         /* an atomic without result */
    CS_DO_COPY_TO_SHARED, /* LDGSTS */
    CS_DO_TENSOR_LOAD,    /* A: address of a tensor map */
    CS_DO_TENSOR_STORE,
    CS_DO_TENSOR_REDUCE,
    CS_DO_TENSOR_PREFETCH,
    CS_DO_BULK_COPY,     /* A: source, B: destination; between global and shared memory */
    CS_DO_BULK_REDUCE,   /* B: destination */
    CS_DO_BULK_PREFETCH, /* A */
    CS_DO_TEXTURE_READ,  /* memory behind a texture or surface handle */
    CS_DO_TEXTURE_WRITE,
    CS_DO_BRANCH,
    CS_DO_BRANCH_INDIRECT,
    CS_DO_JUMP, /* to an address; cannot be followed */
    CS_DO_CALL,
    CS_DO_RETURN,
    CS_DO_EXIT
};

enum cs_space { CS_SPACE_NONE, CS_SPACE_GLOBAL, CS_SPACE_GENERIC, CS_SPACE_LOCAL, CS_SPACE_SHARED };

/* How many registers the destination has. */
enum cs_width {
    CS_WIDTH_0,
    CS_WIDTH_1,
    CS_WIDTH_2,
    CS_WIDTH_MEMORY,     /* bits 73..75 */
    CS_WIDTH_CONVERSION, /* bits 75..76 */
    CS_WIDTH_CS2R,       /* bit 80 */
    CS_WIDTH_MATRICES,   /* bits 72..73 */
    CS_WIDTH_ATOMIC,     /* bits 73..75, types of integers */
    CS_WIDTH_ATOMIC_FLOAT,
    CS_WIDTH_HMMA,
    CS_WIDTH_GMMA,
    CS_WIDTH_2_TO_4, /* at least two, at most four */
    CS_WIDTH_4_TO_8,
    CS_WIDTH_0_TO_2,
    CS_WIDTH_0_TO_4,
    CS_WIDTH_WIDE_BIT_73, /* two with .64, which is this bit */
    CS_WIDTH_WIDE_BIT_80,
    CS_WIDTH_WIDE_FORM,    /* two with .64, which has forms of its own */
    CS_WIDTH_TENSOR_MEMORY /* shape at bit 81, repetitions at 83 */
};

/* Which operands there are and where they come from. */
enum cs_operands {
    CS_OPERANDS_NONE,
    CS_OPERANDS_A,
    CS_OPERANDS_B,   /* one operand, at bit 32 in every form */
    CS_OPERANDS_AB,  /* the second at bit 32 in every form */
    CS_OPERANDS_AC,  /* the second at bit 64 where it is a register, else at 32 */
    CS_OPERANDS_ABC, /* by form */
    CS_OPERANDS_LEA, /* ABC where C is only there for some modifiers */
    CS_OPERANDS_SHFL,
    CS_OPERANDS_MMA,              /* A, B, C: registers */
    CS_OPERANDS_GMMA,             /* A register or descriptor, B descriptor, C register */
    CS_OPERANDS_CONSTANT,         /* a constant, indexed by A */
    CS_OPERANDS_ADDRESS,          /* A address */
    CS_OPERANDS_STORE,            /* A address, B data */
    CS_OPERANDS_CAS,              /* A address, B and C data */
    CS_OPERANDS_ASYNC,            /* A global address, C shared address */
    CS_OPERANDS_UNIFORM_AB,       /* uniform registers at 24 and 32 */
    CS_OPERANDS_ADDRESS_32_BYTES, /* A address; the result's other half is where bit 64 says */
    CS_OPERANDS_STORE_32_BYTES,   /* A address, B and C halves of the data */
    CS_OPERANDS_TENSOR_MEMORY     /* an address of tensor memory at 32; data that is stored at 64 */
};

struct cs_opcode {
    char name[16];
    uint8_t action, width, operands, space;
    bool uniform;    /* operands are uniform registers */
    bool to_uniform; /* the result is in one */
};

enum cs_operand_kind {
    CS_OPERAND_NONE,
    CS_OPERAND_REGISTER,
    CS_OPERAND_UNIFORM,
    CS_OPERAND_IMMEDIATE,
    CS_OPERAND_CONSTANT
};

struct cs_operand {
    uint8_t kind;
    uint8_t bank;   /* constant */
    bool negated;   /* an integer operand's minus (or complement, with .X) */
    bool bindless;  /* constant reached through a uniform register */
    uint32_t value; /* register number, immediate, or byte offset in the bank */
};

struct cs_instruction {
    uint64_t low, high;
    const struct cs_opcode *opcode; /* NULL: unknown */
    uint16_t code;                  /* bits 0..8 */
    uint8_t form;                   /* bits 9..11 */
    uint8_t guard;                  /* predicate; CS_PT: always */
    bool guard_negated;
    bool guard_uniform;  /* the guard is a uniform predicate */
    uint16_t predicates; /* that it may write, one bit each; uniform ones from bit 8 on */
    bool destination_uniform;
    uint8_t destination;       /* register; the zero register writes nothing */
    uint8_t count, count_most; /* registers that it writes for certain, and at most */
    uint8_t destination_more;  /* loads of 32 bytes: as many registers from here on; else the zero register */
    bool wide;                 /* .64: operands and result are pairs */
    uint8_t access_words;      /* memory: registers' worth of data, 0 where less than one */
    bool uniform_address;      /* memory: a uniform register pair is added to the address... */
    bool narrow_address;       /* ...and A is 32 bits wide */
    uint8_t uniform_register;
    int32_t offset; /* memory: displacement; branches: none */
    int64_t jump;   /* branches and calls: distance from the next instruction, in bytes */
    struct cs_operand a, b, c;
};

/* What differs between architectures in decoding. */
struct cs_family {
    uint32_t from, to; /* architectures */
    uint8_t uniform_bits, uniform_zero;
    bool descriptors;                  /* memory instructions may name one */
    bool split_jump;                   /* the low 8 bits of a jump's distance are at bit 16; new types of atomics */
    const struct cs_opcode *tables[4]; /* the first that has a row for an operation tells */
};

/* The family of an architecture; NULL for one whose encoding is not known. */
const struct cs_family *cs_family(uint32_t architecture);

/* Decodes the 16 bytes at p. Never fails: an unknown instruction has no opcode. */
void cs_decode(const struct cs_family *family, const uint8_t *p, struct cs_instruction *instruction);

/* Whether something other than register numbers decides if control goes on behind a branch or exit. */
bool cs_instruction_conditional(const struct cs_instruction *instruction);

/* Tables: 512 rows by operation; a row without name is unused. */
extern const struct cs_opcode cs_opcodes_common[512], cs_opcodes_sm70[512], cs_opcodes_sm90[512], cs_opcodes_sm100[512],
    cs_opcodes_sm120[512];

#endif
