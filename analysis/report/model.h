/*
 * model.h - the report as data: what the analysis fills in, what the renderers show and what a JSON file holds.
 *
 * Texts and arrays live in the report's arena and are never NULL; a text is valid UTF-8 without control characters
 * (tabs excepted), whatever the program's file names hold. FORMAT.md says what each field means in a file.
 *
 * Threads: plain data.
 */
#ifndef COPYSPY_ANALYSIS_REPORT_MODEL_H
#define COPYSPY_ANALYSIS_REPORT_MODEL_H

#include "analysis/report/report.h"

#define CS_REPORT_FORMAT_VERSION 1

struct cs_text_list {
    const char **items;
    size_t count;
};

struct cs_report_frame {
    const char *function, *file, *module;
    int64_t line;
    bool python, user;
};
struct cs_report_frames {
    struct cs_report_frame *items;
    size_t count;
};

/* A place in the program: of a finding, a copy site or a remark. Line 0 and columns -1: not known. */
struct cs_location {
    const char *file, *function;
    int64_t line, column, end_line, end_column; /* columns: bytes from 0, the end exclusive */
    struct cs_text_list operators;              /* outermost first */
    const char *autograd_node;                  /* "" : none */
};

struct cs_finding {
    const char *reason, *confidence, *headline;
    struct cs_location at;
    struct cs_text_list source; /* the lines from at.line on, as they were at the end of the program */
    uint64_t copies, bytes, pending;
    uint64_t gpu_ns;          /* of all copies; scaled up or estimated as the next two say; 0: not known */
    uint64_t gpu_ns_measured; /* as the device measured it, of copies_measured copies */
    uint64_t copies_measured;
    struct cs_text_list evidence;
    const char *advice, *rewrite; /* rewrite: the line to write instead, "" when it is not that simple */
    struct cs_report_frames stack;
};
struct cs_findings {
    struct cs_finding *items;
    size_t count;
};

struct cs_copy_site {
    struct cs_location at;
    uint64_t copies, bytes, pending, redundant;
    uint64_t captured; /* further copies, recorded into graphs */
    const char *verdict, *reason;
};
struct cs_copy_sites {
    struct cs_copy_site *items;
    size_t count;
};

struct cs_remark {
    const char *kind, *text;
    struct cs_location at;
};
struct cs_remarks {
    struct cs_remark *items;
    size_t count;
};

struct cs_unknown_kernel {
    const char *name, *why;
    uint64_t launches;
};
struct cs_unknown_kernels {
    struct cs_unknown_kernel *items;
    size_t count;
};

struct cs_report_program {
    const char *command;
    uint64_t pid;
    struct cs_text_list devices;
    bool stand_in;
};
struct cs_report_versions {
    const char *copyspy, *runtime, *driver, *cupti, *python; /* "" : not known or none */
};
struct cs_report_totals {
    uint64_t copies, bytes; /* device to device, executed one by one */
    uint64_t captured_copies,
        captured_bytes; /* device to device, recorded into graphs; executed when those are launched */
    uint64_t redundant_copies, redundant_bytes, redundant_ns;
};
struct cs_report_unseen {
    uint64_t lost_events, blind_no_cupti, blind_cupti_lent;
    bool blind_at_end;
    uint64_t graph_launches, graph_launches_not_followed;
    uint64_t unknown_addresses, stray_accesses, unreadable_modules, unnamed_launches;
    struct cs_unknown_kernels kernels;
};
struct cs_report_self {
    uint64_t events, lost_events, code_bytes, kernels, copies_without_time;
};

struct cs_arena_chunk;
struct cs_report {
    struct cs_report_program program;
    struct cs_report_versions versions;
    struct cs_report_totals totals;
    struct cs_findings findings;
    struct cs_copy_sites copy_sites;
    struct cs_remarks remarks;
    struct cs_report_unseen unseen;
    struct cs_report_self self;
    struct cs_arena_chunk *chunks; /* newest first */
    bool failed;                   /* memory ran out while it was filled */
};

struct cs_report *cs_report_new(void);
/* Zeroed memory that lives as long as the report. NULL (and report->failed) when there is none. */
void *cs_report_allocate(struct cs_report *report, size_t count, size_t size);
/* A copy made fit to print. "" for NULL and when memory ran out. */
const char *cs_report_text(struct cs_report *report, const char *text);
const char *cs_report_format(struct cs_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to an array that was allocated with room for it. */
void cs_text_list_add(struct cs_report *report, struct cs_text_list *texts, size_t room, const char *text);

/* text.c, json.c: the renderers behind cs_report_write */
void cs_report_write_text(const struct cs_report *report, const struct cs_render_options *options, FILE *stream);
int cs_report_write_json(const struct cs_report *report, FILE *stream);

/* numbers.c: "2,684,354,560"; "2.7 GB"; "1.24 ms". The buffer is returned. */
#define CS_NUMBER_MAX 32
const char *cs_number_exact(uint64_t number, char buffer[CS_NUMBER_MAX]);
const char *cs_number_bytes(uint64_t bytes, char buffer[CS_NUMBER_MAX]);
const char *cs_number_time(uint64_t nanoseconds, char buffer[CS_NUMBER_MAX]);

#endif
