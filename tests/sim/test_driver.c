/*
 * test_driver.c - the stand-in's driver API on real machine code: modules from cubins and fat binaries, parameter
 * information, both kinds of handle, launches by array and by packed buffer. argv[1] is the folder of the test images.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static const char *folder;

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

static int open_context(void **state)
{
    CUcontext context;
    (void)state;
    assert_int_equal(cuDeviceGetCount(&(int){0}), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    assert_int_equal(cuMemAlloc(&(CUdeviceptr){0}, 64), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return 0;
}

static CUmodule load(const char *name)
{
    size_t size;
    unsigned char *data = read_image(name, &size);
    CUmodule module;
    OK(cuModuleLoadData(&module, data));
    free(data);
    return module;
}

static CUfunction function(CUmodule module, const char *name)
{
    CUfunction found;
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static void parameters_come_from_the_machine_code(void **state)
{
    static const struct {
        size_t offset, size;
    } expected[] = {{0, 8}, {8, 8}, {16, 4}, {24, 8}}; /* sim_mul(float *, const float *, float, long) */
    (void)state;
    for (int arch = 80; arch <= 90; arch += 10) {
        char name[32];
        snprintf(name, sizeof name, "kernels.sm_%d.cubin", arch);
        CUmodule module = load(name);
        CUfunction mul = function(module, "sim_mul");
        size_t offset, size;
        for (size_t i = 0; i < 4; i++) {
            OK(cuFuncGetParamInfo(mul, i, &offset, &size));
            assert_int_equal(offset, expected[i].offset);
            assert_int_equal(size, expected[i].size);
        }
        assert_int_equal(cuFuncGetParamInfo(mul, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
        int shared = 0;
        OK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function(module, "sim_softmax")));
        assert_in_range(shared, 1024, 1024 + 1024); /* float[256], and on sm_90 what the system reserves */
        assert_int_equal(cuModuleGetFunction(&mul, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
        OK(cuModuleUnload(module));
        assert_int_equal(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    }
}

static void the_two_kinds_of_handle_refuse_each_others_questions(void **state)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction of_kernel;
    const char *name;
    size_t image_size, offset, size;
    (void)state;
    unsigned char *data = read_image("kernels.sm_90.cubin", &image_size);
    OK(cuLibraryLoadData(&library, data, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "sim_add"));
    OK(cuKernelGetParamInfo(kernel, 3, &offset, &size));
    assert_int_equal(offset, 24);
    assert_int_equal(cuFuncGetParamInfo((CUfunction)kernel, 3, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuFuncGetName(&name, (CUfunction)kernel), CUDA_ERROR_INVALID_HANDLE);
    OK(cuKernelGetFunction(&of_kernel, kernel));
    OK(cuFuncGetParamInfo(of_kernel, 3, &offset, &size));
    assert_int_equal(cuKernelGetParamInfo((CUkernel)of_kernel, 3, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
    OK(cuKernelGetName(&name, kernel));
    assert_string_equal(name, "sim_add");
    assert_int_equal(cuKernelGetParamInfo(kernel, 5, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
    free(data);
}

static void mul_on_the_host(const struct sim_launch *launch)
{
    assert_string_equal(launch->name, "sim_mul");
    assert_int_equal(launch->parameter_count, 4);
    assert_int_equal(launch->grid[0] * launch->block[0], 64);
    float *out = *(float **)launch->parameters[0];
    const float *in = *(float **)launch->parameters[1];
    for (long i = 0; i < *(long *)launch->parameters[3]; i++)
        out[i] = in[i] * *(float *)launch->parameters[2];
}

static void launches_by_array_and_by_packed_buffer_do_the_same(void **state)
{
    CUmodule module = load("kernels.sm_90.cubin");
    CUfunction mul = function(module, "sim_mul");
    CUdeviceptr in, out;
    float host[64], back[64], factor = 3;
    long count = 64;
    struct {
        CUdeviceptr out, in;
        float factor;
        long count;
    } packed;
    size_t size = sizeof packed;
    struct sim_counts before, after;
    (void)state;
    sim_register_kernel("sim_mul", mul_on_the_host);
    for (int i = 0; i < 64; i++)
        host[i] = (float)i;
    OK(cuMemAlloc(&in, sizeof host));
    OK(cuMemAlloc(&out, sizeof host));
    OK(cuMemcpyHtoD(in, host, sizeof host));
    sim_counts(&before);
    void *parameters[] = {&out, &in, &factor, &count};
    OK(cuLaunchKernel(mul, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    OK(cuMemcpyDtoH(back, out, sizeof back));
    assert_true(back[21] == 63);
    packed.out = out, packed.in = in, packed.factor = 2, packed.count = count;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUlaunchConfig config = {
        .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    OK(cuLaunchKernelEx(&config, mul, NULL, extra));
    OK(cuMemcpyDtoH(back, out, sizeof back));
    assert_true(back[21] == 42);
    OK(cuLaunchCooperativeKernel(mul, 2, 1, 1, 32, 1, 1, 0, NULL, parameters));
    sim_counts(&after);
    assert_int_equal(after.launches - before.launches, 3);
    assert_int_equal(cuLaunchKernel(mul, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, extra), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(mul, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(mul, 0, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(mul, 1, 1, 1, 2048, 1, 1, 0, NULL, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
    size = 8;
    assert_int_equal(cuLaunchKernelEx(&config, mul, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(in));
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
}

static void a_kernel_without_a_host_function_does_not_run(void **state)
{
    CUmodule module = load("kernels.sm_90.cubin");
    long side = 4;
    CUdeviceptr out;
    (void)state;
    OK(cuMemAlloc(&out, 64));
    void *parameters[] = {&out, &side};
    assert_int_equal(cuLaunchKernel(function(module, "sim_triu"), 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL),
                     CUDA_ERROR_NOT_FOUND);
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
}

static void fat_binaries_give_sm_90_compressed_or_not(void **state)
{
    static const char *const names[] = {"plain.fatbin", "compressed.fatbin"};
    size_t size, cubin_size;
    unsigned char *cubin = read_image("kernels.sm_90.cubin", &cubin_size);
    (void)state, (void)cubin;
    for (size_t i = 0; i < 2; i++) {
        unsigned char *data = read_image(names[i], &size);
        CUmodule module;
        unsigned count = 0;
        OK(cuModuleLoadData(&module, data));
        OK(cuModuleGetFunctionCount(&count, module));
        assert_int_equal(count, 11);
        function(module, "sim_masked_fill");
        OK(cuModuleUnload(module));
        free(data);
    }
    free(cubin);
}

static void damaged_images_are_refused(void **state)
{
    size_t size;
    unsigned char *data = read_image("kernels.sm_90.cubin", &size);
    CUmodule module;
    (void)state;
    data[18] = 62; /* an x86-64 object */
    assert_int_equal(cuModuleLoadData(&module, data), CUDA_ERROR_INVALID_IMAGE);
    memset(data, 'x', 64);
    assert_int_equal(cuModuleLoadData(&module, data), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
    free(data);
}

static void attributes_of_pointers_give_the_whole_block(void **state)
{
    CUdeviceptr memory, base = 0;
    size_t size = 0;
    unsigned type = 0, managed = 1;
    char plain;
    (void)state;
    OK(cuMemAlloc(&memory, 1000));
    OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 999));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory + 999));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    assert_int_equal(base, memory);
    assert_int_equal(size, 1000);
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&plain),
                     CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *data[] = {&type, &managed};
    OK(cuPointerGetAttributes(2, asked, data, (CUdeviceptr)&plain));
    assert_int_equal(type, 0);
    assert_int_equal(managed, 0);
    OK(cuMemFree(memory));
    assert_int_equal(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory),
                     CUDA_ERROR_INVALID_VALUE);
}

static void memory_mapped_into_a_range_is_one_block_a_mapping(void **state)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range, base = 0;
    size_t grain = 0, size = 0;
    unsigned char back[4] = {0};
    (void)state;
    OK(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemAddressReserve(&range, 4 * grain, 0, 0, 0));
    assert_int_equal(cuMemsetD8(range, 1, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemCreate(&handle, grain, &prop, 0));
    OK(cuMemMap(range + grain, grain, 0, handle, 0));
    OK(cuMemMap(range + 2 * grain, grain, 0, handle, 0)); /* the same memory at a second address */
    assert_int_equal(cuMemMap(range + grain, grain, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(range + grain, 2 * grain, &access, 1));
    OK(cuMemsetD8(range + grain, 9, 4));
    OK(cuMemcpyDtoH(back, range + 2 * grain, 4));
    assert_int_equal(back[3], 9);
    OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, range + grain + 5));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, range + grain + 5));
    assert_int_equal(base, range + grain);
    assert_int_equal(size, grain);
    assert_int_equal(cuMemFree(range + grain), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAddressFree(range, 4 * grain), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(range + grain, grain));
    assert_int_equal(cuMemsetD8(range + grain, 9, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(range + 2 * grain, grain));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(range, 4 * grain));
}

static void entry_points_depend_on_the_version_asked_for(void **state)
{
    void *old = NULL, *new = NULL, *twin = NULL;
    CUdriverProcAddressQueryResult status;
    (void)state;
    OK(cuGetProcAddress("cuMemcpyBatchAsync", &old, 12080, 0, &status));
    OK(cuGetProcAddress("cuMemcpyBatchAsync", &new, 13000, 0, &status));
    OK(cuGetProcAddress("cuMemcpyBatchAsync", &twin, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    assert_non_null(old);
    assert_ptr_not_equal(old, new);
    assert_ptr_not_equal(new, twin);
    OK(cuGetProcAddress("cuLaunchKernel", &old, 12000, 0, &status));
    assert_ptr_equal(old, (void *)cuLaunchKernel);
    OK(cuGetProcAddress("cuNothing", &old, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_come_from_the_machine_code),
        cmocka_unit_test(the_two_kinds_of_handle_refuse_each_others_questions),
        cmocka_unit_test(launches_by_array_and_by_packed_buffer_do_the_same),
        cmocka_unit_test(a_kernel_without_a_host_function_does_not_run),
        cmocka_unit_test(fat_binaries_give_sm_90_compressed_or_not),
        cmocka_unit_test(damaged_images_are_refused),
        cmocka_unit_test(attributes_of_pointers_give_the_whole_block),
        cmocka_unit_test(memory_mapped_into_a_range_is_one_block_a_mapping),
        cmocka_unit_test(entry_points_depend_on_the_version_asked_for),
    };
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests_name("sim driver", tests, open_context, NULL);
}
