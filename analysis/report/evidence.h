/*
 * evidence.h - who did what, in words and facts that a person can check.
 *
 * Threads: one at a time; uses the analysis read-only.
 */
#ifndef COPYSPY_ANALYSIS_REPORT_EVIDENCE_H
#define COPYSPY_ANALYSIS_REPORT_EVIDENCE_H

#include "analysis/report/model.h"
#include "analysis/state.h"

/* "`masked_fill_` at model.py:12", "kernel `step` at main.cu:9", "a fill". */
const char *cs_evidence_actor(struct cs_report *report, const struct cs_analysis *analysis,
                              const struct cs_actor *actor);

/* Why a copy stands, its %s filled in. */
const char *cs_evidence_why(struct cs_report *report, const struct cs_analysis *analysis, enum cs_why why,
                            const struct cs_actor *actor);

/* The facts behind one redundant copy. */
struct cs_text_list cs_evidence_redundant(struct cs_report *report, const struct cs_analysis *analysis,
                                          const struct cs_evidence *evidence);

/* Marks the stacks that the functions above will name. */
void cs_evidence_want(struct cs_analysis *analysis, const struct cs_site *site);

#endif
