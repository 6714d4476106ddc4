/*
 * span.h - the bytes that one side of a copy or fill touches: rows of a pitched array, or one run.
 *
 * Threads: plain data, pure functions.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_SPAN_H
#define COPYSPY_ANALYSIS_OBJECTS_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/event.h"

/* Row r of slice s is [address + s * slice + r * pitch, ... + width). Made by cs_span: rows that touch are joined. */
struct cs_span {
    uint64_t address, width, height, depth, pitch, slice;
};

struct cs_span cs_span(const struct cs_place *place, const struct cs_extent *extent);
struct cs_span cs_span_run(uint64_t address, uint64_t bytes);

uint64_t cs_span_bytes(const struct cs_span *span);
/* One past the last byte. */
uint64_t cs_span_end(const struct cs_span *span);
/* Whether a byte is in both. Exact but for two arrays of more than 4,096 rows with different pitches, where "maybe" is
 * true. */
bool cs_span_overlap(const struct cs_span *a, const struct cs_span *b);
/* Whether every byte of `inner` is in `outer`. May say false for covers of mismatched pitch. */
bool cs_span_covers(const struct cs_span *outer, const struct cs_span *inner);

#endif
