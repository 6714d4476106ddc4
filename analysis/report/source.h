/*
 * source.h - lines of the user's source files, for quoting. Reads files; any thread.
 */
#ifndef COPYSPY_ANALYSIS_REPORT_SOURCE_H
#define COPYSPY_ANALYSIS_REPORT_SOURCE_H

#include "analysis/report/model.h"

/* Quotes lines first..last of the file (at most 6); nothing when it cannot be read or has no such line. */
struct cs_text_list cs_source_lines(struct cs_report *report, const char *file, int64_t first, int64_t last);

#endif
