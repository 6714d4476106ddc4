/*
 * trees.c - see trees.h.
 */
#include "tests/stacks/trees.h"

#include <alloca.h>
#include <execinfo.h>
#include <string.h>

#include "tests/stacks/recorder.h"

#define FRAME __attribute__((noinline, noclone))

FRAME static int capture_both(struct leaf *leaf)
{
    leaf->id = recorder_capture();
    leaf->count = backtrace(leaf->addresses, 64);
    return leaf->count;
}

FRAME static int next_level(struct tree *tree, struct leaf *leaf);

/* A frame of fixed size with two calls. */
FRAME static int fixed(struct tree *tree, struct leaf *leaf, int second)
{
    volatile char room[40] = {0};
    int count = second ? next_level(tree, leaf) : 1 + next_level(tree, leaf);
    return count + room[1];
}

/* A frame whose size is known only when it runs: laid out from rbp. */
FRAME static int variable(struct tree *tree, struct leaf *leaf, int second)
{
    size_t size = 16 + 48 * (tree->sizes & 3);
    volatile char *room = alloca(size);
    memset((void *)room, 1, size);
    int count = second ? next_level(tree, leaf) : 1 + next_level(tree, leaf);
    return count + room[1];
}

/* A frame that aligns its stack: its upper end is found through a saved pointer. */
FRAME static int aligned(struct tree *tree, struct leaf *leaf, int second)
{
    _Alignas(64) volatile char room[64] = {0};
    int count = second ? next_level(tree, leaf) : 1 + next_level(tree, leaf);
    return count + room[(uintptr_t)room % 64];
}

FRAME static int next_level(struct tree *tree, struct leaf *leaf)
{
    unsigned choice = tree->choices & 7;
    if (tree->depth-- == 0)
        return capture_both(leaf) + 1;
    tree->choices >>= 3;
    tree->sizes = tree->sizes >> 2 | tree->sizes << 30;
    int second = choice & 1, count;
    if (choice >= 6)
        count = aligned(tree, leaf, second);
    else if (choice >= 3)
        count = variable(tree, leaf, second);
    else
        count = fixed(tree, leaf, second);
    return count + 1;
}

int tree_run(struct tree tree, struct leaf *leaf)
{
    return next_level(&tree, leaf) + 1;
}

uint64_t leaf_hash(const struct leaf *leaf)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < leaf->count; i++)
        hash = (hash ^ (uintptr_t)leaf->addresses[i]) * 0x100000001b3u, hash ^= hash >> 29;
    return hash;
}
