/*
 * timing.h - joins the device's timing of a copy, which comes later and out of order, with the copy by correlation id.
 *
 * Threads: the analysis thread. Memory is fixed: 65,536 copies may be under way; older ones stay without a time.
 */
#ifndef COPYSPY_ANALYSIS_OBJECTS_TIMING_H
#define COPYSPY_ANALYSIS_OBJECTS_TIMING_H

#include <stdint.h>

struct cs_ledger;
struct cs_timing_slot;
struct cs_timing {
    struct cs_timing_slot *slots; /* by correlation id modulo their number; NULL until the first */
};

/* A copy of this site with this correlation id (0: none) was made. */
void cs_timing_await(struct cs_timing *timing, struct cs_ledger *ledger, uint32_t correlation, uint32_t site);
void cs_timing_release(struct cs_timing *timing);

#endif
