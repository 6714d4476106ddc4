/*
 * timing.c - see timing.h. The analysis thread.
 */
#include "analysis/objects/timing.h"

#include <stdlib.h>

#include "analysis/state.h"

#define SLOTS 65536u

enum state { EMPTY, AWAITED, EARLY };

struct cs_timing_slot {
    uint32_t correlation;
    uint32_t state : 2, site : 30;
    uint64_t nanoseconds; /* EARLY: the time came before the copy */
};

static struct cs_timing_slot *slot_of(struct cs_timing *timing, uint32_t correlation)
{
    if (!timing->slots)
        timing->slots = calloc(SLOTS, sizeof *timing->slots);
    return timing->slots && correlation ? &timing->slots[correlation % SLOTS] : NULL;
}

void cs_timing_await(struct cs_timing *timing, struct cs_ledger *ledger, uint32_t correlation, uint32_t site)
{
    struct cs_timing_slot *slot = slot_of(timing, correlation);
    if (!slot)
        return;
    if (slot->state == EARLY && slot->correlation == correlation) {
        cs_ledger_timed(ledger, site, slot->nanoseconds);
        slot->state = EMPTY;
        return;
    }
    *slot = (struct cs_timing_slot){.correlation = correlation, .state = AWAITED, .site = site};
}

void cs_on_copy_time(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_copy_time *time = (const struct cs_copy_time *)event;
    struct cs_timing_slot *slot = slot_of(&analysis->timing, event->correlation);
    if (!slot || time->end_ns <= time->start_ns) /* start = end = 0: not collected */
        return;
    uint64_t nanoseconds = time->end_ns - time->start_ns;
    if (slot->state == AWAITED && slot->correlation == event->correlation) {
        cs_ledger_timed(&analysis->ledger, slot->site, nanoseconds);
        slot->state = EMPTY;
    } else if (slot->state != AWAITED) {
        *slot = (struct cs_timing_slot){.correlation = event->correlation, .state = EARLY, .nanoseconds = nanoseconds};
    }
}

void cs_timing_release(struct cs_timing *timing)
{
    free(timing->slots);
    timing->slots = NULL;
}
