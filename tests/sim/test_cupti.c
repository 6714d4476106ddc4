/*
 * test_cupti.c - the stand-in's CUPTI: callbacks inside each other with real ids and parameters, module images at the
 * first launch, activity records by the time model. argv[1] is the folder of the test images.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define OK(call) assert_int_equal(call, 0)
#define SEEN_MAX 256

struct seen {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    int site;
    uint32_t correlation;
    char function[64], symbol[64];
};

static const char *folder;
static struct seen seen[SEEN_MAX];
static size_t seen_count;
static size_t image_size;
static unsigned char *image;
static uint32_t loaded, unloaded;
static CUdeviceptr copy_destination;
static CUpti_SubscriberHandle subscriber;
static CUlibrary library;
static CUkernel kernel;
static bool ask_at_launch;    /* the callback asks for parameter information, as a tool does */
static bool loaded_by_asking; /* and that loaded the module */

static void note_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
    assert_true(seen_count < SEEN_MAX);
    struct seen *entry = &seen[seen_count++];
    *entry =
        (struct seen){.domain = domain, .cbid = cbid, .site = data->callbackSite, .correlation = data->correlationId};
    snprintf(entry->function, sizeof entry->function, "%s", data->functionName);
    snprintf(entry->symbol, sizeof entry->symbol, "%s", data->symbolName ? data->symbolName : "");
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2)
        copy_destination = ((const cuMemcpyDtoDAsync_v2_params *)data->functionParams)->dstDevice;
    if (ask_at_launch && data->callbackSite == CUPTI_API_ENTER && domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        size_t offset, size;
        ask_at_launch = false;
        assert_int_equal(loaded, 0);
        OK(cuKernelGetParamInfo(kernel, 2, &offset, &size));
        assert_int_equal(offset, 16);
        loaded_by_asking = loaded != 0;
    }
    if (data->callbackSite == CUPTI_API_EXIT)
        assert_int_equal(*(int *)data->functionReturnValue, 0);
}

static void note_module(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
    const CUpti_ModuleResourceData *module = data->resourceDescriptor;
    if (cbid == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
        unloaded = module->moduleId;
    if (cbid != CUPTI_CBID_RESOURCE_MODULE_LOADED)
        return;
    loaded = module->moduleId;
    free(image);
    image_size = module->cubinSize;
    image = malloc(image_size);
    memcpy(image, module->pCubin, image_size);
}

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
    assert_string_equal(userdata, "mine");
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        note_module(cbid, data);
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        note_api(domain, cbid, data);
}

static unsigned char *read_image(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static void nothing(const struct sim_launch *launch)
{
    (void)launch;
}

static int open_all(void **state)
{
    size_t size;
    (void)state;
    OK(cuptiSubscribe(&subscriber, callback, "mine"));
    OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE));
    OK(cudaFree(NULL));
    unsigned char *data = read_image("kernels.sm_90.cubin", &size);
    OK(cuLibraryLoadData(&library, data, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "sim_fill"));
    free(data);
    sim_register_kernel("sim_fill", nothing);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    free(image);
    return 0;
}

static void launch(void)
{
    void *memory = NULL;
    float value = 0;
    long count = 0;
    void *parameters[] = {&memory, &value, &count};
    OK(cudaLaunchKernel((const void *)kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, parameters, 0, NULL));
}

static void a_module_is_shown_at_its_first_launch_as_the_cubin_it_is(void **state)
{
    size_t size;
    unsigned char *expected = read_image("kernels.sm_90.cubin", &size);
    (void)state;
    assert_int_equal(loaded, 0);
    launch();
    assert_true(loaded != 0);
    assert_int_equal(image_size, size);
    assert_memory_equal(image, expected, size);
    uint32_t first = loaded;
    loaded = 0;
    launch();
    assert_int_equal(loaded, 0);
    loaded = first;
    free(expected);
}

static void a_second_subscriber_is_refused(void **state)
{
    CUpti_SubscriberHandle second;
    (void)state;
    assert_int_equal(cuptiSubscribe(&second, callback, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

static void driver_calls_fire_inside_the_runtime_call_with_one_correlation_id(void **state)
{
    (void)state;
    seen_count = 0;
    OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
    launch();
    OK(cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    OK(cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
    assert_int_equal(seen_count, 4);
    static const struct {
        CUpti_CallbackDomain domain;
        CUpti_CallbackId cbid;
        int site;
    } expected[] = {
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_ENTER},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_EXIT},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_EXIT},
    };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(seen[i].domain, expected[i].domain);
        assert_int_equal(seen[i].cbid, expected[i].cbid);
        assert_int_equal(seen[i].site, expected[i].site);
        assert_int_equal(seen[i].correlation, seen[0].correlation);
        assert_string_equal(seen[i].symbol, "sim_fill");
    }
}

static void the_twins_have_ids_of_their_own(void **state)
{
    extern cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
    void *a, *b;
    (void)state;
    OK(cudaMalloc(&a, 64));
    OK(cudaMalloc(&b, 64));
    seen_count = 0;
    OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2));
    OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                           CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz));
    OK(cudaMemcpyAsync(b, a, 64, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpyAsync_ptsz(b, a, 64, cudaMemcpyDeviceToDevice, NULL));
    OK(cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2));
    OK(cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                           CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz));
    assert_int_equal(seen_count, 4);
    assert_string_equal(seen[0].function, "cuMemcpyDtoDAsync_v2");
    assert_string_equal(seen[2].function, "cuMemcpyDtoDAsync_v2_ptsz");
    assert_true(copy_destination == (CUdeviceptr)b);
    const char *name;
    OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &name));
    assert_string_equal(name, "cudaMalloc_v3020");
    OK(cudaFree(a));
    OK(cudaFree(b));
}

/* ---- activity ---- */

static size_t buffers_out, copies, kernels, fills;
static CUpti_ActivityMemcpy6 last_copy;
static uint64_t copy_end;

static void give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = 1024; /* a few records: several buffers are needed */
    *buffer = aligned_alloc(8, *size);
    *records = 0;
    buffers_out++;
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            last_copy = *(CUpti_ActivityMemcpy6 *)record;
            assert_true(last_copy.start >= copy_end);
            copy_end = last_copy.end;
            copies++;
        }
        kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
                   strcmp(((CUpti_ActivityKernel10 *)record)->name, "sim_fill") == 0;
        fills += record->kind == CUPTI_ACTIVITY_KIND_MEMSET && ((CUpti_ActivityMemset4 *)record)->bytes == 100;
    }
    free(buffer);
    buffers_out--;
}

static void records_have_bytes_kinds_and_the_models_times(void **state)
{
    char host[5000];
    void *a, *b;
    size_t dropped = 1;
    (void)state;
    OK(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    for (int i = 0; i < 20; i++)
        OK(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemsetAsync(a, 0, 100, NULL));
    launch();
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(copies, 20);
    assert_int_equal(last_copy.copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
    assert_int_equal(last_copy.bytes, sizeof host);
    assert_int_equal(last_copy.end - last_copy.start, 1000 + sizeof host / 1000);
    OK(cudaMemcpy(host, a, 10, cudaMemcpyDeviceToHost));
    OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
    OK(cudaMemcpy(host, a, 10, cudaMemcpyDeviceToHost));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(copies, 21);
    assert_int_equal(last_copy.copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
    assert_int_equal(kernels, 1);
    assert_int_equal(fills, 1);
    assert_int_equal(buffers_out, 0);
    OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 0);
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void asking_inside_a_launch_callback_loads_the_module_and_does_not_hang(void **state)
{
    size_t size;
    unsigned char *data = read_image("kernels.sm_90.cubin", &size);
    CUlibrary first_library = library;
    CUkernel first_kernel = kernel;
    uint32_t first = loaded;
    (void)state;
    OK(cuLibraryLoadData(&library, data, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "sim_fill"));
    OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    loaded = 0;
    seen_count = 0;
    ask_at_launch = true;
    launch();
    OK(cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    assert_true(loaded_by_asking);
    OK(cuLibraryUnload(library));
    library = first_library;
    kernel = first_kernel;
    loaded = first;
    free(data);
}

static void unloading_is_told_and_unsubscribing_ends_the_callbacks(void **state)
{
    (void)state;
    uint32_t id = loaded;
    OK(cuLibraryUnload(library));
    assert_int_equal(unloaded, id);
    OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
    seen_count = 0;
    OK(cuptiUnsubscribe(subscriber));
    OK(cudaFree(NULL));
    assert_int_equal(seen_count, 0);
    assert_int_equal(cuptiUnsubscribe(subscriber), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiSubscribe(&subscriber, callback, "mine"));
    OK(cudaFree(NULL));
    assert_int_equal(seen_count, 0);
    OK(cuptiUnsubscribe(subscriber));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_is_shown_at_its_first_launch_as_the_cubin_it_is),
        cmocka_unit_test(a_second_subscriber_is_refused),
        cmocka_unit_test(driver_calls_fire_inside_the_runtime_call_with_one_correlation_id),
        cmocka_unit_test(the_twins_have_ids_of_their_own),
        cmocka_unit_test(records_have_bytes_kinds_and_the_models_times),
        cmocka_unit_test(asking_inside_a_launch_callback_loads_the_module_and_does_not_hang),
        cmocka_unit_test(unloading_is_told_and_unsubscribing_ends_the_callbacks),
    };
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests_name("sim cupti", tests, open_all, close_all);
}
