/*
 * driver_graph.c - graphs: nodes by capture or by construction, instantiation as a copy, launch as a replay in node
 * order.
 *
 * A node's dependencies exist before it, so the order of creation respects them.
 *
 * Threads: as CUDA: a graph is not to be used by two threads at once.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core.h"

static _Atomic uint32_t next_id = 1;
static _Atomic uint64_t next_node = 1;

struct CUgraph_st *sim_graph_new(void)
{
    struct CUgraph_st *graph = calloc(1, sizeof *graph);
    if (graph)
        graph->id = atomic_fetch_add(&next_id, 1);
    return graph;
}

/* ---- nodes ---- */

/* The program's parameter values live only for the call: the node gets its own copy, one block for pointers and values.
 */
static bool keep_parameters(struct CUgraphNode_st *node)
{
    struct sim_work *work = &node->operation.launch;
    const struct sim_kernel_image *image = work->kernel->image;
    void **pointers = calloc(1, work->parameter_count * sizeof *pointers + image->parameter_bytes + 1);
    if (!pointers)
        return false;
    unsigned char *values = (unsigned char *)(pointers + work->parameter_count);
    for (size_t i = 0; i < work->parameter_count; i++) {
        pointers[i] = values + image->parameters[i].offset;
        memcpy(pointers[i], work->parameters[i], image->parameters[i].size);
    }
    node->parameter_storage = pointers;
    work->parameters = pointers;
    return true;
}

static void free_node(struct CUgraphNode_st *node)
{
    if (node->operation.kind == SIM_CHILD)
        sim_cuGraphDestroy(node->operation.child);
    free(node->parameter_storage);
    free(node->dependencies);
    free(node);
}

static bool add(struct CUgraph_st *graph, struct CUgraphNode_st *node)
{
    if (graph->count == graph->capacity) {
        size_t capacity = graph->capacity ? 2 * graph->capacity : 16;
        struct CUgraphNode_st **grown = realloc(graph->nodes, capacity * sizeof *grown);
        if (!grown)
            return false;
        graph->nodes = grown;
        graph->capacity = capacity;
    }
    graph->nodes[graph->count++] = node;
    return true;
}

struct CUgraphNode_st *sim_graph_append(struct CUgraph_st *graph, const struct sim_operation *operation,
                                        CUgraphNodeType type, struct CUgraphNode_st *const *dependencies, size_t count)
{
    struct CUgraphNode_st *node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->operation = *operation;
    node->type = type;
    node->graph = graph;
    node->id = atomic_fetch_add(&next_node, 1);
    node->dependencies = calloc(count + 1, sizeof *node->dependencies);
    bool good = node->dependencies && (operation->kind != SIM_LAUNCH || keep_parameters(node));
    if (good && operation->kind == SIM_CHILD)
        good = sim_cuGraphClone(&node->operation.child, operation->child) == CUDA_SUCCESS;
    if (good && count)
        memcpy(node->dependencies, dependencies, count * sizeof *dependencies);
    node->dependency_count = count;
    if (good && add(graph, node))
        return node;
    node->operation.kind = SIM_EMPTY;
    free_node(node);
    return NULL;
}

static struct CUgraphNode_st *counterpart(const struct CUgraph_st *copy, const struct CUgraph_st *original,
                                          const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < original->count; i++)
        if (original->nodes[i] == node)
            return copy->nodes[i];
    return NULL;
}

static bool copy_node(struct CUgraph_st *copy, const struct CUgraph_st *original, const struct CUgraphNode_st *node)
{
    struct CUgraphNode_st *made =
        sim_graph_append(copy, &node->operation, node->type, node->dependencies, node->dependency_count);
    if (!made)
        return false;
    made->asked = node->asked;
    for (size_t i = 0; i < made->dependency_count; i++)
        made->dependencies[i] = counterpart(copy, original, node->dependencies[i]);
    return true;
}

/* ---- graphs ---- */

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (!phGraph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = sim_graph_new();
    return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuGraphDestroy(CUgraph hGraph)
{
    if (!hGraph)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < hGraph->count; i++)
        free_node(hGraph->nodes[i]);
    free(hGraph->nodes);
    free(hGraph);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    if (!phGraphClone || !originalGraph)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraph_st *copy = sim_graph_new();
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < originalGraph->count; i++) {
        if (!copy_node(copy, originalGraph, originalGraph->nodes[i])) {
            sim_cuGraphDestroy(copy);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *phGraphClone = copy;
    return CUDA_SUCCESS;
}

static CUresult add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                         const struct sim_operation *operation, CUgraphNodeType type)
{
    if (!out || !graph || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_operation_check(operation);
    if (result != CUDA_SUCCESS)
        return result;
    *out = sim_graph_append(graph, operation, type, dependencies, count);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies)
{
    struct sim_operation operation = {.kind = SIM_EMPTY};
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_EMPTY);
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct CUkern_st *kernel = p ? sim_kernel_of(p->kern ? (void *)p->kern : (void *)p->func) : NULL;
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    if (!p->kernelParams && kernel->image->parameter_count)
        return CUDA_ERROR_NOT_SUPPORTED; /* packed buffers: not in constructed graphs */
    sim_module_ensure_loaded(kernel->module);
    struct sim_operation operation = {.kind = SIM_LAUNCH,
                                      .asynchronous = true,
                                      .launch = {.kernel = kernel,
                                                 .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                                 .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                                 .shared_bytes = p->sharedMemBytes,
                                                 .parameter_count = kernel->image->parameter_count,
                                                 .parameters = p->kernelParams}};
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_KERNEL);
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    if (!hNode || !nodeParams || hNode->operation.kind != SIM_LAUNCH)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_work *work = &hNode->operation.launch;
    *nodeParams = (CUDA_KERNEL_NODE_PARAMS){.func = &work->kernel->function,
                                            .gridDimX = work->grid[0],
                                            .gridDimY = work->grid[1],
                                            .gridDimZ = work->grid[2],
                                            .blockDimX = work->block[0],
                                            .blockDimY = work->block[1],
                                            .blockDimZ = work->block[2],
                                            .sharedMemBytes = work->shared_bytes,
                                            .kernelParams = work->parameters,
                                            .kern = work->kernel};
    return CUDA_SUCCESS;
}

static const char *origin(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array)
{
    return type == CU_MEMORYTYPE_HOST    ? host
           : type == CU_MEMORYTYPE_ARRAY ? (array ? array->data : NULL)
                                         : (const char *)device;
}

CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_MEMCPY3D *p, CUcontext ctx)
{
    (void)ctx;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    size_t to_pitch = p->dstArray ? p->dstArray->pitch : p->dstPitch ? p->dstPitch : p->WidthInBytes;
    size_t from_pitch = p->srcArray ? p->srcArray->pitch : p->srcPitch ? p->srcPitch : p->WidthInBytes;
    size_t to_slice = to_pitch * (p->dstHeight ? p->dstHeight : 1),
           from_slice = from_pitch * (p->srcHeight ? p->srcHeight : 1);
    const char *to = origin(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray);
    const char *from = origin(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray);
    if (!to || !from || !p->WidthInBytes || !p->Height || !p->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_operation operation = {
        .kind = SIM_COPY,
        .asynchronous = true,
        .copy = {.destination = (char *)to + p->dstZ * to_slice + p->dstY * to_pitch + p->dstXInBytes,
                 .source = from + p->srcZ * from_slice + p->srcY * from_pitch + p->srcXInBytes,
                 .destination_pitch = to_pitch,
                 .source_pitch = from_pitch,
                 .destination_slice = to_slice,
                 .source_slice = from_slice,
                 .width = p->WidthInBytes,
                 .height = p->Height,
                 .depth = p->Depth}};
    CUresult result =
        add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (result == CUDA_SUCCESS)
        (*phGraphNode)->asked.memcpy3d = *p;
    return result;
}

/* A captured copy has no parameters that the program gave in this form: they are made from the operation. */
CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    if (!hNode || !nodeParams || hNode->operation.kind != SIM_COPY)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_copy *copy = &hNode->operation.copy;
    *nodeParams = hNode->asked.memcpy3d;
    if (!nodeParams->WidthInBytes)
        *nodeParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                      .srcDevice = (CUdeviceptr)copy->source,
                                      .srcPitch = copy->source_pitch,
                                      .srcHeight = copy->source_slice / copy->source_pitch,
                                      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                      .dstDevice = (CUdeviceptr)copy->destination,
                                      .dstPitch = copy->destination_pitch,
                                      .dstHeight = copy->destination_slice / copy->destination_pitch,
                                      .WidthInBytes = copy->width,
                                      .Height = copy->height,
                                      .Depth = copy->depth};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    (void)ctx;
    if (!p || !p->width || !p->height || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_operation operation = {.kind = SIM_FILL,
                                      .asynchronous = true,
                                      .fill = {.destination = (char *)p->dst,
                                               .pitch = p->height > 1 ? p->pitch : p->width * p->elementSize,
                                               .width = p->width,
                                               .height = p->height,
                                               .value = p->value,
                                               .element_bytes = p->elementSize}};
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_MEMSET);
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    if (!hNode || !nodeParams || hNode->operation.kind != SIM_FILL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_fill *fill = &hNode->operation.fill;
    *nodeParams = (CUDA_MEMSET_NODE_PARAMS){
        (CUdeviceptr)fill->destination, fill->pitch, fill->value, fill->element_bytes, fill->width, fill->height};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p || !p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_operation operation = {.kind = SIM_HOST};
    operation.host.function = p->fn;
    operation.host.data = p->userData;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_HOST);
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    if (!hNode || !nodeParams || hNode->operation.kind != SIM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams = (CUDA_HOST_NODE_PARAMS){hNode->operation.host.function, hNode->operation.host.data};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, CUgraph childGraph)
{
    if (!childGraph)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_operation operation = {.kind = SIM_CHILD, .child = childGraph};
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &operation, CU_GRAPH_NODE_TYPE_GRAPH);
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    if (!hNode || !phGraph || hNode->operation.kind != SIM_CHILD)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = hNode->operation.child;
    return CUDA_SUCCESS;
}

/* ---- questions ---- */

CUresult sim_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    if (!hNode || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = hNode->type;
    return CUDA_SUCCESS;
}

/* Fills `out` when there is one; `count` goes in as its room and comes out as what there is. */
static void give(CUgraphNode *out, size_t *count, size_t at, CUgraphNode node)
{
    if (out && at < *count)
        out[at] = node;
}

CUresult sim_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    if (!hGraph || !numNodes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < hGraph->count; i++)
        give(nodes, numNodes, i, hGraph->nodes[i]);
    *numNodes = hGraph->count;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    size_t found = 0;
    if (!hGraph || !numRootNodes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < hGraph->count; i++)
        if (hGraph->nodes[i]->dependency_count == 0)
            give(rootNodes, numRootNodes, found++, hGraph->nodes[i]);
    *numRootNodes = found;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                                size_t *numEdges)
{
    size_t found = 0;
    if (!hGraph || !numEdges)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < hGraph->count; i++) {
        const struct CUgraphNode_st *node = hGraph->nodes[i];
        for (size_t j = 0; j < node->dependency_count; j++, found++) {
            give(from, numEdges, found, node->dependencies[j]);
            give(to, numEdges, found, hGraph->nodes[i]);
            if (edgeData && found < *numEdges)
                edgeData[found] = (CUgraphEdgeData){0};
        }
    }
    *numEdges = found;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                           size_t *numDependencies)
{
    if (!hNode || !numDependencies)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < hNode->dependency_count; i++) {
        give(dependencies, numDependencies, i, hNode->dependencies[i]);
        if (edgeData && i < *numDependencies)
            edgeData[i] = (CUgraphEdgeData){0};
    }
    *numDependencies = hNode->dependency_count;
    return CUDA_SUCCESS;
}

/* ---- execution ---- */

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    if (!phGraphExec || !hGraph)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraphExec_st *exec = calloc(1, sizeof *exec);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->flags = flags;
    exec->id = atomic_fetch_add(&next_id, 1);
    CUresult result = sim_cuGraphClone(&exec->graph, hGraph);
    if (result != CUDA_SUCCESS) {
        free(exec);
        return result;
    }
    *phGraphExec = exec;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return sim_cuGraphInstantiateWithFlags(phGraphExec, hGraph, instantiateParams->flags);
}

CUresult sim_cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    return hGraphExec && sim_stream_of(hStream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    struct CUstream_st *stream = sim_stream_of(hStream);
    if (!hGraphExec || !stream)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_operation child = {.kind = SIM_CHILD, .child = hGraphExec->graph};
    if (stream->capture)
        return sim_submit(hStream, &child);
    CUresult result = sim_operation_run(stream, &child, hGraphExec->id, 0);
    if (result == CUDA_SUCCESS)
        sim_count_graph_launch();
    return result;
}

CUresult sim_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    if (!hGraphExec)
        return CUDA_ERROR_INVALID_VALUE;
    sim_cuGraphDestroy(hGraphExec->graph);
    free(hGraphExec);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    if (!hGraphExec || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = hGraphExec->flags;
    return CUDA_SUCCESS;
}

static bool same_topology(const struct CUgraph_st *left, const struct CUgraph_st *right)
{
    bool same = left->count == right->count;
    for (size_t i = 0; same && i < left->count; i++)
        same = left->nodes[i]->type == right->nodes[i]->type;
    return same;
}

CUresult sim_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    struct CUgraph_st *copy;
    if (!hGraphExec || !hGraph || !resultInfo)
        return CUDA_ERROR_INVALID_VALUE;
    memset(resultInfo, 0, sizeof *resultInfo);
    if (!same_topology(hGraphExec->graph, hGraph)) {
        resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    CUresult result = sim_cuGraphClone(&copy, hGraph);
    if (result != CUDA_SUCCESS)
        return result;
    sim_cuGraphDestroy(hGraphExec->graph);
    hGraphExec->graph = copy;
    return CUDA_SUCCESS;
}
