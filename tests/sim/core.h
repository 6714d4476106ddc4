/*
 * core.h - what the parts of the stand-in's driver (libcuda.so.1) share.
 *
 * All state lives in libcuda.so.1; libcudart and libcupti of both majors reach it through exported functions only. Work
 * is executed at the call that submits it, on the calling thread. No lock is held while a callback, a host function or
 * a library constructor runs.
 *
 * Threads: any, unless it says otherwise.
 */
#ifndef COPYSPY_TESTS_SIM_CORE_H
#define COPYSPY_TESTS_SIM_CORE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim.h"

/* cuda.h names the newest version of these; here each version is a function of its own. */
#undef cuMemPrefetchAsync
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef cuEventElapsedTime
#undef cuGetProcAddress

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_MAX_DEVICES 8
#define SIM_MAX_PARAMETERS 512

/* Every function of the driver, without its export: sim_cuX does the work of cuX and of its twins. */
#define DRIVER(name, parameters, arguments) CUresult sim_##name parameters;
#define DRIVER_VOID(name) CUresult sim_##name(void);
#define DRIVER_PTSZ DRIVER
#define DRIVER_PTDS DRIVER
#define DRIVER_LAUNCH(name, parameters, arguments, handle) CUresult sim_##name parameters;
#include "tests/sim/driver_api.def"
#undef DRIVER
#undef DRIVER_VOID
#undef DRIVER_PTSZ
#undef DRIVER_PTDS
#undef DRIVER_LAUNCH

/* ---- memory.c: who owns an address ---- */

/* From SIM_MEMORY_DEVICE on: memory that counts as a device's. */
enum sim_memory_kind {
    SIM_MEMORY_PAGEABLE,
    SIM_MEMORY_PINNED,
    SIM_MEMORY_REGISTERED,
    SIM_MEMORY_DEVICE,
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_MAPPED, /* into a reserved address range */
};

struct sim_block {
    uintptr_t base;
    size_t size;
    enum sim_memory_kind kind;
    int device;
    unsigned flags;
    bool pooled; /* stream-ordered */
    uint64_t id;
};

/* Total and free bytes of a device. */
size_t sim_memory_total(void);
size_t sim_memory_free_bytes(int device);

/* A new block; NULL when the range is used up or size is 0. */
void *sim_memory_allocate(enum sim_memory_kind kind, int device, size_t size, unsigned flags, bool pooled);

/* Ends a block whose base is `pointer`. False when there is no live block of that kind with this base. */
bool sim_memory_release(const void *pointer, enum sim_memory_kind kind);

/* Marks the program's own host memory as registered; false when it overlaps a live block. */
bool sim_memory_register(void *pointer, size_t size, unsigned flags);

/* Addresses for mappings, 2 MiB aligned, never handed out twice; NULL when there are no more. */
void *sim_memory_reserve(size_t size);

/* Makes a part of a reserved range a live block; false when it overlaps one. Ends with sim_memory_release. */
bool sim_memory_map(void *pointer, size_t size, int device);

/* The block that holds [pointer, pointer + size). False when none does. */
bool sim_memory_find(const void *pointer, size_t size, struct sim_block *block);

/*
 * May [pointer, pointer + size) be touched? Yes for all of a live block's part and for memory outside our ranges (the
 * program's own). `kind` gets the kind, `device` the ordinal.
 */
bool sim_memory_usable(const void *pointer, size_t size, enum sim_memory_kind *kind, int *device);

/* ---- image.c: fat binaries and cubins ---- */

struct sim_parameter {
    uint32_t offset, size;
};

struct sim_kernel_image {
    char *name;
    uint32_t parameter_count, parameter_bytes, shared_bytes, registers;
    struct sim_parameter *parameters; /* by ordinal */
};

struct sim_global_image {
    char *name;
    size_t size;
    const void *initial; /* inside the cubin; NULL when zero */
    bool constant;
};

struct sim_image {
    unsigned char *cubin;
    size_t cubin_size;
    struct sim_kernel_image *kernels;
    size_t kernel_count;
    struct sim_global_image *globals;
    size_t global_count;
};

/*
 * Reads a fat binary (wrapper or container) or a cubin. Prefers sm_90, then sm_80, then the highest. CUDA_SUCCESS, else
 * the error and one line on standard error that says what is wrong with the image. Release with sim_image_release.
 */
CUresult sim_image_load(const void *data, struct sim_image *image);
void sim_image_release(struct sim_image *image);

/* ---- objects behind the driver's handles ---- */

enum sim_tag { SIM_TAG_FUNCTION = 0x434e5546, SIM_TAG_KERNEL = 0x4e52454b };

struct CUctx_st {
    CUdevice device;
    uint32_t uid;
    unsigned flags;
    unsigned references; /* of a primary context */
    bool primary, live;
    _Atomic uint32_t next_stream_id;
    struct CUstream_st *legacy; /* the default stream, made at first use */
    struct CUctx_st *next;
};

/* A kernel of a module. The same object answers as CUkernel (tag KERNEL) and, through `function`, as CUfunction. */
struct CUfunc_st {
    enum sim_tag tag;
    struct CUkern_st *kernel;
};
struct CUkern_st {
    enum sim_tag tag;
    struct CUfunc_st function;
    struct CUmod_st *module;
    const struct sim_kernel_image *image;
    _Atomic(sim_kernel) host;
    _Atomic bool told; /* that there is no host function */
    int max_dynamic_shared;
};

struct sim_global {
    CUdeviceptr address;
    size_t size;
    const char *name;
};

/* A module or a library: a library's module is loaded when a kernel of it is first needed. */
struct CUmod_st {
    uint32_t id;
    _Atomic bool loaded; /* the module-loaded callback has been made */
    struct CUctx_st *context;
    struct sim_image image;
    struct CUkern_st *kernels;
    struct sim_global *globals;
    struct CUmod_st *next;
};

/* A captured or constructed piece of work. */
enum sim_operation_kind { SIM_EMPTY, SIM_LAUNCH, SIM_COPY, SIM_FILL, SIM_HOST, SIM_CHILD };

/* A copy of depth planes of height rows of width bytes. */
struct sim_copy {
    char *destination;
    const char *source;
    size_t destination_pitch, source_pitch, destination_slice, source_slice;
    size_t width, height, depth;
    bool peer;
};

struct sim_fill {
    char *destination;
    size_t pitch, width /* elements */, height;
    unsigned value, element_bytes;
};

struct sim_work {
    struct CUkern_st *kernel;
    unsigned grid[3], block[3], shared_bytes;
    size_t parameter_count;
    void **parameters;
    bool cooperative;
};

struct sim_operation {
    enum sim_operation_kind kind;
    bool asynchronous;
    union {
        struct sim_work launch;
        struct sim_copy copy;
        struct sim_fill fill;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct CUgraph_st *child;
    };
};

struct CUgraphNode_st {
    struct sim_operation operation;
    CUgraphNodeType type;
    uint64_t id;
    struct CUgraph_st *graph;
    struct CUgraphNode_st **dependencies;
    size_t dependency_count;
    void *parameter_storage;
    union {
        CUDA_MEMCPY3D memcpy3d;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_KERNEL_NODE_PARAMS kernel;
    } asked;
};

struct CUgraph_st {
    uint32_t id;
    struct CUgraphNode_st **nodes; /* in an order that respects the dependencies */
    size_t count, capacity;
};

struct CUgraphExec_st {
    uint32_t id;
    unsigned long long flags;
    struct CUgraph_st *graph; /* the exec's own copy */
};

struct sim_capture {
    struct sim_capture *next;
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    CUstreamCaptureMode mode;
    unsigned long long id;
    bool broken;
};

struct CUstream_st {
    struct CUctx_st *context;
    uint32_t id;
    bool live; /* a destroyed stream's handle stays readable and is refused */
    bool legacy;
    struct CUstream_st *next;
    unsigned flags;
    int priority;
    struct sim_capture *capture;
    struct CUgraphNode_st **tail; /* what the next captured node depends on */
    size_t tail_count;
};

struct CUevent_st {
    unsigned flags;
    bool recorded;
    uint64_t time_ns;
    struct sim_capture *capture;
    unsigned long long capture_id;
    struct CUgraphNode_st **tail;
    size_t tail_count;
};

struct CUarray_st {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    char *data;
    size_t pitch, rows, element_bytes;
};

/* ---- driver_device.c ---- */

/* CUDA_SUCCESS after cuInit, else the error that a call before it gets. */
CUresult sim_initialized(void);
SIM_EXPORT CUcontext sim_current_context(void);
/* The current context, or the error. */
CUresult sim_need_context(CUcontext *context);
bool sim_device_valid(CUdevice device);

/* ---- driver_module.c ---- */

/* Makes the module's image known to CUPTI the first time. */
void sim_module_ensure_loaded(struct CUmod_st *module);
/* The kernel behind either handle; NULL when the handle is neither. */
struct CUkern_st *sim_kernel_of(const void *handle);
const char *sim_kernel_name(const void *handle);
/* The host function; NULL when none is registered. */
sim_kernel sim_host_function(struct CUkern_st *kernel);
/* Opens the libraries of SIM_KERNELS. */
void sim_open_kernels(void);

/* ---- driver_stream.c ---- */

/* The stream behind a handle: 0, legacy and per-thread included. NULL when there is no context. */
struct CUstream_st *sim_stream_of(CUstream stream);
/* May this thread make a call that a capture forbids (allocation, synchronisation)? If not, the captures concerned
 * break. */
CUresult sim_capture_allows_unsafe(void);
/* May this stream be waited for or queried? */
CUresult sim_capture_allows_wait(struct CUstream_st *stream);
/* Runs the operation, or appends it to the capture that the stream takes part in. */
CUresult sim_submit(CUstream stream, const struct sim_operation *operation);

/* ---- driver_launch.c ---- */

/* Is every address and handle of it good now? */
CUresult sim_operation_check(const struct sim_operation *operation);
/* Runs it now. `graph_id`, `node_id`: 0 outside graphs. */
CUresult sim_operation_run(struct CUstream_st *stream, const struct sim_operation *operation, uint32_t graph_id,
                           uint64_t node_id);
void sim_count_allocation(void);
void sim_count_free(void);
void sim_count_graph_launch(void);

/* ---- driver_graph.c ---- */

struct CUgraph_st *sim_graph_new(void);
/* Appends a copy of the operation, parameter values included. NULL when memory is short. */
struct CUgraphNode_st *sim_graph_append(struct CUgraph_st *graph, const struct sim_operation *operation,
                                        CUgraphNodeType type, struct CUgraphNode_st *const *dependencies, size_t count);

#endif
