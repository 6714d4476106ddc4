/*
 * span.c - see span.h. Pure functions.
 */
#include "analysis/objects/span.h"

struct cs_span cs_span_run(uint64_t address, uint64_t bytes)
{
    return (struct cs_span){address, bytes, 1, 1, bytes, bytes};
}

struct cs_span cs_span(const struct cs_place *place, const struct cs_extent *extent)
{
    struct cs_span span = {
        place->address, extent->width, extent->height ? extent->height : 1, extent->depth ? extent->depth : 1,
        place->pitch,   place->slice};
    if (span.height == 1)
        span.pitch = span.width;
    if (span.depth == 1)
        span.slice = span.pitch * span.height;
    if (span.pitch == span.width && span.slice == span.width * span.height)
        return cs_span_run(span.address, span.width * span.height * span.depth);
    return span;
}

uint64_t cs_span_bytes(const struct cs_span *span)
{
    return span->width * span->height * span->depth;
}

uint64_t cs_span_end(const struct cs_span *span)
{
    return span->address + (span->depth - 1) * span->slice + (span->height - 1) * span->pitch + span->width;
}

static bool is_run(const struct cs_span *span)
{
    return span->height == 1 && span->depth == 1;
}

static uint64_t row_start(const struct cs_span *span, uint64_t row)
{
    return span->address + row / span->height * span->slice + row % span->height * span->pitch;
}

/* Whether [low, high) meets one of the rows; a slice is searched only if it can. */
static bool run_meets(uint64_t low, uint64_t high, const struct cs_span *rows)
{
    for (uint64_t s = 0; s < rows->depth; s++) {
        uint64_t base = rows->address + s * rows->slice;
        if (high <= base || low >= base + (rows->height - 1) * rows->pitch + rows->width)
            continue;
        if (low <= base || !rows->pitch)
            return true;
        /* low lies behind the slice's first byte: in a row, or in the gap behind it */
        uint64_t into = (low - base) % rows->pitch;
        if (into < rows->width || high > low - into + rows->pitch)
            return true;
    }
    return false;
}

bool cs_span_overlap(const struct cs_span *a, const struct cs_span *b)
{
    if (a->address >= cs_span_end(b) || b->address >= cs_span_end(a))
        return false;
    if (is_run(b)) {
        const struct cs_span *swap = a;
        a = b;
        b = swap;
    }
    if (is_run(a))
        return run_meets(a->address, cs_span_end(a), b);
    if (a->height * a->depth > 4096)
        return true;
    for (uint64_t row = 0; row < a->height * a->depth; row++)
        if (run_meets(row_start(a, row), row_start(a, row) + a->width, b))
            return true;
    return false;
}

bool cs_span_covers(const struct cs_span *outer, const struct cs_span *inner)
{
    if (is_run(outer))
        return outer->address <= inner->address && cs_span_end(outer) >= cs_span_end(inner);
    if (outer->pitch != inner->pitch || (inner->depth > 1 && outer->slice != inner->slice) ||
        outer->depth < inner->depth)
        return false;
    return outer->address == inner->address && outer->width >= inner->width && outer->height >= inner->height;
}
