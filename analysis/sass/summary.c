/*
 * summary.c - see summary.h. Any thread; no state outlives a call.
 */
#include "analysis/sass/summary.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/sass/class.h"
#include "analysis/sass/slots.h"

enum { SUMMARY_VERSION = 2 }; /* goes into hashes: counts up when the pass says something else of the same code */

static void hash_bytes(XXH3_state_t *state, struct cs_bytes bytes)
{
    uint64_t size = bytes.size;
    XXH3_64bits_update(state, &size, sizeof size);
    if (bytes.size)
        XXH3_64bits_update(state, bytes.data, bytes.size);
}

/* Relocations of a section: where, and the names of what they stand for. */
static void hash_relocations(XXH3_state_t *state, const struct cs_cubin *cubin, uint32_t section)
{
    for (size_t i = 0; section != CS_NO_SECTION && i < cubin->relocation_count; i++) {
        const struct cs_relocation *relocation = &cubin->relocations[i];
        if (relocation->section != section)
            continue;
        const struct cs_symbol *symbol = &cubin->symbols[relocation->symbol];
        uint64_t facts[] = {relocation->offset, symbol->value, symbol->section != CS_NO_SECTION, symbol->function};
        XXH3_64bits_update(state, facts, sizeof facts);
        XXH3_64bits_update(state, symbol->name, strlen(symbol->name));
    }
}

/* Code sections that are no kernel's: functions that a kernel may call. */
static bool holds_functions(const struct cs_cubin *cubin, uint32_t section)
{
    if (strncmp(cubin->sections[section].name, ".text.", 6) != 0)
        return false;
    return cs_cubin_find(cubin, cubin->sections[section].name + 6) == SIZE_MAX;
}

uint64_t cs_cubin_kernel_hash(const struct cs_cubin *cubin, size_t kernel)
{
    const struct cs_kernel *about = &cubin->kernels[kernel];
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return 0;
    XXH3_64bits_reset(state);
    uint64_t facts[] = {SUMMARY_VERSION, cubin->architecture, about->entry, about->parameter_base,
                        about->parameter_size};
    XXH3_64bits_update(state, facts, sizeof facts);
    hash_bytes(state, cubin->sections[about->text].bytes);
    hash_bytes(state, cubin->sections[about->info].bytes);
    hash_bytes(state, cubin->sections[about->literals].bytes);
    hash_relocations(state, cubin, about->text);
    hash_relocations(state, cubin, about->literals);
    hash_relocations(state, cubin, cubin->addresses);
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        if (holds_functions(cubin, i)) {
            hash_bytes(state, cubin->sections[i].bytes);
            hash_relocations(state, cubin, i);
        }
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

/* Code of an architecture whose encoding is not known. */
static void summarize_unknown(struct cs_kernel_summary *summary)
{
    summary->incomplete = summary->opaque_read = summary->opaque_write = true;
}

static int summarize(const struct cs_cubin *cubin, const struct cs_kernel *kernel, struct cs_kernel_summary *summary,
                     struct cs_error *error)
{
    struct cs_flow flow = {.cubin = cubin, .kernel = kernel, .family = cs_family(cubin->architecture)};
    if (!flow.family) {
        summarize_unknown(summary);
        return 0;
    }
    int status = cs_flow_run(&flow, error);
    if (status == 0)
        status = cs_slots_of(&flow, summary, error);
    if (status == 0)
        summary->class = cs_class_of(&flow, summary);
    summary->incomplete = flow.incomplete;
    summary->opaque_read = flow.opaque_read || flow.incomplete;
    summary->opaque_write = flow.opaque_write || flow.incomplete;
    cs_flow_release(&flow);
    return status;
}

int cs_summarize(const struct cs_cubin *cubin, size_t kernel, struct cs_kernel_summary *summary, struct cs_error *error)
{
    memset(summary, 0, sizeof *summary);
    if (kernel >= cubin->kernel_count)
        return cs_fail(error, "cubin: expected a kernel below %zu, not %zu", cubin->kernel_count, kernel);
    const struct cs_kernel *about = &cubin->kernels[kernel];
    summary->architecture = cubin->architecture;
    summary->class = CS_CLASS_COMPUTE;
    summary->content_hash = cs_cubin_kernel_hash(cubin, kernel);
    int status = cs_cubin_parameters(cubin, about, &summary->parameters, &summary->parameter_count, error);
    if (status == 0)
        status = summarize(cubin, about, summary, error);
    if (status != 0)
        cs_summary_release(summary);
    return status;
}

void cs_summary_release(struct cs_kernel_summary *summary)
{
    free(summary->parameters);
    free(summary->slots);
    memset(summary, 0, sizeof *summary);
}
