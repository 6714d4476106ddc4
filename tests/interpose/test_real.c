/*
 * test_real.c - with the library preloaded, a hook forwards to the runtime that its caller was linked with, though both
 * are loaded RTLD_LOCAL; and a process without any runtime gets "not supported" instead of a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>

enum { CUDA_ERROR_NOT_SUPPORTED_IN_RUNTIME = 801 };

static int (*load(const char *name))(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", RUNTIMES, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return (int (*)(void))dlsym(library, "which_runtime");
}

static void a_hook_without_a_runtime_says_not_supported(void **state)
{
    (void)state;
    int (*hook)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "cudaFree");
    assert_non_null(hook);
    assert_int_equal(hook(NULL), CUDA_ERROR_NOT_SUPPORTED_IN_RUNTIME);
}

static void each_caller_reaches_its_own_runtime(void **state)
{
    (void)state;
    int (*twelve)(void) = load("libfake_user_12.so");
    int (*thirteen)(void) = load("libfake_user_13.so");
    for (int round = 0; round < 3; round++) {
        assert_int_equal(twelve(), 12);
        assert_int_equal(thirteen(), 13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_without_a_runtime_says_not_supported),
        cmocka_unit_test(each_caller_reaches_its_own_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
