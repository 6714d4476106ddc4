/*
 * driver_launch.c - launches, and the execution of operations: kernels as host functions, copies, fills, host calls.
 *
 * Threads: any; an operation runs on the thread that submits it, without a lock.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/trace.h"

static struct {
    _Atomic uint64_t launches, copies_d2d, bytes_d2d, copies_h2d, copies_d2h, fills, allocations, frees, graph_launches;
} counts;

SIM_EXPORT void sim_counts(struct sim_counts *out)
{
    *out = (struct sim_counts){counts.launches,    counts.copies_d2d, counts.bytes_d2d,
                               counts.copies_h2d,  counts.copies_d2h, counts.fills,
                               counts.allocations, counts.frees,      counts.graph_launches};
}

void sim_count_allocation(void)
{
    atomic_fetch_add(&counts.allocations, 1);
}

void sim_count_free(void)
{
    atomic_fetch_add(&counts.frees, 1);
}

void sim_count_graph_launch(void)
{
    atomic_fetch_add(&counts.graph_launches, 1);
}

/* ---- checks ---- */

static size_t extent(size_t pitch, size_t slice, size_t width, size_t height, size_t depth)
{
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

static CUresult check_copy(const struct sim_copy *copy)
{
    enum sim_memory_kind kind;
    int device;
    size_t to = extent(copy->destination_pitch, copy->destination_slice, copy->width, copy->height, copy->depth);
    size_t from = extent(copy->source_pitch, copy->source_slice, copy->width, copy->height, copy->depth);
    bool good = sim_memory_usable(copy->destination, to, &kind, &device) &&
                sim_memory_usable(copy->source, from, &kind, &device);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_fill(const struct sim_fill *fill)
{
    struct sim_block block;
    size_t size = extent(fill->pitch, 0, fill->width * fill->element_bytes, fill->height, 1);
    return sim_memory_find(fill->destination, size, &block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_launch(const struct sim_work *work)
{
    struct CUkern_st *kernel = work->kernel;
    if (sim_host_function(kernel))
        return CUDA_SUCCESS;
    if (!atomic_exchange(&kernel->told, true))
        fprintf(stderr, "sim: no host function is registered for kernel %s\n", kernel->image->name);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_operation_check(const struct sim_operation *operation)
{
    switch (operation->kind) {
    case SIM_LAUNCH:
        return check_launch(&operation->launch);
    case SIM_COPY:
        return check_copy(&operation->copy);
    case SIM_FILL:
        return check_fill(&operation->fill);
    default:
        return CUDA_SUCCESS;
    }
}

/* ---- execution ---- */

static void count_copy(const struct sim_copy *copy)
{
    enum sim_memory_kind to, from;
    int device;
    sim_memory_usable(copy->destination, 1, &to, &device);
    sim_memory_usable(copy->source, 1, &from, &device);
    bool to_device = to >= SIM_MEMORY_DEVICE, from_device = from >= SIM_MEMORY_DEVICE;
    if (to_device && from_device) {
        atomic_fetch_add(&counts.copies_d2d, 1);
        atomic_fetch_add(&counts.bytes_d2d, copy->width * copy->height * copy->depth);
    } else if (to_device) {
        atomic_fetch_add(&counts.copies_h2d, 1);
    } else if (from_device) {
        atomic_fetch_add(&counts.copies_d2h, 1);
    }
}

static void run_copy(const struct sim_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memmove(copy->destination + z * copy->destination_slice + y * copy->destination_pitch,
                    copy->source + z * copy->source_slice + y * copy->source_pitch, copy->width);
    count_copy(copy);
}

static void run_fill(const struct sim_fill *fill)
{
    for (size_t y = 0; y < fill->height; y++) {
        char *row = fill->destination + y * fill->pitch;
        if (fill->element_bytes == 1)
            memset(row, (int)fill->value, fill->width);
        for (size_t x = 0; fill->element_bytes > 1 && x < fill->width; x++)
            memcpy(row + x * fill->element_bytes, &fill->value, fill->element_bytes);
    }
    atomic_fetch_add(&counts.fills, 1);
}

static void run_kernel(const struct sim_work *work)
{
    struct sim_launch launch = {
        .name = work->kernel->image->name,
        .grid = {work->grid[0], work->grid[1], work->grid[2]},
        .block = {work->block[0], work->block[1], work->block[2]},
        .shared_bytes = work->shared_bytes,
        .parameter_count = work->parameter_count,
        .parameters = work->parameters,
    };
    sim_host_function(work->kernel)(&launch);
    atomic_fetch_add(&counts.launches, 1);
}

static CUresult run_child(struct CUstream_st *stream, struct CUgraph_st *graph, uint32_t graph_id)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++)
        result = sim_operation_run(stream, &graph->nodes[i]->operation, graph_id, graph->nodes[i]->id);
    return result;
}

CUresult sim_operation_run(struct CUstream_st *stream, const struct sim_operation *operation, uint32_t graph_id,
                           uint64_t node_id)
{
    CUresult result = sim_operation_check(operation);
    if (result != CUDA_SUCCESS)
        return result;
    switch (operation->kind) {
    case SIM_EMPTY:
        break;
    case SIM_LAUNCH:
        run_kernel(&operation->launch);
        sim_trace_kernel(stream, &operation->launch, graph_id, node_id);
        break;
    case SIM_COPY:
        run_copy(&operation->copy);
        sim_trace_copy(stream, &operation->copy, operation->asynchronous, graph_id, node_id);
        break;
    case SIM_FILL:
        run_fill(&operation->fill);
        sim_trace_fill(stream, &operation->fill, operation->asynchronous, graph_id, node_id);
        break;
    case SIM_HOST:
        operation->host.function(operation->host.data);
        break;
    case SIM_CHILD:
        return run_child(stream, operation->child, graph_id);
    }
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* The packed buffer of `extra`; false when the list is malformed. */
static bool packed_buffer(void **extra, unsigned char **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(size_t *)extra[1];
        else
            return false;
    }
    return *buffer != NULL;
}

static bool valid_shape(const struct sim_work *work)
{
    uint64_t threads = (uint64_t)work->block[0] * work->block[1] * work->block[2];
    return work->grid[0] && work->grid[1] && work->grid[2] && work->grid[1] <= 65535 && work->grid[2] <= 65535 &&
           threads && threads <= 1024 && work->block[2] <= 64;
}

/* Sets the parameter pointers: the program's array, or `slots` filled from the packed buffer. */
static CUresult set_parameters(struct sim_work *work, void **parameters, void **extra, void **slots)
{
    const struct sim_kernel_image *image = work->kernel->image;
    work->parameter_count = image->parameter_count;
    work->parameters = parameters;
    if (!image->parameter_count)
        return CUDA_SUCCESS;
    if (!parameters == !extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (parameters)
        return CUDA_SUCCESS;
    unsigned char *buffer;
    size_t size;
    if (!packed_buffer(extra, &buffer, &size) || size < image->parameter_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < image->parameter_count; i++)
        slots[i] = buffer + image->parameters[i].offset;
    work->parameters = slots;
    return CUDA_SUCCESS;
}

static CUresult launch(const void *function, const unsigned grid[3], const unsigned block[3], unsigned shared,
                       CUstream stream, void **parameters, void **extra, bool cooperative)
{
    void *slots[SIM_MAX_PARAMETERS];
    struct sim_operation operation = {.kind = SIM_LAUNCH, .asynchronous = true};
    struct sim_work *work = &operation.launch;
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    work->kernel = sim_kernel_of(function);
    if (!work->kernel || !sim_stream_of(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    memcpy(work->grid, grid, sizeof work->grid);
    memcpy(work->block, block, sizeof work->block);
    work->shared_bytes = shared;
    work->cooperative = cooperative;
    if (!valid_shape(work))
        return CUDA_ERROR_INVALID_VALUE;
    result = set_parameters(work, parameters, extra, slots);
    if (result != CUDA_SUCCESS)
        return result;
    sim_module_ensure_loaded(work->kernel->module);
    return sim_submit(stream, &operation);
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                            unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                            unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const unsigned grid[3] = {gridDimX, gridDimY, gridDimZ}, block[3] = {blockDimX, blockDimY, blockDimZ};
    return launch(f, grid, block, sharedMemBytes, hStream, kernelParams, extra, false);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return launch(f, grid, block, config->sharedMemBytes, config->hStream, kernelParams, extra, false);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                       unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                       void **kernelParams)
{
    const unsigned grid[3] = {gridDimX, gridDimY, gridDimZ}, block[3] = {blockDimX, blockDimY, blockDimZ};
    return launch(f, grid, block, sharedMemBytes, hStream, kernelParams, NULL, true);
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct sim_operation operation = {.kind = SIM_HOST, .asynchronous = true};
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_stream_of(hStream))
        return CUDA_ERROR_INVALID_HANDLE;
    operation.host.function = fn;
    operation.host.data = userData;
    return sim_submit(hStream, &operation);
}
