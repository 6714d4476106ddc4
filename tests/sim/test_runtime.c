/*
 * test_runtime.c - the stand-in's runtime API (libcudart.so.13): memory, copies, fills, streams, events, capture,
 * errors. What the tests of copyspy take for truth is proven here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define OK(call) assert_int_equal(call, cudaSuccess)
#define BYTES 4096

static unsigned char *fresh(void)
{
    void *memory;
    OK(cudaMalloc(&memory, BYTES));
    return memory;
}

static void fill_host(unsigned char *host, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        host[i] = (unsigned char)(i * 7 + seed);
}

static enum cudaMemoryType type_of(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

static void pointers_tell_device_host_and_managed_apart(void **state)
{
    (void)state;
    void *device = fresh(), *managed, *pinned, *plain = malloc(BYTES);
    OK(cudaMallocManaged(&managed, BYTES, cudaMemAttachGlobal));
    OK(cudaMallocHost(&pinned, BYTES));
    assert_int_equal(type_of((char *)device + BYTES - 1), cudaMemoryTypeDevice);
    assert_int_equal(type_of(managed), cudaMemoryTypeManaged);
    assert_int_equal(type_of(pinned), cudaMemoryTypeHost);
    assert_int_equal(type_of(plain), cudaMemoryTypeUnregistered);
    OK(cudaHostRegister(plain, BYTES, 0));
    assert_int_equal(type_of(plain), cudaMemoryTypeHost);
    assert_int_equal(cudaHostRegister(plain, BYTES, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(plain));
    assert_int_equal(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
    OK(cudaFree(device));
    assert_int_equal(type_of(device), cudaMemoryTypeUnregistered);
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    free(plain);
}

static void freeing_twice_or_inside_a_block_fails(void **state)
{
    (void)state;
    unsigned char *memory = fresh();
    void *pinned, *async;
    assert_int_equal(cudaFree(memory + 256), cudaErrorInvalidValue);
    OK(cudaFree(memory));
    assert_int_equal(cudaFree(memory), cudaErrorInvalidValue);
    OK(cudaFree(NULL));
    OK(cudaMallocHost(&pinned, BYTES));
    assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
    OK(cudaFreeHost(pinned));
    assert_int_equal(cudaFreeHost(pinned), cudaErrorInvalidValue);
    OK(cudaMallocAsync(&async, BYTES, NULL));
    OK(cudaFreeAsync(async, NULL));
    assert_int_equal(cudaFreeAsync(async, NULL), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaGetLastError());
}

static void copies_beyond_a_block_or_into_freed_memory_fail(void **state)
{
    (void)state;
    unsigned char *a = fresh(), *b = fresh(), host[BYTES + 1] = {0};
    assert_int_equal(cudaMemcpy(a, b, BYTES + 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(a + 1, b, BYTES, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(a, host, BYTES + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, host + 8, 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemset(a, 0, BYTES + 1), cudaErrorInvalidValue);
    OK(cudaFree(b));
    assert_int_equal(cudaMemcpy(a, b, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyAsync(b, a, 16, cudaMemcpyDefault, NULL), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(a, a, 16, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    OK(cudaFree(a));
    cudaGetLastError();
}

static void freed_addresses_are_handed_out_again(void **state)
{
    (void)state;
    void *first = fresh();
    OK(cudaFree(first));
    void *second = fresh();
    assert_ptr_equal(first, second);
    OK(cudaFree(second));
}

static void one_dimensional_copies_move_the_bytes_and_are_counted(void **state)
{
    (void)state;
    unsigned char host[BYTES], back[BYTES], *a = fresh(), *b = fresh();
    struct sim_counts before, after;
    fill_host(host, BYTES, 1);
    sim_counts(&before);
    OK(cudaMemcpy(a, host, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpy(b + 8, a, 8, cudaMemcpyDefault));
    OK(cudaMemcpy(back, b, BYTES, cudaMemcpyDeviceToHost));
    sim_counts(&after);
    assert_memory_equal(back, host, 8);
    assert_memory_equal(back + 8, host, 8);
    assert_memory_equal(back + 16, host + 16, BYTES - 16);
    assert_int_equal(after.copies_d2d - before.copies_d2d, 2);
    assert_int_equal(after.bytes_d2d - before.bytes_d2d, BYTES + 8);
    assert_int_equal(after.copies_h2d - before.copies_h2d, 1);
    assert_int_equal(after.copies_d2h - before.copies_d2h, 1);
    OK(cudaMemcpy(a, b, 0, cudaMemcpyDeviceToDevice));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void pitched_copies_leave_what_lies_between_rows(void **state)
{
    (void)state;
    unsigned char host[64 * 8], back[64 * 8];
    void *pitched;
    size_t pitch;
    fill_host(host, sizeof host, 3);
    OK(cudaMallocPitch(&pitched, &pitch, 64, 8));
    assert_true(pitch >= 64);
    OK(cudaMemset(pitched, 0xee, pitch * 8));
    OK(cudaMemcpy2D(pitched, pitch, host, 64, 60, 8, cudaMemcpyHostToDevice));
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2DAsync(back, 64, pitched, pitch, 64, 8, cudaMemcpyDeviceToHost, NULL));
    for (int row = 0; row < 8; row++) {
        assert_memory_equal(back + row * 64, host + row * 64, 60);
        assert_int_equal(back[row * 64 + 60], 0xee);
    }
    assert_int_equal(cudaMemcpy2D(pitched, 32, host, 64, 60, 8, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    OK(cudaMemset2D(pitched, pitch, 5, 3, 8));
    OK(cudaMemcpy2D(back, 64, pitched, pitch, 4, 8, cudaMemcpyDeviceToHost));
    assert_int_equal(back[7 * 64 + 2], 5);
    assert_int_equal(back[7 * 64 + 3], host[7 * 64 + 3]);
    OK(cudaFree(pitched));
    cudaGetLastError();
}

static void boxes_are_copied_and_filled(void **state)
{
    (void)state;
    unsigned char host[4 * 4 * 4], back[4 * 4 * 4];
    struct cudaPitchedPtr box;
    fill_host(host, sizeof host, 5);
    OK(cudaMalloc3D(&box, (struct cudaExtent){4, 4, 4}));
    OK(cudaMemset3D(box, 9, (struct cudaExtent){4, 4, 4}));
    struct cudaMemcpy3DParms up = {.srcPtr = {host, 4, 4, 4},
                                   .dstPtr = box,
                                   .dstPos = {0, 1, 1},
                                   .extent = {4, 3, 3},
                                   .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DParms down = {
        .srcPtr = box, .dstPtr = {back, 4, 4, 4}, .extent = {4, 4, 4}, .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&up));
    OK(cudaMemcpy3DAsync(&down, NULL));
    assert_int_equal(back[0], 9);
    assert_int_equal(back[1 * 16 + 3], 9);
    assert_memory_equal(back + 1 * 16 + 1 * 4, host, 12);
    assert_memory_equal(back + 3 * 16 + 3 * 4, host + 2 * 16 + 2 * 4, 4);
    OK(cudaFree(box.ptr));
}

static void arrays_hold_what_was_copied_into_them(void **state)
{
    (void)state;
    float host[8 * 4], back[8 * 4];
    struct cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t a, b;
    fill_host((unsigned char *)host, sizeof host, 9);
    OK(cudaMallocArray(&a, &desc, 8, 4, 0));
    OK(cudaMallocArray(&b, &desc, 8, 4, 0));
    OK(cudaMemcpy2DToArray(a, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(back, 32, b, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, host, sizeof host);
    struct cudaMemcpy3DParms part = {.srcArray = b,
                                     .srcPos = {2, 1, 0},
                                     .dstPtr = {back, 12, 12, 2},
                                     .extent = {3, 2, 1},
                                     .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&part));
    assert_memory_equal(back, host + 8 + 2, 12);
    assert_memory_equal(back + 3, host + 16 + 2, 12);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

static void batches_are_single_copies(void **state)
{
    (void)state;
    unsigned char *a = fresh(), *b = fresh(), back[16];
    void *to[] = {b, b + 512};
    const void *from[] = {a + 8, a};
    size_t sizes[] = {8, 4}, first = 0;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    struct sim_counts before, after;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemset(a, 1, 8));
    OK(cudaMemset(a + 8, 2, 8));
    sim_counts(&before);
    OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    sim_counts(&after);
    assert_int_equal(after.copies_d2d - before.copies_d2d, 2);
    OK(cudaMemcpy(back, b, 8, cudaMemcpyDeviceToHost));
    assert_int_equal(back[7], 2);
    assert_int_equal(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, NULL), cudaErrorInvalidValue);
    OK(cudaStreamDestroy(stream));
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    OK(cudaFree(a));
    OK(cudaFree(b));
    cudaGetLastError();
}

static void captured_work_runs_at_each_graph_launch_and_not_before(void **state)
{
    (void)state;
    unsigned char *a = fresh(), *b = fresh(), back[4];
    cudaStream_t stream, side;
    cudaEvent_t fork_event, join_event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    enum cudaStreamCaptureStatus status;
    size_t nodes = 0;
    struct sim_counts before, after;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming));
    OK(cudaMemset(a, 1, 4));
    OK(cudaMemset(b, 0, 4));
    sim_counts(&before);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, stream));
    OK(cudaEventRecord(fork_event, stream));
    OK(cudaStreamWaitEvent(side, fork_event, 0));
    OK(cudaMemsetAsync(a, 7, 4, side));
    OK(cudaStreamIsCapturing(side, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    OK(cudaEventRecord(join_event, side));
    OK(cudaStreamWaitEvent(stream, join_event, 0));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaStreamIsCapturing(side, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    sim_counts(&after);
    assert_int_equal(after.copies_d2d, before.copies_d2d);
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, 2);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpy(back, b, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0], 1);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpy(back, b, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0], 7);
    sim_counts(&after);
    assert_int_equal(after.copies_d2d - before.copies_d2d, 2);
    assert_int_equal(after.graph_launches - before.graph_launches, 2);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaEventDestroy(fork_event));
    OK(cudaEventDestroy(join_event));
    OK(cudaStreamDestroy(side));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void what_a_capture_forbids_fails_and_breaks_it(void **state)
{
    (void)state;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    void *memory;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaMalloc(&memory, BYTES));
    OK(cudaFree(memory));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(cudaMalloc(&memory, BYTES), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    OK(cudaMalloc(&memory, BYTES));
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static void constructed_graphs_run_in_the_order_of_their_edges(void **state)
{
    (void)state;
    unsigned char *a = fresh(), *b = fresh(), back = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, copy;
    struct cudaMemsetParams params = {.dst = a, .elementSize = 1, .width = 4, .height = 1, .value = 6};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, b, a, 4, cudaMemcpyDeviceToDevice));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaMemcpy(&back, b + 3, 1, cudaMemcpyDeviceToHost));
    assert_int_equal(back, 6);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void event_times_follow_the_model(void **state)
{
    (void)state;
    cudaEvent_t start, end, untimed;
    float ms = 0;
    int calls = 0;
    unsigned char *a = fresh(), *b = fresh();
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(start, NULL));
    OK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaEventRecord(end, NULL));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    assert_float_equal(ms, (1000 + BYTES / 1000) / 1e6, 1e-9);
    assert_int_equal(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaLaunchHostFunc(NULL, count_call, &calls));
    OK(cudaStreamQuery(NULL));
    assert_int_equal(calls, 1);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaEventDestroy(untimed));
    OK(cudaFree(a));
    OK(cudaFree(b));
    cudaGetLastError();
}

static void device_and_version_questions_are_answered(void **state)
{
    (void)state;
    int version = 0, count = 0, device = -1;
    struct cudaDeviceProp prop;
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    OK(cudaRuntimeGetVersion(&version));
    assert_int_equal(version, 13000);
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    OK(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaGetDeviceProperties(&prop, 0));
    assert_int_equal(prop.major, 9);
    assert_int_equal(prop.warpSize, 32);
    OK(cudaGetDriverEntryPointByVersion("cuMemcpyDtoDAsync", &function, 12000, cudaEnableDefault, &found));
    assert_non_null(function);
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, &found));
    assert_int_equal(found, cudaDriverEntryPointSymbolNotFound);
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    void *huge;
    assert_int_equal(cudaMalloc(&huge, (size_t)1 << 50), cudaErrorMemoryAllocation);
    cudaGetLastError();
}

static void *copy_in_a_thread(void *unused)
{
    cudaStream_t stream;
    (void)unused;
    intptr_t failures = cudaStreamCreate(&stream) != cudaSuccess;
    for (int i = 0; i < 200; i++) {
        void *a, *b;
        failures += cudaMalloc(&a, BYTES) != cudaSuccess || cudaMallocAsync(&b, BYTES, stream) != cudaSuccess ||
                    cudaMemsetAsync(a, i, BYTES, stream) != cudaSuccess ||
                    cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, stream) != cudaSuccess ||
                    cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess || *((unsigned char *)b + 9) != i ||
                    cudaFree(a) != cudaSuccess || cudaFreeAsync(b, stream) != cudaSuccess;
    }
    failures += cudaStreamDestroy(stream) != cudaSuccess;
    return (void *)failures;
}

static void threads_do_not_disturb_each_other(void **state)
{
    pthread_t threads[4];
    struct sim_counts before, after;
    (void)state;
    sim_counts(&before);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_in_a_thread, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *failures;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    sim_counts(&after);
    assert_int_equal(after.copies_d2d - before.copies_d2d, 800);
    assert_int_equal(after.allocations - before.allocations, 1600);
    assert_int_equal(after.frees - before.frees, 1600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_tell_device_host_and_managed_apart),
        cmocka_unit_test(freeing_twice_or_inside_a_block_fails),
        cmocka_unit_test(copies_beyond_a_block_or_into_freed_memory_fail),
        cmocka_unit_test(freed_addresses_are_handed_out_again),
        cmocka_unit_test(one_dimensional_copies_move_the_bytes_and_are_counted),
        cmocka_unit_test(pitched_copies_leave_what_lies_between_rows),
        cmocka_unit_test(boxes_are_copied_and_filled),
        cmocka_unit_test(arrays_hold_what_was_copied_into_them),
        cmocka_unit_test(batches_are_single_copies),
        cmocka_unit_test(captured_work_runs_at_each_graph_launch_and_not_before),
        cmocka_unit_test(what_a_capture_forbids_fails_and_breaks_it),
        cmocka_unit_test(constructed_graphs_run_in_the_order_of_their_edges),
        cmocka_unit_test(event_times_follow_the_model),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(device_and_version_questions_are_answered),
    };
    return cmocka_run_group_tests_name("sim runtime", tests, NULL, NULL);
}
