/*
 * real.c - finds the functions behind the hooks (real.h). Any thread; the first look-up per caller is slow, the rest a
 * hash.
 *
 * Why per caller: PyTorch may bring one runtime and another package a second one, each loaded RTLD_LOCAL, and a handle
 * or a registered kernel of one means nothing to the other. RTLD_NEXT sees only the global scope and RTLD_DEFAULT would
 * give our own hook back.
 */
#include "interpose/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RUNTIME "libcudart.so."

enum { SLOTS = 4096 };

/* A key never changes once set; a value is set before its key. */
static struct {
    _Atomic uint64_t key;
    _Atomic uintptr_t value;
} cache[SLOTS];

/* ---- libraries in the process ---- */

struct search {
    const char *part;
    char path[4096];
};

static int match_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    name = name ? name + 1 : info->dlpi_name;
    if (!name || strncmp(name, search->part, strlen(search->part)) != 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

void *cs_mapped_library(const char *library_part)
{
    struct search search = {.part = library_part};
    if (!dl_iterate_phdr(match_library, &search))
        return NULL;
    return dlopen(search.path, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
}

void *cs_mapped_symbol(const char *library_part, const char *symbol)
{
    void *library = cs_mapped_library(library_part);
    if (!library)
        return NULL;
    void *found = dlsym(library, symbol);
    dlclose(library);
    return found;
}

/* ---- which runtime would the caller have reached ---- */

/* The name of the runtime in the DT_NEEDED entries of the library that holds `caller`; NULL when it names none. */
static const char *needed_runtime(const void *caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_ld)
        return NULL;
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    if (!strings)
        return NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, RUNTIME, strlen(RUNTIME)) == 0)
            return strings + entry->d_un.d_val;
    return NULL;
}

static void *symbol_of(const char *library, const char *symbol)
{
    void *handle = dlopen(library, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
    if (!handle)
        return NULL;
    void *found = dlsym(handle, symbol);
    dlclose(handle);
    return found;
}

static void *find(const char *symbol, const void *own, const void *caller)
{
    const char *needed = needed_runtime(caller);
    void *found = needed ? symbol_of(needed, symbol) : NULL;
    if (!found || found == own)
        found = dlsym(RTLD_NEXT, symbol);
    if (!found || found == own)
        found = cs_mapped_symbol(RUNTIME, symbol);
    return found == own ? NULL : found;
}

/* ---- the cache ---- */

static uint64_t key_of(enum cs_api api, const void *caller)
{
    /* User-space addresses have at most 56 bits, so the number (under 256) fits below them; 0 is kept for "empty". */
    _Static_assert(CS_API_COUNT < 255, "the API number fits into eight bits");
    return ((uint64_t)(uintptr_t)caller << 8 ^ (uint64_t)api) + 1;
}

static size_t slot_of(uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 52) % SLOTS;
}

static void remember(size_t slot, uint64_t key, void *value)
{
    if (atomic_load_explicit(&cache[slot].key, memory_order_relaxed))
        return; /* taken by another caller: that one keeps it, this one looks up each time */
    uintptr_t expected = 0;
    if (atomic_compare_exchange_strong(&cache[slot].value, &expected, (uintptr_t)value))
        atomic_store_explicit(&cache[slot].key, key, memory_order_release);
}

void *cs_real(enum cs_api api, const char *symbol, const void *own, const void *caller)
{
    uint64_t key = key_of(api, caller);
    size_t slot = slot_of(key);
    for (size_t probe = slot; probe < slot + 4; probe++)
        if (atomic_load_explicit(&cache[probe % SLOTS].key, memory_order_acquire) == key)
            return (void *)atomic_load_explicit(&cache[probe % SLOTS].value, memory_order_relaxed);
    int saved = errno;
    void *found = find(symbol, own, caller);
    for (size_t probe = slot; found && probe < slot + 4; probe++) {
        if (!atomic_load(&cache[probe % SLOTS].key)) {
            remember(probe % SLOTS, key, found);
            break;
        }
    }
    errno = saved;
    return found;
}
