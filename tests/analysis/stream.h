/*
 * stream.h - a tiny builder of event streams, and fakes for kernel summaries and call stacks, for the tests of the
 * analysis.
 *
 * A test says what a program does (allocate, launch, copy, ...) and looks at the report. Kernels are declared with the
 * access of each pointer parameter: "rw" reads the first and writes the second; see stream_kernel. A stack is an id
 * with a place and operators, see stream_stack.
 *
 * Threads: one.
 */
#ifndef COPYSPY_TESTS_ANALYSIS_STREAM_H
#define COPYSPY_TESTS_ANALYSIS_STREAM_H

#include "analysis/analysis.h"
#include "analysis/report/model.h"
#include "analysis/sass/summary.h"
#include "analysis/stacks/stacks.h"

struct stream {
    struct cs_analysis *analysis;
    uint64_t sequence;
    uint32_t stack, correlation; /* for the next events */
    uint16_t flags;
    uint64_t on_stream; /* the CUDA stream, and the device */
    uint32_t on_device;
};

/* A fresh analysis with one sm_90 device of 1e12 bytes a second and a process definition. Forgets kernels and stacks.
 */
void stream_start(struct stream *stream);
void stream_stop(struct stream *stream);

/* ---- what kernels do, and where their code is ---- */

/*
 * Declares kernel `id` and gives it code in a module of its own. One letter a parameter, 8 bytes each: r reads, w
 * writes, u updates (both), s stores the address, - is no address, t begins a table of four words that is read, m a
 * tensor map of eight words that is written. '*' at the end: follows addresses it loads (reads); '!': and writes
 * through them; '?': could not be followed.
 */
void stream_kernel(struct stream *stream, uint32_t id, const char *name, const char *accesses);
/* Only the definition: no code anywhere. */
void stream_kernel_without_code(struct stream *stream, uint32_t id, const char *name);
/* Code of that name is loaded (again, with other accesses, for another architecture). Returns the module's id. */
uint32_t stream_code(struct stream *stream, const char *name, const char *accesses, uint32_t architecture);
/* How many images are mapped now, and were mapped ever. */
int stream_mapped(void);
int stream_mappings(void);
/* How often cs_summarize was called. */
int stream_summaries(void);
/* Mapping this module's image fails from now on. */
void stream_code_gone(uint32_t module);

/* ---- where calls come from ---- */

/* operators: "masked_fill.Scalar>clone>copy_" or "". */
void stream_stack(uint32_t id, const char *file, int line, const char *operators);
/* With columns (0-based, end exclusive) and an enclosing user frame. */
void stream_stack_columns(uint32_t id, const char *file, int line, int column, int end_column, const char *function,
                          const char *operators);
void stream_stack_caller(uint32_t id, const char *file, int line, const char *function);
void stream_stack_node(uint32_t id, const char *autograd_node);

/* Makes the stack's frame a library's native one: no Python, nothing of the user's. */
void stream_stack_library(uint32_t id);

/* ---- what the program does; each is one event ---- */

void stream_alloc(struct stream *stream, uint64_t address, uint64_t size, enum cs_allocator allocator);
void stream_free(struct stream *stream, uint64_t address, enum cs_allocator allocator);
void stream_launch(struct stream *stream, uint32_t kernel, size_t count, const uint64_t *words);
#define LAUNCH(stream, kernel, ...)                                                                                    \
    stream_launch(stream, kernel, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})
void stream_copy(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes);
void stream_copy_2d(struct stream *stream, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch,
                    uint64_t width, uint64_t height);
void stream_copy_default(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes);
void stream_upload(struct stream *stream, uint64_t to, uint64_t bytes);
void stream_download(struct stream *stream, uint64_t from, uint64_t bytes);
void stream_fill(struct stream *stream, uint64_t to, uint64_t bytes);
void stream_escape(struct stream *stream, uint64_t address);
void stream_simple(struct stream *stream, enum cs_event_kind kind);
void stream_blind(struct stream *stream, enum cs_event_kind kind);
void stream_lost(struct stream *stream, uint64_t count);
void stream_time(struct stream *stream, uint32_t correlation, uint64_t nanoseconds);

/* ---- what came out ---- */

/* The copy site of that line, or NULL. The report is the last one that stream_report made. */
struct cs_report *stream_report(struct stream *stream);
const struct cs_copy_site *stream_site(const struct cs_report *report, int line);
const struct cs_finding *stream_finding(const struct cs_report *report, int line);
/* The verdict of the line's copies: "redundant", "necessary", "not judged"; "" when no copy was seen there. */
const char *stream_verdict(struct stream *stream, int line);

#endif
