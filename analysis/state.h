/*
 * state.h - everything that one analysis knows, and what each event kind does to it. Internal.
 *
 * Threads: one at a time, as analysis.h says.
 */
#ifndef COPYSPY_ANALYSIS_STATE_H
#define COPYSPY_ANALYSIS_STATE_H

#include "analysis/analysis.h"
#include "analysis/objects/kernel.h"
#include "analysis/objects/map.h"
#include "analysis/objects/timing.h"
#include "analysis/objects/unseen.h"
#include "analysis/stacks/stacks.h"
#include "analysis/verdicts/ledger.h"

struct cs_device {
    uint64_t bytes_per_second;
    uint32_t compute_capability;
    char name[64];
};
#define CS_DEVICES_MAX 64

struct cs_analysis {
    struct cs_host host;
    struct cs_map map;
    struct cs_kernels kernels;
    struct cs_unseen unseen;
    struct cs_ledger ledger;
    struct cs_timing timing;
    struct cs_stacks *stacks;

    struct cs_process_def process; /* zero until it comes */
    char *command;
    struct cs_device devices[CS_DEVICES_MAX]; /* by ordinal */

    uint64_t sequence; /* of the event that is being worked on */
    uint64_t stream;   /* of the same */
    uint64_t events;
    bool ended; /* CS_EVENT_END came */

    /* the launch that is being worked on: what it accesses (launch.c) */
    struct cs_object **accessed;
    size_t accessed_count, accessed_capacity;
    bool host_memory_passed; /* it was given an address of memory that the host can write */
};

/* objects/life.c */
void cs_on_alloc(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_free(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_escape(struct cs_analysis *analysis, const struct cs_event *event);
/* objects/copy.c */
void cs_on_copy(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_fill(struct cs_analysis *analysis, const struct cs_event *event);
/* objects/launch.c */
void cs_on_launch(struct cs_analysis *analysis, const struct cs_event *event);
/* objects/kernel.c */
void cs_on_kernel(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_code_loaded(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_code_unloaded(struct cs_analysis *analysis, const struct cs_event *event);
/* objects/unseen.c */
void cs_on_capture_begin(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_graph_launch(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_blind_begin(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_blind_end(struct cs_analysis *analysis, const struct cs_event *event);
void cs_on_lost(struct cs_analysis *analysis, const struct cs_event *event);
/* objects/timing.c */
void cs_on_copy_time(struct cs_analysis *analysis, const struct cs_event *event);

/* report/findings.c: see cs_analysis_report */
struct cs_report *cs_findings_report(struct cs_analysis *analysis, const struct cs_self *self);

#endif
