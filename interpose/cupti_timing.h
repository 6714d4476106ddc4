/*
 * cupti_timing.h - the device's own timing of copies, from CUPTI's activity records.
 *
 * While such records are collected every launch costs about a tenth more and every copy about a quarter
 * (tests/gpu/RESULTS.md), so they are collected only for a moment after a call site's first copy; a site's other copies
 * count as taking as long as those that were timed.
 */
#ifndef COPYSPY_INTERPOSE_CUPTI_TIMING_H
#define COPYSPY_INTERPOSE_CUPTI_TIMING_H

#include <stdbool.h>

#include "interpose/cupti_library.h"

/* Starts collecting. The library must outlive it. False when CUPTI refuses. Inside cuInit. */
bool cs_timing_start(const struct cs_cupti_library *library);

/* A copy was made by this stack. The first one of each stack asks for timing. Any thread; cheap. */
void cs_timing_copy_made(uint32_t stack);

/* Collects or stops collecting, as asked, and takes what has been collected. Now and then, on the analysis thread. */
void cs_timing_tick(void);

/* Takes everything collected so far. May take long: not on the program's threads. */
void cs_timing_flush(void);

/* Stops for good: CUPTI goes to somebody else. Any thread. */
void cs_timing_stop(void);

#endif
