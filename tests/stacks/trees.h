/*
 * trees.h - call trees that a number chooses, with every kind of frame that a C compiler lays out: fixed, of variable
 * size (alloca), with an aligned stack; at each level from one of two calls in the same function.
 */
#ifndef COPYSPY_TESTS_STACKS_TREES_H
#define COPYSPY_TESTS_STACKS_TREES_H

#include <stddef.h>
#include <stdint.h>

struct tree {
    uint64_t choices; /* three bits a level: which kind of frame and which of its two calls; consumed from the lowest */
    uint32_t sizes;   /* how much alloca takes, two bits a level: changes the layout, not the stack */
    int depth;
};

/* What the innermost frame found: the captured number, and the stack as glibc's unwinder sees it. */
struct leaf {
    uint32_t id;
    int count;
    void *addresses[64];
};

/* Runs the tree; the capture is made by recorder_capture. Returns a number, so that nothing is optimised away. */
int tree_run(struct tree tree, struct leaf *leaf);

/* The same number for equal stacks: a hash of a leaf's addresses. */
uint64_t leaf_hash(const struct leaf *leaf);

#endif
