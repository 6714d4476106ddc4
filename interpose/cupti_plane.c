/*
 * cupti_plane.c - see cupti_plane.h. Subscribes inside cuInit, on whatever thread calls it; callbacks run on the
 * program's threads.
 */
#include "interpose/cupti_plane.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "interpose/code.h"
#include "interpose/cupti_library.h"
#include "interpose/cupti_timing.h"
#include "interpose/debug.h"
#include "interpose/driver.h"
#include "interpose/emit.h"
#include "interpose/function.h"
#include "interpose/real.h"
#include "interpose/state.h"
#include "interpose/thread.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
    _Atomic bool active;
    _Atomic uint32_t blind_reason;
    bool injected, open;
    struct cs_cupti_library library;
    CUpti_SubscriberHandle subscriber;
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
    return plane.open && plane.library.cuptiGetVersion(&version) == CUPTI_SUCCESS ? version : 0;
}

/* ---- callbacks ---- */

static void on_module(CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    int saved = errno;
    const CUpti_ModuleResourceData *module = data->resourceDescriptor;
    struct cs_thread *thread = cs_thread_self();
    if (!thread || !cs_state_active())
        return;
    cs_debug(CS_DEBUG_cupti, 2, "module %u %s, %zu bytes", module->moduleId,
             id == CUPTI_CBID_RESOURCE_MODULE_LOADED ? "loaded" : "unloading", module->cubinSize);
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
        cs_code_loaded(module->pCubin, module->cubinSize);
    else
        cs_function_forget();
    errno = saved;
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
    plane.library.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

/* ---- taking and giving up ---- */

static bool subscribe(void)
{
    CUptiResult result = plane.library.cuptiSubscribe(&plane.subscriber, on_callback, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        atomic_store(&plane.blind_reason, CS_BLIND_CUPTI_LENT);
    cs_debug(CS_DEBUG_cupti, 1, "subscribed with result %d, CUPTI version %u", (int)result, cs_cupti_version());
    if (result != CUPTI_SUCCESS)
        return false;
    cs_driver_each(enable_callback, NULL);
    plane.library.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    plane.library.cuptiEnableCallback(1, plane.subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                      CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
    cs_timing_start(&plane.library);
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
    plane.open = cs_cupti_open(&plane.library);
    if (plane.open)
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
    cs_debug(CS_DEBUG_cupti, 1, "given up: the program takes CUPTI");
    struct cs_blind *event = cs_emit_begin(CS_EVENT_BLIND_BEGIN, sizeof *event);
    if (event) {
        event->reason = CS_BLIND_CUPTI_LENT;
        cs_emit_end(event);
    }
    cs_timing_stop();
    plane.library.cuptiUnsubscribe(plane.subscriber);
    atomic_store(&plane.blind_reason, CS_BLIND_CUPTI_LENT);
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
