/*
 * c10.c - PyTorch's caching allocator tells of every block that it hands out or takes back through one function that
 * crosses a library boundary; these hooks stand in front of it, under each name it has had.
 *
 * Called on any thread, with the allocator's lock held: nothing here may call back, or take a lock but the loader's at
 * first. c10::Device is two bytes, its type (1 is CUDA), then its index, passed in one register (c10/core/Device.h).
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/facts.h"
#include "interpose/real.h"
#include "interpose/state.h"
#include "interpose/thread.h"

#define EXPORT __attribute__((visibility("default")))

struct c10_device {
    int8_t type, index;
};
enum { C10_DEVICE_CUDA = 1 };

static void note(void *block, int64_t size, struct c10_device device)
{
    struct cs_thread *thread = cs_thread_self();
    if (device.type != C10_DEVICE_CUDA || !thread || thread->guard || !cs_state_active())
        return;
    if (size > 0)
        cs_fact_block(block, (size_t)size, (uint32_t)device.index);
    else if (size < 0)
        cs_fact_free(CS_ALLOCATOR_C10, block);
}

/* The real function; found once. A look-up that fails is not repeated: it would cost each allocation. */
static void *real(_Atomic(void *) *known, const char *symbol)
{
    static char missing;
    void *found = atomic_load_explicit(known, memory_order_relaxed);
    if (!found) {
        found = cs_mapped_symbol("libc10.so", symbol);
        atomic_store(known, found ? found : &missing);
    }
    return found == &missing ? NULL : found;
}

#define REPORT(symbol, parameters, arguments, block, size, device)                                                     \
    EXPORT void symbol parameters;                                                                                     \
    EXPORT void symbol parameters                                                                                      \
    {                                                                                                                  \
        static _Atomic(void *) known;                                                                                  \
        void(*forward) parameters = (void(*) parameters)real(&known, #symbol);                                         \
        note(block, size, device);                                                                                     \
        if (forward)                                                                                                   \
            forward arguments;                                                                                         \
    }

/* PyTorch 2 (void *ptr, int64_t size, size_t total_allocated, size_t total_reserved, Device) */
REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE,
       (void *block, int64_t size, size_t allocated, size_t reserved, struct c10_device device),
       (block, size, allocated, reserved, device), block, size, device)
/* before it: the totals as int64_t, and before that no totals */
REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE,
       (void *block, int64_t size, int64_t allocated, int64_t reserved, struct c10_device device),
       (block, size, allocated, reserved, device), block, size, device)
REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE, (void *block, int64_t size, struct c10_device device),
       (block, size, device), block, size, device)
