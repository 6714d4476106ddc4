/*
 * stream.c - see stream.h.
 */
#include "tests/analysis/stream.h"

#include <stdlib.h>
#include <string.h>

#include "tests/analysis/fakes.h"

static struct cs_report *last_report;

/* ---- events ---- */

static void *begin(struct stream *stream, void *record, size_t size, enum cs_event_kind kind)
{
    struct cs_event *event = record;
    memset(event, 0, size);
    event->size = (uint32_t)((size + 7) & ~(size_t)7);
    event->kind = (uint16_t)kind;
    event->flags = stream->flags;
    event->sequence = ++stream->sequence;
    event->stack = stream->stack;
    event->thread = 1;
    event->stream = stream->on_stream;
    event->device = stream->on_device;
    return record;
}

static void feed(struct stream *stream, const void *record)
{
    cs_analysis_event(stream->analysis, record);
}

/* A record with text behind its fixed part. */
static void *with_text(struct stream *stream, size_t fixed, enum cs_event_kind kind, const char *text)
{
    size_t size = (fixed + strlen(text) + 1 + 7) & ~(size_t)7;
    char *record = malloc(size);
    begin(stream, record, size, kind);
    strcpy(record + fixed, text);
    return record;
}

static void define_process(struct stream *stream)
{
    struct cs_process_def *process = with_text(stream, sizeof *process, CS_EVENT_PROCESS, "python A1.py out");
    process->pid = 4711;
    process->runtime_version = 13000;
    process->driver_version = 13000;
    process->python_version = 0x030c03f0;
    feed(stream, process);
    free(process);
}

static void define_device(struct stream *stream)
{
    struct cs_device_def *device = with_text(stream, sizeof *device, CS_EVENT_DEVICE, "Test GPU");
    device->bytes_per_second = 1000000000000;
    device->compute_capability = 90;
    feed(stream, device);
    free(device);
}

void stream_start(struct stream *stream)
{
    struct cs_host host = {NULL, fake_map, fake_unmap};
    fakes_reset();
    *stream = (struct stream){.analysis = cs_analysis_new(&host)};
    define_process(stream);
    define_device(stream);
}

void stream_stop(struct stream *stream)
{
    cs_report_free(last_report);
    last_report = NULL;
    cs_analysis_free(stream->analysis);
    stream->analysis = NULL;
}

void stream_kernel_without_code(struct stream *stream, uint32_t id, const char *name)
{
    struct cs_kernel_def *kernel = with_text(stream, offsetof(struct cs_kernel_def, name), CS_EVENT_KERNEL, name);
    kernel->id = id;
    feed(stream, kernel);
    free(kernel);
}

uint32_t stream_code(struct stream *stream, const char *name, const char *accesses, uint32_t architecture)
{
    struct cs_code code;
    begin(stream, &code, sizeof code, CS_EVENT_CODE_LOADED);
    code.id = fake_code(name, accesses, architecture);
    feed(stream, &code);
    return code.id;
}

void stream_kernel(struct stream *stream, uint32_t id, const char *name, const char *accesses)
{
    stream_kernel_without_code(stream, id, name);
    stream_code(stream, name, accesses, 90);
}

static void allocation(struct stream *stream, enum cs_event_kind kind, uint64_t address, uint64_t size,
                       enum cs_allocator allocator)
{
    struct cs_allocation record;
    begin(stream, &record, sizeof record, kind);
    record.head.flags |= allocator == CS_ALLOCATOR_C10 ? CS_FLAG_FRAMEWORK : 0;
    record.address = address;
    record.size = size;
    record.allocator = allocator;
    feed(stream, &record);
}

void stream_alloc(struct stream *stream, uint64_t address, uint64_t size, enum cs_allocator allocator)
{
    allocation(stream, CS_EVENT_ALLOC, address, size, allocator);
}

void stream_free(struct stream *stream, uint64_t address, enum cs_allocator allocator)
{
    allocation(stream, CS_EVENT_FREE, address, 0, allocator);
}

void stream_launch(struct stream *stream, uint32_t kernel, size_t count, const uint64_t *words)
{
    size_t size = sizeof(struct cs_launch) + count * 8;
    struct cs_launch *launch = malloc(size);
    begin(stream, launch, size, CS_EVENT_LAUNCH);
    launch->kernel = kernel;
    launch->parameter_bytes = (uint32_t)(count * 8);
    if (count)
        memcpy(launch->parameters, words, count * 8);
    feed(stream, launch);
    free(launch);
}

static struct cs_place place(uint64_t address, uint64_t pitch, uint64_t height, enum cs_space space)
{
    return (struct cs_place){address, pitch, pitch * height, space, CS_DEVICE_UNKNOWN};
}

static void copy(struct stream *stream, struct cs_extent extent, struct cs_place to, struct cs_place from)
{
    struct cs_copy record;
    begin(stream, &record, sizeof record, CS_EVENT_COPY);
    record.head.correlation = stream->correlation;
    record.extent = extent;
    record.dst = to;
    record.src = from;
    feed(stream, &record);
}

static void linear(struct stream *stream, uint64_t to, enum cs_space to_space, uint64_t from, enum cs_space from_space,
                   uint64_t bytes)
{
    copy(stream, (struct cs_extent){bytes, 1, 1}, place(to, bytes, 1, to_space), place(from, bytes, 1, from_space));
}

void stream_copy(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes)
{
    linear(stream, to, CS_SPACE_DEVICE, from, CS_SPACE_DEVICE, bytes);
}

void stream_copy_default(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes)
{
    linear(stream, to, CS_SPACE_UNKNOWN, from, CS_SPACE_UNKNOWN, bytes);
}

void stream_upload(struct stream *stream, uint64_t to, uint64_t bytes)
{
    linear(stream, to, CS_SPACE_DEVICE, 0x7fff0000, CS_SPACE_HOST, bytes);
}

void stream_download(struct stream *stream, uint64_t from, uint64_t bytes)
{
    linear(stream, 0x7fff0000, CS_SPACE_HOST, from, CS_SPACE_DEVICE, bytes);
}

void stream_copy_2d(struct stream *stream, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch,
                    uint64_t width, uint64_t height)
{
    copy(stream, (struct cs_extent){width, height, 1}, place(to, to_pitch, height, CS_SPACE_DEVICE),
         place(from, from_pitch, height, CS_SPACE_DEVICE));
}

void stream_fill(struct stream *stream, uint64_t to, uint64_t bytes)
{
    struct cs_fill fill;
    begin(stream, &fill, sizeof fill, CS_EVENT_FILL);
    fill.extent = (struct cs_extent){bytes, 1, 1};
    fill.dst = place(to, bytes, 1, CS_SPACE_DEVICE);
    fill.element = 1;
    feed(stream, &fill);
}

void stream_escape(struct stream *stream, uint64_t address)
{
    struct cs_escape escape;
    begin(stream, &escape, sizeof escape, CS_EVENT_ESCAPE);
    escape.address = address;
    feed(stream, &escape);
}

void stream_simple(struct stream *stream, enum cs_event_kind kind)
{
    struct cs_event event;
    feed(stream, begin(stream, &event, sizeof event, kind));
}

void stream_blind(struct stream *stream, enum cs_event_kind kind)
{
    struct cs_blind blind;
    begin(stream, &blind, sizeof blind, kind);
    blind.reason = CS_BLIND_CUPTI_LENT;
    feed(stream, &blind);
}

void stream_lost(struct stream *stream, uint64_t count)
{
    struct cs_lost lost;
    begin(stream, &lost, sizeof lost, CS_EVENT_LOST);
    lost.count = count;
    feed(stream, &lost);
}

void stream_time(struct stream *stream, uint32_t correlation, uint64_t nanoseconds)
{
    struct cs_copy_time time;
    begin(stream, &time, sizeof time, CS_EVENT_COPY_TIME);
    time.head.correlation = correlation;
    time.start_ns = 1000;
    time.end_ns = 1000 + nanoseconds;
    feed(stream, &time);
}

/* ---- reports ---- */

struct cs_report *stream_report(struct stream *stream)
{
    cs_report_free(last_report);
    last_report = cs_analysis_report(stream->analysis, NULL);
    return last_report;
}

const struct cs_copy_site *stream_site(const struct cs_report *report, int line)
{
    for (size_t i = 0; i < report->copy_sites.count; i++)
        if (report->copy_sites.items[i].at.line == line)
            return &report->copy_sites.items[i];
    return NULL;
}

const struct cs_finding *stream_finding(const struct cs_report *report, int line)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i].at.line == line)
            return &report->findings.items[i];
    return NULL;
}

const char *stream_verdict(struct stream *stream, int line)
{
    const struct cs_copy_site *site = stream_site(stream_report(stream), line);
    return site ? site->verdict : "";
}
