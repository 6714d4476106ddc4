/*
 * cupti_plane.c - see cupti_plane.h. Subscribes inside cuInit, on whatever thread calls it; callbacks run on the
 * program's threads, buffer callbacks on CUPTI's own thread.
 */
#include "interpose/cupti_plane.h"

#include <cupti.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/code.h"
#include "interpose/driver.h"
#include "interpose/emit.h"
#include "interpose/function.h"
#include "interpose/real.h"
#include "interpose/state.h"
#include "interpose/thread.h"
#include "interpose/warn.h"

#define EXPORT __attribute__((visibility("default")))

/* A record of a copy takes about 100 bytes; CUPTI fills one buffer while it hands over another. */
enum { BUFFER_BYTES = 256 * 1024, DEVICE_BUFFER_BYTES = 1024 * 1024, DEVICE_BUFFER_LIMIT = 8 };

/* The functions of CUPTI that are used, by name; all are needed. */
#define CUPTI_FUNCTIONS(X)                                                                                             \
    X(cuptiSubscribe)                                                                                                  \
    X(cuptiUnsubscribe)                                                                                                \
    X(cuptiEnableCallback)                                                                                             \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityDisable)                                                                                            \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivitySetAttribute)

static struct {
    _Atomic bool active;
    _Atomic uint32_t blind_reason;
    bool injected, timing;
    void *library;
    CUpti_SubscriberHandle subscriber;
#define DECLARE(name) __typeof__(name) *name;
    CUPTI_FUNCTIONS(DECLARE)
#undef DECLARE
} plane = {.blind_reason = CS_BLIND_NO_CUPTI};

bool cs_cupti_active(void)
{
    return atomic_load_explicit(&plane.active, memory_order_relaxed);
}

uint32_t cs_cupti_blind_reason(void)
{
    return atomic_load(&plane.blind_reason);
}

uint32_t cs_cupti_version(void)
{
    uint32_t version = 0;
    return plane.library && plane.cuptiGetVersion(&version) == CUPTI_SUCCESS ? version : 0;
}

/* ---- finding CUPTI: the one that is mapped already, else the one that belongs to the runtime in use ---- */

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

/* Names, newest first; a CUPTI works with drivers of its own CUDA version and later. */
static const struct {
    int driver_version;
    const char *name;
} cupti_names[] = {{13000, "libcupti.so.13"}, {12000, "libcupti.so.12"}, {11080, "libcupti.so.11.8"}};

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

static void *open_cupti(void)
{
    void *library = cs_mapped_library("libcupti.so.");
    if (library)
        return library;
    char path[PATH_MAX];
    void *runtime = cs_mapped_library("libcudart.so.");
    const char *runtime_path = path_of(runtime, path);
    const char *root = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "/usr/local/cuda";
    int version = driver_version();
    for (size_t i = 0; !library && i < sizeof cupti_names / sizeof *cupti_names; i++)
        if (!version || version >= cupti_names[i].driver_version)
            library = open_named(cupti_names[i].name, runtime_path, root);
    if (runtime)
        dlclose(runtime);
    return library;
}

static bool resolve(void)
{
#define RESOLVE(name)                                                                                                  \
    plane.name = (__typeof__(plane.name))dlsym(plane.library, #name);                                                  \
    if (!plane.name)                                                                                                   \
        return false;
    CUPTI_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return true;
}

/* ---- callbacks ---- */

static void on_module(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    const CUpti_ModuleResourceData *module = data->resourceDescriptor;
    struct cs_thread *thread = cs_thread_self();
    if (!thread || !cs_state_active())
        return;
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
        cs_code_loaded(module->pCubin, module->cubinSize);
    else
        cs_function_forget();
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        cs_driver_callback(id, data);
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        on_module(id, data);
}

static void enable_callback(void *context, CUpti_CallbackId id)
{
    (void)context;
    /* A CUPTI older than the headers does not know the newest ids; its driver has no such call either. */
    plane.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

/* ---- timing of copies ---- */

static void CUPTIAPI on_buffer_requested(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *records = 0;
}

static void note_time(uint32_t correlation, uint64_t start, uint64_t end, uint64_t bytes)
{
    struct cs_copy_time *event = end ? cs_emit_begin(CS_EVENT_COPY_TIME, sizeof *event) : NULL;
    if (!event)
        return;
    event->head.correlation = correlation;
    event->start_ns = start;
    event->end_ns = end;
    event->bytes = bytes;
    cs_emit_end(event);
}

static void note_record(const CUpti_Activity *record)
{
    /* Records grow at their end; these fields are where CUDA 11's are. */
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *copy = (const void *)record;
        note_time(copy->correlationId, copy->start, copy->end, copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
        const CUpti_ActivityMemcpyPtoP4 *copy = (const void *)record;
        note_time(copy->correlationId, copy->start, copy->end, copy->bytes);
    }
}

static void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    CUpti_Activity *record = NULL;
    while (buffer && plane.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        note_record(record);
    free(buffer);
}

static void limit_device_buffers(void)
{
    size_t width = sizeof(size_t), bytes = DEVICE_BUFFER_BYTES, limit = DEVICE_BUFFER_LIMIT, ahead = 1;
    plane.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &width, &bytes);
    plane.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &width, &limit);
    plane.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, &width, &ahead);
}

static void start_timing(void)
{
    limit_device_buffers();
    plane.timing = plane.cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed) == CUPTI_SUCCESS &&
                   plane.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS;
    if (plane.timing)
        plane.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2);
}

void cs_cupti_flush(bool force)
{
    if (cs_cupti_active() && plane.timing)
        plane.cuptiActivityFlushAll(force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

/* ---- taking and giving up ---- */

static bool subscribe(void)
{
    CUptiResult result = plane.cuptiSubscribe(&plane.subscriber, on_callback, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        atomic_store(&plane.blind_reason, CS_BLIND_CUPTI_LENT);
    if (result != CUPTI_SUCCESS)
        return false;
    cs_driver_each(enable_callback, NULL);
    plane.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    plane.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                              CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
    start_timing();
    return true;
}

/* The driver calls this from cuInit because CUDA_INJECTION64_PATH names this library. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
    if (plane.injected || !cs_state_active() || !cs_state_config()->cupti)
        return 1;
    plane.injected = true;
    struct cs_thread *thread = cs_thread_self();
    if (!thread)
        return 1;
    thread->guard++;
    cs_state_prepare();
    plane.library = open_cupti();
    if (plane.library && resolve())
        atomic_store(&plane.active, subscribe());
    thread->guard--;
    return 1;
}

/* ---- the program wants CUPTI for itself ---- */

static void give_up(void)
{
    struct cs_thread *thread = cs_thread_self();
    if (!thread || thread->guard || !atomic_exchange(&plane.active, false))
        return;
    thread->guard++;
    if (plane.timing) {
        plane.cuptiActivityFlushAll(0);
        plane.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY);
        plane.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY2);
        plane.timing = false;
    }
    plane.cuptiUnsubscribe(plane.subscriber);
    atomic_store(&plane.blind_reason, CS_BLIND_CUPTI_LENT);
    struct cs_blind *event = cs_emit_begin(CS_EVENT_BLIND_BEGIN, sizeof *event);
    if (event) {
        event->reason = CS_BLIND_CUPTI_LENT;
        cs_emit_end(event);
    }
    thread->guard--;
}

static void *real_cupti(const char *name, const void *own)
{
    void *real = dlsym(RTLD_NEXT, name);
    return real && real != own ? real : cs_mapped_symbol("libcupti.so.", name);
}

/* Hooks on the calls by which a program takes CUPTI: ours is given up first, then the call goes through. */
#define TAKES_CUPTI(name, parameters, arguments)                                                                       \
    EXPORT CUptiResult CUPTIAPI name parameters                                                                        \
    {                                                                                                                  \
        CUptiResult(*real) parameters = (CUptiResult(*) parameters)real_cupti(#name, (void *)name);                    \
        if (!real)                                                                                                     \
            return CUPTI_ERROR_NOT_INITIALIZED;                                                                        \
        give_up();                                                                                                     \
        return real arguments;                                                                                         \
    }
TAKES_CUPTI(cuptiSubscribe, (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void *userdata),
            (subscriber, callback, userdata))
TAKES_CUPTI(cuptiActivityRegisterCallbacks,
            (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed),
            (requested, completed))
