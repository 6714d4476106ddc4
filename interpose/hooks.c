/*
 * hooks.c - the wrappers, one per row of cuda_api.def (twins included). They run on the program's threads.
 *
 * A wrapper calls the real function with the same arguments and returns what it returned. When the call succeeded and
 * nothing below it (CUPTI's driver callbacks, a hook it passed through) has noted it already, it notes the fact. errno
 * is kept.
 *
 * A wrapper's C name is cs_hook_<symbol>; only its symbol is the API's. So a table row stands by itself where the
 * header that we are compiled with declares another version's parameters.
 */
#include <errno.h>

#include "interpose/cupti_plane.h"
#include "interpose/facts.h"
#include "interpose/real.h"
#include "interpose/stack.h"
#include "interpose/state.h"
#include "interpose/thread.h"

#define EXPORT __attribute__((visibility("default")))

/* One call through a hook. */
struct call {
    struct cs_thread *thread; /* NULL: nothing is to be noted (off, or our own code is calling) */
    uint32_t events_before;
};

static struct call enter(bool with_stack)
{
    struct call call = {0};
    struct cs_thread *thread = cs_thread_self();
    if (!thread || thread->guard || !cs_state_active())
        return call;
    if (thread->hook_depth++ == 0 && with_stack) {
        cs_state_prepare();
        thread->hook_stack = cs_stack_capture();
    }
    call.thread = thread;
    call.events_before = thread->driver_events;
    return call;
}

/* True when the fact is this hook's to note: the outermost hook, and no driver callback noted anything meanwhile. */
static bool is_mine(const struct call *call)
{
    return call->thread && call->thread->hook_depth == 1 && call->thread->driver_events == call->events_before;
}

static void leave(const struct call *call)
{
    if (call->thread && --call->thread->hook_depth == 0)
        call->thread->hook_stack = 0;
}

#define BODY(symbol, parameters, arguments, with_stack, before, after)                                                 \
    EXPORT cudaError_t cs_hook_##symbol parameters __asm__(#symbol);                                                   \
    EXPORT cudaError_t cs_hook_##symbol parameters                                                                     \
    {                                                                                                                  \
        cudaError_t(*real) parameters = (cudaError_t(*) parameters)cs_real(                                            \
            CS_API_##symbol, #symbol, (void *)cs_hook_##symbol, __builtin_return_address(0));                          \
        if (!real)                                                                                                     \
            return cudaErrorNotSupported;                                                                              \
        struct call call = enter(with_stack);                                                                          \
        before;                                                                                                        \
        cudaError_t result = real arguments;                                                                           \
        int saved = errno;                                                                                             \
        if (result == cudaSuccess && is_mine(&call)) {                                                                 \
            after;                                                                                                     \
        }                                                                                                              \
        leave(&call);                                                                                                  \
        errno = saved;                                                                                                 \
        return result;                                                                                                 \
    }

/* A free is noted before the call while only hooks see it; with the driver plane there the callback does it in time. */
#define FREE_BEFORE(allocator, address)                                                                                \
    bool early = call.thread && call.thread->hook_depth == 1 && !cs_cupti_active();                                    \
    if (early)                                                                                                         \
    cs_fact_free(allocator, address)
#define FREE_AFTER(allocator, address)                                                                                 \
    if (!early)                                                                                                        \
    cs_fact_free(allocator, address)

#define CS_API_PLAIN(name, parameters, arguments, fact) BODY(name, parameters, arguments, true, , fact)
#define CS_API_PTDS(name, parameters, arguments, fact)                                                                 \
    BODY(name, parameters, arguments, true, , fact)                                                                    \
    BODY(name##_ptds, parameters, arguments, true, , fact)
#define CS_API_PTSZ(name, parameters, arguments, fact)                                                                 \
    BODY(name, parameters, arguments, true, , fact)                                                                    \
    BODY(name##_ptsz, parameters, arguments, true, , fact)
#define CS_API_MEMORY_PLAIN(name, parameters, arguments, fact) BODY(name, parameters, arguments, false, , fact)
#define CS_API_MEMORY_PTSZ(name, parameters, arguments, fact)                                                          \
    BODY(name, parameters, arguments, false, , fact)                                                                   \
    BODY(name##_ptsz, parameters, arguments, false, , fact)
#define CS_API_FREE_PLAIN(name, parameters, arguments, allocator, address)                                             \
    BODY(name, parameters, arguments, false, FREE_BEFORE(allocator, address), FREE_AFTER(allocator, address))
#define CS_API_FREE_PTSZ(name, parameters, arguments, allocator, address)                                              \
    CS_API_FREE_PLAIN(name, parameters, arguments, allocator, address)                                                 \
    CS_API_FREE_PLAIN(name##_ptsz, parameters, arguments, allocator, address)

#define CS_API(name, variant, parameters, arguments, fact) CS_API_##variant(name, parameters, arguments, fact)
#define CS_API_MEMORY(name, variant, parameters, arguments, fact)                                                      \
    CS_API_MEMORY_##variant(name, parameters, arguments, fact)
#define CS_API_FREE(name, variant, parameters, arguments, allocator, address)                                          \
    CS_API_FREE_##variant(name, parameters, arguments, allocator, address)
#include "interpose/cuda_api.def"
