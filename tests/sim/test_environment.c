/*
 * test_environment.c - what the environment does to the stand-in. Each case initialises it in a child process of its
 * own. argv[1] is a library that exports InitializeInjection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *injection;

/* Runs `check` in a child with name=value set and returns what it returned. */
static int in_child(const char *name, const char *value, int (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        _exit(check());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int device_count_error(void)
{
    int count;
    return cudaGetDeviceCount(&count);
}

static int device_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 255;
}

static int subscribe(void)
{
    CUpti_SubscriberHandle subscriber;
    cudaFree(NULL);
    return cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)abort, NULL);
}

static int injected(void)
{
    int before = getenv("SIM_TEST_INJECTED") != NULL;
    if (cudaFree(NULL) != cudaSuccess)
        return 9;
    return before * 2 + (getenv("SIM_TEST_INJECTED") != NULL);
}

/* A copy from one device's memory to the other's: the bytes and, at device 1, its ordinal. */
static int peer_copy(void)
{
    void *here, *there;
    char byte = 7, back = 0;
    struct cudaPointerAttributes attributes;
    if (cudaSetDevice(0) || cudaMalloc(&here, 64) || cudaSetDevice(1) || cudaMalloc(&there, 64) ||
        cudaMemcpy(here, &byte, 1, cudaMemcpyHostToDevice) || cudaMemcpyPeer(there, 1, here, 0, 64) ||
        cudaMemcpy(&back, there, 1, cudaMemcpyDeviceToHost) || cudaPointerGetAttributes(&attributes, there))
        return 100;
    return back == 7 ? attributes.device : 101;
}

static void no_device_is_what_cuda_says_without_one(void **state)
{
    (void)state;
    assert_int_equal(in_child("SIM_NO_DEVICE", "1", device_count_error), cudaErrorNoDevice);
}

static void several_devices_have_memory_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(in_child("SIM_DEVICES", "3", device_count), 3);
    assert_int_equal(in_child("SIM_UNUSED", "1", device_count), 1);
    assert_int_equal(in_child("SIM_DEVICES", "2", peer_copy), 1);
}

static void cupti_can_be_taken_by_another_tool(void **state)
{
    (void)state;
    assert_int_equal(in_child("SIM_CUPTI", "off", subscribe), 39);
    assert_int_equal(in_child("SIM_CUPTI", "on", subscribe), 0);
}

static void initialisation_loads_the_injection_library(void **state)
{
    (void)state;
    assert_int_equal(in_child("CUDA_INJECTION64_PATH", injection, injected), 1);
    assert_int_equal(in_child("SIM_UNUSED", "1", injected), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_device_is_what_cuda_says_without_one),
        cmocka_unit_test(several_devices_have_memory_of_their_own),
        cmocka_unit_test(cupti_can_be_taken_by_another_tool),
        cmocka_unit_test(initialisation_loads_the_injection_library),
    };
    injection = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests_name("sim environment", tests, NULL, NULL);
}
