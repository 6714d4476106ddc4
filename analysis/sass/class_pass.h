/*
 * class_pass.h - what the parts of the class pass promise each other.
 *
 * class_walk.c walks the code until nothing changes; class_value.c says what instructions do to registers,
 * class_memory.c what they do to memory, class_region.c what loaded values decide; class.c draws the conclusion.
 * One thread a pass.
 */
#ifndef COPYSPY_ANALYSIS_SASS_CLASS_PASS_H
#define COPYSPY_ANALYSIS_SASS_CLASS_PASS_H

#include "analysis/sass/class_value.h"
#include "analysis/sass/summary.h"

enum { CS_CLASS_EXIT = UINT32_MAX };

struct cs_join;

/* A block, as the class pass knows it. */
struct cs_class_node {
    uint32_t index; /* of its first instruction */
    uint32_t first; /* the node that reached it first; CS_CLASS_EXIT: the kernel's beginning */
    uint16_t first_fact, first_known, fact, tainted, nonzero, zero, known;
    uint16_t checks[16];
    bool several;        /* it was reached from more than one node */
    bool writes;         /* changes registers or shared memory */
    bool touches_data;   /* loads or stores global memory, or moves data */
    bool tainted_branch; /* a loaded value decides where control goes behind it */
    struct cs_join *joins;
    struct cs_datum values[];
};

struct cs_edge {
    uint32_t from, to; /* nodes; to: CS_CLASS_EXIT where the kernel ends */
};

/* A comparison with a bound. */
struct cs_check {
    uint64_t kind, value, bound; /* expressions */
};

struct cs_class_pass {
    struct cs_flow *flow;
    const struct cs_kernel_summary *summary;
    struct cs_class_node **nodes;
    size_t node_count, node_room;
    uint32_t *node_of; /* by instruction: number of the node that begins there + 1 */
    uint8_t *queued;   /* by instruction */
    size_t cursor;     /* nothing before it is queued */
    struct cs_edge *edges;
    size_t edge_count, edge_room;

    struct cs_check *checks;
    size_t check_count, check_room;

    uint16_t shared, local; /* origins of what lies in memory of a block or thread */
    bool contents_changed;
    bool final;         /* values are settled: record */
    bool computes;      /* it is known to be CS_CLASS_COMPUTE: stop */
    uint16_t stored;    /* origins of what was stored to global memory */
    bool several_bases; /* some load may read one of several parameters */
    bool chooses;       /* a loaded value decides something */
    bool narrows, extracts, reordered;
};

/* Walks the code, then once more with `final` set; stops where `computes` becomes true. */
void cs_class_walk(struct cs_class_pass *pass);
/* What an instruction does with memory. Returns whether data moves. */
bool cs_class_access(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index);
/* Remembers what comparison a predicate is, after the instruction that writes it. */
void cs_class_note_check(struct cs_class_pass *pass, struct cs_data_state *state, uint32_t index);
/* Whether loaded values decide whether data is moved; `strict`: or anything is written. After the walk. */
bool cs_class_decided_by_data(const struct cs_class_pass *pass, bool strict);

#endif
