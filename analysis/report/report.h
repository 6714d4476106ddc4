/*
 * report.h - the findings of one run as a model, and its way out (text, JSON) and back in (JSON).
 *
 * Every renderer takes the same model, so that `copyspy report FILE` prints what the program's end printed.
 *
 * Threads: plain data; one report is used by one thread at a time.
 */
#ifndef COPYSPY_ANALYSIS_REPORT_REPORT_H
#define COPYSPY_ANALYSIS_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/error.h"

#pragma GCC visibility push(default)

struct cs_report; /* its fields: report/model.h, for the analysis and the renderers */

enum cs_format { CS_FORMAT_TEXT, CS_FORMAT_JSON };

struct cs_render_options {
    bool colour; /* ANSI colours; for terminals only */
    bool all;    /* also what is not redundant, one line each, and "possible" findings */
};

/* The format that a path's extension asks for: ".json" is JSON, everything else text. */
enum cs_format cs_format_of(const char *path);

/* Writes the report. Returns 0, or -1 with a message when the stream fails. */
int cs_report_write(const struct cs_report *report, enum cs_format format, const struct cs_render_options *options,
                    FILE *stream, struct cs_error *error);

/*
 * Writes the report to a file, in the format of its extension, all or nothing: into a temporary file beside it, which
 * then takes the name. A path that is no regular file (a pipe, /dev/stderr) is written directly. Returns 0, or -1 with
 * a message that names the path.
 */
int cs_report_write_path(const struct cs_report *report, const char *path, const struct cs_render_options *options,
                         struct cs_error *error);

/* Reads a report that was written as JSON. Returns 0 and the report, or -1 with a message naming file, place and what
 * was expected. */
int cs_report_load(const char *path, struct cs_report **report, struct cs_error *error);

/* Number of redundant findings with confidence likely or proven. */
size_t cs_report_findings(const struct cs_report *report);

void cs_report_free(struct cs_report *report);

#pragma GCC visibility pop

#endif
