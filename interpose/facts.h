/*
 * facts.h - turns the arguments of one call into an event. Used by both planes: the symbol hooks and CUPTI's driver
 * callbacks.
 *
 * Each function records one fact about a call that succeeded (a free: that is about to be made) on the calling thread,
 * with that thread's current stack. Addresses are those of the call; sizes in bytes. A copy of nothing records nothing.
 *
 * Threads: any. Nothing fails visibly: an event that cannot be recorded is counted as lost.
 */
#ifndef COPYSPY_INTERPOSE_FACTS_H
#define COPYSPY_INTERPOSE_FACTS_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "analysis/event.h"

/* ---- in the runtime's terms ---- */
void cs_fact_launch_unseen(const void *stream); /* something ran that only a hook saw: it may have touched anything */
void cs_fact_memcpy(const void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, const void *stream);
void cs_fact_memcpy_peer(const void *dst, int dst_device, const void *src, int src_device, size_t count,
                         const void *stream);
void cs_fact_memcpy_2d(const void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       enum cudaMemcpyKind kind, const void *stream);
void cs_fact_memcpy_3d(const struct cudaMemcpy3DParms *p, const void *stream);
void cs_fact_memcpy_3d_peer(const struct cudaMemcpy3DPeerParms *p, const void *stream);
void cs_fact_memcpy_batch(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count);
/* One side is a CUDA array (given as 0); the linear side covers at most rows * pitch bytes. */
void cs_fact_memcpy_array(const void *dst, const void *src, size_t pitch, size_t rows);
void cs_fact_memset(const void *dst, int value, size_t count, const void *stream);
void cs_fact_memset_2d(const void *dst, size_t pitch, int value, size_t width, size_t height, const void *stream);
void cs_fact_memset_3d(struct cudaPitchedPtr dst, int value, struct cudaExtent extent, const void *stream);

/* ---- in terms of both ---- */
void cs_fact_alloc(enum cs_allocator allocator, const void *address, size_t size);
void cs_fact_block(const void *address, size_t size, uint32_t device); /* one of PyTorch's allocator, on that device */
void cs_fact_free(enum cs_allocator allocator, const void *address);
void cs_fact_capture_begin(const void *stream);
void cs_fact_capture_end(const void *stream);
void cs_fact_graph_launch(const void *stream);
void cs_fact_graph_made(void); /* a graph got a node that no capture recorded: its launches may touch anything */

/* ---- in the driver's terms; correlation is CUPTI's id of the call ---- */
struct cs_fact_side {
    uint64_t address;
    enum cs_space space;
    uint64_t pitch, slice; /* 0: as wide as the copy */
    uint32_t device;       /* CS_DEVICE_UNKNOWN: the current one */
};
void cs_fact_copy(const struct cs_fact_side *dst, const struct cs_fact_side *src, const struct cs_extent *extent,
                  const void *stream, uint32_t correlation);
void cs_fact_fill(uint64_t dst, uint64_t pitch, const struct cs_extent *extent, uint32_t value, uint32_t element,
                  const void *stream);

/* Begins the event of a launch; the caller fills event->parameters and calls cs_fact_launch_end. NULL: lost. */
struct cs_launch *cs_fact_launch_begin(uint32_t kernel, uint32_t parameter_bytes, const void *stream);
void cs_fact_launch_end(struct cs_launch *launch);

#endif
