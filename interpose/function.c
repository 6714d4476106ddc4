/*
 * function.c - see function.h. Any thread; insertion is a compare-and-swap, nothing is ever removed: after a module was
 * unloaded old entries no longer match the epoch.
 */
#include "interpose/function.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/emit.h"
#include "interpose/real.h"
#include "interpose/thread.h"
#include "interpose/warn.h"

enum { SLOTS = 1 << 15, PARAMETERS_MAX = 4096 };

struct entry {
    CUfunction handle;
    _Atomic uint32_t epoch;
    char *name;
    struct cs_function function;
};

static struct {
    _Atomic(struct entry *) slots[SLOTS];
    _Atomic uint32_t epoch, ids;
} functions;

typedef CUresult (*parameter_info)(void *function, size_t index, size_t *offset, size_t *size);

static size_t slot_of(CUfunction handle)
{
    return (size_t)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 40) % SLOTS;
}

/* Calls back for each parameter; false when this way of asking does not know the handle. */
static uint32_t ask(parameter_info info, CUfunction handle, struct entry *entry, uint32_t max)
{
    uint32_t count = 0;
    size_t offset, size;
    while (count < max && info(handle, count, &offset, &size) == CUDA_SUCCESS) {
        entry->function.parameters[count].offset = (uint32_t)offset;
        entry->function.parameters[count].size = (uint32_t)size;
        if (offset + size > entry->function.parameter_bytes)
            entry->function.parameter_bytes = (uint32_t)(offset + size);
        count++;
    }
    return count;
}

/* cuKernelGetParamInfo and cuFuncGetParamInfo (12.4 and later) each refuse the other's handles with an error. */
static void ask_driver(CUfunction handle, struct entry *entry, uint32_t max)
{
    static const char *const ways[] = {"cuKernelGetParamInfo", "cuFuncGetParamInfo"};
    bool asked = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !entry->function.parameter_count; i++) {
        parameter_info info = (parameter_info)cs_mapped_symbol("libcuda.so.", ways[i]);
        if (info)
            entry->function.parameter_count = ask(info, handle, entry, max);
        asked = asked || info;
    }
    if (!asked)
        cs_warn_once("parameter information",
                     "the driver cannot tell kernel parameters (CUDA 12.4 or later can); every "
                     "kernel counts as reading and writing everything");
}

static void define(const struct entry *entry, const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct cs_kernel_def *event = cs_emit_begin(CS_EVENT_KERNEL, sizeof *event + bytes);
    if (!event)
        return;
    event->id = entry->function.id;
    memcpy(event->name, name, bytes);
    cs_emit_end(event);
}

static struct entry *make(CUfunction handle, uint32_t epoch, const char *name)
{
    struct cs_thread *thread = cs_thread_self();
    uint32_t max = PARAMETERS_MAX;
    struct entry *entry = calloc(1, sizeof *entry + max * sizeof entry->function.parameters[0]);
    if (!entry)
        return NULL;
    entry->handle = handle;
    entry->epoch = epoch;
    entry->name = strdup(name);
    if (!entry->name) {
        free(entry);
        return NULL;
    }
    entry->function.id = atomic_fetch_add(&functions.ids, 1) + 1;
    thread->guard++;
    ask_driver(handle, entry, max);
    thread->guard--;
    struct entry *fitted =
        realloc(entry, sizeof *entry + entry->function.parameter_count * sizeof entry->function.parameters[0]);
    entry = fitted ? fitted : entry;
    define(entry, name);
    return entry;
}

/* After a module was unloaded a handle may mean another function; under the same name it is taken for the same. */
static bool is_current(struct entry *entry, uint32_t epoch, const char *name)
{
    if (atomic_load_explicit(&entry->epoch, memory_order_relaxed) == epoch)
        return true;
    if (strcmp(entry->name, name) != 0)
        return false;
    atomic_store_explicit(&entry->epoch, epoch, memory_order_relaxed);
    return true;
}

const struct cs_function *cs_function_of(CUfunction handle, const char *name)
{
    uint32_t epoch = atomic_load_explicit(&functions.epoch, memory_order_relaxed);
    size_t slot = slot_of(handle);
    name = name ? name : "";
    for (size_t probe = 0; probe < SLOTS; probe++, slot = (slot + 1) % SLOTS) {
        struct entry *entry = atomic_load_explicit(&functions.slots[slot], memory_order_acquire);
        if (entry && entry->handle != handle)
            continue;
        if (entry && is_current(entry, epoch, name))
            return &entry->function;
        struct entry *made = make(handle, epoch, name);
        if (!made)
            return NULL;
        /* An entry that is replaced stays: another thread may be reading it. */
        if (atomic_compare_exchange_strong(&functions.slots[slot], &entry, made) || entry->handle == handle)
            return &made->function;
    }
    return NULL;
}

void cs_function_forget(void)
{
    atomic_fetch_add(&functions.epoch, 1);
}
