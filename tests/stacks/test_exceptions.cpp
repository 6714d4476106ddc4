// test_exceptions.cpp - C++ exceptions go their own way although libunwind, which defines _Unwind_RaiseException too, is
// in the process. Exits 1 on failure.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>

extern "C" void recorder_start(const char *own_directory); // recorder.h is C11
extern "C" unsigned recorder_capture();

static int destroyed;
struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

__attribute__((noinline)) static void fail(int depth)
{
    Guard guard;
    recorder_capture();
    if (depth == 0)
        throw std::runtime_error("thrown");
    fail(depth - 1);
}

int main()
{
    recorder_start("/nonexistent");
    void *libunwind = dlopen("libunwind.so.8", RTLD_NOLOAD | RTLD_LAZY);
    if (!libunwind)
        return std::puts("libunwind is not loaded: nothing tested"), 1;
    for (int i = 0; i < 100; i++) {
        std::string what;
        try {
            fail(10);
        } catch (const std::exception &error) {
            what = error.what();
        }
        if (what != "thrown" || destroyed != 11 * (i + 1))
            return std::printf("round %d: caught \"%s\", %d destructors\n", i, what.c_str(), destroyed), 1;
    }
    Dl_info info;
    void *raise = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
    if (!raise || !dladdr(raise, &info) || std::strstr(info.dli_fname, "libunwind"))
        return std::printf("_Unwind_RaiseException is %s's\n", raise ? info.dli_fname : "nobody"), 1;
    std::puts("100 exceptions through 11 frames each");
    return 0;
}
