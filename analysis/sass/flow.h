/*
 * flow.h - the data-flow pass over one kernel: its state, and what its parts promise each other.
 *
 * graph.c walks the code, block by block, until nothing changes; transfer.c says what an instruction does to registers;
 * memory.c what it does through addresses; summary.c turns what was recorded into slots. One thread a pass.
 */
#ifndef COPYSPY_ANALYSIS_SASS_FLOW_H
#define COPYSPY_ANALYSIS_SASS_FLOW_H

#include "analysis/sass/cubin.h"
#include "analysis/sass/instruction.h"
#include "analysis/sass/value.h"

/* What is known of a value besides its set. */
enum cs_knowledge {
    CS_KNOW_NOTHING,
    CS_KNOW_CONSTANT, /* it is k */
    CS_KNOW_STACK,    /* it is the stack pointer at the kernel's entry plus k */
    CS_KNOW_CHOICE,   /* it is one of the few constants in the set k */
    CS_KNOW_BOUND,    /* as an unsigned number it is at most k, and k is not negative */
    CS_KNOW_FUNCTION  /* low half of the address of symbol k */
};

struct cs_value {
    cs_set set;
    uint16_t knowledge;
    uint16_t guard; /* 0; else while this predicate holds the set is only guarded_set: it was last written under it */
    int32_t k;
    cs_set guarded_set;
};

/* What an instruction did through which addresses: joined over all visits. */
struct cs_touch {
    uint32_t instruction; /* index in the code */
    uint32_t access;      /* CS_ACCESS_* */
    bool map;             /* the address is a tensor map's */
    cs_set low, high;
};

struct cs_pair {
    cs_set low, high;
};

/* A run of parameter bytes that is indexed at run time. */
struct cs_table {
    uint32_t begin, end; /* end UINT32_MAX: to the end of its parameter; begin UINT32_MAX: all parameters */
};

/* Code of one section, decoded. */
struct cs_code {
    uint32_t section, first, count; /* instructions in cs_flow.instructions */
};

struct cs_node;
struct cs_frame;
struct cs_function;

struct cs_flow {
    const struct cs_cubin *cubin;
    const struct cs_kernel *kernel;
    const struct cs_family *family;
    struct cs_pool *pool;

    struct cs_instruction *instructions;
    uint8_t *leaders; /* an instruction that begins a block */
    size_t instruction_count;
    struct cs_code *codes;
    size_t code_count;
    uint32_t register_count, uniform_count; /* that the code writes or reads */

    struct cs_node **nodes;
    size_t node_count, node_room;
    uint32_t *node_table;
    size_t node_table_room;
    uint32_t *queue; /* heap of node numbers */
    size_t queue_count, queue_room;
    struct cs_frame **frames;
    size_t frame_count, frame_room;
    struct cs_function **functions;
    size_t function_count, function_room;

    struct cs_touch *touches;
    size_t touch_count, touch_room;
    uint32_t *touch_of;     /* by instruction: number of its first touch + 1 */
    struct cs_pair *stored; /* pairs of words written to memory as 64 bits */
    size_t stored_count, stored_room;
    cs_set stored_words; /* words written as 32 bits */
    struct cs_table *tables;
    size_t table_count, table_room;

    /* Contents of memory that belongs to a thread or block; [0] even words, [1] odd words. */
    cs_set shared[2];
    cs_set local_all[2];  /* anything ever stored to local memory */
    cs_set local_wild[2]; /* stored where the offset was not known */
    struct cs_cell *cells;
    size_t cell_count, cell_room;
    bool contents_changed; /* since the flag was last cleared */

    uint16_t guard; /* of the instruction at hand, as in cs_value; 0: none */
    bool opaque_read, opaque_write, incomplete;
    bool more_code; /* a section was added: start again */
    bool failed;    /* out of memory */
    bool given_up;  /* the walk takes more memory or time than a summary may */
};

/* One word of local memory. */
struct cs_cell {
    int32_t offset;
    struct cs_value value;
};

/* Runs the pass. Returns 0, or -1 with a message; code that cannot be followed sets flow->incomplete. */
int cs_flow_run(struct cs_flow *flow, struct cs_error *error);
void cs_flow_release(struct cs_flow *flow);

/*
 * A called function as its code alone shows it. A simple one touches no memory and calls nothing, as the slow paths of
 * arithmetic do: all its calls are analysed as one, and registers that it does not write keep each caller's values.
 */
struct cs_function {
    uint32_t entry; /* index of its first instruction */
    bool named;     /* a symbol of the image is there */
    bool simple;
    bool arithmetic;                     /* one of the compiler's own slow paths: what it returns are numbers */
    uint16_t predicates;                 /* that it writes, as in cs_instruction */
    uint8_t writes[2][CS_REGISTERS / 8]; /* general and uniform registers, one bit each */
    uint8_t reads[2][CS_REGISTERS / 8];
};

/* The function at that instruction, looked at once; NULL when out of memory. */
const struct cs_function *cs_flow_function(struct cs_flow *flow, uint32_t entry);
/* Whether the function reads or writes that place of a state. */
bool cs_function_reads(const struct cs_flow *flow, const struct cs_function *function, uint32_t place);
bool cs_function_writes(const struct cs_flow *flow, const struct cs_function *function, uint32_t place);

/* The code that an instruction belongs to. */
const struct cs_code *cs_flow_code(const struct cs_flow *flow, uint32_t index);
/* Decodes a section and appends its code. Returns false when out of memory. */
bool cs_flow_add_code(struct cs_flow *flow, uint32_t section);
/*
 * Index of the instruction at an offset of a section; SIZE_MAX where there is none, and where the section was not
 * decoded before: then it is now, and flow->more_code says to start again.
 */
size_t cs_flow_locate(struct cs_flow *flow, uint32_t section, uint64_t offset);
/* Whether control may go elsewhere than to the next instruction. */
bool cs_flow_ends_block(const struct cs_instruction *in);

/* Registers of a state: general ones, then uniform ones. */
struct cs_value *cs_flow_register(const struct cs_flow *flow, struct cs_value *state, bool uniform, unsigned number);

/* The value of an operand; word 1 is the upper half of a 64-bit operand. */
struct cs_value cs_flow_operand(struct cs_flow *flow, struct cs_value *state, const struct cs_operand *operand,
                                unsigned word);
/* Writes result word i of an instruction. */
void cs_flow_write(struct cs_flow *flow, struct cs_value *state, const struct cs_instruction *in, unsigned i,
                   struct cs_value value);
struct cs_value cs_flow_join(struct cs_flow *flow, struct cs_value a, struct cs_value b);

/* a + b + c, the sums of sets and of what is known. */
struct cs_value cs_flow_add(struct cs_flow *flow, struct cs_value a, struct cs_value b);

/* Predicates were written (bits as in cs_instruction): what was known under them is known no longer. */
void cs_flow_forget_predicates(const struct cs_flow *flow, struct cs_value *state, unsigned predicates);
/* The guard of an instruction as a number; 0 where it is always executed. */
uint16_t cs_flow_guard(const struct cs_instruction *in);

/* What the instruction does to the registers of the state and to memory. Not for control flow. */
void cs_flow_transfer(struct cs_flow *flow, struct cs_value *state, uint32_t index);
/* The same for instructions with an address or a constant. */
void cs_flow_memory(struct cs_flow *flow, struct cs_value *state, uint32_t index);
/* A word of a constant bank. */
struct cs_value cs_flow_constant(struct cs_flow *flow, unsigned bank, uint32_t offset);

/* Makes room for one more element of a growing array; false (and flow->failed) when out of memory. */
bool cs_flow_room(struct cs_flow *flow, void **array, size_t *room, size_t count, size_t size);

static inline struct cs_value cs_value_of(cs_set set)
{
    return (struct cs_value){.set = set};
}

static inline struct cs_value cs_value_constant(uint32_t k)
{
    return (struct cs_value){.knowledge = CS_KNOW_CONSTANT, .k = (int32_t)k};
}

#endif
