/*
 * analysis.h - from events to a report. The only header that the hooks' side needs besides event.h and report/report.h.
 *
 * The library is pure: it uses no CUDA, no clock, no environment and no globals, so a recorded stream of events gives
 * the same report as the live program. It reads host ELF files named by the events to symbolise, and GPU code through
 * struct cs_host.
 *
 * Threads: one analysis is used by one thread at a time.
 */
#ifndef COPYSPY_ANALYSIS_ANALYSIS_H
#define COPYSPY_ANALYSIS_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/event.h"
#include "analysis/report/report.h"

#pragma GCC visibility push(default)

/* Where GPU code images come from; kept by whoever feeds the events. */
struct cs_host {
    void *context;
    /* Maps the image of CS_EVENT_CODE_LOADED's id. Returns 0, or -1 when it is gone. Valid until unmap_code. */
    int (*map_code)(void *context, uint32_t id, const void **image, size_t *size);
    void (*unmap_code)(void *context, uint32_t id, const void *image, size_t size);
};

/* What the host says of its own doings; goes into the report's last section. All zero when not known. */
struct cs_self {
    uint64_t events, lost_events;
    uint64_t code_bytes; /* GPU code seen */
};

struct cs_analysis;

/* NULL when memory ran out. *host is copied; its context must outlive the analysis. */
struct cs_analysis *cs_analysis_new(const struct cs_host *host);

/* Takes the next event, in sequence. The record may be overwritten after the call. Unknown kinds are ignored. */
void cs_analysis_event(struct cs_analysis *analysis, const struct cs_event *event);

/*
 * Judges what is known so far and attributes it to source lines. Events may go on coming afterwards. The report is the
 * caller's, to be freed with cs_report_free. NULL when memory ran out.
 */
struct cs_report *cs_analysis_report(struct cs_analysis *analysis, const struct cs_self *self);

void cs_analysis_free(struct cs_analysis *analysis);

#pragma GCC visibility pop

#endif
