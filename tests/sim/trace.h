/*
 * trace.h - the stand-in's CUPTI state: subscriber, API callbacks, resource callbacks, activity records.
 *
 * Lives in libcuda.so.1, so that both sonames of libcupti, libcudart and the driver share one state.
 *
 * Threads: any. Callbacks run on the calling thread with no lock of ours held.
 */
#ifndef COPYSPY_TESTS_SIM_TRACE_H
#define COPYSPY_TESTS_SIM_TRACE_H

#include "tests/sim/core.h"
#include <cupti.h>

/* One API call between entry and exit; lives on the wrapper's stack. */
struct sim_call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol;
    struct sim_call *outer;
    uint32_t correlation;
    uint64_t correlation_data;
    bool traced, per_thread, outer_per_thread;
};

/*
 * Entry of an API function. `per_thread`: the default stream is the calling thread's (the _ptsz and _ptds twins).
 * `symbol`: the kernel's name for launches, else NULL.
 */
SIM_EXPORT void sim_call_enter(struct sim_call *call, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                               const char *function, const void *parameters, void *result, const char *symbol,
                               bool per_thread);
SIM_EXPORT void sim_call_exit(struct sim_call *call);

/* Does stream 0 mean the calling thread's own stream in the call that is running? */
SIM_EXPORT bool sim_call_per_thread(void);

/* The correlation id of the outermost call on this thread. */
uint32_t sim_call_correlation(void);

void sim_trace_module(CUpti_CallbackId cbid, const struct CUmod_st *module);
void sim_trace_context(CUpti_CallbackId cbid, struct CUctx_st *context);
void sim_trace_stream(CUpti_CallbackId cbid, struct CUstream_st *stream);
void sim_trace_synchronized(CUpti_CallbackId cbid, struct CUctx_st *context, CUstream stream);

/* A finished piece of work. */
void sim_trace_copy(struct CUstream_st *stream, const struct sim_copy *copy, bool asynchronous, uint32_t graph_id,
                    uint64_t node_id);
void sim_trace_fill(struct CUstream_st *stream, const struct sim_fill *fill, bool asynchronous, uint32_t graph_id,
                    uint64_t node_id);
void sim_trace_kernel(struct CUstream_st *stream, const struct sim_work *work, uint32_t graph_id, uint64_t node_id);

/* The deterministic clock, in nanoseconds; `advance` moves it on and returns the time before. */
SIM_EXPORT uint64_t sim_clock(void);
uint64_t sim_clock_advance(uint64_t nanoseconds);

/* What libcupti forwards to; same contracts as the functions of the same name there. */
SIM_EXPORT CUptiResult sim_cupti_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                           void *userdata);
SIM_EXPORT CUptiResult sim_cupti_unsubscribe(CUpti_SubscriberHandle subscriber);
SIM_EXPORT CUptiResult sim_cupti_enable_callback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                                 CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
SIM_EXPORT CUptiResult sim_cupti_enable_domain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                               CUpti_CallbackDomain domain);
SIM_EXPORT CUptiResult sim_cupti_callback_state(uint32_t *enable, CUpti_SubscriberHandle subscriber,
                                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
SIM_EXPORT CUptiResult sim_cupti_register_buffers(CUpti_BuffersCallbackRequestFunc requested,
                                                  CUpti_BuffersCallbackCompleteFunc completed);
SIM_EXPORT CUptiResult sim_cupti_activity_enable(CUpti_ActivityKind kind, bool enable);
SIM_EXPORT CUptiResult sim_cupti_flush(void);
SIM_EXPORT CUptiResult sim_cupti_dropped(size_t *dropped);
SIM_EXPORT CUptiResult sim_cupti_finalize(void);
/* The stream behind a handle as CUPTI sees it; NULL when there is none. */
SIM_EXPORT struct CUstream_st *sim_cupti_stream(CUstream stream, bool per_thread);
/* Size of a record of this kind; 0 for kinds that the stand-in does not make. */
SIM_EXPORT size_t sim_cupti_record_size(CUpti_ActivityKind kind);

#endif
