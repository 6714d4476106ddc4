/*
 * facts.c - see facts.h. Runs on the program's threads, inside hooks and CUPTI callbacks.
 */
#include "interpose/facts.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/cupti_timing.h"
#include "interpose/real.h"
#include "interpose/ring.h"
#include "interpose/stack.h"
#include "interpose/teardown.h"
#include "interpose/thread.h"

/* Host words of an upload that are looked at for device addresses (pointer tables are small). */
enum { ESCAPE_SCAN_BYTES = 65536, ESCAPE_LIST_MAX = 512, SCAN_PIECE = 4096 };

static struct {
    /* Lowest and highest device address ever allocated: a cheap filter for what may be a pointer. */
    _Atomic uint64_t lowest, highest;
    _Atomic uint32_t captures;
    _Atomic bool ended;
} world = {.lowest = UINT64_MAX};

/* Is what goes to this stream recorded into a graph now? Asked only while some capture is under way. */
static bool is_captured(const void *stream)
{
    if (!stream || !atomic_load_explicit(&world.captures, memory_order_relaxed))
        return false;
    static CUresult (*ask)(CUstream, CUstreamCaptureStatus *);
    if (!ask)
        ask = (CUresult(*)(CUstream, CUstreamCaptureStatus *))cs_mapped_symbol("libcuda.so.", "cuStreamIsCapturing");
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    struct cs_thread *thread = cs_thread_self();
    thread->guard++;
    if (ask)
        ask((CUstream)(uintptr_t)stream, &status);
    thread->guard--;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void *begin(enum cs_event_kind kind, size_t size, const void *stream, bool with_stack)
{
    struct cs_thread *thread = cs_thread_self();
    if (!thread)
        return NULL;
    uint32_t stack = 0;
    if (with_stack)
        stack = thread->hook_stack ? thread->hook_stack : cs_stack_capture();
    bool captured = is_captured(stream);
    struct cs_event *event = cs_emit_begin_raw(kind, size);
    if (!event)
        return NULL;
    event->stream = (uint64_t)(uintptr_t)stream;
    event->stack = stack;
    if (captured)
        event->flags |= CS_FLAG_CAPTURED;
    return event;
}

static void simple(enum cs_event_kind kind, const void *stream)
{
    void *event = begin(kind, sizeof(struct cs_event), stream, true);
    if (event)
        cs_emit_end(event);
}

/* ---- escapes: device addresses that are uploaded as data ---- */

static void escape(uint64_t address)
{
    struct cs_escape *event = begin(CS_EVENT_ESCAPE, sizeof *event, NULL, false);
    if (!event)
        return;
    event->address = address;
    cs_emit_end(event);
}

/* Calls `escape` for each device address in a piece of uploaded memory; false when the list is full. */
static bool scan_piece(const unsigned char *piece, uint64_t bytes, unsigned *listed)
{
    uint64_t lowest = atomic_load_explicit(&world.lowest, memory_order_relaxed);
    uint64_t highest = atomic_load_explicit(&world.highest, memory_order_relaxed);
    for (uint64_t at = 0; at + 8 <= bytes; at += 4) {
        uint64_t word;
        memcpy(&word, piece + at, sizeof word);
        if (word < lowest || word >= highest)
            continue;
        escape(*listed < ESCAPE_LIST_MAX ? word : 0);
        if ((*listed)++ == ESCAPE_LIST_MAX)
            return false;
    }
    return true;
}

/*
 * Looks for device addresses in the host memory of an upload. The call said that it is host memory, which may be wrong
 * and still have worked, so it is read by a system call that reports a fault instead of making one.
 */
static void scan_for_addresses(uint64_t host, uint64_t bytes)
{
    unsigned char piece[SCAN_PIECE];
    unsigned listed = 0;
    /* Pieces overlap by half a word: addresses may lie at any multiple of four. */
    for (uint64_t at = 0; at + 8 <= bytes; at += SCAN_PIECE - 4) {
        size_t size = bytes - at < SCAN_PIECE ? bytes - at : SCAN_PIECE;
        struct iovec to = {piece, size}, from = {(void *)(uintptr_t)(host + at), size};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)size) {
            escape(0);
            return;
        }
        if (!scan_piece(piece, size, &listed))
            return;
    }
}

static void note_upload(const struct cs_fact_side *src, const struct cs_extent *extent)
{
    if (src->space != CS_SPACE_HOST || !src->address)
        return;
    if (extent->height == 1 && extent->depth == 1 && extent->width <= ESCAPE_SCAN_BYTES)
        scan_for_addresses(src->address, extent->width);
    else
        escape(0);
}

/* ---- copies ---- */

static void place(struct cs_place *place, const struct cs_fact_side *side, const struct cs_extent *extent)
{
    place->address = side->address;
    place->pitch = side->pitch ? side->pitch : extent->width;
    place->slice = side->slice ? side->slice : place->pitch * extent->height;
    place->space = side->space;
    place->device = side->device;
}

void cs_fact_copy(const struct cs_fact_side *dst, const struct cs_fact_side *src, const struct cs_extent *extent,
                  const void *stream, uint32_t correlation)
{
    if (!extent->width || !extent->height || !extent->depth)
        return;
    if (dst->space != CS_SPACE_HOST)
        note_upload(src, extent);
    struct cs_copy *event = begin(CS_EVENT_COPY, sizeof *event, stream, true);
    if (!event)
        return;
    cs_timing_copy_made(event->head.stack);
    event->head.correlation = correlation;
    event->extent = *extent;
    place(&event->dst, dst, extent);
    place(&event->src, src, extent);
    cs_emit_end(event);
}

static enum cs_space dst_space(enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDeviceToHost:
        return CS_SPACE_HOST;
    case cudaMemcpyHostToDevice:
    case cudaMemcpyDeviceToDevice:
        return CS_SPACE_DEVICE;
    default:
        return CS_SPACE_UNKNOWN;
    }
}

static enum cs_space src_space(enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyHostToDevice:
        return CS_SPACE_HOST;
    case cudaMemcpyDeviceToHost:
    case cudaMemcpyDeviceToDevice:
        return CS_SPACE_DEVICE;
    default:
        return CS_SPACE_UNKNOWN;
    }
}

static struct cs_fact_side side(const void *address, enum cs_space space, uint64_t pitch, uint32_t device)
{
    return (struct cs_fact_side){(uint64_t)(uintptr_t)address, space, pitch, 0, device};
}

void cs_fact_memcpy_2d(const void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       enum cudaMemcpyKind kind, const void *stream)
{
    struct cs_fact_side to = side(dst, dst_space(kind), dpitch, CS_DEVICE_UNKNOWN);
    struct cs_fact_side from = side(src, src_space(kind), spitch, CS_DEVICE_UNKNOWN);
    struct cs_extent extent = {width, height, 1};
    cs_fact_copy(&to, &from, &extent, stream, 0);
}

void cs_fact_memcpy(const void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, const void *stream)
{
    cs_fact_memcpy_2d(dst, count, src, count, count, 1, kind, stream);
}

void cs_fact_memcpy_peer(const void *dst, int dst_device, const void *src, int src_device, size_t count,
                         const void *stream)
{
    struct cs_fact_side to = side(dst, CS_SPACE_DEVICE, count, (uint32_t)dst_device);
    struct cs_fact_side from = side(src, CS_SPACE_DEVICE, count, (uint32_t)src_device);
    struct cs_extent extent = {count, 1, 1};
    cs_fact_copy(&to, &from, &extent, stream, 0);
}

static struct cs_fact_side pitched_side(struct cudaPitchedPtr pointer, struct cudaPos pos, cudaArray_t array,
                                        enum cs_space space, uint32_t device)
{
    if (array)
        return side(array, CS_SPACE_ARRAY, 0, device);
    struct cs_fact_side result = side(pointer.ptr, space, pointer.pitch, device);
    result.slice = pointer.pitch * pointer.ysize;
    result.address += pos.x + pos.y * pointer.pitch + pos.z * result.slice;
    return result;
}

void cs_fact_memcpy_3d(const struct cudaMemcpy3DParms *p, const void *stream)
{
    struct cs_fact_side to = pitched_side(p->dstPtr, p->dstPos, p->dstArray, dst_space(p->kind), CS_DEVICE_UNKNOWN);
    struct cs_fact_side from = pitched_side(p->srcPtr, p->srcPos, p->srcArray, src_space(p->kind), CS_DEVICE_UNKNOWN);
    struct cs_extent extent = {p->extent.width, p->extent.height, p->extent.depth};
    cs_fact_copy(&to, &from, &extent, stream, 0);
}

void cs_fact_memcpy_3d_peer(const struct cudaMemcpy3DPeerParms *p, const void *stream)
{
    struct cs_fact_side to = pitched_side(p->dstPtr, p->dstPos, p->dstArray, CS_SPACE_DEVICE, (uint32_t)p->dstDevice);
    struct cs_fact_side from = pitched_side(p->srcPtr, p->srcPos, p->srcArray, CS_SPACE_DEVICE, (uint32_t)p->srcDevice);
    struct cs_extent extent = {p->extent.width, p->extent.height, p->extent.depth};
    cs_fact_copy(&to, &from, &extent, stream, 0);
}

void cs_fact_memcpy_batch(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cs_fact_memcpy(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault, NULL);
}

void cs_fact_memcpy_array(const void *dst, const void *src, size_t pitch, size_t rows)
{
    struct cs_fact_side to = side(dst, dst ? CS_SPACE_UNKNOWN : CS_SPACE_ARRAY, pitch, CS_DEVICE_UNKNOWN);
    struct cs_fact_side from = side(src, src ? CS_SPACE_UNKNOWN : CS_SPACE_ARRAY, pitch, CS_DEVICE_UNKNOWN);
    struct cs_extent extent = {pitch, rows, 1};
    cs_fact_copy(&to, &from, &extent, NULL, 0);
}

/* ---- fills ---- */

void cs_fact_fill(uint64_t dst, uint64_t pitch, const struct cs_extent *extent, uint32_t value, uint32_t element,
                  const void *stream)
{
    if (!extent->width || !extent->height || !extent->depth)
        return;
    struct cs_fill *event = begin(CS_EVENT_FILL, sizeof *event, stream, true);
    if (!event)
        return;
    struct cs_fact_side to = {dst, CS_SPACE_DEVICE, pitch, 0, CS_DEVICE_UNKNOWN};
    event->extent = *extent;
    place(&event->dst, &to, extent);
    event->value = value;
    event->element = element;
    cs_emit_end(event);
}

void cs_fact_memset_2d(const void *dst, size_t pitch, int value, size_t width, size_t height, const void *stream)
{
    struct cs_extent extent = {width, height, 1};
    cs_fact_fill((uint64_t)(uintptr_t)dst, pitch, &extent, (uint32_t)value & 0xff, 1, stream);
}

void cs_fact_memset(const void *dst, int value, size_t count, const void *stream)
{
    cs_fact_memset_2d(dst, count, value, count, 1, stream);
}

void cs_fact_memset_3d(struct cudaPitchedPtr dst, int value, struct cudaExtent extent, const void *stream)
{
    for (size_t slice = 0; slice < extent.depth; slice++)
        cs_fact_memset_2d((const char *)dst.ptr + slice * dst.pitch * dst.ysize, dst.pitch, value, extent.width,
                          extent.height, stream);
}

/* ---- allocation ---- */

/* The program began to tear itself down. Recorded once. */
static void program_ends(void)
{
    if (!atomic_exchange(&world.ended, true))
        simple(CS_EVENT_END, NULL);
}

static void widen_world(uint64_t address, uint64_t size)
{
    uint64_t lowest = atomic_load_explicit(&world.lowest, memory_order_relaxed);
    while (address < lowest && !atomic_compare_exchange_weak(&world.lowest, &lowest, address))
        ;
    uint64_t highest = atomic_load_explicit(&world.highest, memory_order_relaxed);
    while (address + size > highest && !atomic_compare_exchange_weak(&world.highest, &highest, address + size))
        ;
}

static void allocation(enum cs_event_kind kind, enum cs_allocator allocator, const void *address, size_t size,
                       uint32_t device)
{
    struct cs_allocation *event = begin(kind, sizeof *event, NULL, false);
    if (!event)
        return;
    event->address = (uint64_t)(uintptr_t)address;
    event->size = size;
    event->allocator = allocator;
    event->reserved = 0;
    if (allocator == CS_ALLOCATOR_C10)
        event->head.flags |= CS_FLAG_FRAMEWORK;
    if (device != CS_DEVICE_UNKNOWN)
        event->head.device = device;
    cs_emit_end(event);
}

void cs_fact_alloc(enum cs_allocator allocator, const void *address, size_t size)
{
    if (!address || !size)
        return;
    if (allocator != CS_ALLOCATOR_HOST)
        widen_world((uint64_t)(uintptr_t)address, size);
    allocation(CS_EVENT_ALLOC, allocator, address, size, CS_DEVICE_UNKNOWN);
}

void cs_fact_block(const void *address, size_t size, uint32_t device)
{
    allocation(CS_EVENT_ALLOC, CS_ALLOCATOR_C10, address, size, device);
}

void cs_fact_free(enum cs_allocator allocator, const void *address)
{
    if (cs_teardown_began())
        program_ends();
    if (address)
        allocation(CS_EVENT_FREE, allocator, address, 0, CS_DEVICE_UNKNOWN);
}

/* ---- launches ---- */

struct cs_launch *cs_fact_launch_begin(uint32_t kernel, uint32_t parameter_bytes, const void *stream)
{
    struct cs_launch *event = begin(CS_EVENT_LAUNCH, sizeof *event + parameter_bytes, stream, true);
    if (!event)
        return NULL;
    event->kernel = kernel;
    event->parameter_bytes = parameter_bytes;
    return event;
}

void cs_fact_launch_end(struct cs_launch *launch)
{
    cs_emit_end(launch);
}

void cs_fact_launch_unseen(const void *stream)
{
    struct cs_launch *event = cs_fact_launch_begin(0, 0, stream);
    if (event)
        cs_fact_launch_end(event);
}

void cs_fact_graph_made(void)
{
    struct cs_launch *event = cs_fact_launch_begin(0, 0, NULL);
    if (!event)
        return;
    event->head.flags |= CS_FLAG_CAPTURED;
    cs_fact_launch_end(event);
}

void cs_fact_capture_begin(const void *stream)
{
    atomic_fetch_add(&world.captures, 1);
    simple(CS_EVENT_CAPTURE_BEGIN, stream);
}

void cs_fact_capture_end(const void *stream)
{
    simple(CS_EVENT_CAPTURE_END, stream);
    uint32_t captures = atomic_load(&world.captures);
    while (captures && !atomic_compare_exchange_weak(&world.captures, &captures, captures - 1))
        ;
}

void cs_fact_graph_launch(const void *stream)
{
    simple(CS_EVENT_GRAPH_LAUNCH, stream);
}
