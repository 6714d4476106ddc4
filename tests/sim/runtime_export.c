/*
 * runtime_export.c - libcudart's exported functions, made from runtime_api.def: each makes sure of the driver and the
 * context and reports its entry and exit to the CUPTI subscriber around the function that does the work.
 *
 * Threads: any.
 */
#include <pthread.h>

#include "tests/sim/runtime.h"
#include "tests/sim/trace.h"

/* Programs still call what is deprecated, so it is exported too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Parameter structures that the 13.0 headers lack; the order of the fields is that of the parameters. */
typedef struct {
    cudaKernel_t kernel;
    dim3 gridDim, blockDim;
    void **args;
    size_t sharedMem;
    cudaStream_t stream;
} __cudaLaunchKernel_v13000_params, __cudaLaunchKernel_ptsz_v13000_params;
#if SIM_CUDA_MAJOR == 12
typedef struct {
    struct sim_properties_12 *prop;
    int device;
} properties_params;
#define cudaGetDeviceProperties_v12000_params properties_params
typedef properties_params cudaGetDeviceProperties_v3020_params;
typedef struct {
    cudaStream_t stream;
    enum cudaStreamCaptureStatus *captureStatus_out;
    unsigned long long *id_out;
} cudaStreamGetCaptureInfo_v10010_params, cudaStreamGetCaptureInfo_ptsz_v10010_params;
typedef struct {
    cudaStream_t stream;
    enum cudaStreamCaptureStatus *captureStatus_out;
    unsigned long long *id_out;
    cudaGraph_t *graph_out;
    const cudaGraphNode_t **dependencies_out;
    size_t *numDependencies_out;
} cudaStreamGetCaptureInfo_v2_v11030_params, cudaStreamGetCaptureInfo_v2_ptsz_v11030_params;
typedef struct {
    float *ms;
    cudaEvent_t start, end;
} cudaEventElapsedTime_v3020_params;
typedef struct {
    void **dsts, **srcs;
    size_t *sizes, count;
    struct cudaMemcpyAttributes *attrs;
    size_t *attrsIdxs, numAttrs, *failIdx;
    cudaStream_t stream;
} cudaMemcpyBatchAsync_v12080_params, cudaMemcpyBatchAsync_ptsz_v12080_params;
typedef struct {
    size_t numOps;
    struct cudaMemcpy3DBatchOp *opList;
    size_t *failIdx;
    unsigned long long flags;
    cudaStream_t stream;
} cudaMemcpy3DBatchAsync_v12080_params, cudaMemcpy3DBatchAsync_ptsz_v12080_params;
typedef struct {
    const void *devPtr;
    size_t count;
    int dstDevice;
    cudaStream_t stream;
} cudaMemPrefetchAsync_v8000_params, cudaMemPrefetchAsync_ptsz_v8000_params;
typedef struct {
    const void *devPtr;
    size_t count;
    enum cudaMemoryAdvise advice;
    int device;
} cudaMemAdvise_v8000_params;
#endif

static struct {
    pthread_once_t once;
    void (*enter)(struct sim_call *, CUpti_CallbackDomain, CUpti_CallbackId, const char *, const void *, void *,
                  const char *, bool);
    void (*exit)(struct sim_call *);
} trace = {.once = PTHREAD_ONCE_INIT};

static void find_trace(void)
{
    *(void **)&trace.enter = sim_driver_symbol("sim_call_enter");
    *(void **)&trace.exit = sim_driver_symbol("sim_call_exit");
}

static bool ready(cudaError_t *result)
{
    *result = sim_runtime_ready();
    pthread_once(&trace.once, find_trace);
    return *result == cudaSuccess && trace.enter && trace.exit;
}

#define UNPACK(...) __VA_ARGS__

#define EXPORT(exported, worker, id, parameters, arguments, symbol, per_thread, bind)                                  \
    SIM_EXPORT cudaError_t exported parameters                                                                         \
    {                                                                                                                  \
        id##_params values = {UNPACK arguments};                                                                       \
        cudaError_t result;                                                                                            \
        struct sim_call call;                                                                                          \
        if (!ready(&result))                                                                                           \
            return sim_runtime_record(result);                                                                         \
        trace.enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##id, #exported, &values, &result,    \
                    symbol, per_thread);                                                                               \
        result = bind;                                                                                                 \
        if (result == cudaSuccess)                                                                                     \
            result = sim_##worker arguments;                                                                           \
        trace.exit(&call);                                                                                             \
        return sim_runtime_record(result);                                                                             \
    }

#define BIND sim_runtime_bind()
#define RUNTIME(name, id, parameters, arguments) EXPORT(name, name, id, parameters, arguments, NULL, false, BIND)
#define RUNTIME_HOST(name, id, parameters, arguments)                                                                  \
    EXPORT(name, name, id, parameters, arguments, NULL, false, cudaSuccess)
#define RUNTIME_PTSZ(name, id, twin, parameters, arguments)                                                            \
    EXPORT(name, name, id, parameters, arguments, NULL, false, BIND)                                                   \
    EXPORT(name##_ptsz, name, twin, parameters, arguments, NULL, true, BIND)
#define RUNTIME_PTDS(name, id, twin, parameters, arguments)                                                            \
    EXPORT(name, name, id, parameters, arguments, NULL, false, BIND)                                                   \
    EXPORT(name##_ptds, name, twin, parameters, arguments, NULL, true, BIND)
#define RUNTIME_LAUNCH(name, id, twin, parameters, arguments, function)                                                \
    EXPORT(name, name, id, parameters, arguments, sim_runtime_kernel_name(function), false, BIND)                      \
    EXPORT(name##_ptsz, name, twin, parameters, arguments, sim_runtime_kernel_name(function), true, BIND)
#define RUNTIME_VOID(name, id)                                                                                         \
    SIM_EXPORT cudaError_t name(void)                                                                                  \
    {                                                                                                                  \
        cudaError_t result;                                                                                            \
        struct sim_call call;                                                                                          \
        if (!ready(&result))                                                                                           \
            return sim_runtime_record(result);                                                                         \
        trace.enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##id, #name, NULL, &result, NULL,     \
                    false);                                                                                            \
        result = sim_runtime_bind();                                                                                   \
        if (result == cudaSuccess)                                                                                     \
            result = sim_##name();                                                                                     \
        trace.exit(&call);                                                                                             \
        return sim_runtime_record(result);                                                                             \
    }
#define RUNTIME_ABSENT(name)
#include "tests/sim/runtime_api.def"
