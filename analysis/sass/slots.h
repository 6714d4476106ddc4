/*
 * slots.h - from what the pass recorded to the slots of a summary. One thread a pass.
 */
#ifndef COPYSPY_ANALYSIS_SASS_SLOTS_H
#define COPYSPY_ANALYSIS_SASS_SLOTS_H

#include "analysis/sass/flow.h"

/*
 * Fills the slots, flags and counts of a summary whose parameters are there already. May set flow->incomplete. Returns
 * 0, or -1 with a message (out of memory).
 */
int cs_slots_of(struct cs_flow *flow, struct cs_kernel_summary *summary, struct cs_error *error);

#endif
