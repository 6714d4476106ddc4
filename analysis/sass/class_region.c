/*
 * class_region.c - whether loaded values decide whether or which data is moved. One thread a pass.
 *
 * A branch decides over the blocks between it and the first block that all ways from it to the kernel's end pass. Ways
 * that end in a failed assertion count for nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/sass/class_pass.h"

enum { MOST_NODES = 400, MOST_BRANCHES = 64 };

/* Edges by node: those of node n are to[begin[n]] up to to[begin[n + 1]]. */
struct region {
    const struct cs_class_pass *pass;
    uint32_t *begin, *to, *stack;
    uint8_t *seen, *best, *reached;
};

static bool gather_edges(struct region *r)
{
    size_t nodes = r->pass->node_count, edges = r->pass->edge_count;
    r->begin = calloc(nodes + 2, sizeof *r->begin);
    r->to = calloc(edges + 1, sizeof *r->to);
    r->stack = calloc(edges + nodes + 1, sizeof *r->stack);
    r->seen = calloc(3, nodes + 1);
    if (!r->begin || !r->to || !r->stack || !r->seen)
        return false;
    r->best = r->seen + nodes + 1;
    r->reached = r->best + nodes + 1;
    for (size_t i = 0; i < edges; i++)
        r->begin[r->pass->edges[i].from + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        r->begin[i] += r->begin[i - 1];
    for (size_t i = 0; i < edges; i++)
        r->to[r->begin[r->pass->edges[i].from + 1]++] = r->pass->edges[i].to;
    return true;
}

/* Marks what can be reached from a node without entering `without`. Returns whether the end of the kernel can. */
static bool reach(struct region *r, uint32_t from, uint32_t without, uint32_t *count)
{
    size_t depth = 0;
    bool ends = false;
    memset(r->seen, 0, r->pass->node_count);
    *count = 0;
    r->stack[depth++] = from;
    while (depth) {
        uint32_t node = r->stack[--depth];
        for (uint32_t i = r->begin[node]; i < r->begin[node + 1]; i++) {
            uint32_t next = r->to[i];
            ends |= next == CS_CLASS_EXIT;
            if (next == CS_CLASS_EXIT || next == without || r->seen[next])
                continue;
            r->seen[next] = 1;
            ++*count;
            r->stack[depth++] = next;
        }
    }
    return ends;
}

static bool decides(struct region *r, uint32_t branch, bool strict)
{
    uint32_t nodes = (uint32_t)r->pass->node_count, least, count;
    reach(r, branch, CS_CLASS_EXIT - 1, &least);
    memcpy(r->reached, r->seen, nodes);
    memcpy(r->best, r->seen, nodes);
    for (uint32_t n = 0; n < nodes; n++) {
        if (n == branch || !r->reached[n] || reach(r, branch, n, &count) || count >= least)
            continue;
        least = count;
        memcpy(r->best, r->seen, nodes);
    }
    for (uint32_t n = 0; n < nodes; n++)
        if (r->best[n] && (r->pass->nodes[n]->touches_data || (strict && r->pass->nodes[n]->writes)))
            return true;
    return false;
}

bool cs_class_decided_by_data(const struct cs_class_pass *pass, bool strict)
{
    struct region r = {.pass = pass};
    uint32_t branches = 0;
    bool found = false;
    for (size_t i = 0; i < pass->node_count; i++)
        branches += pass->nodes[i]->tainted_branch;
    if (branches == 0)
        return false;
    if (branches > MOST_BRANCHES || pass->node_count > MOST_NODES || !gather_edges(&r))
        found = true;
    for (uint32_t i = 0; !found && i < pass->node_count; i++)
        found = pass->nodes[i]->tainted_branch && decides(&r, i, strict);
    free(r.begin);
    free(r.to);
    free(r.stack);
    free(r.seen);
    return found;
}
