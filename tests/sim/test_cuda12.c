/*
 * test_cuda12.c - libcudart.so.12 where it differs from 13: versions, structures, the batch calls. Loaded as a program
 * would that was built with CUDA 12, beside 13 in the same process; both work on one driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <string.h>

#define OK(call) assert_int_equal(call, cudaSuccess)

static void *runtime;

static void *function(const char *name)
{
    void *found = dlvsym(runtime, name, "libcudart.so.12");
    assert_non_null(found);
    return found;
}
#define F(type, name) ((type)function(#name))

static int open_runtime(void **state)
{
    (void)state;
    runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    return runtime ? 0 : -1;
}

static void versions_and_properties_are_those_of_12(void **state)
{
    int version = 0;
    unsigned char properties[1032 + 8];
    (void)state;
    OK(F(cudaError_t(*)(int *), cudaRuntimeGetVersion)(&version));
    assert_int_equal(version, 12080);
    memset(properties, 0xaa, sizeof properties);
    OK(F(cudaError_t(*)(void *, int), cudaGetDeviceProperties_v2)(properties, 0));
    int major;
    memcpy(&major, properties + 360, sizeof major); /* offsets in the 12.8 headers */
    assert_int_equal(major, 9);
    int cluster;
    memcpy(&cluster, properties + 772, sizeof cluster);
    assert_int_equal(cluster, 1);
    assert_int_equal(properties[1032], 0xaa);
    assert_null(dlvsym(runtime, "cudaMalloc", "libcudart.so.13"));
}

static void the_batch_call_names_the_copy_that_failed(void **state)
{
    cudaError_t (*batch)(void **, void **, size_t *, size_t, struct cudaMemcpyAttributes *, size_t *, size_t, size_t *,
                         cudaStream_t) = function("cudaMemcpyBatchAsync");
    void *a, *b;
    size_t sizes[] = {8, 4096}, first = 0, failed = 7;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    cudaStream_t stream;
    (void)state;
    OK(F(cudaError_t(*)(void **, size_t), cudaMalloc)(&a, 64));
    OK(F(cudaError_t(*)(void **, size_t), cudaMalloc)(&b, 64));
    OK(F(cudaError_t(*)(cudaStream_t *), cudaStreamCreate)(&stream));
    void *to[] = {b, b}, *from[] = {a, a};
    OK(batch(to, from, sizes, 1, &attributes, &first, 1, &failed, stream));
    assert_true(failed == SIZE_MAX);
    assert_int_equal(batch(to, from, sizes, 2, &attributes, &first, 1, &failed, stream), cudaErrorInvalidValue);
    assert_int_equal(failed, 1);
    OK(F(cudaError_t(*)(void *), cudaFree)(a));
    /* one driver below both: what 12 allocated, 13 frees */
    OK(cudaFree(b));
    assert_int_equal(F(cudaError_t(*)(void *), cudaFree)(b), cudaErrorInvalidValue);
}

static void what_the_stand_in_lacks_says_so(void **state)
{
    (void)state;
    assert_int_equal(F(cudaError_t(*)(void), cudaThreadSynchronize)(), cudaErrorNotSupported);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_properties_are_those_of_12),
        cmocka_unit_test(the_batch_call_names_the_copy_that_failed),
        cmocka_unit_test(what_the_stand_in_lacks_says_so),
    };
    return cmocka_run_group_tests_name("sim cuda 12", tests, open_runtime, NULL);
}
