/*
 * trace.c - callbacks of the stand-in's CUPTI: one subscriber, API and resource callbacks, correlation ids.
 *
 * Threads: any. The subscriber changes under a lock; callbacks run without it, so that a callback may call anything.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/trace.h"

#define CALLBACK_IDS 1024

struct CUpti_Subscriber_st {
    _Atomic(CUpti_CallbackFunc) callback;
    void *_Atomic userdata;
    _Atomic unsigned char enabled[CUPTI_CB_DOMAIN_SIZE][CALLBACK_IDS];
};

static struct CUpti_Subscriber_st subscriber_slot;
static pthread_mutex_t subscriber_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t next_correlation = 1;
static _Thread_local struct sim_call *innermost;

/* ---- subscriber ---- */

CUptiResult sim_cupti_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
    if (!subscriber || !callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const char *setting = getenv("SIM_CUPTI");
    if (setting && strcmp(setting, "off") == 0)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    CUptiResult result = CUPTI_SUCCESS;
    pthread_mutex_lock(&subscriber_lock);
    if (atomic_load(&subscriber_slot.callback)) {
        result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    } else {
        atomic_store(&subscriber_slot.userdata, userdata);
        atomic_store(&subscriber_slot.callback, callback);
        *subscriber = &subscriber_slot;
    }
    pthread_mutex_unlock(&subscriber_lock);
    return result;
}

static bool is_subscriber(CUpti_SubscriberHandle subscriber)
{
    return subscriber == &subscriber_slot && atomic_load(&subscriber_slot.callback);
}

CUptiResult sim_cupti_unsubscribe(CUpti_SubscriberHandle subscriber)
{
    pthread_mutex_lock(&subscriber_lock);
    bool known = is_subscriber(subscriber);
    if (known) {
        for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
            for (int id = 0; id < CALLBACK_IDS; id++)
                atomic_store_explicit(&subscriber_slot.enabled[domain][id], 0, memory_order_relaxed);
        atomic_store(&subscriber_slot.callback, NULL);
    }
    pthread_mutex_unlock(&subscriber_lock);
    return known ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static bool known_id(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE && cbid > 0 && cbid < CALLBACK_IDS;
}

CUptiResult sim_cupti_enable_callback(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                      CUpti_CallbackId cbid)
{
    if (!is_subscriber(subscriber) || !known_id(domain, cbid))
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_store(&subscriber_slot.enabled[domain][cbid], enable != 0);
    return CUPTI_SUCCESS;
}

CUptiResult sim_cupti_enable_domain(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
    if (!is_subscriber(subscriber) || !known_id(domain, 1))
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (int id = 1; id < CALLBACK_IDS; id++)
        atomic_store(&subscriber_slot.enabled[domain][id], enable != 0);
    return CUPTI_SUCCESS;
}

CUptiResult sim_cupti_callback_state(uint32_t *enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                     CUpti_CallbackId cbid)
{
    if (!enable || !is_subscriber(subscriber) || !known_id(domain, cbid))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *enable = atomic_load(&subscriber_slot.enabled[domain][cbid]);
    return CUPTI_SUCCESS;
}

/* The callback when this id is enabled, else NULL. */
static CUpti_CallbackFunc wanted(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (!atomic_load_explicit(&subscriber_slot.enabled[domain][cbid], memory_order_acquire))
        return NULL;
    return atomic_load_explicit(&subscriber_slot.callback, memory_order_acquire);
}

/* ---- API callbacks ---- */

static void deliver(struct sim_call *call, CUpti_ApiCallbackSite site)
{
    CUpti_CallbackFunc callback = wanted(call->domain, call->cbid);
    if (!callback)
        return;
    CUcontext context = sim_current_context();
    CUpti_CallbackData data = {
        .callbackSite = site,
        .functionName = call->function,
        .functionParams = call->parameters,
        .functionReturnValue = site == CUPTI_API_EXIT ? call->result : NULL,
        .symbolName = call->symbol,
        .context = context,
        .contextUid = context ? context->uid : 0,
        .correlationData = &call->correlation_data,
        .correlationId = call->correlation,
    };
    callback(atomic_load(&subscriber_slot.userdata), call->domain, call->cbid, &data);
}

void sim_call_enter(struct sim_call *call, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const char *function,
                    const void *parameters, void *result, const char *symbol, bool per_thread)
{
    *call = (struct sim_call){
        .domain = domain,
        .cbid = cbid,
        .function = function,
        .parameters = parameters,
        .result = result,
        .symbol = symbol,
        .outer = innermost,
        .per_thread = per_thread,
    };
    call->correlation = innermost ? innermost->correlation : atomic_fetch_add(&next_correlation, 1);
    innermost = call;
    /* An exit without its entry (enabled in between) is never delivered. */
    call->traced = wanted(domain, cbid) != NULL;
    if (call->traced)
        deliver(call, CUPTI_API_ENTER);
}

void sim_call_exit(struct sim_call *call)
{
    if (call->traced)
        deliver(call, CUPTI_API_EXIT);
    innermost = call->outer;
}

bool sim_call_per_thread(void)
{
    return innermost && innermost->per_thread;
}

uint32_t sim_call_correlation(void)
{
    return innermost ? innermost->correlation : 0;
}

/* ---- resource callbacks ---- */

static void resource(CUpti_CallbackId cbid, CUcontext context, CUstream stream, void *descriptor)
{
    CUpti_CallbackFunc callback = wanted(CUPTI_CB_DOMAIN_RESOURCE, cbid);
    if (!callback)
        return;
    CUpti_ResourceData data = {.context = context, .resourceDescriptor = descriptor};
    data.resourceHandle.stream = stream;
    callback(atomic_load(&subscriber_slot.userdata), CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void sim_trace_module(CUpti_CallbackId cbid, const struct CUmod_st *module)
{
    CUpti_ModuleResourceData data = {
        .moduleId = module->id, .cubinSize = module->image.cubin_size, .pCubin = (const char *)module->image.cubin};
    resource(cbid, module->context, NULL, &data);
}

void sim_trace_context(CUpti_CallbackId cbid, struct CUctx_st *context)
{
    resource(cbid, context, NULL, NULL);
}

void sim_trace_stream(CUpti_CallbackId cbid, struct CUstream_st *stream)
{
    resource(cbid, stream->context, stream, NULL);
}

void sim_trace_synchronized(CUpti_CallbackId cbid, struct CUctx_st *context, CUstream stream)
{
    CUpti_CallbackFunc callback = wanted(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid);
    if (!callback)
        return;
    CUpti_SynchronizeData data = {.context = context, .stream = stream};
    callback(atomic_load(&subscriber_slot.userdata), CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

CUptiResult sim_cupti_finalize(void)
{
    sim_cupti_flush();
    for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
        sim_cupti_activity_enable((CUpti_ActivityKind)kind, false);
    sim_cupti_unsubscribe(&subscriber_slot);
    return CUPTI_SUCCESS;
}

struct CUstream_st *sim_cupti_stream(CUstream stream, bool per_thread)
{
    return sim_stream_of(stream == NULL && per_thread ? CU_STREAM_PER_THREAD : stream);
}
