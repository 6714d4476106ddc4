/*
 * group.h - copy sites as a reader sees them: all call stacks that lead to the same line of the user's code through the
 * same operators are one.
 *
 * Threads: one at a time.
 */
#ifndef COPYSPY_ANALYSIS_REPORT_GROUP_H
#define COPYSPY_ANALYSIS_REPORT_GROUP_H

#include "analysis/report/model.h"
#include "analysis/state.h"

struct cs_group {
    uint64_t key;
    const struct cs_attribution *attribution; /* of the first stack; may be NULL */
    bool columns_differ;
    struct cs_site sum;    /* counters of all; evidence and actors of the first that has them */
    uint64_t estimated_ns; /* of all its copies, by the device's memory bandwidth; 0: not known */
};

/* Groups all sites of the ledger; stacks are resolved. *count groups, to be freed; NULL when there are none or no
 * memory. */
struct cs_group *cs_groups(const struct cs_analysis *analysis, size_t *count);

/* Copies that were settled. */
static inline uint64_t cs_group_settled(const struct cs_group *group)
{
    return group->sum.copies - group->sum.pending;
}

/* GPU time of all its copies: measured and scaled up, else estimated, else 0. */
uint64_t cs_group_time(const struct cs_group *group);

#endif
