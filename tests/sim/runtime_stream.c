/*
 * runtime_stream.c - the runtime's streams, events, capture and graphs: each a call to its driver counterpart.
 *
 * Threads: any.
 */
#include <string.h>

#include "tests/sim/runtime.h"

/* ---- streams ---- */

cudaError_t sim_cudaStreamCreate(cudaStream_t *pStream)
{
    return sim_error(sim_driver()->cuStreamCreate(pStream, 0));
}

cudaError_t sim_cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    return sim_error(sim_driver()->cuStreamCreate(pStream, flags));
}

cudaError_t sim_cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    return sim_error(sim_driver()->cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t sim_cudaStreamDestroy(cudaStream_t stream)
{
    return sim_error(sim_driver()->cuStreamDestroy_v2(stream));
}

cudaError_t sim_cudaStreamQuery(cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuStreamQuery, ptsz)(stream));
}

cudaError_t sim_cudaStreamSynchronize(cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuStreamSynchronize, ptsz)(stream));
}

cudaError_t sim_cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    return sim_error(SIM_TWIN(cuStreamGetDevice, ptsz)(hStream, device));
}

cudaError_t sim_cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    return sim_error(SIM_TWIN(cuStreamGetFlags, ptsz)(hStream, flags));
}

cudaError_t sim_cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    return sim_error(SIM_TWIN(cuStreamGetId, ptsz)(hStream, streamId));
}

cudaError_t sim_cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    return sim_error(SIM_TWIN(cuStreamGetPriority, ptsz)(hStream, priority));
}

cudaError_t sim_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return sim_error(SIM_TWIN(cuStreamWaitEvent, ptsz)(stream, event, flags));
}

cudaError_t sim_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                      unsigned int flags)
{
    return sim_error(SIM_TWIN(cuStreamAddCallback, ptsz)(stream, (CUstreamCallback)(void *)callback, userData, flags));
}

cudaError_t sim_cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags)
{
    return sim_error(SIM_TWIN(cuStreamAttachMemAsync, ptsz)(stream, (CUdeviceptr)devPtr, length, flags));
}

cudaError_t sim_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return sim_error(SIM_TWIN(cuLaunchHostFunc, ptsz)(stream, fn, userData));
}

/* ---- events ---- */

cudaError_t sim_cudaEventCreate(cudaEvent_t *event)
{
    return sim_error(sim_driver()->cuEventCreate(event, 0));
}

cudaError_t sim_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return sim_error(sim_driver()->cuEventCreate(event, flags));
}

cudaError_t sim_cudaEventQuery(cudaEvent_t event)
{
    return sim_error(sim_driver()->cuEventQuery(event));
}

cudaError_t sim_cudaEventSynchronize(cudaEvent_t event)
{
    return sim_error(sim_driver()->cuEventSynchronize(event));
}

cudaError_t sim_cudaEventDestroy(cudaEvent_t event)
{
    return sim_error(sim_driver()->cuEventDestroy_v2(event));
}

cudaError_t sim_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuEventRecord, ptsz)(event, stream));
}

cudaError_t sim_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return sim_error(SIM_TWIN(cuEventRecordWithFlags, ptsz)(event, stream, flags));
}

cudaError_t sim_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return sim_error(sim_driver()->cuEventElapsedTime_v2(ms, start, end));
}

/* ---- capture ---- */

cudaError_t sim_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    return sim_error(sim_driver()->cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t sim_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return sim_error(SIM_TWIN(cuStreamBeginCapture_v2, ptsz)(stream, (CUstreamCaptureMode)mode));
}

cudaError_t sim_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return sim_error(SIM_TWIN(cuStreamEndCapture, ptsz)(stream, pGraph));
}

cudaError_t sim_cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    return sim_error(SIM_TWIN(cuStreamIsCapturing, ptsz)(stream, (CUstreamCaptureStatus *)pCaptureStatus));
}

static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                const cudaGraphEdgeData **edges, size_t *count)
{
    return sim_error(SIM_TWIN(cuStreamGetCaptureInfo_v3,
                              ptsz)(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph,
                                    (const CUgraphNode **)dependencies, (const CUgraphEdgeData **)edges, count));
}

#if SIM_CUDA_MAJOR == 13
cudaError_t sim_cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                         unsigned long long *id_out, cudaGraph_t *graph_out,
                                         const cudaGraphNode_t **dependencies_out,
                                         const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    return capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                        numDependencies_out);
}
#else
cudaError_t sim_cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                         unsigned long long *id_out)
{
    return capture_info(stream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

cudaError_t sim_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                            unsigned long long *id_out, cudaGraph_t *graph_out,
                                            const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out);
}

cudaError_t sim_cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                            unsigned long long *id_out, cudaGraph_t *graph_out,
                                            const cudaGraphNode_t **dependencies_out,
                                            const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    return capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                        numDependencies_out);
}

cudaError_t sim_cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return sim_cudaEventElapsedTime(ms, start, end);
}
#endif

/* ---- graphs ---- */

cudaError_t sim_cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    return sim_error(sim_driver()->cuGraphCreate(pGraph, flags));
}

cudaError_t sim_cudaGraphDestroy(cudaGraph_t graph)
{
    return sim_error(sim_driver()->cuGraphDestroy(graph));
}

cudaError_t sim_cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    return sim_error(sim_driver()->cuGraphClone(pGraphClone, originalGraph));
}

cudaError_t sim_cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       const struct cudaKernelNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return cudaErrorInvalidValue;
    CUDA_KERNEL_NODE_PARAMS params = {.kern = sim_runtime_kernel(pNodeParams->func),
                                      .gridDimX = pNodeParams->gridDim.x,
                                      .gridDimY = pNodeParams->gridDim.y,
                                      .gridDimZ = pNodeParams->gridDim.z,
                                      .blockDimX = pNodeParams->blockDim.x,
                                      .blockDimY = pNodeParams->blockDim.y,
                                      .blockDimZ = pNodeParams->blockDim.z,
                                      .sharedMemBytes = pNodeParams->sharedMemBytes,
                                      .kernelParams = pNodeParams->kernelParams,
                                      .extra = pNodeParams->extra};
    if (!params.kern)
        return cudaErrorInvalidDeviceFunction;
    return sim_error(sim_driver()->cuGraphAddKernelNode_v2(pGraphNode, graph, pDependencies, numDependencies, &params));
}

cudaError_t sim_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (!pNodeParams)
        return cudaErrorInvalidValue;
    cudaError_t result = sim_error(sim_driver()->cuGraphKernelNodeGetParams_v2(node, &params));
    if (result != cudaSuccess)
        return result;
    pNodeParams->func = params.kern;
    pNodeParams->gridDim = (dim3){params.gridDimX, params.gridDimY, params.gridDimZ};
    pNodeParams->blockDim = (dim3){params.blockDimX, params.blockDimY, params.blockDimZ};
    pNodeParams->sharedMemBytes = params.sharedMemBytes;
    pNodeParams->kernelParams = params.kernelParams;
    pNodeParams->extra = NULL;
    return cudaSuccess;
}

static CUmemorytype graph_side(enum cudaMemcpyKind kind, bool destination)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    bool host = destination ? kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost
                            : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
    return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

cudaError_t sim_cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       const struct cudaMemcpy3DParms *p)
{
    if (!p || p->srcArray || p->dstArray)
        return p ? cudaErrorNotSupported : cudaErrorInvalidValue;
    CUDA_MEMCPY3D copy = {.srcMemoryType = graph_side(p->kind, false),
                          .srcHost = p->srcPtr.ptr,
                          .srcDevice = (CUdeviceptr)p->srcPtr.ptr,
                          .srcPitch = p->srcPtr.pitch,
                          .srcHeight = p->srcPtr.ysize,
                          .srcXInBytes = p->srcPos.x,
                          .srcY = p->srcPos.y,
                          .srcZ = p->srcPos.z,
                          .dstMemoryType = graph_side(p->kind, true),
                          .dstHost = p->dstPtr.ptr,
                          .dstDevice = (CUdeviceptr)p->dstPtr.ptr,
                          .dstPitch = p->dstPtr.pitch,
                          .dstHeight = p->dstPtr.ysize,
                          .dstXInBytes = p->dstPos.x,
                          .dstY = p->dstPos.y,
                          .dstZ = p->dstPos.z,
                          .WidthInBytes = p->extent.width,
                          .Height = p->extent.height,
                          .Depth = p->extent.depth};
    CUcontext context = NULL;
    sim_driver()->cuCtxGetCurrent(&context);
    return sim_error(
        sim_driver()->cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &copy, context));
}

cudaError_t sim_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                         const void *src, size_t count, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = {.srcPtr = {(void *)src, count, count, 1},
                                  .dstPtr = {dst, count, count, 1},
                                  .extent = {count, 1, 1},
                                  .kind = kind};
    return sim_cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &p);
}

cudaError_t sim_cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       const struct cudaMemsetParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    CUDA_MEMSET_NODE_PARAMS params = {(CUdeviceptr)p->dst, p->pitch, p->value, p->elementSize, p->width, p->height};
    CUcontext context = NULL;
    sim_driver()->cuCtxGetCurrent(&context);
    return sim_error(
        sim_driver()->cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &params, context));
}

cudaError_t sim_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    CUDA_MEMSET_NODE_PARAMS params;
    if (!pNodeParams)
        return cudaErrorInvalidValue;
    cudaError_t result = sim_error(sim_driver()->cuGraphMemsetNodeGetParams(node, &params));
    if (result == cudaSuccess)
        *pNodeParams = (struct cudaMemsetParams){(void *)params.dst, params.pitch, params.value,
                                                 params.elementSize, params.width, params.height};
    return result;
}

cudaError_t sim_cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     const struct cudaHostNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return cudaErrorInvalidValue;
    CUDA_HOST_NODE_PARAMS params = {pNodeParams->fn, pNodeParams->userData};
    return sim_error(sim_driver()->cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, &params));
}

cudaError_t sim_cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                           cudaGraph_t childGraph)
{
    return sim_error(
        sim_driver()->cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

cudaError_t sim_cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    return sim_error(sim_driver()->cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t sim_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    return sim_error(sim_driver()->cuGraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t sim_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    return sim_error(sim_driver()->cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t sim_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
    return sim_error(sim_driver()->cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

cudaError_t sim_cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    return sim_error(sim_driver()->cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

cudaError_t sim_cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags)
{
    return sim_cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t sim_cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                               cudaGraphInstantiateParams *instantiateParams)
{
    return sim_error(SIM_TWIN(cuGraphInstantiateWithParams, ptsz)(pGraphExec, graph,
                                                                  (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams));
}

cudaError_t sim_cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                    cudaGraphExecUpdateResultInfo *resultInfo)
{
    return sim_error(sim_driver()->cuGraphExecUpdate_v2(hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo));
}

cudaError_t sim_cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    return sim_error(sim_driver()->cuGraphExecDestroy(graphExec));
}

cudaError_t sim_cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    return sim_error(sim_driver()->cuGraphExecGetFlags(graphExec, (cuuint64_t *)flags));
}

cudaError_t sim_cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuGraphUpload, ptsz)(graphExec, stream));
}

cudaError_t sim_cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return sim_error(SIM_TWIN(cuGraphLaunch, ptsz)(graphExec, stream));
}
