/*
 * driver_module.c - modules, libraries, kernels, what is known of them, and the registry of host functions.
 *
 * A library's module becomes known to CUPTI when one of its kernels is first needed (lazy loading); cuModuleLoad* makes
 * it known at once.
 *
 * Threads: any. Callbacks run without a lock; `loaded` decides which thread makes the callback.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

struct host_kernel {
    char *name;
    sim_kernel function;
    struct host_kernel *next;
};

#define HOST_BUCKETS 256

static struct {
    pthread_mutex_t lock;
    struct host_kernel *hosts[HOST_BUCKETS];
    struct CUmod_st *modules;
    uint32_t next_id;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_id = 1};

/* ---- host functions ---- */

static unsigned bucket(const char *name)
{
    unsigned hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash % HOST_BUCKETS;
}

static struct host_kernel *find_host(const char *name)
{
    struct host_kernel *host = registry.hosts[bucket(name)];
    while (host && strcmp(host->name, name) != 0)
        host = host->next;
    return host;
}

static void forget_resolved(const char *name)
{
    for (struct CUmod_st *module = registry.modules; module; module = module->next)
        for (size_t i = 0; i < module->image.kernel_count; i++)
            if (strcmp(module->kernels[i].image->name, name) == 0)
                atomic_store(&module->kernels[i].host, NULL);
}

SIM_EXPORT void sim_register_kernel(const char *mangled_name, sim_kernel kernel)
{
    pthread_mutex_lock(&registry.lock);
    struct host_kernel *host = find_host(mangled_name);
    if (!host && (host = calloc(1, sizeof *host)) && (host->name = strdup(mangled_name))) {
        host->next = registry.hosts[bucket(mangled_name)];
        registry.hosts[bucket(mangled_name)] = host;
    }
    if (host)
        host->function = kernel;
    forget_resolved(mangled_name);
    pthread_mutex_unlock(&registry.lock);
}

sim_kernel sim_host_function(struct CUkern_st *kernel)
{
    sim_kernel function = atomic_load_explicit(&kernel->host, memory_order_acquire);
    if (function)
        return function;
    pthread_mutex_lock(&registry.lock);
    struct host_kernel *host = find_host(kernel->image->name);
    function = host ? host->function : NULL;
    atomic_store(&kernel->host, function);
    pthread_mutex_unlock(&registry.lock);
    return function;
}

static void open_kernels(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "sim: SIM_KERNELS: %s\n", dlerror());
        return;
    }
    void (*initialize)(void);
    *(void **)&initialize = dlsym(library, "sim_kernels_init");
    if (initialize)
        initialize();
    else
        fprintf(stderr, "sim: SIM_KERNELS: %s does not export sim_kernels_init\n", path);
}

void sim_open_kernels(void)
{
    const char *paths = getenv("SIM_KERNELS");
    char *copy = paths ? strdup(paths) : NULL, *rest = NULL;
    for (char *path = copy ? strtok_r(copy, ":", &rest) : NULL; path; path = strtok_r(NULL, ":", &rest))
        open_kernels(path);
    free(copy);
}

/* ---- loading ---- */

static CUresult place_globals(struct CUmod_st *module, int device)
{
    const struct sim_image *image = &module->image;
    module->globals = calloc(image->global_count + 1, sizeof *module->globals);
    if (!module->globals)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < image->global_count; i++) {
        const struct sim_global_image *global = &image->globals[i];
        void *memory = sim_memory_allocate(SIM_MEMORY_DEVICE, device, global->size ? global->size : 1, 0, false);
        if (!memory)
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (global->initial)
            memcpy(memory, global->initial, global->size);
        else
            memset(memory, 0, global->size);
        module->globals[i] = (struct sim_global){(CUdeviceptr)memory, global->size, global->name};
    }
    return CUDA_SUCCESS;
}

static CUresult build(const void *data, struct CUmod_st **out)
{
    CUcontext context;
    CUresult result = sim_need_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUmod_st *module = calloc(1, sizeof *module);
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->context = context;
    result = sim_image_load(data, &module->image);
    if (result == CUDA_SUCCESS)
        result = place_globals(module, context->device);
    module->kernels = calloc(module->image.kernel_count + 1, sizeof *module->kernels);
    if (result != CUDA_SUCCESS || !module->kernels) {
        free(module->kernels);
        free(module->globals);
        sim_image_release(&module->image);
        free(module);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < module->image.kernel_count; i++) {
        struct CUkern_st *kernel = &module->kernels[i];
        kernel->tag = SIM_TAG_KERNEL;
        kernel->function = (struct CUfunc_st){SIM_TAG_FUNCTION, kernel};
        kernel->module = module;
        kernel->image = &module->image.kernels[i];
    }
    pthread_mutex_lock(&registry.lock);
    module->id = registry.next_id++;
    module->next = registry.modules;
    registry.modules = module;
    pthread_mutex_unlock(&registry.lock);
    *out = module;
    return CUDA_SUCCESS;
}

void sim_module_ensure_loaded(struct CUmod_st *module)
{
    if (!atomic_load_explicit(&module->loaded, memory_order_acquire) && !atomic_exchange(&module->loaded, true))
        sim_trace_module(CUPTI_CBID_RESOURCE_MODULE_LOADED, module);
}

static bool unlink_module(struct CUmod_st *module)
{
    pthread_mutex_lock(&registry.lock);
    struct CUmod_st **link = &registry.modules;
    while (*link && *link != module)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        *link = module->next;
    pthread_mutex_unlock(&registry.lock);
    return found;
}

static CUresult unload(struct CUmod_st *module)
{
    CUresult result = sim_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !unlink_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    if (atomic_load(&module->loaded))
        sim_trace_module(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, module);
    for (size_t i = 0; i < module->image.global_count; i++)
        sim_memory_release((void *)module->globals[i].address, SIM_MEMORY_DEVICE);
    free(module->globals);
    free(module->kernels);
    sim_image_release(&module->image);
    free(module);
    return CUDA_SUCCESS;
}

static CUresult read_file(const char *path, void **data)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    *data = size > 0 ? malloc((size_t)size) : NULL;
    bool complete = *data && fread(*data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (complete)
        return CUDA_SUCCESS;
    free(*data);
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image)
{
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = build(image, module);
    if (result == CUDA_SUCCESS)
        sim_module_ensure_loaded(*module);
    return result;
}

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                                void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    return sim_cuModuleLoadData(module, image);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return sim_cuModuleLoadData(module, fatCubin);
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *fname)
{
    void *data = NULL;
    CUresult result = read_file(fname, &data);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_cuModuleLoadData(module, data);
    free(data);
    return result;
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
    return unload(hmod);
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                               unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions;
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    return build(code, (struct CUmod_st **)library);
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                   void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned int numLibraryOptions)
{
    void *data = NULL;
    CUresult result = read_file(fileName, &data);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_cuLibraryLoadData(library, data, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                                   libraryOptionValues, numLibraryOptions);
    free(data);
    return result;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
    return unload((struct CUmod_st *)library);
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = CU_MODULE_LAZY_LOADING;
    return sim_initialized();
}

/* ---- looking up ---- */

static struct CUkern_st *find_kernel(struct CUmod_st *module, const char *name)
{
    for (size_t i = 0; module && name && i < module->image.kernel_count; i++)
        if (strcmp(module->image.kernels[i].name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

static CUresult find_global(CUdeviceptr *dptr, size_t *bytes, struct CUmod_st *module, const char *name)
{
    for (size_t i = 0; module && name && i < module->image.global_count; i++) {
        if (strcmp(module->globals[i].name, name) != 0)
            continue;
        if (dptr)
            *dptr = module->globals[i].address;
        if (bytes)
            *bytes = module->globals[i].size;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct CUkern_st *kernel = find_kernel(hmod, name);
    if (!hfunc || !kernel)
        return hfunc ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    *hfunc = &kernel->function;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    *count = (unsigned)mod->image.kernel_count;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    for (size_t i = 0; i < mod->image.kernel_count && i < numFunctions; i++)
        functions[i] = &mod->kernels[i].function;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    return find_global(dptr, bytes, hmod, name);
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct CUkern_st *kernel = find_kernel((struct CUmod_st *)library, name);
    if (!pKernel || !kernel)
        return pKernel ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    *pKernel = kernel;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    return sim_cuModuleGetFunctionCount(count, (CUmodule)lib);
}

CUresult sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    struct CUmod_st *module = (struct CUmod_st *)lib;
    for (size_t i = 0; i < module->image.kernel_count && i < numKernels; i++)
        kernels[i] = &module->kernels[i];
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    *pMod = (CUmodule)library;
    sim_module_ensure_loaded(*pMod);
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    struct CUmod_st *module = (struct CUmod_st *)library;
    CUresult result = find_global(dptr, bytes, module, name);
    if (result == CUDA_SUCCESS)
        sim_module_ensure_loaded(module);
    return result;
}

/* For libcudart: is this address a kernel handle of ours? Its launch functions take host stubs and handles alike. */
SIM_EXPORT bool sim_is_kernel_handle(const void *handle)
{
    bool found = false;
    pthread_mutex_lock(&registry.lock);
    for (struct CUmod_st *module = registry.modules; module && !found; module = module->next) {
        uintptr_t first = (uintptr_t)module->kernels, end = (uintptr_t)(module->kernels + module->image.kernel_count);
        found = (uintptr_t)handle >= first && (uintptr_t)handle < end;
    }
    pthread_mutex_unlock(&registry.lock);
    return found;
}

SIM_EXPORT const char *sim_handle_name(const void *handle)
{
    return sim_kernel_name(handle);
}
