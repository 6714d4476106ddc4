/*
 * driver_export.c - libcuda.so.1's exported functions, made from driver_api.def: each reports its entry and exit to the
 * CUPTI subscriber around the function that does the work. Also the look-up of entry points by name.
 *
 * Threads: any.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/trace.h"

/* Programs still call what is deprecated, so it is exported too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define UNPACK(...) __VA_ARGS__

#define EXPORT(exported, worker, parameters, arguments, symbol, per_thread)                                            \
    SIM_EXPORT CUresult exported parameters                                                                            \
    {                                                                                                                  \
        exported##_params values = {UNPACK arguments};                                                                 \
        CUresult result = CUDA_ERROR_UNKNOWN;                                                                          \
        struct sim_call call;                                                                                          \
        sim_call_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##exported, #exported, &values,      \
                       &result, symbol, per_thread);                                                                   \
        result = sim_##worker arguments;                                                                               \
        sim_call_exit(&call);                                                                                          \
        return result;                                                                                                 \
    }

#define DRIVER(name, parameters, arguments) EXPORT(name, name, parameters, arguments, NULL, false)
#define DRIVER_PTSZ(name, parameters, arguments)                                                                       \
    EXPORT(name, name, parameters, arguments, NULL, false)                                                             \
    EXPORT(name##_ptsz, name, parameters, arguments, NULL, true)
#define DRIVER_PTDS(name, parameters, arguments)                                                                       \
    EXPORT(name, name, parameters, arguments, NULL, false)                                                             \
    EXPORT(name##_ptds, name, parameters, arguments, NULL, true)
#define DRIVER_LAUNCH(name, parameters, arguments, handle)                                                             \
    EXPORT(name, name, parameters, arguments, sim_kernel_name(handle), false)                                          \
    EXPORT(name##_ptsz, name, parameters, arguments, sim_kernel_name(handle), true)
#define DRIVER_VOID(name)                                                                                              \
    SIM_EXPORT CUresult name(void)                                                                                     \
    {                                                                                                                  \
        CUresult result = CUDA_ERROR_UNKNOWN;                                                                          \
        struct sim_call call;                                                                                          \
        sim_call_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name, NULL, &result, NULL,  \
                       false);                                                                                         \
        result = sim_##name();                                                                                         \
        sim_call_exit(&call);                                                                                          \
        return result;                                                                                                 \
    }
#include "tests/sim/driver_api.def"
#undef DRIVER
#undef DRIVER_PTSZ
#undef DRIVER_PTDS
#undef DRIVER_LAUNCH
#undef DRIVER_VOID

/* ---- by name ---- */

struct entry {
    const char *name;
    void *function;
};

static const struct entry entries[] = {
#define DRIVER(name, parameters, arguments) {#name, (void *)name},
#define DRIVER_VOID(name) {#name, (void *)name},
#define DRIVER_PTSZ(name, parameters, arguments) {#name, (void *)name}, {#name "_ptsz", (void *)name##_ptsz},
#define DRIVER_PTDS(name, parameters, arguments) {#name, (void *)name}, {#name "_ptds", (void *)name##_ptds},
#define DRIVER_LAUNCH(name, parameters, arguments, handle) {#name, (void *)name}, {#name "_ptsz", (void *)name##_ptsz},
#include "tests/sim/driver_api.def"
#undef DRIVER
#undef DRIVER_VOID
#undef DRIVER_PTSZ
#undef DRIVER_PTDS
#undef DRIVER_LAUNCH
};

/* The CUDA version from which a later form of a function is handed out; forms not named here are as old as the
 * function. */
static const struct {
    const char *name;
    int since;
} versions[] = {
    {"cuCtxCreate_v4", 12050},
    {"cuMemPrefetchAsync_v2", 12020},
    {"cuMemcpyBatchAsync_v2", 13000},
    {"cuMemcpy3DBatchAsync_v2", 13000},
    {"cuEventElapsedTime_v2", 12080},
    {"cuGetProcAddress_v2", 12000},
    {"cuStreamGetCaptureInfo_v3", 12030},
    {"cuMemAdvise_v2", 12020},
};

static int since(const char *name)
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i].name, name) == 0)
            return versions[i].since;
    return 0;
}

static void *find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].function;
    return NULL;
}

/* The newest form of `symbol` that existed in `version`; of its twins first when they are asked for. */
static void *find_form(const char *symbol, int version, bool per_thread)
{
    static const char *const forms[] = {"_v4", "_v3", "_v2", ""};
    static const char *const twins[] = {"_ptsz", "_ptds", ""};
    for (size_t form = 0; form < 4; form++) {
        for (size_t twin = per_thread ? 0 : 2; twin < 3; twin++) {
            char plain[96], name[104];
            snprintf(plain, sizeof plain, "%s%s", symbol, forms[form]);
            snprintf(name, sizeof name, "%s%s", plain, twins[twin]);
            void *function = since(plain) <= version ? find(name) : NULL;
            if (function)
                return function;
        }
    }
    return NULL;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *symbolStatus)
{
    if (!symbol || !pfn)
        return CUDA_ERROR_INVALID_VALUE;
    *pfn = *symbol ? find_form(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) : NULL;
    if (symbolStatus)
        *symbolStatus = *pfn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn || symbolStatus ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return sim_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
