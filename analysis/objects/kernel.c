/*
 * kernel.c - see kernel.h. The analysis thread.
 */
#include "analysis/objects/kernel.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "analysis/state.h"

struct cs_module {
    uint32_t id; /* of cs_code */
    uint32_t architecture;
    uint64_t ordinal; /* from 1, in the order of loading */
    bool indexed;
    uint64_t *names; /* hashes of its kernels' names, sorted */
    size_t name_count;
};

static uint64_t name_hash(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

/* ---- modules ---- */

struct image {
    const void *bytes;
    size_t size;
    struct cs_cubin *cubin;
};

static int open_image(struct cs_analysis *analysis, uint32_t id, struct image *image)
{
    const struct cs_host *host = &analysis->host;
    if (!host->map_code || host->map_code(host->context, id, &image->bytes, &image->size))
        return -1;
    if (!cs_cubin_open(image->bytes, image->size, &image->cubin, NULL))
        return 0;
    host->unmap_code(host->context, id, image->bytes, image->size);
    return -1;
}

static void close_image(struct cs_analysis *analysis, uint32_t id, struct image *image)
{
    cs_cubin_close(image->cubin);
    analysis->host.unmap_code(analysis->host.context, id, image->bytes, image->size);
}

void cs_on_code_loaded(struct cs_analysis *analysis, const struct cs_event *event)
{
    struct cs_kernels *kernels = &analysis->kernels;
    if (kernels->module_count == kernels->module_capacity) {
        size_t capacity = kernels->module_capacity ? kernels->module_capacity * 2 : 16;
        struct cs_module *modules = realloc(kernels->modules, capacity * sizeof *modules);
        if (!modules) {
            kernels->unreadable++;
            return;
        }
        kernels->modules = modules;
        kernels->module_capacity = capacity;
    }
    kernels->modules[kernels->module_count++] =
        (struct cs_module){.id = ((const struct cs_code *)event)->id, .ordinal = ++kernels->loaded};
}

/* What it held was looked up by the launches before this event. */
void cs_on_code_unloaded(struct cs_analysis *analysis, const struct cs_event *event)
{
    struct cs_kernels *kernels = &analysis->kernels;
    for (size_t i = 0; i < kernels->module_count; i++)
        if (kernels->modules[i].id == ((const struct cs_code *)event)->id) {
            free(kernels->modules[i].names);
            kernels->module_count--;
            memmove(&kernels->modules[i], &kernels->modules[i + 1],
                    (kernels->module_count - i) * sizeof *kernels->modules);
            return;
        }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void read_names(struct cs_module *module, const struct cs_cubin *cubin)
{
    size_t count = cs_cubin_kernel_count(cubin);
    module->architecture = cs_cubin_architecture(cubin);
    module->names = calloc(count ? count : 1, sizeof *module->names);
    if (!module->names)
        return;
    for (size_t i = 0; i < count; i++)
        module->names[i] = name_hash(cs_cubin_kernel_name(cubin, i));
    module->name_count = count;
    qsort(module->names, count, sizeof *module->names, by_value);
}

static void index_module(struct cs_analysis *analysis, struct cs_module *module)
{
    struct image image;
    module->indexed = true;
    if (open_image(analysis, module->id, &image)) {
        analysis->kernels.unreadable++;
        return;
    }
    read_names(module, image.cubin);
    close_image(analysis, module->id, &image);
}

/* Machine code runs on devices of its own major version from its minor version on. */
static bool runs_here(const struct cs_analysis *analysis, uint32_t architecture)
{
    bool known = false;
    for (size_t i = 0; i < CS_DEVICES_MAX; i++) {
        uint32_t device = analysis->devices[i].compute_capability;
        known |= device != 0;
        if (device && device / 10 == architecture / 10 && device >= architecture)
            return true;
    }
    return !known || !architecture;
}

static bool may_hold(struct cs_analysis *analysis, struct cs_module *module, uint64_t hash)
{
    if (!module->indexed)
        index_module(analysis, module);
    return module->name_count && runs_here(analysis, module->architecture) &&
           bsearch(&hash, module->names, module->name_count, sizeof hash, by_value);
}

/* ---- summaries ---- */

static const struct cs_kernel_summary *summarise(struct cs_kernels *kernels, const struct cs_cubin *cubin, size_t index,
                                                 uint64_t hash)
{
    uint64_t *known = cs_map64_get(&kernels->summaries, hash);
    if (known)
        return (const struct cs_kernel_summary *)(uintptr_t)*known;
    struct cs_kernel_summary *summary = calloc(1, sizeof *summary);
    if (!summary)
        return NULL;
    if (cs_summarize(cubin, index, summary, NULL)) {
        free(summary);
        return NULL;
    }
    if (cs_map64_put(&kernels->summaries, hash, (uintptr_t)summary)) {
        cs_summary_release(summary);
        free(summary);
        return NULL;
    }
    return summary;
}

static bool merged_before(const struct cs_kernel *kernel, uint64_t hash)
{
    for (size_t i = 0; i < kernel->hash_count; i++)
        if (kernel->hashes[i] == hash)
            return true;
    return false;
}

static int append_slots(struct cs_kernel *kernel, const struct cs_kernel_summary *summary)
{
    size_t count = kernel->slot_count + summary->slot_count;
    struct cs_slot *slots = realloc(kernel->slots, (count ? count : 1) * sizeof *slots);
    if (!slots)
        return -1;
    kernel->slots = slots;
    for (size_t i = 0; i < summary->slot_count; i++)
        slots[kernel->slot_count + i] = summary->slots[i];
    kernel->slot_count = count;
    return 0;
}

/* NULL: the code is there but could not be summarised; the kernel may do anything. */
static void merge(struct cs_kernel *kernel, const struct cs_kernel_summary *summary, uint64_t hash)
{
    kernel->found = true;
    uint64_t *hashes = realloc(kernel->hashes, (kernel->hash_count + 1) * sizeof *hashes);
    if (hashes) {
        kernel->hashes = hashes;
        hashes[kernel->hash_count++] = hash;
    }
    if (!summary || append_slots(kernel, summary)) {
        kernel->incomplete = true;
        return;
    }
    kernel->incomplete |= summary->incomplete;
    kernel->opaque_read |= summary->opaque_read;
    kernel->opaque_write |= summary->opaque_write;
}

static void look_in(struct cs_analysis *analysis, struct cs_kernel *kernel, const struct cs_module *module)
{
    struct image image;
    if (open_image(analysis, module->id, &image)) {
        kernel->found = kernel->incomplete = true;
        return;
    }
    size_t index = cs_cubin_find(image.cubin, kernel->name);
    if (index != SIZE_MAX) {
        uint64_t hash = cs_cubin_kernel_hash(image.cubin, index);
        if (!merged_before(kernel, hash))
            merge(kernel, summarise(&analysis->kernels, image.cubin, index, hash), hash);
    }
    close_image(analysis, module->id, &image);
}

static void look_up(struct cs_analysis *analysis, struct cs_kernel *kernel)
{
    struct cs_kernels *kernels = &analysis->kernels;
    uint64_t hash = name_hash(kernel->name);
    for (size_t i = 0; i < kernels->module_count; i++)
        if (kernels->modules[i].ordinal > kernel->looked && may_hold(analysis, &kernels->modules[i], hash))
            look_in(analysis, kernel, &kernels->modules[i]);
    kernel->looked = kernels->loaded;
}

/* ---- kernels ---- */

static int add_kernel(struct cs_kernels *kernels, uint32_t id, const char *name)
{
    if (kernels->count == kernels->capacity) {
        size_t capacity = kernels->capacity ? kernels->capacity * 2 : 64;
        struct cs_kernel **grown = realloc(kernels->kernels, capacity * sizeof *grown);
        if (!grown)
            return -1;
        kernels->kernels = grown;
        kernels->capacity = capacity;
    }
    struct cs_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel || !(kernel->name = strdup(name)) || cs_map64_put(&kernels->by_id, id, kernels->count)) {
        if (kernel)
            free(kernel->name);
        free(kernel);
        return -1;
    }
    kernels->kernels[kernels->count++] = kernel;
    return 0;
}

void cs_on_kernel(struct cs_analysis *analysis, const struct cs_event *event)
{
    const struct cs_kernel_def *definition = (const struct cs_kernel_def *)event;
    size_t room = event->size - offsetof(struct cs_kernel_def, name);
    if (memchr(definition->name, 0, room) && !cs_map64_get(&analysis->kernels.by_id, definition->id))
        add_kernel(&analysis->kernels, definition->id, definition->name);
}

uint32_t cs_kernels_launched(struct cs_analysis *analysis, uint32_t id)
{
    uint64_t *index = cs_map64_get(&analysis->kernels.by_id, id);
    if (!index)
        return UINT32_MAX;
    struct cs_kernel *kernel = analysis->kernels.kernels[*index];
    kernel->launches++;
    if (kernel->looked < analysis->kernels.loaded)
        look_up(analysis, kernel);
    return (uint32_t)*index;
}

static void release_kernel(struct cs_kernel *kernel)
{
    free(kernel->hashes);
    free(kernel->slots);
    free(kernel->name);
    free(kernel);
}

static void release_summary(void *context, uint64_t key, uint64_t value)
{
    struct cs_kernel_summary *summary = (struct cs_kernel_summary *)(uintptr_t)value;
    (void)context;
    (void)key;
    cs_summary_release(summary);
    free(summary);
}

void cs_kernels_release(struct cs_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        release_kernel(kernels->kernels[i]);
    for (size_t i = 0; i < kernels->module_count; i++)
        free(kernels->modules[i].names);
    cs_map64_each(&kernels->summaries, release_summary, NULL);
    cs_map64_release(&kernels->summaries);
    cs_map64_release(&kernels->by_id);
    free(kernels->kernels);
    free(kernels->modules);
    memset(kernels, 0, sizeof *kernels);
}
