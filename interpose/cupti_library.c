/*
 * cupti_library.c - see cupti_library.h. Runs inside cuInit, on whatever thread calls it.
 */
#include "interpose/cupti_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/debug.h"
#include "interpose/real.h"

static void *open_beside(const char *file, const char *relative, const char *name)
{
    char path[PATH_MAX + 64];
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (!slash)
        return NULL;
    snprintf(path, sizeof path, "%.*s/%s/%s", (int)(slash - file), file, relative, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static const char *path_of(void *library, char path[PATH_MAX])
{
    Dl_info info;
    void *symbol = library ? dlsym(library, "cudaRuntimeGetVersion") : NULL;
    if (!symbol || !dladdr(symbol, &info) || !info.dli_fname)
        return NULL;
    return realpath(info.dli_fname, path);
}

/* Newest first; a CUPTI works with drivers of its own CUDA version and later. */
static const struct {
    int driver_version;
    const char *runtime, *name;
} cupti_names[] = {{13000, "libcudart.so.13", "libcupti.so.13"},
                   {12000, "libcudart.so.12", "libcupti.so.12"},
                   {11080, "libcudart.so.11", "libcupti.so.11.8"}};

static int driver_version(void)
{
    int version = 0;
    CUresult (*get)(int *) = (CUresult(*)(int *))cs_mapped_symbol("libcuda.so.", "cuDriverGetVersion");
    return get && get(&version) == CUDA_SUCCESS ? version : 0;
}

static void *open_named(const char *name, const char *runtime, const char *root)
{
    /* The toolkit's and the Python packages' layouts, seen from the runtime library; CUDA_HOME; the usual place. */
    static const char *const beside[] = {".", "../extras/CUPTI/lib64", "../../cuda_cupti/lib",
                                         "../../../extras/CUPTI/lib64"};
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !library && i < sizeof beside / sizeof *beside; i++)
        library = open_beside(runtime, beside[i], name);
    static const char *const under[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    for (size_t i = 0; !library && i < sizeof under / sizeof *under; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s/%s", root, under[i], name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Two rounds: what belongs to the runtime in use, which the program may go on to load itself, then anything that works.
 */
static void *open_best(const char *runtime)
{
    const char *root = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "/usr/local/cuda";
    int version = driver_version();
    void *library = NULL;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; !library && i < sizeof cupti_names / sizeof *cupti_names; i++) {
            bool matches = runtime && strstr(runtime, cupti_names[i].runtime);
            if ((round || matches) && (!version || version >= cupti_names[i].driver_version))
                library = open_named(cupti_names[i].name, runtime, root);
        }
    return library;
}

static void *open_cupti(void)
{
    char path[PATH_MAX];
    void *library = cs_mapped_library("libcupti.so.");
    if (library)
        return library;
    void *runtime = cs_mapped_library("libcudart.so.");
    library = open_best(path_of(runtime, path));
    if (runtime)
        dlclose(runtime);
    return library;
}

bool cs_cupti_open(struct cs_cupti_library *library)
{
    void *handle = open_cupti();
    if (!handle) {
        cs_debug(CS_DEBUG_cupti, 1, "no libcupti found");
        return false;
    }
#define RESOLVE(name)                                                                                                  \
    library->name = (__typeof__(library->name))dlsym(handle, #name);                                                   \
    if (!library->name)                                                                                                \
        return false;
    CS_CUPTI_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return true;
}
